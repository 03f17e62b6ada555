"""Grades of people from a file: what they measure, and what they decide where they are applied."""

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command, Place
from tests.cli.conftest import document as told
from tui_eval.model.json import Json, JsonObject

JUDGED = """\
name = "judged"

[[targets]]
kind = "simulated"
name = "made-up"
answers = ["alpha beta", "nothing"]

[prompt]
user = "{{ q }}"

[[scorers]]
kind = "judge"
name = "good"
%s
[judge]
kind = "simulated"
name = "j"
%s
%s
"""
SCALE = 'rubric = "alpha beta gamma"\nscale = [1, 5]\nreference = "alpha beta"\n'
PARTS = 'requirements = ["alpha", "beta"]\n'


def judged(place: Place, scorer: str, n: int = 6, more: str = "") -> str:
    """Run a suite that a simulated judge grades; give its file."""
    cases = "\n".join(f'[[cases]]\nid = "c{i}"\nq = "{i}?"\nanswer = "a"' for i in range(n))
    (place.folder / "judged.toml").write_text(JUDGED % (scorer, more, cases))
    return "judged.toml"


def grades(place: Place, *rows: JsonObject, name: str = "grades.jsonl") -> str:
    (place.folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(place.folder / name)


@pytest.fixture
def ran(place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch) -> Place:
    """Give a place with a run of six outputs on a scale from 1 to 5."""
    monkeypatch.setenv("TUI_EVAL_STATE", str(place.folder / "state.json"))
    assert "6 outputs" in tui_eval("run", judged(place, SCALE)).out
    return place


def test_a_file_is_taken_once_and_decides_nothing(ran: Place, tui_eval: Command) -> None:
    before = told(tui_eval("show", "last", "--json"))
    rows: list[JsonObject] = [
        {"case_id": "c0", "target": "made-up", "epoch": 0, "grade": 4, "by": "anna", "note": "ok"},
        {"case_id": "c1", "grade": "fail"},
        {"case_id": "c2", "grade": "cannot tell"},
    ]
    file = grades(ran, *rows)
    done = tui_eval("grade", "last", "--from", file, "--as", "ben")
    assert done.code == 0
    assert "3 grades taken (1 by anna, 2 by ben)" in done.out
    again = told(tui_eval("grade", "last", "--from", file, "--json"))  # ben is remembered
    assert (again["grades"], again["new"]) == (3, 0)
    assert again["people"] == {"anna": 1, "ben": 2}
    after = told(tui_eval("show", "last", "--json"))
    assert {**after, "targets": None} == {**before, "targets": None}
    column = told(tui_eval("agreement", "last", "--json"))["scorers"]["good"]["columns"]["made-up"]
    assert (column["n"], column["cannot_tell"]) == (2, 1)
    assert "too few to say (under 30)" in tui_eval("agreement", "last").out


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"case_id": "c9", "grade": 3}, 'case_id "c9" is no case of the run (there are c0, c1'),
        ({"grade": 3}, "case_id is missing"),
        ({"case_id": "c1", "grade": 9}, "grade must be a number from 1 to 5, not 9"),
        ({"case_id": "c1", "grade": [True]}, "grade must be a number from 1 to 5, or pass or fail"),
        ({"case_id": "c1"}, "grade is missing"),
        ({"case_id": "c1", "grade": 3, "epoch": 1}, "epoch must be one of 0"),
        ({"case_id": "c1", "grade": 3, "target": "made_up"}, 'target "made_up" is no target'),
        ({"case_id": "c1", "grade": 3, "scorer": "god"}, 'scorer "god" does not score this case'),
        ({"case_id": "c1", "grade": 3, "by": 7}, "by must be a text"),
        ({"case_id": "c0", "grade": 2}, "case_id is graded by ben in line 1 already"),
    ],
)
def test_a_wrong_line_is_named_and_nothing_of_the_file_is_taken(
    ran: Place, tui_eval: Command, row: JsonObject, said: str
) -> None:
    file = grades(ran, {"case_id": "c0", "grade": 3}, row)
    done = tui_eval("grade", "last", "--from", file, "--as", "ben")
    assert done.code == 2
    assert f"grades.jsonl, line 2: {said}" in done.err
    assert "nothing of the file was taken" in done.err
    assert "nobody has graded" in tui_eval("agreement", "last").out


def test_what_is_no_json_and_an_empty_file_are_refused(ran: Place, tui_eval: Command) -> None:
    file = Path(grades(ran, {"case_id": "c0", "grade": 3}))
    file.write_bytes(file.read_bytes() + b'{"case_id": \xff}\n\n[1]\n{"case_id": NaN}\n')
    done = tui_eval("grade", "last", "--from", str(file))
    assert "line 2: the line is no UTF-8 text" in done.err
    assert "line 4: the line must be a JSON object" in done.err
    assert "line 5: the line is no JSON" in done.err
    file.write_text("\n")
    assert "has no grades" in tui_eval("grade", "last", "--from", str(file)).err


def test_applied_they_are_verdicts_that_undo_takes_back(ran: Place, tui_eval: Command) -> None:
    before = told(tui_eval("show", "last", "--json"))
    failing: list[JsonObject] = [{"case_id": f"c{i}", "grade": 1, "by": "anna"} for i in range(6)]
    file = grades(ran, *failing)
    done = tui_eval("grade", "last", "--from", file, "--apply")
    assert "verdicts by hand accepted: 6 trials" in done.out
    after = told(tui_eval("show", "last", "--json"))
    target = after["targets"]["made-up"]
    assert (target["pass_rate"], target["by_hand"]) == (0.0, 6)
    assert after["counts"]["failed"] == 6
    assert "6 verdicts by hand" in tui_eval("show", "last").out
    assert "already" in tui_eval("grade", "last", "--from", file, "--apply").out
    assert tui_eval("rescore", "last").code in (0, 3)
    assert told(tui_eval("show", "last", "--json"))["counts"]["failed"] == 6
    while "nothing was cancelled" not in (undone := tui_eval("undo", "last")).err:
        assert undone.code == 0
    assert told(tui_eval("show", "last", "--json"))["counts"] == before["counts"]


@pytest.mark.parametrize(
    ("grade", "passed", "value"),
    [([True, True], 1, 1.0), ([True, False], 0, 0.5), ("pass", 1, 1.0), ("fail", 0, 0.0)],
)
def test_requirements_are_graded_one_by_one(
    place: Place, tui_eval: Command, grade: Json, passed: int, value: float
) -> None:
    tui_eval("run", judged(place, PARTS, 1))
    file = grades(place, {"case_id": "c0", "grade": grade, "by": "anna", "note": "see \x1b[31m"})
    assert tui_eval("grade", "last", "--from", file, "--apply").code == 0
    shown = told(tui_eval("show", "last", "--case", "c0", "--json"))
    (score,) = shown["trials"][0]["scores"]
    assert (score["source"], score["value"]) == ("human", value)
    assert shown["counts"]["passed"] == passed
    assert "\x1b" not in tui_eval("show", "last", "--case", "c0").out
    wrong = grades(place, {"case_id": "c0", "grade": [True]}, name="short.jsonl")
    assert "has 1 items for 2 requirements" in tui_eval("grade", "last", "--from", wrong).err


def test_without_a_terminal_it_says_how(ran: Place, tui_eval: Command) -> None:
    done = tui_eval("grade", "last")
    assert done.code == 2
    assert "needs a terminal" in done.err
    assert "--from FILE" in done.err
    assert "did you mean" in tui_eval("grade", "last", "--scorer", "god").err
    assert "did you mean" in tui_eval("agreement", "last", "--scorer", "god").err
