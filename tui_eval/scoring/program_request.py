"""What a program sees that decides a check."""

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.scoring import parts
from tui_eval.scoring.check import Check

_WHOLE = "text"


def program_request(
    check: Check, output: Output, workspace: str | None = None
) -> JsonObject | Grade:
    """Return what a program is given: `case`, `output`, `messages`, `fields` and `workspace`.

    Pure: the same check and output give the same, but for the workspace's place.

    Args:
        check: The check; its input is that of `Subject.seen_by_programs`.
        output: What the target produced.
        workspace: Where the trial's workspace was made anew; None: it is not wanted.

    Returns:
        The grade, where the output has no such part as is to be judged.
    """
    seen = check.input
    assert isinstance(seen, dict), "a check that a program decides was made for programs"
    judged: Json = output.text
    if check.of != _WHOLE:
        part = parts.part_or_grade(check.of, output)
        if isinstance(part, Grade):
            return part
        judged = part
    return {
        "case": seen["case"],
        "output": judged,
        "messages": _conversation(seen["messages"], output),
        "fields": output.fields,
        "workspace": workspace,
    }


def _conversation(asked: Json, output: Output) -> list[Json]:
    """Return what was asked and what was replied, as chat messages."""
    said: list[Json] = [*output.messages]
    if not said and output.text is not None:
        said = [{"role": "assistant", "content": output.text}]
    return [*(asked if isinstance(asked, list) else ()), *said]
