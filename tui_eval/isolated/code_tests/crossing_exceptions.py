"""Exceptions and their classes as they cross: by the names of the classes, and what they say.

The builtin ones are the same on both sides. Another class is known by its name and those of its
bases, up to the first builtin one: a side that has none of that name makes one.
"""

from __future__ import annotations

import builtins
from typing import Any, Dict, Type

from tui_eval.isolated.code_tests.crossing import (
    BrokenMessageError,
    CannotCrossError,
    Containers,
    Crossing,
    Wire,
)

_MOST_TEXT = 2_000
_MOST_BASES = 20


class ExceptionClasses:
    """The classes of exceptions that have crossed, as one side has them."""

    def __init__(self) -> None:
        self._classes: Dict[str, Type[BaseException]] = {}

    def name(self, kind: Type[BaseException]) -> str:
        """Return the names of a class and its bases, by which the other side knows it."""
        names = []
        for base in kind.__mro__:
            names.append(base.__name__)
            if getattr(builtins, base.__name__, None) is base:
                break
        known = "/".join(names)
        self._classes.setdefault(known, kind)
        return known

    def named(self, known: Wire) -> Type[BaseException]:
        """Return the class of such names; it is made where there is none.

        Raises:
            BrokenMessageError: there is none such.
        """
        if not isinstance(known, str) or known.count("/") > _MOST_BASES:
            raise BrokenMessageError("it named no exception")
        if known not in self._classes:
            name, _, rest = known.partition("/")
            made: Any = getattr(builtins, name, None)
            if rest:
                made = type(name, (self.named(rest),), {"__module__": "solution"})
            if not (isinstance(made, type) and issubclass(made, BaseException)):
                raise BrokenMessageError("it named no exception")
            self._classes[known] = made
        return self._classes[known]

    def told(self, error: BaseException, crossing: Crossing) -> Dict[str, Wire]:
        """Return what the other side makes an exception of."""
        try:
            args = crossing.encode(error.args, Containers())
        except (CannotCrossError, RecursionError):
            args = crossing.encode((text_of(error),), Containers())
        return {"class": self.name(type(error)), "args": args}

    def made(self, told: Wire, crossing: Crossing) -> BaseException:
        """Return the exception that the other side told.

        Raises:
            BrokenMessageError: it told none.
        """
        if not isinstance(told, dict):
            raise BrokenMessageError("it told no exception")
        kind = self.named(told.get("class"))
        args: Any = crossing.decode(told.get("args"), Containers())
        if not isinstance(args, tuple):
            raise BrokenMessageError("it told no exception")
        error = kind.__new__(kind, *args)
        error.args = args
        return error


def text_of(what: object) -> str:
    """Return a short text of something that may have none."""
    try:
        return str(what)[:_MOST_TEXT]
    except Exception:  # noqa: BLE001 - a foreign object's method
        return "(it has no text)"
