"""What an output is that is no full answer: cut short, broken off, or taken away by a filter."""

from typing import Literal

from tui_eval.model.outputs.finish import trial_limit
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.texts.wording import quoted

ABOUT_ENDINGS: frozenset[str] = frozenset({"finish"})
"""Kinds of scorers that grade how an output ended: they grade one that is no answer too."""
Truncated = Literal["ungraded", "grade"]
Filtered = Literal["ungraded", "fail"]


def override(output: Output, truncated: Truncated, filtered: Filtered) -> Grade | None:
    """Return the grade that every scorer of a trial gives this output, but those about endings.

    An output whose reasoning was cut carries the finish reason `length` too.

    Args:
        output: What the target produced.
        truncated: The suite's `[run] truncated`.
        filtered: The suite's `[run] filtered`.

    Returns:
        None where the output is an answer to be graded.
    """
    if output.filtered:
        reason = "the endpoint's content filter took the answer away"
        return Grade.of(False, reason) if filtered == "fail" else Grade.ungraded(reason)
    if output.cut_short and truncated == "ungraded":
        return Grade.ungraded(_where_cut(output))
    if output.broken_off:
        return Grade.ungraded(
            f"the answer may not be all: it ended with {quoted(output.finish_reason or '')}, "
            "which is no finish reason of an answer"
        )
    return None


def _where_cut(output: Output) -> str:
    begun = bool(output.messages or (output.text and output.text.strip()))
    if output.reasoning and not begun:
        return "its reasoning was truncated: no answer had begun"
    limit = trial_limit(output.finish_reason)
    if limit is not None:
        return f"the trial was ended at its limit of `{limit}`"
    return "the output was truncated at its token limit"
