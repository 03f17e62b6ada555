"""Output → grade: one pure function over all kinds of scorers."""

from collections.abc import Callable, Mapping
from typing import Final

from tui_eval.model.frozen import frozen
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring import parts
from tui_eval.scoring.check import Check
from tui_eval.scoring.rules import call_figures, choice, numeric, similarity, structure, text
from tui_eval.scoring.rules.instructions import instructions
from tui_eval.scoring.rules.likelihood import likelihood
from tui_eval.scoring.rules.mathematics import equal_mathematics
from tui_eval.scoring.rules.recorded_verdict import recorded
from tui_eval.scoring.rules.text_metrics import similar
from tui_eval.scoring.rules.tool_calls import tool_calls
from tui_eval.suites import loop_bounds


@frozen
class TextRule:
    """How a part of the output's text is graded."""

    grade: Callable[[JsonObject, str], Grade]
    at_once: int
    """Characters that it grades in some milliseconds, whatever they are."""
    by_pattern: bool = False
    """Whether what is expected are patterns, which are named where they take too long."""


@frozen
class OutputRule:
    """How an output as a whole is graded: what it took, how it ended, what was said of it."""

    grade: Callable[[JsonObject, Output], Grade]


RULES: Final[Mapping[str, TextRule | OutputRule]] = {
    "exact": TextRule(text.exact, 500_000),
    "includes": TextRule(text.includes, 500_000),
    "starts_with": TextRule(text.starts_with, 500_000),
    "regex": TextRule(text.regex, 100_000, by_pattern=True),
    "numeric": TextRule(numeric.numeric, 5_000),
    "math": TextRule(equal_mathematics, 0),
    "choice": TextRule(choice.choice, 5_000),
    "likelihood": OutputRule(likelihood),
    "fuzzy": TextRule(similarity.fuzzy, 100_000),
    "f1": TextRule(similarity.f1, 5_000),
    "similarity": TextRule(similar, 0),
    "json": TextRule(structure.json_value, 100_000),
    "json_schema": TextRule(structure.json_schema, 20_000),
    "tool_calls": OutputRule(tool_calls),
    "instructions": TextRule(instructions, 20_000),
    "recorded": OutputRule(recorded),
    "latency": OutputRule(call_figures.latency),
    "tokens": OutputRule(call_figures.tokens),
    "cost": OutputRule(call_figures.cost),
    "finish": OutputRule(call_figures.finish),
}
"""What grades, by the kind of scorer; one that asks a judge has no rule."""
_NORMALIZED: Final = 5_000


def _extent(check: Check, text: str) -> int:
    """Return how many characters a check looks at: the text beside each that is expected."""
    expected = check.settings.get("expected")
    if not isinstance(expected, list):
        return len(text)
    return sum(len(text) + (len(one) if isinstance(one, str) else 0) for one in expected)


def _see_that_it_is_bounded(check: Check, rule: TextRule, text: str) -> None:
    if loop_bounds.asked():
        normalized = check.settings.get("normalize") is True
        loop_bounds.allow(_extent(check, text), _NORMALIZED if normalized else rule.at_once)


def grade(check: Check, output: Output) -> Grade:
    """Judge an output by one check.

    Pure: the same check and output give the same grade. An output that is no full answer is
    `tui_eval.scoring.incomplete_output.override`'s to judge, before any check.

    Raises:
        NotAtOnceError: where it is to be done at once and could take longer.
        KeyError: for a kind there is no scorer for, which is a bug of whoever made the check.
    """
    rule = RULES[check.kind]
    if isinstance(rule, OutputRule):
        return negated(check, rule.grade(check.settings, output))
    part = parts.part_or_grade(check.of, output)
    if isinstance(part, Grade):
        return part
    _see_that_it_is_bounded(check, rule, part)
    return negated(check, rule.grade(check.settings, part))


def negated(check: Check, given: Grade) -> Grade:
    """Turn a grade round for a check with `not = true`; ungraded stays ungraded."""
    if not check.negate or given.value is None:
        return given
    passed = given.verdict is Verdict.FAIL
    return Grade(
        Verdict.PASS if passed else Verdict.FAIL,
        1.0 - given.value,
        f"{given.reason}, as wanted" if passed else f"not: {given.reason}",
        given.raw,
    )
