import sys

import pytest

from tests.scoring.making import check, scored
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring import deciding

EQUAL = [
    ("1/2", "0.5"),
    ("1/2", "so \\boxed{0.5}"),
    (r"\frac{1}{2}", r"The answer is $\frac12$."),
    ("50\\%", r"$\frac{1}{2}$"),
    ("{1, 2}", r"$\{2, 1\}$"),
    ("x^2+2x+1", "$(x+1)^2$"),
    ("1,000", "It is 1000."),
    ("72", "48 + 24 = 72"),
    (r"$\sqrt{8}$", r"$2\sqrt{2}$"),
]
OTHER = [("3", "4"), ("10", "ten"), ("(1,2]", "$[1,2)$"), ("x^2", "$x^3$"), ("7", "")]


def test_what_is_equal_passes_however_it_is_written() -> None:
    for pairs, verdict in ((EQUAL, Verdict.PASS), (OTHER, Verdict.FAIL)):
        for expected, answer in pairs:
            grade = scored({"kind": "math", "expected": expected}, answer)
            assert grade.verdict is verdict, (expected, answer, grade.reason)
    either = scored({"kind": "math", "expected": ["3", "4"]}, "$4$")
    assert either.verdict is Verdict.PASS


def test_what_cannot_be_read_or_takes_too_long_is_ungraded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    unread = scored({"kind": "math", "expected": "$"}, "4")
    assert unread.verdict is Verdict.UNGRADED
    assert "no mathematical expression" in unread.reason
    calls = IsolatedCalls(1)
    slow = check({"kind": "math", "expected": "$x^2 + 1$"})
    try:
        monkeypatch.setattr(deciding, "LIMIT_S", 0.2)  # what it loads takes longer
        ended = deciding.decided(slow, Output("$1 + x^2$"), calls)
        monkeypatch.setattr(deciding, "LIMIT_S", 30.0)
        given = deciding.decided(slow, Output("$1 + x^2$"), calls)
    finally:
        calls.close()
    assert isinstance(ended, Grade)
    assert ended.reason == "scoring it took longer than 0.2 s"
    assert isinstance(given, Grade)
    assert given.verdict is Verdict.PASS


def test_without_the_library_it_is_ungraded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "math_verify", None)
    grade = scored({"kind": "math", "expected": "4"}, "4")
    assert grade.verdict is Verdict.UNGRADED
    assert "install tui-eval[math]" in grade.reason
