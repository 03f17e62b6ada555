import pytest

from tui_eval.model.grade_words import grade_words
from tui_eval.model.json import Json
from tui_eval.suites.data.grade_forms import GradeQuestion
from tui_eval.ui.grade.grade_entry import GradeEntry

VERDICT = GradeQuestion("s", "pass-fail")
SHORT = GradeQuestion("s", "scale", 1, 5)
LONG = GradeQuestion("s", "scale", 0, 100)
SHARE = GradeQuestion("s", "scale", 0, 1)
MET = GradeQuestion("s", "requirements", count=3)
LINES = GradeQuestion("s", "criteria", 0, 10, 2)


def typed(entry: GradeEntry, keys: str) -> Json:
    """Press keys; `\\n` ends a number. Give what the last one made."""
    given: Json = None
    for key in keys:
        given = entry.enter() if key == "\n" else entry.press(key)
    return given


@pytest.mark.parametrize(
    ("question", "lines", "keys", "given"),
    [
        (SHORT, (), "4", 4),
        (LONG, (), "75\n", 75),
        (LONG, (), "7.5\n", 7.5),
        (SHARE, (), ".5\n", 0.5),
        (SHARE, (), "1\n", 1),
        (MET, "abc", "1223", None),
        (MET, "abc", "1223\n", [True, False, True]),
        (LINES, "ab", "7\n10\n", [7, 10]),
    ],
)
def test_keys_make_a_grade(question: GradeQuestion, lines: str, keys: str, given: Json) -> None:
    assert typed(GradeEntry(question, lines), keys) == given


@pytest.mark.parametrize(
    ("question", "lines", "keys", "problem"),
    [
        (SHORT, (), "9", "must be a number from 1 to 5, not 9"),
        (LONG, (), "101\n", "must be a number from 0 to 100, not 101"),
        (LONG, (), "\n", "a number from 0 to 100, pass or fail is asked"),
        (LONG, (), "1-\n", "a number from 0 to 100, pass or fail is asked"),
        (VERDICT, (), "1", "pass or fail is asked here"),
        (MET, "abc", "4", "there are 3 requirements"),
        (MET, "abc", "1\n", "2 of 3 requirements are left"),
        (LINES, "ab", "11\n", "must be a number from 0 to 10, not 11"),
    ],
)
def test_what_makes_none_says_why(
    question: GradeQuestion, lines: str, keys: str, problem: str
) -> None:
    entry = GradeEntry(question, lines)
    assert typed(entry, keys) is None
    assert (entry.problem or "").startswith(problem)


def test_a_verdict_is_one_key_and_of_requirements_that_of_those_left() -> None:
    assert GradeEntry(SHORT, ()).verdict(True) == "pass"
    assert GradeEntry(LINES, "ab").verdict(False) == "fail"
    entry = GradeEntry(MET, "abc")
    entry.press("2")
    entry.press("2")
    assert entry.verdict(True) == [True, False, True]
    assert GradeEntry(MET, "abc").verdict(False) == [False, False, False]


def test_keys_are_erased_one_by_one_then_nothing_is_left() -> None:
    entry = GradeEntry(LINES, "ab")
    typed(entry, "7\n1")
    assert [entry.erase() for _ in range(3)] == [True, True, False]
    met = GradeEntry(MET, "abc")
    met.press("1")
    assert [met.erase(), met.begun, met.erase()] == [True, False, False]


def test_grades_read_as_words() -> None:
    assert grade_words(None) == "cannot tell"
    assert grade_words([True, False]) == "1 met, 2 not met"
    assert grade_words([7, 2.5]) == "1 7, 2 2.5"
    assert (grade_words("pass"), grade_words(75)) == ("pass", "75")
