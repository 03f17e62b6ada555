"""The suites of recipes, over made-up rows of each dataset's columns, and over real ones."""

import json
import os
import tomllib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.scoring.making import subject
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.states import Verdict
from tui_eval.scoring.grading import grade
from tui_eval.scoring.scorers import Scorers
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.recipes.recipe_book import (
    NEEDS,
    Recipe,
    RecipeError,
    form_of,
    recipes,
    suite_text,
)
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey.template_check import survey
from tui_eval.suites.templates.renderer import Renderer, columns

DATA = Path(os.environ.get("TUI_EVAL_DATA", Path(__file__).parents[3].parent / "shared" / "data"))

OPTIONS: list[Any] = ["a rock", "a tree", "a star", "a fish"]
ROWS: dict[str, Sequence[JsonObject]] = {
    "gsm8k": (
        {"question": "2 + 1,000?", "answer": "It is <<2+1000=1002>>1002.\n#### 1,002"},
        {"input": "2 + 1,000?", "target": "1,002", "metadata": {"rationale": "It is so."}},
    ),
    "mmlu": (
        {"question": "What burns?", "choices": OPTIONS, "answer": 2, "subject": "high_school"},
        {"input": "What burns?", "target": "C",
         "metadata": {"subject": "high_school", "choices": OPTIONS}},
    ),
    "mmlu-pro": (
        {"question_id": 1, "question": "What burns?", "options": OPTIONS, "answer": "C",
         "answer_index": 2, "category": "physics", "src": "x",
         "cot_content": "A: Let's think step by step. Stars do. The answer is (C)."},
    ),
    "arc": (
        {"id": "q1", "question": "What burns?", "answerKey": "3",
         "choices": {"text": OPTIONS, "label": ["1", "2", "3", "4"]}},
    ),
    "hellaswag": (
        {"ind": 4, "activity_label": "Looking up", "ctx_a": "Up there", "ctx_b": "is",
         "ctx": "Up there is", "endings": OPTIONS, "source_id": "x", "split": "val", "label": "2"},
    ),
    "truthfulqa": (
        {"type": "t", "category": "Stars", "question": "Do stars burn?", "best_answer": "No",
         "correct_answers": ["No", "They fuse"], "incorrect_answers": ["Yes"], "source": "x"},
        {"input": "Do stars burn?",
         "metadata": {"category": "Stars", "correct": ["No"], "incorrect": ["Yes"]}},
    ),
    "bbh": (
        {"input": "not True is", "target": "False"},
        {"input": "not True is", "target": "False", "metadata": {"task": "boolean"}},
    ),
    "gpqa": (
        {"Question": "What burns?", "Correct Answer": "a star", "Incorrect Answer 1": "a tree",
         "Incorrect Answer 2": "a rock", "Incorrect Answer 3": "a fish",
         "High-level domain": "Physics", "Subdomain": "Stars"},
    ),
    "math": (
        {"problem": "Halve $1$.", "solution": "So.", "answer": "\\frac{1}{2}",
         "subject": "Algebra", "level": 1, "unique_id": "test/1.json"},
    ),
    "aime": (
        {"id": 60, "problem": "Nine times nine?", "solution": "So.", "answer": "081"},
    ),
    "humaneval": (
        {"task_id": "T/0", "prompt": 'def one() -> int:\n    """Return 1."""\n', "test": "x",
         "canonical_solution": "    return 1\n", "entry_point": "one"},
        {"input": "def one() -> int:\n", "metadata": {"test": "x", "entry_point": "one"}},
    ),
    "mbpp": (
        {"task_id": 3, "text": "Give one.", "code": "one = lambda: 1", "test_setup_code": "",
         "test_list": ["assert one() == 1"], "challenge_test_list": []},
    ),
    "ifeval": (
        {"key": 1, "prompt": "Say hi, without commas.",
         "instruction_id_list": ["punctuation:no_comma"], "kwargs": [{"num_words": None}]},
        {"input": "Say hi, without commas.",
         "metadata": {"instruction_id_list": ["punctuation:no_comma"], "kwargs": [{}]}},
    ),
    "mt-bench": (
        {"prompt_id": 81, "category": "writing", "prompt": ["Write.", "Again."], "reference": []},
        {"messages": [{"role": "user", "content": "Write."}, {"role": "user", "content": "Again."}],
         "metadata": {"category": "writing"}},
    ),
    "squad": (
        {"id": "s1", "title": "Stars", "context": "A star burns.", "question": "What burns?",
         "answers": {"text": ["A star", "star"], "answer_start": [0, 2]}},
    ),
    "bfcl": (
        {"id": "simple_python_0", "question": [[{"role": "user", "content": "Area of 3 by 4?"}]],
         "function": [{"name": "area", "parameters": {"type": "dict"}}],
         "ground_truth": [{"area": {"width": [3, 3.0], "height": [4], "unit": ["cm", ""],
                                    "doors": [[{"at": ["left", "west"], "open": [True, ""]}]]}}]},
    ),
    "swe-bench-verified": (
        {"instance_id": "a__b-1", "repo": "a/b", "base_commit": "0" * 40,
         "problem_statement": "It breaks."},
    ),
}  # fmt: skip
"""A made-up row in each form of a recipe's data, with the columns of the dataset."""

SAID: dict[str, tuple[str, str]] = {
    "gsm8k": ("So they make $1,002.", "So it is 1002 minus 2, which is 1000."),
    "mmlu": ("C", "The answer is B."),
    "mmlu-pro": (
        "So the answer is (C).\nQuestion: …\nthe answer is (A).",
        "The answer is B. The answer is C.",
    ),
    "arc": ("Stars do. The best answer is C.", "D. a fish"),
    "hellaswag": ("C", "A"),
    "bbh": ("Well. So the answer is **False**.", "So the answer is True."),
    "gpqa": ("… The answer is (C)", "The answer is (A)"),
    "math": ("It is $\\boxed{0.5}$.", "\\boxed{2}"),
    "aime": ("\\boxed{81}", "\\boxed{82}"),
    "ifeval": ("Hi there", "Hi, there"),
    "squad": ("the star.", "a star that burns"),
    "bfcl": (
        'A:\n[{"name": "area", "arguments": {"height": 4, "width": 3, "doors": [{"at": "left"}]}}]',
        '[{"name": "area", "arguments": {"height": 3, "width": 4, "doors": [{"at": "left"}]}}]',
    ),
}
"""What passes and what fails, of recipes whose scorers need nobody and run nothing."""


@pytest.fixture(params=[*recipes()])
def recipe(request: pytest.FixtureRequest) -> Recipe:
    return recipes()[request.param]


def suite_over(folder: Path, of: Recipe, rows: Sequence[JsonObject]) -> Suite:
    (folder / "repos" / "a__b.git").mkdir(parents=True, exist_ok=True)
    (folder / "repos" / "a__b.git" / "HEAD").touch()
    (folder / "rows.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    path = folder / f"{of.name}.toml"
    path.write_text(suite_text(of, "rows.jsonl", rows[0]), "utf-8")
    return load(path, trusted=True)


def verdict(scorers: Scorers, fields: JsonObject, said: str) -> Verdict:
    """Grade a text by the first scorer of a suite."""
    output = Output(said)
    checks = scorers.checks(subject(fields, output))
    assert not isinstance(checks, Failure), checks
    found = grade(checks[0], output).verdict
    assert found is not None
    return found


def test_the_suite_is_right_and_every_template_renders(recipe: Recipe, tmp_path: Path) -> None:
    assert len(ROWS[recipe.name]) == len(recipe.columns)
    for row, form in zip(ROWS[recipe.name], recipe.columns, strict=True):
        assert form_of(recipe, row) == form
        found = survey(suite_over(tmp_path, recipe, [row]))
        assert (found.cases, found.troubles) == (1, ())


def test_the_suite_of_the_hub_is_right_as_it_is(recipe: Recipe, tmp_path: Path) -> None:
    if recipe.data is None:
        with pytest.raises(RecipeError, match="give --data FILE"):
            suite_text(recipe)
        return
    (tmp_path / "repos").mkdir()
    (tmp_path / "suite.toml").write_text(suite_text(recipe), "utf-8")
    assert load(tmp_path / "suite.toml", trusted=True).dataset.hub == recipe.data


def test_the_text_names_source_licence_and_needs(recipe: Recipe) -> None:
    text = suite_text(recipe, "rows.jsonl")
    assert recipe.source in text
    assert f"licence: {recipe.licence}" in text
    assert ("Tried against" if recipe.tried else "Not tried against published results") in text
    assert all(NEEDS[one] in text for one in recipe.needs)
    assert "%" not in text.replace("%}", "").replace("{%", "")
    assert recipe.cases > 0


def test_examples_stand_before_the_question(tmp_path: Path) -> None:
    for recipe in recipes().values():
        rows = ROWS[recipe.name]
        if not recipe.takes_examples:
            with pytest.raises(RecipeError, match="takes no examples"):
                suite_text(recipe, "rows.jsonl", rows[0], "examples.jsonl")
            continue
        for row in rows:
            shown = tmp_path / "examples.jsonl"
            shown.write_text(json.dumps(row | {"id": "e"}) + "\n")
            suite_over(tmp_path, recipe, [row])
            text = suite_text(recipe, "rows.jsonl", row, "examples.jsonl")
            (tmp_path / "suite.toml").write_text(text)
            suite = load(tmp_path / "suite.toml", trusted=True)
            assert survey(suite).troubles == ()
            assert suite.prompts[0].examples is not None


EXAMPLES: dict[str, tuple[str, Sequence[JsonObject], list[str]]] = {
    "mmlu-pro": (
        "question",
        [
            {"category": "physics", "cot_content": "A: Let's think step by step. It is (A)."},
            {"category": "law", "cot_content": "A: Let's think step by step. It is (B)."},
            {"category": "physics", "cot_content": "It is (C)."},
        ],
        ["It is (A).", "It is (C)."],
    ),
    "mbpp": (
        "text",
        [{"task_id": number, "code": f"x = {number}"} for number in (1, 2, 3, 4, 5)],
        [f"```python\nx = {number}\n```" for number in (2, 3, 4)],
    ),
    "bbh": (
        "input",
        [
            {"target": "So the answer is True.", "metadata": {"task": "boolean"}},
            {"target": "So the answer is (A).", "metadata": {"task": "dates"}},
        ],
        ["So the answer is True."],
    ),
}
"""The column of the question, what rows of examples have in place of a case's, and the replies
that are shown of them."""


@pytest.mark.parametrize("name", [*EXAMPLES])
def test_the_examples_are_those_that_the_benchmark_shows(name: str, tmp_path: Path) -> None:
    recipe, row = recipes()[name], ROWS[name][-1]
    question, given, replies = EXAMPLES[name]
    suite_over(tmp_path, recipe, [row])
    shown = "".join(
        json.dumps(row | {question: f"Question {number}"} | own) + "\n"
        for number, own in enumerate(given)
    )
    (tmp_path / "examples.jsonl").write_text(shown)
    (tmp_path / "suite.toml").write_text(suite_text(recipe, "rows.jsonl", row, "examples.jsonl"))
    suite = load(tmp_path / "suite.toml", trusted=True)
    messages = Renderer(suite).messages(columns(suite)[0], next(cases(suite)))
    assert [one["content"] for one in messages if one["role"] == "assistant"] == replies
    questions = [one["content"] for one in messages if one["role"] == "user"]
    assert len(questions) == len(replies) + 1


def test_other_columns_are_told_with_those_that_are_needed() -> None:
    with pytest.raises(RecipeError) as caught:
        form_of(recipes()["arc"], {"question": "x", "options": []})
    assert str(caught.value).startswith(
        "arc is written for the columns answerKey, choices.label, choices.text, question; "
        "there are question, options: rename them"
    )


def test_columns_of_a_file_forge_no_line() -> None:
    with pytest.raises(RecipeError) as caught:
        form_of(recipes()["arc"], {"\x1b[31mred\nerror: forged": 1})
    assert str(caught.value).isprintable()


def test_a_path_is_quoted(tmp_path: Path) -> None:
    name = 'a "b" \\ é.jsonl'
    text = suite_text(recipes()["aime"], name, ROWS["aime"][0])
    assert tomllib.loads(text)["dataset"]["path"] == name


@pytest.mark.parametrize("name", [*SAID])
def test_a_right_answer_passes_and_a_wrong_one_fails(name: str, tmp_path: Path) -> None:
    passes, fails = SAID[name]
    for row in ROWS[name]:
        scorers = Scorers(suite_over(tmp_path, recipes()[name], [row]).scorers)
        assert verdict(scorers, row, passes) is Verdict.PASS
        assert verdict(scorers, row, fails) is Verdict.FAIL


@pytest.mark.skipif(not DATA.is_dir(), reason="the datasets are not there (TUI_EVAL_DATA)")
def test_the_verdicts_of_labelled_solutions_are_their_labels(tmp_path: Path) -> None:
    recipe = recipes()["gsm8k"]
    rows = [json.loads(line) for line in
            (DATA / "gsm8k_labelled_solutions.jsonl").read_text("utf-8").splitlines()]  # fmt: skip
    scorers = Scorers(suite_over(tmp_path, recipe, rows[:1]).scorers)
    right: Counter[str] = Counter()
    for row in rows:
        passed = verdict(scorers, row, row["output"]) is Verdict.PASS
        assert passed == row["metadata"]["is_correct"], row["id"]
        right[row["metadata"]["model"]] += passed
    assert right == {"6b_finetuning": 286, "175b_verification": 742}
