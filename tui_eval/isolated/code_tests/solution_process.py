"""The process of the solution: it holds the code, and does what the tests' process asks."""

from __future__ import annotations

import copy
import io
import math
import operator
import os
import sys
import types
from typing import Any, Callable, Dict, List, Sequence

from tui_eval.isolated.code_tests.confinement import confine
from tui_eval.isolated.code_tests.crossing import (
    CannotCrossError,
    Containers,
    Crossing,
    MessageSocket,
    Wire,
)
from tui_eval.isolated.code_tests.crossing_exceptions import ExceptionClasses, text_of
from tui_eval.isolated.code_tests.python_code import NoCodeError
from tui_eval.isolated.code_tests.solution_code import MODULE, load_code, where_in_code

_MOST_PRINTED = 1_000_000

Message = Dict[str, Any]


def _call(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return function(*args, **kwargs)


def _awaited(awaitable: Any) -> Any:
    import asyncio  # late: most solutions have none of it, and it takes long to load

    async def wait() -> Any:
        return await awaitable

    return asyncio.run(wait())


def _generator_send(generator: Any, value: Any) -> Any:
    return next(generator) if value is None else generator.send(value)


DOES: Dict[str, Callable[..., Any]] = {
    "call": _call,
    "attribute": getattr,
    "set_attribute": setattr,
    "delete_attribute": delattr,
    "next": next,
    "send": _generator_send,
    "await": _awaited,
    "instance": lambda kind, value: isinstance(value, kind),
    "subclass": lambda kind, other: issubclass(other, kind),
    "enter": lambda manager: type(manager).__enter__(manager),
    "exit": lambda manager, kind, error: type(manager).__exit__(manager, kind, error, None),
    "slice": lambda _, *parts: slice(*parts),
    "names": lambda what: [name for name in dir(what) if isinstance(name, str)],
    **{
        one.__name__: one
        for one in (
            *(bool, str, repr, int, float, complex, bytes, hash, len, iter, reversed, abs, round),
            *(format, divmod, operator.index, math.trunc, math.floor, math.ceil),
            *(copy.copy, copy.deepcopy),
            *(operator.getitem, operator.setitem, operator.delitem),
            *(operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge),
            *(operator.add, operator.sub, operator.mul, operator.matmul, operator.truediv),
            *(operator.floordiv, operator.mod, operator.pow, operator.and_, operator.or_),
            *(operator.xor, operator.lshift, operator.rshift),
            *(operator.neg, operator.pos, operator.invert),
        )
    },
}
"""What can be asked, by name; the first argument is the solution's."""


class TestsFunction:
    """A function of the tests, in the solution's process."""

    def __init__(self, process: SolutionProcess, number: int, name: str) -> None:
        self._ask = process.ask_tests
        self.tests_number = number
        self.__name__ = self.__qualname__ = name

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Have it called there."""
        return self._ask("call", self, args, kwargs)


class TestsIterator:
    """An iterator of the tests, in the solution's process."""

    def __init__(self, process: SolutionProcess, number: int, name: str) -> None:
        self._ask = process.ask_tests
        self.tests_number = number

    def __iter__(self) -> TestsIterator:
        return self

    def __next__(self) -> Any:
        return self._ask("next", self, (), {})


class SolutionProcess:
    """Answers until the tests' process has gone."""

    def __init__(self, socket: MessageSocket) -> None:
        self._socket = socket
        self._crossing = Crossing(self._refer, self._resolve)
        self._exceptions = ExceptionClasses()
        self._objects: List[Any] = []
        self._numbers: Dict[int, int] = {}
        self._theirs: Dict[int, Any] = {}
        self._module = types.ModuleType(MODULE)
        self._pid = os.getpid()
        self._printed = io.BytesIO()
        sys.stdout = io.TextIOWrapper(
            self._printed, "utf-8", errors="backslashreplace", write_through=True
        )

    def serve(self) -> None:
        """Answer what is asked, for ever."""
        while True:
            self._answer(self._received())

    def ask_tests(self, do: str, what: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> Any:
        """Have a function of the tests called; return what it gives, or raise what it raises."""
        known = Containers()
        self._socket.send(
            {
                "back": what.tests_number,
                "do": do,
                "args": [self._crossing.encode(one, known) for one in args],
                "kwargs": {name: self._crossing.encode(one, known) for name, one in kwargs.items()},
            }
        )
        while True:
            message = self._received()
            if "returned" in message:
                break
            self._answer(message)  # while it ran, the tests asked for more
        if message.get("raised") is not None:
            raise self._exceptions.made(message["raised"], self._crossing)
        return self._crossing.decode(message["returned"], Containers())

    def _received(self) -> Message:
        message = self._socket.receive()
        if message is None:
            os._exit(0)
        return message

    def _answer(self, asked: Message) -> None:
        containers = Containers()
        reply: Message = {"of": asked.get("id")}
        try:
            if "load" in asked:
                self._load(**asked["load"])
                reply["value"] = None
            elif "look_up" in asked:
                reply["value"] = {name: self._looked_up(name) for name in asked["look_up"]}
            else:
                reply["value"] = self._done(asked, containers)
        except NoCodeError as error:
            reply["no_code"] = str(error)
        except BaseException as error:  # noqa: BLE001 - foreign code: it may raise anything
            self._leave_if_forked()
            reply["raised"] = self._exceptions.told(error, self._crossing)
            reply["where"] = where_in_code(error)
        self._leave_if_forked()
        reply["changed"] = [
            [number, self._crossing.content(containers.numbered[number], containers)]
            for number in containers.changed()
        ]
        reply["printed"] = self._what_was_printed()
        try:
            self._socket.send(reply)
        except CannotCrossError as error:
            told = self._exceptions.told(error, self._crossing)
            self._socket.send({"of": reply["of"], "raised": told, "where": None})

    def _done(self, asked: Message, containers: Containers) -> Wire:
        args = [self._crossing.decode(one, containers) for one in asked["args"]]
        kwargs = {
            name: self._crossing.decode(one, containers) for name, one in asked["kwargs"].items()
        }
        containers.remember()
        return self._encoded(DOES[asked["do"]](*args, **kwargs), containers)

    def _encoded(self, value: Any, containers: Containers) -> Wire:
        if type(value).__module__ == "numpy" and getattr(value, "shape", None) == ():
            value = value.item()  # a scalar: what is compared is the number
        try:
            return self._crossing.encode(value, containers)
        except RecursionError:  # it holds itself
            return self._reference(value)

    def _load(self, given: str, reply: str, wanted: List[str], memory: int) -> None:
        confine(memory)
        load_code(self._module, given, reply, wanted)

    def _looked_up(self, name: str) -> Wire:
        value = vars(self._module).get(name, self)
        if value is self:
            return None
        if isinstance(value, types.ModuleType):
            return {"module": value.__name__}
        return {"value": self._encoded(value, Containers())}

    def _what_was_printed(self) -> str:
        printed = self._printed.getvalue()[:_MOST_PRINTED]
        self._printed.seek(0)
        self._printed.truncate()
        return printed.decode("utf-8", "replace")

    def _leave_if_forked(self) -> None:
        """End a process that the solution forked and that came back here in its place."""
        if os.getpid() != self._pid:
            os._exit(0)

    def _refer(self, value: Any) -> List[Wire]:
        if isinstance(value, (TestsFunction, TestsIterator)):
            return ["theirs", value.tests_number]
        if isinstance(value, type) and issubclass(value, BaseException):
            return ["exception", self._exceptions.name(value)]
        return self._reference(value)

    def _reference(self, value: Any) -> List[Wire]:
        number = self._numbers.get(id(value))
        if number is None:
            number = self._numbers[id(value)] = len(self._objects)
            self._objects.append(value)  # which keeps its id from being another's
        return [_form(value), number, text_of(type(value).__name__)]

    def _resolve(self, form: str, rest: List[Wire]) -> Any:
        if form == "theirs":
            return self._objects[rest[0]]
        if form == "exception":
            return self._exceptions.named(rest[0])
        number, name = rest
        if number not in self._theirs:
            kind = TestsFunction if form == "function" else TestsIterator
            self._theirs[number] = kind(self, number, name)
        return self._theirs[number]


def _form(value: Any) -> str:
    if isinstance(value, types.GeneratorType):
        return "generator"
    if isinstance(value, types.CoroutineType):
        return "coroutine"
    return "function" if callable(value) else "object"
