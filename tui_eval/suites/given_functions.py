"""Functions that a Python program gives a suite: those this process can have called.

In that program they are there themselves, in an engine that it started the socket over which it
calls them. A suite names them by the digest of their code, so that nobody calls another one.
"""

from typing import Final, TypeVar
from weakref import WeakSet

_KNOWN: "Final[dict[str, WeakSet[FunctionHolder]]]" = {}
"""Several may have functions of equal code."""


class FunctionHolder:
    """Has functions, or knows the way to them; they are known as long as it is there."""


_Holder = TypeVar("_Holder", bound=FunctionHolder)


def offer(code: str, holder: FunctionHolder) -> None:
    """Make a function known, by the digest of its code."""
    _KNOWN.setdefault(code, WeakSet()).add(holder)


def holder_of(code: str, kind: type[_Holder]) -> _Holder | None:
    """Return who has a function; None: nobody of that kind here."""
    return next((one for one in _KNOWN.get(code, ()) if isinstance(one, kind)), None)


def why_missing(function: str, code: str) -> str | None:
    """Say that a function cannot be called from here; None: it can.

    Args:
        function: Its name, for people.
        code: The digest of its code.
    """
    if holder_of(code, FunctionHolder) is not None:
        return None
    return (
        f"function {function} is one of the Python program that started the run: go on there, with "
        "`run.resume()`, or in another one that has the same function, with "
        "`te.open(RUN).resume(functions=[…])`"
    )


NOT_IN_FILES: Final = (
    "is for suites that a Python program gives: te.run({…})",
    'in a file, kind = "python" names a function by its module',
)
"""What is wrong with a function of a program in a suite's file, and what to do."""
