"""Which part of an output a scorer looks at: its `of`."""

import json
from typing import Final

from tui_eval.model.json import Json, dotted
from tui_eval.model.outputs.conversation import text_of
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.suites import loop_bounds, patterns
from tui_eval.suites.data import jsonpath
from tui_eval.texts import json_in_text

_AT_ONCE: Final = 20_000
"""Characters that JSON is searched for in, in a few milliseconds."""


class MissingPartError(Exception):
    """The output has no such part; the message says so for a person."""


class UnreadablePartError(Exception):
    """The part cannot be looked up in the output; the message says why."""


def part(of: str, output: Output) -> str:
    """Return the part of an output that `of` names, as text.

    What is not a text is given as compact JSON.

    Args:
        of: One of the forms in `tui_eval.suites.scorers.PARTS`.
        output: What the target produced.

    Raises:
        MissingPartError: when nothing matched.
        UnreadablePartError: when the part cannot be taken out, such as JSON nested too deeply.
        NotAtOnceError: where it is to be done at once and could take longer.
    """
    if of == "text":
        return _text(output)
    head, _, rest = of.partition(":")
    match head:
        case "json":
            return _at_path(rest, _text(output))
        case "field":
            return _field(rest, output)
        case "turn":
            return _turn(int(rest), output)
        case "reasoning":
            return _reasoning(output)
        case "last_line":
            return _last_line(_text(output))
        case "regex":
            return _last_match(rest, _text(output))
        case _:
            raise ValueError(f"{of!r} names no part of an output")


def part_or_grade(of: str, output: Output) -> str | Grade:
    """Return the part of an output that a check looks at, or the grade where there is none.

    Args:
        of: One of the forms in `tui_eval.suites.scorers.PARTS`.
        output: What the target produced.

    Raises:
        NotAtOnceError: where it is to be done at once and could take longer.
    """
    try:
        return part(of, output)
    except MissingPartError as missing:
        return Grade.of(False, str(missing))  # also for `not`: there was nothing to judge
    except UnreadablePartError as error:
        return Grade.ungraded(str(error))


def _text(output: Output) -> str:
    if output.text is None:
        raise MissingPartError("the output has no text")
    return output.text


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _at_path(path: str, text: str) -> str:
    parsed = jsonpath.parse(path)
    loop_bounds.allow(len(text), _AT_ONCE if parsed.definite else 0)
    try:
        value = json_in_text.extract(text)
    except json_in_text.NotJsonError as error:
        raise MissingPartError(f"nothing at {path}: {error}") from error
    except json_in_text.UnreadableError as error:
        raise UnreadablePartError(str(error)) from error
    try:
        found = parsed.find(value)
    except jsonpath.TooDeepError as error:
        raise UnreadablePartError(str(error)) from error
    if not found:
        raise MissingPartError(f"the JSON has nothing at {path}")
    return _as_text(found[0] if parsed.definite else found)


def _field(name: str, output: Output) -> str:
    try:
        return _as_text(dotted(output.fields, name))
    except KeyError as error:
        raise MissingPartError(f"the output has no field {name}") from error


def _turn(number: int, output: Output) -> str:
    replies = [message for message in output.messages if message.get("role") == "assistant"]
    if not replies and number == 1:
        return _text(output)
    if number > len(replies):
        raise MissingPartError(f"there is no turn {number}: the output has {len(replies) or 1}")
    content = replies[number - 1].get("content")
    if content is None:
        raise MissingPartError(f"turn {number} has no text")
    return text_of(content)


def _reasoning(output: Output) -> str:
    if output.reasoning is None:
        raise MissingPartError("the output has no reasoning")
    return output.reasoning


def _last_line(text: str) -> str:
    lines = text.rstrip().rsplit("\n", 1)
    if not lines[-1].strip():
        raise MissingPartError("the output has no line with text")
    return lines[-1].strip()


def _last_match(pattern: str, text: str) -> str:
    compiled = patterns.compiled(pattern)
    try:
        found = patterns.last(compiled, text)
    except patterns.TooSlowError as error:
        raise UnreadablePartError(str(error)) from error
    if found is None:
        raise MissingPartError(f"nothing in the output matches /{pattern}/")
    group = found.group(1 if compiled.groups else 0)
    if group is None:
        raise MissingPartError(f"group 1 of /{pattern}/ took no part in the last match")
    return group
