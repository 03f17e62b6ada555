"""Values of the standard library's classes that cross as what they are made of."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any, Callable, Dict, Tuple

Parts = Tuple[Any, ...]

_CLASSES: Dict[str, Tuple[str, Callable[[Any], Parts]]] = {
    "Decimal": ("decimal", lambda value: (str(value),)),
    "Fraction": ("fractions", lambda value: (value.numerator, value.denominator)),
    "date": ("datetime", lambda value: (value.year, value.month, value.day)),
    "time": (
        "datetime",
        lambda value: (value.hour, value.minute, value.second, value.microsecond),
    ),
    "datetime": ("datetime", lambda value: (*tuple(value.timetuple())[:6], value.microsecond)),
    "timedelta": ("datetime", lambda value: (value.days, value.seconds, value.microseconds)),
    "deque": ("collections", lambda value: (list(value), value.maxlen)),
}


def parts_of(value: Any) -> Tuple[str, Parts] | None:
    """Return the name of a value's class, and what makes an equal one; None for other classes.

    Times of a zone are of none of them: their zone is an object.
    """
    kind = type(value)
    module, parts = _CLASSES.get(kind.__name__, ("", None))
    if parts is None or getattr(sys.modules.get(module), kind.__name__, None) is not kind:
        return None
    if getattr(value, "tzinfo", None) is not None:
        return None
    return kind.__name__, parts(value)


def made_of(name: str, parts: Parts) -> Any:
    """Return the value of some parts.

    Raises:
        Exception: whatever the class raises where they are no such parts, or there is no class.
    """
    module, _ = _CLASSES[name]
    return getattr(import_module(module), name)(*parts)
