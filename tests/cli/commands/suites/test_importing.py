"""`tui-eval import`: what is written checks and runs, and the list says what is not in it."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Done, Place

DATA = Path(__file__).parents[3] / "data" / "imports"


@pytest.mark.parametrize(
    ("format_name", "file", "passed", "failed", "errors"),
    [
        ("promptfoo", "promptfoo-results.json", 2, 1, 1),
        ("inspect", "inspect.json", 1, 2, 1),
        ("lm-eval", "some__model/samples_sums_2025-01-01T10-00-00.000000.jsonl", 2, 4, 0),
        ("lm-eval", "some__model/samples_likely_2025-01-01T10-00-00.000000.jsonl", 1, 1, 0),
        ("openai-evals", "chat.jsonl", 2, 0, 0),
        ("jsonl", "choices.jsonl", 2, 0, 0),
    ],
)
def test_what_is_imported_is_graded_as_it_was(
    tui_eval: Callable[..., Done],
    place: Place,
    format_name: str,
    file: str,
    passed: int,
    failed: int,
    errors: int,
) -> None:
    done = tui_eval("import", format_name, str(DATA / file), "-o", "new/s.toml")
    assert (done.code, done.out) == (0, "new/s.toml\nnew/s.cases.jsonl\n"), done.err
    run = tui_eval("run", "new/s.toml", "--json")
    counts = json.loads(run.out)["counts"]
    found = (counts["passed"], counts["failed"], counts["error"], counts["ungraded"])
    assert found == (passed, failed, errors, 0), run.err


def test_a_suite_is_called_as_its_file_and_a_format_nearly_named_is_offered(
    tui_eval: Callable[..., Done], place: Place
) -> None:
    (place.folder / "rows.csv").write_text("question,answer\n1 + 1?,2\n")
    wrong = tui_eval("import", "cvs", "rows.csv", "-o", "mine.toml")
    assert (wrong.code, "did you mean csv?" in wrong.err) == (2, True)
    assert tui_eval("import", "csv", "rows.csv", "-o", "mine.toml").code == 0
    assert 'name = "mine"' in (place.folder / "mine.toml").read_text()


def test_prompts_without_a_label_have_short_names(
    tui_eval: Callable[..., Done], place: Place
) -> None:
    config = "prompts: ['Say {{ q }}', 'Tell me {{ q }}']\nproviders: [echo]\n"
    (place.folder / "p.yaml").write_text(config + "tests: [{vars: {q: hi}}]\n")
    assert tui_eval("import", "promptfoo", "p.yaml", "-o", "p.toml").code == 0
    text = (place.folder / "p.toml").read_text()
    assert 'name = "prompt-1"' in text
    assert 'name = "prompt-2"' in text


def test_an_imported_configuration_checks(tui_eval: Callable[..., Done], place: Place) -> None:
    config = DATA / "promptfoo" / "promptfooconfig.yaml"
    done = tui_eval("import", "promptfoo", str(config), "-o", "s.toml", "--json")
    document = json.loads(done.out)
    assert document["cases"] == 5
    assert any("javascript" in one["what"] for one in document["lost"])
    found = tui_eval("check", "s.toml", "--json")
    assert json.loads(found.out)[0]["valid"] is True, found.out
    again = tui_eval("import", "promptfoo", str(config), "-o", "s.toml")
    assert again.code == 2
    assert "s.toml, s.cases.jsonl: there already; nothing was written" in again.err
    assert tui_eval("import", "promptfoo", str(config), "-o", "s.toml", "--replace").code == 0


CAPITALS = """
name = "ours"
[prompt]
user = "The capital of {{ country }}?"
[[targets]]
kind = "simulated"
name = "ours"
answers = "{{ capital }}"
latency_s = 0
[[scorers]]
kind = "exact"
expected = "{{ capital }}"
[[cases]]
id = "fr"
country = "France"
capital = "Paris"
[[cases]]
id = "pe"
country = "Peru"
capital = "Lima"
[[cases]]
id = "it"
country = "Italy"
capital = "Rome"
"""


def test_results_of_another_tool_are_compared_with_a_run(
    tui_eval: Callable[..., Done], place: Place
) -> None:
    (place.folder / "ours.toml").write_text(CAPITALS)
    assert tui_eval("run", "ours.toml").code == 0
    results = str(DATA / "langfuse.json")
    before = {*place.folder.iterdir()}
    done = tui_eval("import", results, "--compare", "last", "--row", "gpt-5=ours", "--json")
    assert done.code == 0, done.err
    (row,) = json.loads(done.out)["rows"]
    assert (row["a"], row["b"], row["n"], row["only_b"]) == ("gpt-5", "ours", 2, 1)
    assert json.loads(done.out)["flips"][0]["case_id"] == "pe"
    assert "ended with an error" in done.err
    assert {*place.folder.iterdir()} == before
    unsaid = tui_eval("import", results, "--compare", "last")
    assert (unsaid.code, "as in --row X=Y" in unsaid.err) == (2, True)
    row_id = ("--row", "gpt-5=ours", "--id", "id")
    other = tui_eval("import", "langfuse", results, "--compare", "last", *row_id)
    assert (other.code, "--id COLUMN says which column" in other.err) == (2, True)
    kept = tui_eval("import", results, "--compare", "last", *row_id[:2], "-o", "k.toml")
    assert (kept.code, (place.folder / "k.toml").exists()) == (0, True)
    assert kept.out.startswith("langfuse.json → ours-")
    nothing = tui_eval("import", str(DATA / "legs.csv"), "--compare", "last")
    assert (nothing.code, "holds no outputs" in nothing.err) == (2, True)


def test_what_is_to_be_written_must_be_said(tui_eval: Callable[..., Done], place: Place) -> None:
    for words, said in (
        ((str(DATA / "legs.csv"),), "say which suite to write, with -o SUITE"),
        (("deepeval",), "name the file, too"),
        (("x.unknown", "-o", "x.toml"), "its format is not known by its name"),
        (("csv", "a", "b"), "name one format and one file"),
    ):
        done = tui_eval("import", *words)
        assert (done.code, said in done.err) == (2, True), done.err
