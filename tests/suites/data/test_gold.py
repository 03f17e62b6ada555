from pathlib import Path

import pytest

from tests.suites.writing import TARGET, loaded, told, write
from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.gold import Gold, gold

CASES = "[[cases]]\nid = 1\n"
JUDGE = '[judge]\nprovider = "ollama"\nmodel = "m"\ngold = "gold.jsonl"\n'
SCALE = '[[scorers]]\nkind = "judge"\nname = "clear"\nrubric = "Is it clear?"\nscale = [1, 5]\n'
MET = '[[scorers]]\nkind = "judge"\nname = "met"\nrequirements = ["Is short", "Is polite"]\n'
LINES = (
    '[[scorers]]\nkind = "judge"\nname = "lines"\nscale = [0, 10]\n'
    'criteria = [{ name = "a", text = "b" }]\n'
)
PASS = '[[scorers]]\nkind = "judge"\nname = "ok"\nrubric = "x"\nscale = "pass-fail"\n'


def row(grade: Json, **more: Json) -> JsonObject:
    return {"input": "Why?", "output": "Because.", "grade": grade, **more}


def read(folder: Path, scorers: str, *rows: JsonObject) -> tuple[Gold, ...]:
    text = CASES + TARGET + JUDGE + scorers
    return gold(loaded(folder, text, gold_jsonl=list(rows)), "judge")


def refused(folder: Path, scorers: str, *rows: JsonObject) -> list[str]:
    return told(write(folder, CASES + TARGET + JUDGE + scorers, gold_jsonl=list(rows)))


def test_a_row_is_a_case_for_templates_that_does_not_know_its_grade(tmp_path: Path) -> None:
    (one,) = read(tmp_path, SCALE, row(4, country="France", scorer="clear"))
    assert (one.scorer, one.input, one.output) == ("clear", "Why?", "Because.")
    assert (one.score, one.passed, one.parts) == (4.0, None, None)
    assert one.case.fields == {"input": "Why?", "output": "Because.", "country": "France"}


@pytest.mark.parametrize(
    ("scorers", "grade", "expected"),
    [
        (SCALE, 2.5, (2.5, None, None)),
        (SCALE, "pass", (None, True, None)),
        (SCALE, False, (None, False, None)),
        (MET, [True, False], (None, None, (1.0, 0.0))),
        (MET, "Fail", (None, False, None)),
        (LINES, [7], (None, None, (7.0,))),
        (PASS, "pass", (None, True, None)),
        (PASS, 0, (None, False, None)),
        (PASS, True, (None, True, None)),
    ],
)
def test_a_grade_is_a_score_a_verdict_or_one_for_each_line(
    tmp_path: Path, scorers: str, grade: Json, expected: tuple[object, object, object]
) -> None:
    (one,) = read(tmp_path, scorers, row(grade))
    assert (one.score, one.passed, one.parts) == expected


def test_rows_may_stand_in_the_suite_and_a_frozen_suite_has_them(tmp_path: Path) -> None:
    own = 'gold = [{ input = "Why?", output = "Because.", grade = 4 }]'
    text = CASES + TARGET + JUDGE.replace('gold = "gold.jsonl"', own) + SCALE
    suite = loaded(tmp_path, text)
    again = type(suite).model_validate_json(suite.model_dump_json())
    assert gold(again, "judge") == gold(suite, "judge")
    assert [one.score for one in gold(suite, "judge")] == [4.0]
    wrong = write(tmp_path, text.replace("grade = 4", "grade = 9"))
    assert told(wrong) == [
        "suite.toml, line 9: judge.gold[0].grade: must be a number from 1 to 5, not 9"
    ]


def test_a_judge_without_gold_or_scorers_is_held_against_nothing(tmp_path: Path) -> None:
    text = CASES + TARGET + JUDGE.replace('gold = "gold.jsonl"\n', "") + SCALE
    assert gold(loaded(tmp_path, text), "judge") == ()
    assert read(tmp_path, "", row(4)) == ()


@pytest.mark.parametrize(
    ("scorers", "given", "expected"),
    [
        (SCALE, {"output": "x", "grade": 3}, "input: is missing: what was asked"),
        (SCALE, {"input": "x", "grade": 3}, "output: must be a text that is not empty"),
        (SCALE, row(3, output=" "), "output: must be a text that is not empty"),
        (SCALE, row(3, output=3), "output: must be a text that is not empty"),
        (
            SCALE,
            {"input": "x", "output": "y"},
            "grade: is missing: what a person said of the output",
        ),
        (SCALE, row(6), "grade: must be a number from 1 to 5, not 6"),
        (SCALE, row("4"), "grade: must be a number from 1 to 5, or pass or fail"),
        (SCALE, row(None), "grade: must be a number from 1 to 5, or pass or fail"),
        (
            MET,
            row([True]),
            "grade: has 1 items for 2 requirements",
        ),
        (MET, row([True, 1]), "grade: item 2 must be true or false"),
        (MET, row(1), "grade: must be a list with true or false for each of the requirements"),
        (LINES, row([11]), "grade: item 1 must be a number from 0 to 10"),
        (LINES, row([True]), "grade: item 1 must be a number from 0 to 10"),
        (PASS, row(0.5), 'grade: must be "pass" or "fail"'),
        (
            SCALE + PASS,
            row(3),
            "scorer: is missing: several scorers ask this judge; there are clear, ok",
        ),
        (
            SCALE + PASS,
            row(3, scorer="cler"),
            'scorer: no scorer "cler" asks this judge; did you mean "clear"?',
        ),
    ],
)
def test_what_is_wrong_with_a_row_is_told_with_its_line(
    tmp_path: Path, scorers: str, given: JsonObject, expected: str
) -> None:
    good = row("pass", scorer="clear" if scorers == SCALE + PASS else None)
    good = {name: value for name, value in good.items() if value is not None}
    assert refused(tmp_path, scorers, good, given) == [f"gold.jsonl, line 2: {expected}"]


def test_a_row_of_several_scorers_is_held_against_its_own(tmp_path: Path) -> None:
    assert refused(tmp_path, SCALE + PASS, row(3, scorer="ok")) == [
        'gold.jsonl, line 1: grade: must be "pass" or "fail"'
    ]
    found = read(tmp_path, SCALE + PASS, row(3, scorer="clear"), row("pass", scorer="ok"))
    assert [one.scorer for one in found] == ["clear", "ok"]


def test_a_file_that_is_not_there_or_holds_nothing_is_told(tmp_path: Path) -> None:
    assert refused(tmp_path, SCALE) == [
        'suite.toml, line 9: judge.gold: "gold.jsonl" holds no graded output'
    ]
    (tmp_path / "gold.jsonl").unlink()
    path = tmp_path / "suite.toml"
    assert told(path) == ['suite.toml, line 9: judge.gold: no such file "gold.jsonl"']
    path.write_text(path.read_text().replace("gold.jsonl", "gold.txt"))
    (tmp_path / "gold.txt").write_text("x")
    assert told(path) == [
        (
            'suite.toml, line 9: judge.gold: "gold.txt" has an unknown format; '
            "use .jsonl, .json, .csv, .tsv (also .gz or .zst of these) or .parquet"
        )
    ]


def test_no_more_than_twenty_mistakes_of_a_file_are_told(tmp_path: Path) -> None:
    assert len(refused(tmp_path, SCALE, *[row(9)] * 30)) == 20


@pytest.mark.parametrize("scorer", [PASS, MET])
def test_ranks_are_asked_only_of_grades_that_have_an_order(tmp_path: Path, scorer: str) -> None:
    (mistake,) = refused(tmp_path, scorer.replace("[[", "min_spearman = 0.8\n[[", 1), row("pass"))
    line = (CASES + TARGET + JUDGE).count("\n") + 1
    assert mistake == (
        f"suite.toml, line {line}: judge.min_spearman: orders grades of a scale, and no scorer "
        "with one asks this judge; use min_agreement"
    )


@pytest.mark.parametrize("scorer", [SCALE, LINES])
def test_ranks_may_be_asked_of_scales_and_criteria(tmp_path: Path, scorer: str) -> None:
    assert read(tmp_path, scorer.replace("[[", "min_spearman = 0.8\n[[", 1), row("pass"))
