"""The conversation that a transcript tells, as it is kept: without keys."""

from tui_eval.model.json import JsonObject
from tui_eval.processes.program import OUT
from tui_eval.providers import keys
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.command import printed
from tui_eval.targets.command.live_transcript import LiveTranscript
from tui_eval.targets.command.trial_folder import TrialFolder
from tui_eval.targets.transcripts import Reader


def conversation(reader: Reader) -> tuple[JsonObject, ...]:
    """Return the messages that are known by now."""
    told = keys.redact_json([*reader.messages])
    assert isinstance(told, list)
    return tuple(one for one in told if isinstance(one, dict))


def said_last(reader: Reader) -> str | None:
    """Return what the agent says it answers, else what it said last; None: it has said nothing."""
    return None if reader.text is None else keys.redact_answer(reader.text)


def keep_so_far(attempt: AttemptContext, live: LiveTranscript | None, folder: TrialFolder) -> None:
    """Have an attempt keep what its program had produced that came to no end of its own; blocking.

    Args:
        attempt: The attempt.
        live: Its transcript, as far as it was read; None: it tells nothing.
        folder: Its folder.
    """
    if live is not None:
        live.look()
        attempt.messages = conversation(live.reader)
    if live is not None and attempt.messages:
        attempt.partial = said_last(live.reader)
    else:
        attempt.partial = printed.begun(folder.program / OUT)
