"""Suites over well-known datasets, read in place; skipped where they are not there."""

import os
from pathlib import Path

import pytest

from tests.suites.writing import TARGET
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.importers.formats import read
from tui_eval.suites.importers.writing import write
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.survey.template_check import survey
from tui_eval.suites.templates.renderer import Renderer

DATA = Path(os.environ.get("TUI_EVAL_DATA", Path(__file__).parents[2].parent / "shared" / "data"))
pytestmark = pytest.mark.skipif(
    not DATA.is_dir(), reason="the datasets are not there (TUI_EVAL_DATA, ../shared/data)"
)


def suite_over(folder: Path, name: str, rest: str) -> Path:
    path = folder / "suite.toml"
    path.write_text(f'[dataset]\npath = "{DATA / name}"\n{rest}')
    return path


@pytest.mark.parametrize(
    ("name", "count", "user", "dataset"),
    [
        ("gsm8k_test.jsonl", 1319, "{{ input }}", ""),
        ("mmlu_5subjects_x100.jsonl", 500, "{{ input }} {{ metadata.choices.3 }}", ""),
        ("bbh_3tasks.jsonl", 750, "{{ input }}", 'tags = "metadata.task"'),
        (
            "bbh_3tasks.jsonl",
            250,
            "{{ input }}",
            "filter = \"{{ metadata.task == 'boolean_expressions' }}\"",
        ),
        ("humaneval.jsonl", 164, "{{ input }}", ""),
        ("ifeval.jsonl", 541, "{{ input }}", 'tags = "metadata.instruction_id_list"'),
        ("truthfulqa.jsonl", 790, "{{ input }}", 'tags = "metadata.category"'),
        ("mtbench_questions.jsonl", 80, "{{ case.messages[0].content }}", ""),
        ("squality_human_ratings.jsonl", 150, "{{ input }} {{ case.output }}", ""),
        ("gsm8k_test.jsonl", 20, "{{ input }}", "sample = 50\nshuffle = true\nlimit = 20"),
    ],
)
def test_a_dataset_is_read_and_every_prompt_rendered(
    tmp_path: Path, name: str, count: int, user: str, dataset: str
) -> None:
    text = f"{dataset}\n[prompt]\nuser = '''{user}'''\n{TARGET}"
    found = survey(load(suite_over(tmp_path, name, text), trusted=True))
    assert found.cases == count
    assert found.troubles == ()
    assert found.input_tokens["simulated"] > count


@pytest.mark.parametrize("name", ["mmlu_5subjects_x100.jsonl", "mmlu_dev_5shot.jsonl"])
def test_a_choice_is_imported_with_its_options(tmp_path: Path, name: str) -> None:
    file = DATA / name
    written = write(read("jsonl", file), tmp_path / "suite.toml", file)
    assert not written.troubles
    suite = load(written.suite)
    renderer = Renderer(suite)
    case = next(cases(suite))
    (message,) = renderer.messages(renderer.columns[0], case)
    options = case.fields["options"]
    assert isinstance(options, dict)
    assert all(f"{label}) {text}\n" in str(message["content"]) for label, text in options.items())


def test_a_recording_in_the_dataset_is_taken_row_by_row(tmp_path: Path) -> None:
    name = "gsm8k_labelled_solutions.jsonl"
    rest = (
        "filter = \"{{ metadata.model == '6b_finetuning' }}\"\n"
        f'[[targets]]\nkind = "replay"\npath = "{DATA / name}"\n'
    )
    suite = load(suite_over(tmp_path, name, rest), trusted=True)
    said = [case.recorded["replay"]["output"] for case in cases(suite)]
    assert len(said) == 1319
    assert all(isinstance(text, str) and text for text in said)


def test_few_shot_examples_come_from_another_file(tmp_path: Path) -> None:
    rest = f"""
[prompt]
user = "{{{{ input }}}}"
[prompt.examples]
path = "{DATA / "gsm8k_fewshot16.jsonl"}"
n = 5
assistant = "{{{{ metadata.rationale }}}} The answer is {{{{ target }}}}."
{TARGET}"""
    suite = load(suite_over(tmp_path, "gsm8k_test.jsonl", rest), trusted=True)
    renderer = Renderer(suite)
    first = next(cases(suite))
    messages = renderer.messages(renderer.columns[0], first)
    assert [message["role"] for message in messages] == ["user", "assistant"] * 5 + ["user"]
    assert str(messages[1]["content"]).endswith("The answer is 72.")
