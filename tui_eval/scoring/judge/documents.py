"""JSON in a judge's reply: every object and array that stands in it, with what is wrong with it."""

import json
import math
import re
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

Flaw: TypeAlias = Literal["", "cut", "broken"]
Value: TypeAlias = "bool | float | str | Object | Array | None"


@dataclass(frozen=True, slots=True)
class Object:
    """A JSON object as it was written: its pairs in their order."""

    pairs: tuple[tuple[str, Value], ...]
    flaw: Flaw = ""
    """`cut` where the text ends inside it, `broken` where something in it is no JSON."""

    def all(self, key: str) -> list[Value]:
        """Give every value under a key."""
        return [value for name, value in self.pairs if name == key]

    @property
    def twice(self) -> bool:
        """Whether a key stands in it more than once."""
        return len({name for name, _ in self.pairs}) < len(self.pairs)


@dataclass(frozen=True, slots=True)
class Array:
    """A JSON array."""

    items: tuple[Value, ...] = field(default=())
    flaw: Flaw = ""


_BRACKET: Final = re.compile(r"[{\[]")
_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=lambda pairs: Object(tuple((name, _value(value)) for name, value in pairs)),
    parse_int=float,
    parse_constant=lambda _: math.nan,
    strict=False,
)


def _value(value: object) -> Value:
    if isinstance(value, list):
        return Array(tuple(_value(item) for item in value))
    assert value is None or isinstance(value, bool | float | str | Object)
    return value


def documents(text: str) -> list[Object | Array]:
    """Give the outermost objects and arrays of a text in their order."""
    found: list[Object | Array] = []
    at = 0
    while (bracket := _BRACKET.search(text, at)) is not None:
        at = bracket.start()
        try:
            decoded, at = _DECODER.raw_decode(text, at)
        except (ValueError, RecursionError):
            at += 1
            continue
        value = _value(decoded)
        assert isinstance(value, Object | Array)
        found.append(value)
    return found
