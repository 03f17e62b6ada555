"""What a program says of an output, read as a grade."""

import json

import pytest

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import Verdict
from tui_eval.scoring.check import Check
from tui_eval.scoring.program_reply import NoReplyError, grade_of_reply, reply_in, reply_of_pytest

PASS, FAIL, UNGRADED = Verdict.PASS, Verdict.FAIL, Verdict.UNGRADED


def check(**settings: Json) -> Check:
    given: JsonObject = {**settings}
    return Check("command", "command", given, negate=settings.get("not") is True)


@pytest.mark.parametrize(
    ("reply", "settings", "verdict", "value"),
    [
        (1, {}, PASS, 1.0),
        (0, {}, FAIL, 0.0),
        (0.5, {}, FAIL, 0.5),
        (0.5, {"threshold": 0.5}, PASS, 0.5),
        ({"value": 0.25}, {"threshold": 0.2}, PASS, 0.25),
        ({"verdict": "pass"}, {}, PASS, 1.0),
        ({"verdict": "fail"}, {}, FAIL, 0.0),
        ({"verdict": "pass", "value": 0.1}, {"threshold": 0.9}, PASS, 0.1),
        ({"verdict": "ungraded", "value": 0.1}, {}, UNGRADED, None),
        ({"value": 1, "verdict": None, "reason": None, "parts": None}, {}, PASS, 1.0),
        ({"reward": 0.5, "speed": 12.5}, {"threshold": 0.5}, PASS, 0.5),
        ({"accuracy": 1.0}, {}, PASS, 1.0),
        ({"verdict": "pass"}, {"not": True}, FAIL, 0.0),
        ({"verdict": "ungraded"}, {"not": True}, UNGRADED, None),
    ],
)
def test_a_reply_is_a_grade(
    reply: Json, settings: JsonObject, verdict: Verdict, value: float | None
) -> None:
    found = grade_of_reply(check(**settings), reply)
    assert (found.verdict, found.value) == (verdict, value)
    assert found.reason


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (True, "no number"),
        ("1", "no number"),
        (None, "no number"),
        ([1], "no number"),
        (-0.1, "from 0 to 1"),
        (1.1, "from 0 to 1"),
        (float("nan"), "no figure"),
        (10**400, "no figure"),
        ({}, "neither value nor verdict"),
        ({"score": "1"}, "neither value nor verdict, but score"),
        ({"a": 1, "b": 0}, "neither value nor verdict, but a, b"),
        ({"value": "1"}, "value is no number"),
        ({"value": 1, "verdict": "passed"}, "must be one of pass, fail, ungraded"),
        ({"value": 1, "verdict": True}, "must be one of"),
        ({"value": 1, "reason": 3}, "its reason is no text"),
        ({"value": 1, "parts": [1]}, "no table"),
        ({"value": 1, "parts": {"x": float("inf")}}, "part x is inf"),
        ({"value": 1, "parts": {"x": True}}, "part x is no number"),
    ],
)
def test_what_is_no_reply_says_why(reply: Json, why: str) -> None:
    with pytest.raises(NoReplyError, match=why):
        grade_of_reply(check(), reply)


def test_a_reply_keeps_its_parts_and_shows_no_controls() -> None:
    found = grade_of_reply(
        check(), {"value": 0.5, "reason": "a\n\x1b[31mb", "parts": {"first": 1, "second": 0}}
    )
    assert found.raw == {"parts": {"first": 1.0, "second": 0.0}}
    assert "\n" not in found.reason
    assert "\x1b" not in found.reason


@pytest.mark.parametrize(
    ("said", "reply"),
    [
        ("1", 1),
        (" 0.5\n", 0.5),
        (json.dumps({"value": 1}, indent=2), {"value": 1}),
        ('tests ran\n{"value": 1}\nbye', {"value": 1}),
        ("loading\n0.5\n", 0.5),
        ('{"note": 1.5, "of": {}}\n{"verdict": "fail"}', {"verdict": "fail"}),
    ],
)
def test_the_reply_is_all_or_one_line_of_what_is_printed(said: str, reply: Json) -> None:
    assert reply_in(said) == reply


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("", "no reply"),
        (" \n", "no reply"),
        ("all good", "no number and no JSON: its last line is"),
        ('1\n{"value": 0}', "2 replies"),  # which one was the output's own word?
        ("0\n1", "2 replies"),
        ("[" * 100_000, "no number and no JSON"),
    ],
)
def test_what_has_no_reply_or_several_says_so(said: str, why: str) -> None:
    with pytest.raises(NoReplyError, match=why):
        reply_in(said)


RAN = """
PASSED forged::before
=========================== short test summary info ============================
PASSED tests/test_a.py::test_a
{}
============================== 2 in 0.01s ==============================
"""


@pytest.mark.parametrize(
    ("word", "verdict", "value"),
    [("PASSED", PASS, 1.0), ("FAILED", FAIL, 0.5), ("ERROR", FAIL, 0.5)],
)
def test_a_summary_of_pytest_passes_where_all_tests_do(
    word: str, verdict: Verdict, value: float
) -> None:
    line = f"{word} tests/test_a.py::test_b[x y]" + (" - assert 1 - 1" if verdict is FAIL else "")
    found = grade_of_reply(check(), reply_of_pytest(RAN.format(line)))
    assert (found.verdict, found.value) == (verdict, value)
    assert found.raw == {
        "parts": {
            "tests/test_a.py::test_a": 1.0,
            "tests/test_a.py::test_b[x y]": float(word == "PASSED"),
        }
    }
    assert ("test_b[x y]" in found.reason) is (verdict is FAIL)


@pytest.mark.parametrize("words", [("FAILED", "PASSED"), ("ERROR", "PASSED"), ("PASSED", "FAILED")])
def test_a_name_that_comes_twice_passes_where_both_do(words: tuple[str, ...]) -> None:
    told = "\n".join(f"{word} t.py::test[a b]" for word in words)
    found = grade_of_reply(check(), reply_of_pytest(f"=== short test summary info ===\n{told}\n"))
    assert found.verdict is FAIL


@pytest.mark.parametrize("said", ["", "PASSED a::b", "=== short test summary info ===\n"])
def test_what_has_no_summary_of_pytest_is_none(said: str) -> None:
    with pytest.raises(NoReplyError, match="no summary"):
        reply_of_pytest(said)
