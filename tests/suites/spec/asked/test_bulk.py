from pathlib import Path

import pytest

from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load

SUITE = """\
cases = [{ id = "a", q = "x" }]

[prompt]
MESSAGES

[[targets]]
TARGET

[[scorers]]
kind = "exact"
expected = "x"
MORE
"""
ASKED = 'base_url = "http://127.0.0.1:1/v1"\nmodel = "m"\n'


def mistakes(
    folder: Path, target: str, *, messages: str = 'user = "{{ q }}"', more: str = ""
) -> list[str]:
    """Give the mistakes of a suite with a target, by field."""
    text = SUITE.replace("MESSAGES", messages).replace("TARGET", target).replace("MORE", more)
    (folder / "s.toml").write_text(text)
    try:
        load(folder / "s.toml", trusted=True)
    except SuiteError as error:
        return [f"{one.line} {one.field}: {one.message}; {one.hint}" for one in error.mistakes]
    return []


@pytest.mark.parametrize(
    "bulk", ["true", "false", "{ size = 5 }", '{ api = "files", folder = "later" }']
)
def test_how_it_may_be_written(tmp_path: Path, bulk: str) -> None:
    assert mistakes(tmp_path, f"{ASKED}bulk = {bulk}") == []


@pytest.mark.parametrize(
    ("target", "line", "words"),
    [
        ('provider = "mistral"\nmodel = "m"\nbulk = true', 9, "none is known of mistral"),
        ('provider = "local"\nmodel = "m.gguf"\nbulk = true', 9, "runs beside the engine"),
        (f'{ASKED}bulk = {{ api = "antropic" }}', 9, 'must be one of "openai"'),
        (f"{ASKED}bulk = {{ size = 0 }}", 9, "must be at least 1"),
        (f'{ASKED}bulk = {{ folder = "a" }}', 9, 'says nothing unless api = "files"'),
        (f'{ASKED}bulk = {{ api = "files", folder = "../a" }}', 9, "outside the suite's folder"),
        (f'{ASKED}api = "responses"\nbulk = {{ api = "anthropic" }}', 10, "api is responses"),
        (f'{ASKED}bulk = true\ntools = [{{ name = "t", answers = "a" }}]', 9, "its tools are"),
        ('kind = "command"\ncommand = ["ls"]\nbulk = true', 9, "only models are asked in bulk"),
    ],
)
def test_what_is_no_bulk(tmp_path: Path, target: str, line: int, words: str) -> None:
    found = mistakes(tmp_path, target)
    assert [one for one in found if one.startswith(f"{line} targets[0].bulk") and words in one], (
        found
    )


def test_what_goes_on_after_an_answer(tmp_path: Path) -> None:
    (found,) = mistakes(tmp_path, f"{ASKED}bulk = true", messages='turns = ["{{ q }}", "and?"]')
    assert "its prompt has turns" in found
    assert "drop bulk" in found
    user = '[user]\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "u"\ninstructions = "Ask."'
    found = "".join(mistakes(tmp_path, f"{ASKED}bulk = true", more=user))
    assert "[user] goes on with its conversations" in found


def test_a_simulated_judge_has_no_batch_api(tmp_path: Path) -> None:
    judge = '[judge]\nkind = "simulated"\nbulk = true'
    (found,) = mistakes(tmp_path, ASKED, more=judge)
    assert "judge.bulk: unknown key; only models are asked in bulk" in found


def test_what_it_is_expected_to_cost(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        SUITE.replace("MESSAGES", 'user = "{{ q }}"')
        .replace("MORE", "")
        .replace("TARGET", 'provider = "openai"\nmodel = "gpt-4o-mini"\nbulk = true')
    )
    (spec,) = load(tmp_path / "s.toml").targets
    single, bulk = spec.token_prices(), spec.expected_prices()
    assert single is not None
    assert bulk is not None
    assert bulk.input.base == single.input.base / 2
    assert bulk.output.base == single.output.base / 2


@pytest.mark.parametrize(("bulk", "said"), [("true", ", in bulk"), ("false", "")])
def test_a_target_says_that_it_is_asked_in_bulk(tmp_path: Path, bulk: str, said: str) -> None:
    text = SUITE.replace("MESSAGES", 'user = "{{ q }}"').replace("MORE", "")
    (tmp_path / "s.toml").write_text(text.replace("TARGET", f"{ASKED}bulk = {bulk}"))
    (target,) = load(tmp_path / "s.toml", trusted=True).targets
    assert target.in_words() == f"model at http://127.0.0.1:1/v1{said}"
