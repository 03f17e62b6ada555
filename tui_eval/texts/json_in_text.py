"""JSON as models write it: alone, in a code fence, or in the middle of prose."""

import heapq
import json
import re
from collections.abc import Iterator
from typing import NoReturn

from tui_eval.model.json import Json

_FENCE = re.compile(r"^[ \t]*```[^\n`]*\n(.*?)^[ \t]*```", re.MULTILINE | re.DOTALL)
# an escape is a token of its own, so that a string that never ends is walked through only once
_TOKEN = re.compile(r'\\.|"(?:[^"\\\n]|\\.)*+"|[{}\[\]]')
_CLOSES = {"}": "{", "]": "["}

PROSE_LIMIT = 2_000_000
"""Characters of prose that are searched for JSON."""
_TRIES = 100


class NotJsonError(ValueError):
    """A text that is not JSON; the message says where."""


class UnreadableError(ValueError):
    """A text that may be JSON but is beyond what can be read here; the message says why."""


def parse(text: str) -> Json:
    """Return the value of a text that is JSON and nothing else (RFC 8259: no NaN, no Infinity).

    Raises:
        NotJsonError: when it is not.
        UnreadableError: when it is nested too deeply or holds a number of thousands of digits.
    """
    try:
        value: Json = json.loads(text.removeprefix("\ufeff"), parse_constant=_no_constant)
    except NotJsonError:
        raise
    except json.JSONDecodeError as error:
        raise NotJsonError(f"{error.msg} at line {error.lineno} column {error.colno}") from error
    except RecursionError as error:
        raise UnreadableError("the JSON is nested too deeply to be read") from error
    except ValueError as error:  # Python's own bound on the digits of a whole number
        raise UnreadableError("the JSON holds a number with too many digits to be read") from error
    return value


def _no_constant(name: str) -> NoReturn:
    raise NotJsonError(f"{name} is not JSON")


def extract(text: str) -> Json:
    """Return the JSON in a text.

    All of it, else the last code fence that is JSON, else the longest object or array in the
    prose.

    Raises:
        NotJsonError: when there is none.
        UnreadableError: when what there is cannot be read, or the prose is too long to search.
    """
    try:
        return parse(text)
    except NotJsonError as error:
        whole = error
    if len(text) > PROSE_LIMIT:
        raise UnreadableError(
            f"the text has {len(text):,} characters; JSON is searched for in {PROSE_LIMIT:,}"
        )
    for fenced in reversed(_FENCE.findall(text)):
        try:
            return parse(fenced)
        except NotJsonError:
            continue
    left = 4 * len(text)  # so that the whole search takes time in proportion to the text
    for start, end in heapq.nlargest(_TRIES, _bracketed(text), key=lambda span: span[1] - span[0]):
        left -= end - start
        if left < 0:
            break
        try:
            return parse(text[start:end])
        except NotJsonError:
            continue
    raise NotJsonError("there is no JSON in the text") from whole


def _bracketed(text: str) -> Iterator[tuple[int, int]]:
    """Yield the spans between brackets that belong together, skipping over strings."""
    opened: list[tuple[str, int]] = []
    waiting = {"{": 0, "[": 0}
    for token in _TOKEN.finditer(text):
        mark = token.group()
        if mark in waiting:
            opened.append((mark, token.start()))
            waiting[mark] += 1
        elif mark in _CLOSES and waiting[_CLOSES[mark]]:
            start = -1
            while start < 0:  # brackets that nothing closed were prose
                kind, at = opened.pop()
                waiting[kind] -= 1
                start = at if kind == _CLOSES[mark] else -1
            yield start, token.end()
