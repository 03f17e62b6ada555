"""Classes as JSON values, and back: what is read is looked at field by field.

The plain form of an object is a list of its class's name and its fields in their order, but those
that travel apart (`APART`); bytes are texts in base64. Whoever reads it says which class it is to
be; what a field may hold follows from its annotation. Beyond that, numbers are finite and not
negative: every one that crosses is a count, a size, a price or a time.
"""

import binascii
import math
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, Final, TypeAlias, Union, get_args, get_origin, get_type_hints

APART: Final[Mapping[str, bool]] = {"apart": True}
"""The metadata of a field that is no part of a plain form; it has a default."""
_GREATEST: Final = (1 << 63) - 1
"""What SQLite holds."""

Write: TypeAlias = Callable[[Any], Any]
Read: TypeAlias = Callable[[Any], Any]


class PlainFormError(Exception):
    """Something is not what it has to be; `where` names the field."""

    def __init__(self, problem: str) -> None:
        """Keep what is wrong, at a place that those around it will name."""
        super().__init__(problem)
        self.problem = problem
        self.path: list[str] = []
        """Fields, the innermost first."""

    def __str__(self) -> str:
        """Return it as a person reads it."""
        where = "".join(reversed(self.path)).lstrip(".")
        return f"{where} {self.problem}" if where else f"it {self.problem}"


def plain(value: object) -> tuple[Any, ...]:
    """Return an object of a dataclass in plain form, whose lists may be tuples."""
    made: tuple[Any, ...] = _write_object(value)
    return made


def read_as(kind: type, data: object) -> Any:  # noqa: ANN401  # an object of the class that is asked for
    """Return the object of a class whose plain form this is.

    Raises:
        PlainFormError: it is the form of no such object, saying which field is what.
    """
    return _reader(kind)(data)


@cache
def _hints(kind: type) -> dict[str, Any]:
    # `Json` is an alias by name, which the modules that use it need not know
    return get_type_hints(kind, localns={"Json": Any})


def _write_object(value: Any) -> Any:  # noqa: ANN401
    kind: Any = type(value)
    return (kind.__name__, *[write(getattr(value, name)) for name, write in _writers(kind)])


@cache
def _writers(kind: type) -> tuple[tuple[str, Write], ...]:
    hints = _hints(kind)
    return tuple((name, _writer(hints[name])) for name in _names(kind))


def _names(kind: type) -> list[str]:
    """Return the names of a class's fields that are part of its plain form."""
    return [one.name for one in fields(kind) if "apart" not in one.metadata]


def _write_bytes(value: bytes | None) -> str | None:
    return None if value is None else binascii.b2a_base64(value, newline=False).decode("ascii")


def _same(value: Any) -> Any:  # noqa: ANN401
    return value


def _writer(hint: Any) -> Write:  # noqa: ANN401  # a type, or a form of `typing`
    if _is_json(hint):
        return _same
    options = [one for one in _options(hint) if one is not NoneType]
    if any(is_dataclass(one) for one in options):
        return lambda value: None if value is None else _write_object(value)
    if options == [bytes]:
        return _write_bytes
    if isinstance(hint, type) and issubclass(hint, Enum):
        return lambda value: value.value
    if get_origin(hint) is tuple:
        write = _writer(get_args(hint)[0])
        return _same if write is _same else lambda value: tuple(map(write, value))
    return _same


def _options(hint: Any) -> tuple[Any, ...]:  # noqa: ANN401
    return get_args(hint) if get_origin(hint) in (Union, UnionType) else (hint,)


@cache
def _reader(hint: Any) -> Read:  # noqa: ANN401
    """Return what reads what a type says."""
    if _is_json(hint):
        return _json_object if get_origin(hint) is dict else _same
    if len(options := _options(hint)) > 1:
        return _union(options)
    if (known := _SCALARS.get(hint)) is not None:
        return known
    if is_dataclass(hint):
        assert isinstance(hint, type)
        return _object(hint)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return _enum(hint)
    origin, args = get_origin(hint), get_args(hint)
    if origin is tuple:
        return _tuple(_reader(args[0]))
    if origin is dict:
        return _mapping(_reader(args[1]))
    raise TypeError(f"{hint!r} has no plain form")


def _is_json(hint: Any) -> bool:  # noqa: ANN401
    """Return whether it is `Json` or `JsonObject`."""
    if get_origin(hint) is dict:
        return get_args(hint)[1] is Any
    return any(get_origin(one) is list for one in _options(hint))


def _union(options: tuple[Any, ...]) -> Read:
    classes: list[Any] = [one for one in options if is_dataclass(one)]
    named = {one.__name__: _reader(one) for one in classes}
    others = [one for one in options if one is not NoneType and not is_dataclass(one)]
    assert not others or (len(others) == 1 and not named), options
    absent = NoneType in options
    read_other = _reader(others[0]) if others else None

    def read(data: Any) -> Any:  # noqa: ANN401
        if data is None and absent:
            return None
        if read_other is not None:
            return read_other(data)
        name = data[0] if type(data) is list and data and type(data[0]) is str else None
        if name not in named:
            raise PlainFormError(f"is {_called(data)}, and has to be one of {', '.join(named)}")
        return named[name](data)

    return read


def _object(kind: type) -> Read:
    hints = _hints(kind)
    names = _names(kind)
    parts = [_reader(hints[name]) for name in names]
    size = len(parts) + 1

    def read(data: Any) -> Any:  # noqa: ANN401
        if type(data) is not list or len(data) != size or data[0] != kind.__name__:
            raise PlainFormError(f"is {_called(data)}, and has to be a whole {kind.__name__}")
        found: list[Any] = []
        try:
            for read_part, value in zip(parts, data[1:], strict=True):
                found.append(read_part(value))
        except PlainFormError as error:
            error.path.append(f".{names[len(found)]}")
            raise
        return kind(**dict(zip(names, found, strict=True)))

    return read


def _enum(kind: type[Enum]) -> Read:
    members = {one.value: one for one in kind}

    def read(data: Any) -> Any:  # noqa: ANN401
        if type(data) is not str or data not in members:
            raise PlainFormError(f"is {_called(data)}, and has to be one of {', '.join(members)}")
        return members[data]

    return read


def _tuple(read_one: Read) -> Read:
    def read(data: Any) -> Any:  # noqa: ANN401
        if type(data) is not list:
            raise PlainFormError(f"is {_called(data)}, and has to be a list")
        return tuple(_at(f"[{index}]", read_one, one) for index, one in enumerate(data))

    return read


def _mapping(read_one: Read) -> Read:
    def read(data: Any) -> Any:  # noqa: ANN401
        if type(data) is not dict:
            raise PlainFormError(f"is {_called(data)}, and has to be a table")
        return {_text(name): _at(".*", read_one, one) for name, one in data.items()}

    return read


def _at(place: str, read: Read, data: Any) -> Any:  # noqa: ANN401
    try:
        return read(data)
    except PlainFormError as error:
        error.path.append(place)
        raise


def _text(data: Any) -> str:  # noqa: ANN401
    if type(data) is not str:
        raise PlainFormError(f"is {_called(data)}, and has to be a text")
    return data


def _bytes(data: Any) -> bytes:  # noqa: ANN401
    text = _text(data)
    try:
        return binascii.a2b_base64(text, strict_mode=True)
    except ValueError:  # of what is not ASCII, too
        raise PlainFormError("is a text, and has to be one in base64") from None


def _truth(data: Any) -> bool:  # noqa: ANN401
    if type(data) is not bool:
        raise PlainFormError(f"is {_called(data)}, and has to be true or false")
    return data


def _whole(data: Any) -> int:  # noqa: ANN401
    if type(data) is not int or not 0 <= data <= _GREATEST:
        raise PlainFormError(f"is {_called(data)}, and has to be a whole number from 0")
    return data


def _number(data: Any) -> float:  # noqa: ANN401
    if type(data) is int:
        return _whole(data)
    if type(data) is not float or not 0 <= data < math.inf:
        raise PlainFormError(f"is {_called(data)}, and has to be a number from 0")
    return data


_NAMES: Final[Mapping[type, str]] = {
    str: "a text",
    list: "a list",
    dict: "a table",
}
_SCALARS: Final[Mapping[Any, Read]] = {
    str: _text,
    bytes: _bytes,
    bool: _truth,
    int: _whole,
    float: _number,
}


def _json_object(data: Any) -> Any:  # noqa: ANN401
    if type(data) is not dict:
        raise PlainFormError(f"is {_called(data)}, and has to be a JSON object")
    return data


def _called(data: Any) -> str:  # noqa: ANN401
    """Return what a person reads of a JSON value that came: short, and never all of it."""
    if data is None or isinstance(data, bool | float):
        return "missing" if data is None else str(data)
    if isinstance(data, int):
        return str(data) if data.bit_length() <= 64 else "a number beyond all bounds"
    return _NAMES[type(data)]
