"""The conversation that a transcript tells, as it is kept: without keys."""

from tui_eval.model.json import JsonObject
from tui_eval.providers import keys
from tui_eval.targets.transcripts import Reader


def conversation(reader: Reader) -> tuple[JsonObject, ...]:
    """Return the messages that are known by now."""
    told = keys.redact_json([*reader.messages])
    assert isinstance(told, list)
    return tuple(one for one in told if isinstance(one, dict))


def said_last(reader: Reader) -> str | None:
    """Return what the agent says it answers, else what it said last; None: it has said nothing."""
    return None if reader.text is None else keys.redact_answer(reader.text)
