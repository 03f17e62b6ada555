"""What a function says of an output, as a grade."""

from typing import Final

from tui_eval.engine.grading.grader import GradingError, GradingRequest
from tui_eval.model.score import Grade
from tui_eval.model.visible import visible_line
from tui_eval.providers import keys
from tui_eval.scoring.program_reply import NoReplyError, grade_of_reply
from tui_eval.targets.python_function.function_pool import CallReply

_LAST: Final = 1_000
"""Characters of what a function printed that a reason has."""


def reply_grade(asked: GradingRequest, name: str, came: CallReply) -> Grade:
    """Return the grade that a function's reply stands for.

    Raises:
        GradingError: it raised, or returned what is no grade.
    """
    raised = came.reply.get("raised")
    if isinstance(raised, dict):
        place = _place(str(raised.get("traceback") or ""))
        raise broken(f"{name} raised {raised.get('summary')}{place}", came.printed)
    if "unsuitable" in came.reply:
        raise broken(f"{name}: {came.reply['unsuitable']}", came.printed)
    try:
        returned = keys.redact_json(came.reply.get("returned"))
        graded = float(returned) if isinstance(returned, bool) else returned
        return grade_of_reply(asked.check, graded)
    except NoReplyError as error:
        raise broken(f"{name} gave no grade: {error}", came.printed) from None
    except RecursionError:
        raise broken(f"{name} returned what is nested too deeply", came.printed) from None


def _place(trace: str) -> str:
    """Return where an exception came from: the last place of a traceback."""
    places = [line.strip() for line in trace.splitlines() if line.startswith('  File "')]
    return f" ({places[-1]})" if places else ""


def broken(what: str, printed: str) -> GradingError:
    """Return what is said of a grading that broke, with the last that it printed."""
    said = keys.redact(printed).strip()
    last = f"; it printed: {visible_line(said[-_LAST:], _LAST)}" if said else ""
    return GradingError(visible_line(keys.redact(what), 2_000) + last)
