"""What came of a call, as an output or a failure."""

from dataclasses import replace
from typing import Final

from tui_eval.model.outputs.attempt_record import AttemptRecord, ResourceFigures
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers import keys
from tui_eval.targets.python_function.function_pool import CallReply
from tui_eval.targets.python_function.returned_value import UnsuitableValueError, output_of

ISOLATION: Final = "none"


def reply_output(came: CallReply, isolation: str | None = None) -> Output | Failure:
    """Return what came of a call.

    Args:
        came: As it was told.
        isolation: What kept the call from the rest of this machine; None: it was no program's.
    """
    reply = came.reply
    seconds = reply.get("seconds")
    took = float(seconds) if isinstance(seconds, int | float) else None
    printed = came.printed
    raised = reply.get("raised")
    if isinstance(raised, dict):
        printed += str(raised.get("traceback") or "")
    record = AttemptRecord(
        isolation=isolation, resources=ResourceFigures(wall_s=took), printed=kept_prints(printed)
    )
    if isinstance(raised, dict):
        return Failure("exception", keys.redact(str(raised.get("summary"))), record=record)
    if "unsuitable" in reply:
        return Failure("bad_answer", keys.redact(str(reply["unsuitable"])), record=record)
    try:
        output = output_of(keys.redact_json(reply.get("returned")))
    except UnsuitableValueError as error:
        return Failure("bad_answer", keys.redact(str(error)), record=record)
    except RecursionError:
        return Failure("bad_answer", "what it returned is nested too deeply", record=record)
    if output is None:
        return Failure("empty_output", "empty output", record=record)
    steps = [message for message in output.messages if message.get("role") == "assistant"]
    calls = [message.get("tool_calls") for message in steps]
    counted = replace(
        record,
        steps=len(steps) or None,
        tool_calls=sum(len(one) for one in calls if isinstance(one, list)) if steps else None,
    )
    return replace(output, latency_s=took, record=counted)


def kept_prints(printed: str) -> str | None:
    """Return what is kept of what was printed; None: nothing."""
    return keys.redact(printed) or None
