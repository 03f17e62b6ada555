"""JSON as it leaves the program: valid UTF-8 for any input, and harmless on a terminal."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Final

from tui_eval.model.json import Json
from tui_eval.statistics.intervals import Interval

_DIGITS = 6
"""Decimal places of rates and seconds."""


def rounded(value: float | None) -> float | None:
    """Return a rate or seconds with as many places as mean something; None stays."""
    return None if value is None else round(value, _DIGITS)


def bounds(interval: Interval | None) -> Json:
    """Return both ends of an interval of rates; None stays: there is none."""
    return None if interval is None else [rounded(end) for end in interval]


def dollars(usd: float | None) -> float | None:
    """Return US dollars with as many places as mean something; None stays: it is unknown."""
    return None if usd is None else round(usd, 9)


def dumps(value: object, indent: int | None = None) -> str:
    """Return a value as JSON.

    Letters stay readable. What UTF-8 cannot hold (lone surrogates) and what is not printable
    (control and formatting characters) is escaped, which loses nothing. NaN and the infinities,
    which JSON cannot hold, become null.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, indent=indent)
    except ValueError:
        text = json.dumps(_finite(value), ensure_ascii=False, allow_nan=False, indent=indent)
    # line by line: most have nothing to escape, and that is soon seen
    return "\n".join(map(_harmless, text.split("\n")))


_TOGETHER: Final = 64
"""Values of a list that are written as one piece."""


def pieces(whole: Mapping[str, object]) -> Iterator[str]:
    """Yield an object piece by piece: together what `dumps` gives with an indent of 2.

    Args:
        whole: The object. Members that are iterators are written as lists, while they are gone
            through: what is in them is never held together.
    """
    opened = "{\n"
    for name, value in whole.items():
        yield f"{opened}  {dumps(name)}: "
        opened = ",\n"
        if isinstance(value, Iterator):
            yield from _list(value)
        else:
            yield _deeper(dumps(value, indent=2))
    yield "{}" if opened == "{\n" else "\n}"


def _list(values: Iterable[object]) -> Iterator[str]:
    of = iter(values)
    opened = "["
    while some := list(islice(of, _TOGETHER)):
        laid = dumps(some, indent=2)
        yield f"{opened}\n  {_deeper(laid[2:-2])}"  # without the brackets and their line breaks
        opened = ","
    yield "[]" if opened == "[" else "\n  ]"


def _deeper(laid: str) -> str:
    """Return JSON as it stands two columns further in, but for its first line."""
    return laid.replace("\n", "\n  ")


def _harmless(line: str) -> str:
    if line.isprintable():
        return line
    return "".join(c if c.isprintable() else json.dumps(c)[1:-1] for c in line)


def _finite(value: object) -> object:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(inner) for inner in value]
    return value
