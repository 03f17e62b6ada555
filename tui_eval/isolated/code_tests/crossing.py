"""Values as they cross between tests and a solution: plain data as JSON, the rest as references.

Scalars that JSON has are themselves; everything else is a list that begins with its form. Lists,
dicts, sets and bytearrays among the arguments of a call are numbered, so that the other side can
say of which it speaks: what a function changes in place comes back by number.
"""

from __future__ import annotations

import json
from typing import Any, Callable, Dict, List

from tui_eval.isolated.code_tests.library_values import made_of, parts_of

Wire = Any
"""What JSON has."""
MOST_MESSAGE = 64_000_000
"""Bytes of a message."""
_SMALL = 1 << 53

_MUTABLE = (list, dict, set, bytearray)
_BASES = (bool, str, int, float, complex, list, tuple, dict, set, frozenset, bytes, bytearray)


class CannotCrossError(TypeError):
    """A value is no plain data, and cannot be referred to either."""


class BrokenMessageError(Exception):
    """The other process said what nothing here says."""


class Containers:
    """The containers among the arguments of one call, numbered, with what was in them."""

    def __init__(self) -> None:
        self.numbered: List[Any] = []
        self._numbers: Dict[int, int] = {}
        self._before: List[Any] = []

    def add(self, container: Any) -> int:
        """Number a container."""
        number = self._numbers[id(container)] = len(self.numbered)
        self.numbered.append(container)
        return number

    def number(self, container: Any) -> int | None:
        """Return a container's number; None for one that has none."""
        return self._numbers.get(id(container))

    def remember(self) -> None:
        """Take down what is in each of them now."""
        self._before = [_content(container) for container in self.numbered]

    def changed(self) -> List[int]:
        """Return the numbers of those that hold something else than was taken down."""
        return [
            number
            for number, container in enumerate(self.numbered)
            if not _same(self._before[number], _content(container))
        ]


def _content(container: Any) -> Any:
    if isinstance(container, dict):
        return [item for pair in container.items() for item in pair]
    return bytes(container) if isinstance(container, bytearray) else list(container)


def _same(before: Any, after: Any) -> bool:
    if isinstance(before, bytes):
        return bool(before == after)
    return len(before) == len(after) and all(map(_is, before, after))


def _is(one: object, other: object) -> bool:
    return one is other


class Crossing:
    """Both directions, for one of the two sides."""

    def __init__(
        self, refer: Callable[[Any], List[Wire]], resolve: Callable[[str, List[Wire]], Any]
    ) -> None:
        """Make it.

        Args:
            refer: Gives a reference to what is no plain data; raises `CannotCrossError`.
            resolve: Gives what such a reference is, by its form and the rest of it.
        """
        self._refer = refer
        self._resolve = resolve

    def encode(self, value: Any, containers: Containers, number: bool = False) -> Wire:
        """Return what stands for a value.

        Args:
            value: Anything.
            containers: Those of the call; what is one of them is named by its number.
            number: Whether containers within the value become such.

        Raises:
            CannotCrossError: it holds what cannot cross.
            RecursionError: it is nested too deeply, or holds itself.
        """
        kind = type(value)
        if value is None or kind is bool or kind is str or kind is float:
            return value
        if kind is int:
            return value if -_SMALL < value < _SMALL else ["int", hex(value)]
        if kind not in _BASES:
            return self._encode_other(value, containers, number)
        known = containers.number(value)
        if known is not None:
            return ["same", known]
        new = containers.add(value) if number and kind in _MUTABLE else None
        return [kind.__name__, new, self.content(value, containers, number)]

    def content(self, value: Any, containers: Containers, number: bool = False) -> Wire:
        """Return what stands for the content of a value of a builtin class; as `encode`."""
        if isinstance(value, dict):
            return [
                [self.encode(key, containers, number), self.encode(one, containers, number)]
                for key, one in value.items()
            ]
        if isinstance(value, (bytes, bytearray)):
            return value.hex()
        if isinstance(value, complex):
            return [value.real, value.imag]
        return [self.encode(one, containers, number) for one in value]

    def _encode_other(self, value: Any, containers: Containers, number: bool) -> Wire:
        kind = type(value)
        if kind is range:
            return ["range", None, [value.start, value.stop, value.step]]
        if kind.__name__ in _VIEWS and isinstance(value, _VIEWS[kind.__name__]):
            return [kind.__name__, None, self.content(value, containers, number)]
        if kind is type and value.__name__ in _CLASSES and value is _CLASSES[value.__name__]:
            return ["class", None, value.__name__]
        parts = parts_of(value)
        if parts is not None:
            return [parts[0], None, self.encode(parts[1], containers, number)]
        for base in _BASES:
            if isinstance(value, base):
                return self.encode(_as_base(value, base), containers, number)
        return self._refer(value)

    def decode(self, wire: Wire, containers: Containers) -> Any:
        """Return what something stands for, made of exact builtin classes and of references.

        Raises:
            BrokenMessageError: it stands for nothing.
        """
        if wire is None or isinstance(wire, (bool, str, float, int)):
            return wire
        try:
            form = wire[0]
            if form == "same":
                return containers.numbered[wire[1]]
            if form == "int":
                return int(wire[1], 16)
            make = _FORMS.get(form)
            if make is not None:
                return make(self, wire, containers)
            if form in _REFERENCES:
                return self._resolve(form, wire[1:])
            return made_of(form, self.decode(wire[2], containers))
        except BrokenMessageError:
            raise
        except Exception as error:
            raise BrokenMessageError("what it said stands for no value") from error

    def fill(self, container: Any, content: Wire, containers: Containers) -> None:
        """Put into a container what a content stands for.

        Raises:
            BrokenMessageError: it stands for none.
        """
        try:
            if isinstance(container, dict):
                pairs = [
                    (self.decode(key, containers), self.decode(one, containers))
                    for key, one in content
                ]
                container.clear()
                container.update(pairs)
            elif isinstance(container, bytearray):
                container[:] = bytes.fromhex(content)
            else:
                items = [self.decode(one, containers) for one in content]
                container.clear()
                (container.update if isinstance(container, set) else container.extend)(items)
        except (TypeError, ValueError) as error:
            raise BrokenMessageError("what it said stands for no content") from error


def _as_base(value: Any, base: Any) -> Any:
    """Return a value of a builtin class's subclass as the builtin class itself."""
    if base is dict:
        return dict(dict.items(value))
    if base in (int, float, str, bytes, bytearray, complex):
        return base.__new__(base, _scalar(value, base))
    return base(base.__iter__(value))


def _scalar(value: Any, base: Any) -> Any:
    if base is int:
        return int.__index__(value)
    if base is float:
        return float.__float__(value)
    if base is str:
        return str.__str__(value)
    if base is complex:
        return complex.__pos__(value)
    return base.__getitem__(value, slice(None))


def _decode_container(crossing: Crossing, wire: Wire, containers: Containers) -> Any:
    made: Any = _EMPTY[wire[0]]()
    if wire[1] is not None and containers.add(made) != wire[1]:
        raise BrokenMessageError("its containers are numbered otherwise")
    crossing.fill(made, wire[2], containers)
    return made


def _decode_view(crossing: Crossing, wire: Wire, containers: Containers) -> Any:
    items = [crossing.decode(one, containers) for one in wire[2]]
    if wire[0] == "dict_items":
        return dict(items).items()
    return (
        dict.fromkeys(items).keys() if wire[0] == "dict_keys" else dict(enumerate(items)).values()
    )


def _decode_sequence(crossing: Crossing, wire: Wire, containers: Containers) -> Any:
    items = [crossing.decode(one, containers) for one in wire[2]]
    return tuple(items) if wire[0] == "tuple" else frozenset(items)


_CLASSES: Dict[str, type] = {one.__name__: one for one in (*_BASES, object, range, type(None))}
_NONE: Dict[Any, Any] = {}
_VIEWS: Dict[str, type] = {
    type(view).__name__: type(view) for view in (_NONE.keys(), _NONE.values(), _NONE.items())
}
_EMPTY: Dict[str, Callable[[], Any]] = {one.__name__: one for one in _MUTABLE}
_FORMS: Dict[str, Callable[[Crossing, Wire, Containers], Any]] = {
    **dict.fromkeys(_EMPTY, _decode_container),
    **dict.fromkeys(_VIEWS, _decode_view),
    **dict.fromkeys(("tuple", "frozenset"), _decode_sequence),
    "bytes": lambda _, wire, __: bytes.fromhex(wire[2]),
    "complex": lambda _, wire, __: complex(*wire[2]),
    "range": lambda _, wire, __: range(*wire[2]),
    "class": lambda _, wire, __: _CLASSES[wire[2]],
}
_REFERENCES = ("object", "function", "generator", "coroutine", "exception", "theirs")


class MessageSocket:
    """A socket on which a message is a line of JSON."""

    def __init__(self, descriptor: int) -> None:
        self._lines = open(descriptor, "r+b", buffering=0, closefd=False)  # noqa: SIM115 - kept
        self._rest = b""

    def send(self, message: Dict[str, Any]) -> None:
        """Send a message.

        Raises:
            OSError: nobody is there any more.
            CannotCrossError: it is too long.
        """
        data = json.dumps(message).encode("ascii") + b"\n"
        if len(data) > MOST_MESSAGE:
            raise CannotCrossError(f"it is more than {MOST_MESSAGE // 1_000_000} MB")
        view = memoryview(data)
        while view:
            view = view[self._lines.write(view) :]

    def receive(self) -> Dict[str, Any] | None:
        """Return the next message; None where the other side has gone.

        Raises:
            BrokenMessageError: it is none.
        """
        pieces: List[bytes] = [self._rest]
        length = len(self._rest)
        while b"\n" not in pieces[-1]:
            try:
                piece = self._lines.read(1 << 20)
            except OSError:
                return None
            if not piece:
                return None
            pieces.append(piece)
            length += len(piece)
            if length > MOST_MESSAGE:
                raise BrokenMessageError(f"it said more than {MOST_MESSAGE // 1_000_000} MB")
        line, _, self._rest = b"".join(pieces).partition(b"\n")
        try:
            message = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise BrokenMessageError("what it said is no JSON") from error
        if not isinstance(message, dict):
            raise BrokenMessageError("what it said is no message")
        return message
