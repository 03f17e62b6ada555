"""Objects of the solution in the tests: stand-ins that ask its process.

Nothing that the tests expect goes over by an operator: compared with plain data an object of the
solution is unequal, and it takes no part in arithmetic with such. So an object that says of itself
that it equals everything, or that subtracting anything from it gives 0, is no right answer.
"""

from __future__ import annotations

from typing import Any, Callable, Generator, Iterator

_DUNDERS = ("__name__", "__qualname__", "__module__", "__dict__", "__annotations__", "__wrapped__")
"""Of the attributes with such names, those that go over: libraries ask for the others."""


class SolutionObject:
    """An object of the solution."""

    __slots__ = ("_solution", "_solution_number", "_solution_type")
    __doc__ = None

    def __init__(self, solution: Any, number: int, type_name: str) -> None:
        object.__setattr__(self, "_solution", solution)
        object.__setattr__(self, "_solution_number", number)
        object.__setattr__(self, "_solution_type", type_name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in _DUNDERS:
            raise AttributeError(f"an object of the solution has no {name} here")
        return self._solution.ask("attribute", self, name)

    def __setattr__(self, name: str, value: Any) -> None:
        self._solution.ask("set_attribute", self, name, value)

    def __delattr__(self, name: str) -> None:
        self._solution.ask("delete_attribute", self, name)

    def __contains__(self, wanted: object) -> bool:
        return any(one is wanted or one == wanted for one in self)

    def __iter__(self) -> Iterator[Any]:
        return _iterated(self._solution.ask("iter", self))

    def __next__(self) -> Any:
        return self._solution.ask("next", self)

    def __reversed__(self) -> Iterator[Any]:
        return _iterated(self._solution.ask("reversed", self))

    def __hash__(self) -> int:
        return hash(self._solution.ask("hash", self))

    def __enter__(self) -> Any:
        return self._solution.ask("enter", self)

    def __exit__(self, kind: Any, error: Any, trace: Any) -> Any:
        self._solution.note(error)
        return self._solution.ask("exit", self, kind, None if error is None else str(error))

    def __instancecheck__(self, value: object) -> bool:
        return bool(self._solution.ask("instance", self, value))

    def __subclasscheck__(self, other: object) -> bool:
        return bool(self._solution.ask("subclass", self, other))

    def __dir__(self) -> Any:
        return self._solution.ask("names", self)

    def __round__(self, digits: int | None = None) -> Any:
        return self._solution.ask("round", self, *(() if digits is None else (digits,)))

    def __format__(self, form: str) -> str:
        return str(self._solution.ask("format", self, form))

    def __mro_entries__(self, _: Any) -> Any:
        raise self._solution.cannot_cross(
            f"a class of the tests cannot derive from {self._solution_type}, which is in another "
            "process"
        )

    def __copy__(self) -> Any:
        return self._solution.ask("copy", self)

    def __deepcopy__(self, _: Any) -> Any:
        return self._solution.ask("deepcopy", self)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            key = self._solution.ask("slice", self, key.start, key.stop, key.step)
        return self._solution.ask("getitem", self, key)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._solution.ask("setitem", self, key, value)

    def __delitem__(self, key: Any) -> None:
        self._solution.ask("delitem", self, key)


class SolutionFunction(SolutionObject):
    """A function, a class, or whatever else of the solution can be called."""

    __slots__ = ()
    __doc__ = None

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Have it called there."""
        return self._solution.ask("call", self, *args, **kwargs)


def number_of(one: SolutionObject) -> int:
    """Return the number by which its process knows an object."""
    return int(object.__getattribute__(one, "_solution_number"))


def generator(one: SolutionObject) -> Generator[Any, Any, Any]:
    """Return a generator that goes on with one of the solution."""
    sent = None
    while True:
        try:
            value = one._solution.ask("send", one, sent)  # noqa: SLF001 - this module's own
        except StopIteration as stop:
            return stop.value
        sent = yield value


async def coroutine(one: SolutionObject) -> Any:
    """Return, once awaited, what a coroutine of the solution gives."""
    return one._solution.ask("await", one)  # noqa: SLF001 - this module's own


def _iterated(one: Any) -> Iterator[Any]:
    return iter(one) if not isinstance(one, SolutionObject) else _steps(one)


def _steps(one: SolutionObject) -> Iterator[Any]:
    while True:
        try:
            value = next(one)
        except StopIteration:
            return
        yield value


def _asks(do: str, *kinds: type) -> Callable[[SolutionObject], Any]:
    def ask(self: SolutionObject) -> Any:
        given = self._solution.ask(do, self)
        if kinds and not isinstance(given, kinds):
            raise TypeError(f"an object of the solution gave no {kinds[0].__name__}")
        return given

    return ask


def _compares(do: str) -> Callable[[SolutionObject, object], Any]:
    def compare(self: SolutionObject, other: object) -> Any:
        if self is other and do in ("eq", "ne"):
            return do == "eq"
        if not isinstance(other, SolutionObject):
            return NotImplemented
        return bool(self._solution.ask(do, self, other))

    return compare


def _combines(do: str) -> Callable[[SolutionObject, object], Any]:
    def combine(self: SolutionObject, other: object) -> Any:
        if not isinstance(other, SolutionObject):
            return NotImplemented
        return self._solution.ask(do, self, other)

    return combine


for _name, _kind in (
    *(("bool", bool), ("str", str), ("repr", str), ("int", int), ("float", float)),
    *(("complex", complex), ("bytes", bytes), ("len", int), ("index", int)),
):
    setattr(SolutionObject, f"__{_name}__", _asks(_name, _kind))
for _name in ("abs", "neg", "pos", "invert", "trunc", "floor", "ceil"):
    setattr(SolutionObject, f"__{_name}__", _asks(_name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(SolutionObject, f"__{_name}__", _compares(_name))
for _name in (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow", "divmod"),
    *("and", "or", "xor", "lshift", "rshift"),
):
    setattr(SolutionObject, f"__{_name}__", _combines(_name + "_" * (_name in ("and", "or"))))
