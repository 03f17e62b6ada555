"""What an output is that is no full answer: cut short, or taken away by a filter."""

from typing import Literal

from tui_eval.model.output import Output
from tui_eval.model.score import Grade

Truncated = Literal["ungraded", "grade"]
Filtered = Literal["ungraded", "fail"]


def override(output: Output, truncated: Truncated, filtered: Filtered) -> Grade | None:
    """Give the grade that every scorer of a trial gives this output, whatever it looks at.

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
    return None


def _where_cut(output: Output) -> str:
    begun = bool(output.messages or (output.text and output.text.strip()))
    if output.reasoning and not begun:
        return "its reasoning was cut short: no answer had begun"
    return "the output was cut short at its token limit"
