"""Deciding an output by a check: at once where that is bounded, else in a process of its own."""

from typing import Final

from tui_eval.isolated.calls import IsolatedCalls, OutOfBoundsError
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.visible import visible_line
from tui_eval.scoring.check import Check
from tui_eval.scoring.grading import RULES, TextRule, grade
from tui_eval.scoring.judge.item import Item, item
from tui_eval.suites import loop_bounds
from tui_eval.suites.loop_bounds import NotAtOnceError

AT_ONCE_S: Final = 0.005
"""Seconds that a check may take where it stands."""
LIMIT_S: Final = 5.0
"""Seconds of processor time that a check may take in a process of its own."""


def decide(check: Check, output: Output) -> Grade | Item:
    """Return the grade of an output, or what a judge is to be asked about it.

    Raises:
        NotAtOnceError: where it is to be done at once and is not bounded.
    """
    return item(check, output) if check.asks_judge else grade(check, output)


def decided(check: Check, output: Output, calls: IsolatedCalls) -> Grade | Item:
    """Return what `decide` does; ungraded, with the reason, where that takes too long or too much.

    Raises:
        NotAtOnceError: where it is to be done at once and is not bounded.
        AbandonedError: `calls` was closed, or its calls abandoned, meanwhile.
    """
    if loop_bounds.asked():
        return decide(check, output)
    try:
        with loop_bounds.within(AT_ONCE_S):
            return decide(check, output)
    except NotAtOnceError:
        pass
    try:
        return calls.call(LIMIT_S, decide, check, output)
    except OutOfBoundsError as error:
        return Grade.ungraded(f"scoring it {error}{_cause(check)}")


def _cause(check: Check) -> str:
    """Name the path a check follows or the patterns it searches for, which are what takes time."""
    if check.of.startswith("json:"):
        return f", with the path {visible_line(check.of.removeprefix('json:'), 60)}"
    named = []
    if check.of.startswith("regex:"):
        named.append(check.of.removeprefix("regex:"))
    rule, expected = RULES.get(check.kind), check.settings.get("expected")
    if isinstance(rule, TextRule) and rule.by_pattern and isinstance(expected, list):
        named += [str(pattern) for pattern in expected[:2]]
    return "".join(f", with the pattern /{visible_line(one, 60)}/" for one in named)
