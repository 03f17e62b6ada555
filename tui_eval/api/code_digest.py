"""What a function's code is known by, as far as it can be seen from the function.

Seen are: the compiled code of the function and of all that is written inside it, its defaults, the
values it closes over, and of what it names from its own package: functions and classes (likewise,
and what those name), and values made of texts, numbers, lists, tables, dates, paths and patterns.
Of an object that is called, or whose method is, its fields of that sort are seen too; of what
stands around a function, as `functools.cache` does, the function.

Not seen are: what is named through a module (`prompts.TEXT`), code of other packages, files, the
environment, what a client or another object holds. Comments, line numbers and names of files do not
count.
"""

import datetime
import decimal
import fractions
import functools
import pathlib
import re
import types
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from types import NoneType
from typing import Any, Final

from tui_eval.model.json import Json, digest

_SAID_WHOLLY: Final = (
    bytearray, datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo, decimal.Decimal,
    fractions.Fraction, pathlib.PurePath, range, slice, uuid.UUID,
)  # fmt: skip
"""Values of the standard library whose `repr` says all that they are."""
_OF_THE_COMPILER: Final = frozenset(
    ("__dict__", "__weakref__", "__module__", "__doc__", "__firstlineno__", "__static_attributes__")
)
"""Members of classes that say where a class stands, or what is written about it."""
_MOST: Final = 20_000
"""Values that are looked at; a table of data that is larger is seen in part."""


def code_digest(function: Callable[..., Any]) -> str:
    """Return the SHA-256 over what can be seen of a function's code."""
    return digest(_Seer(_package_of(function)).of(function)).hex()


class _Seer:
    """Puts into JSON what a function is made of, each thing once."""

    def __init__(self, package: str) -> None:
        self._package = package
        self._seen: dict[int, int] = {}
        self._kept: list[object] = []
        """What was seen, so that no id is given twice."""

    def of(self, value: object) -> Json:
        """Return what is seen of a value."""
        if value is None or isinstance(value, bool | int | float | str | complex | bytes):
            return [type(value).__name__, repr(value)]
        if id(value) in self._seen:
            return ["seen", self._seen[id(value)]]
        if len(self._seen) >= _MOST:
            return ["too much"]
        self._seen[id(value)] = len(self._seen)
        self._kept.append(value)
        return self._made_of(value)

    def _made_of(self, value: object) -> Json:
        match value:
            case types.FunctionType():
                return self._function(value)
            case types.MethodType():
                return ["method", self.of(value.__func__), self._object(value.__self__)]
            case functools.partial():
                return ["partial", *map(self.of, (value.func, value.args, value.keywords))]
            case list() | tuple() | deque():
                return [type(value).__name__, *map(self.of, value)]
            case set() | frozenset():
                return [type(value).__name__, *sorted(map(_of_a_set, value))]
            case re.Pattern():  # its repr is cut off
                return ["Pattern", self.of(value.pattern), value.flags]
            case Mapping():
                return ["table", *([self.of(key), self.of(one)] for key, one in value.items())]
            case type():
                return self._class(value)
            case types.ModuleType():
                return ["module", value.__name__]
        return self._object(value)

    def _function(self, function: types.FunctionType) -> Json:
        own = self._is_own(function)
        if not own:
            return _named(function)
        code = function.__code__
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        spaces = function.__globals__
        return [
            "function",
            _code(code),
            self.of(function.__defaults__),
            self.of(function.__kwdefaults__),
            [[name, self._cell(cell)] for name, cell in cells],
            [[name, self.of(spaces[name])] for name in sorted(_names(code)) if name in spaces],
        ]

    def _cell(self, cell: types.CellType) -> Json:
        try:
            return self.of(cell.cell_contents)
        except ValueError:
            return ["empty"]

    def _class(self, kind: type) -> Json:
        if not self._is_own(kind):
            return _named(kind)
        bases = [self.of(base) for base in kind.__bases__]
        members = [[name, self._member(one)] for name, one in sorted(vars(kind).items())
                   if name not in _OF_THE_COMPILER]  # fmt: skip
        return ["class", *bases, *members]

    def _member(self, value: object) -> Json:
        if isinstance(value, staticmethod | classmethod):
            return self.of(value.__func__)
        if isinstance(value, property):
            return [self.of(one) for one in (value.fget, value.fset, value.fdel)]
        return self.of(value)

    def _object(self, value: object) -> Json:
        if isinstance(value, type):
            return self._class(value)
        kind = type(value)
        if self._is_own(kind):
            return ["object", self.of(kind), self.of(_fields(value))]
        if isinstance(value, _SAID_WHOLLY):
            return ["object", *_named(kind), repr(value)]
        within = _fields(value).get("__wrapped__")
        return ["object", *_named(kind), *([] if within is None else [self.of(within)])]

    def _is_own(self, what: object) -> bool:
        return _package_of(what) == self._package


def _fields(value: object) -> dict[str, object]:
    """Return what an object holds, in slots too."""
    fields = dict(getattr(value, "__dict__", {}))
    for kind in type(value).__mro__:
        for name, slot in vars(kind).items():
            if isinstance(slot, types.MemberDescriptorType):
                with suppress(AttributeError):  # nothing is in it
                    fields[f"{kind.__name__}.{name}"] = slot.__get__(value)
    return fields


def _of_a_set(value: object) -> str:
    """Return what is seen of a member of a set: an object's `repr` may say where it is."""
    plain = isinstance(value, (str, bytes, int, float, complex, tuple, frozenset, NoneType))
    return repr(value) if plain else repr(_named(type(value)))


def _package_of(what: object) -> str:
    if isinstance(what, functools.partial):
        return _package_of(what.func)
    module = getattr(what, "__module__", None) or getattr(type(what), "__module__", None)
    return str(module).partition(".")[0]


def _named(what: Any) -> list[Json]:  # noqa: ANN401 - a function or a class
    return [str(what.__module__), str(what.__qualname__)]


def _code(code: types.CodeType) -> Json:
    """Return what code does: neither where it stands nor what it is called."""
    return [
        code.co_code.hex(),
        code.co_exceptiontable.hex(),
        [code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags],
        [*code.co_names],
        [*code.co_varnames, *code.co_freevars, *code.co_cellvars],
        [_constant(one) for one in code.co_consts],
    ]


def _constant(value: object) -> Json:
    if isinstance(value, types.CodeType):
        return _code(value)
    if isinstance(value, frozenset):
        return ["frozenset", *sorted(map(repr, value))]
    return [type(value).__name__, repr(value)]


def _names(code: types.CodeType) -> Iterator[str]:
    """Yield what code names, with what is written inside it."""
    yield from code.co_names
    for one in code.co_consts:
        if isinstance(one, types.CodeType):
            yield from _names(one)
