"""The solution as the tests' process has it: what it is asked, and what it says to that."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Callable, Dict, List, Sequence

from tui_eval.isolated.code_tests.crossing import (
    BrokenMessageError,
    CannotCrossError,
    Containers,
    Crossing,
    MessageSocket,
    Wire,
)
from tui_eval.isolated.code_tests.crossing_exceptions import ExceptionClasses
from tui_eval.isolated.code_tests.python_code import NoCodeError
from tui_eval.isolated.code_tests.solution_code import MODULE
from tui_eval.isolated.code_tests.solution_objects import (
    SolutionFunction,
    SolutionObject,
    coroutine,
    generator,
    number_of,
)
from tui_eval.isolated.code_tests.solution_process import SolutionProcess
from tui_eval.isolated.code_tests.tested import TestedSolution

Message = Dict[str, Any]
_SHOWN = 200
_NOTHING = object()


class SolutionGoneError(BaseException):
    """The solution's process has ended, or said what none of ours says; no test goes on."""


class Solution(TestedSolution):
    """The solution, in a process of its own."""

    def __init__(self, connection: MessageSocket, process: int) -> None:
        self._process = process
        self.memory = 0
        """Bytes that it may use, once it is loaded."""
        self._socket = connection
        self._crossing = Crossing(self._refer, self._resolve)
        self._exceptions = ExceptionClasses()
        self._objects: Dict[int, SolutionObject] = {}
        self._ours: List[Any] = []
        self._our_numbers: Dict[int, int] = {}
        self._asked = 0
        self._lock = threading.RLock()
        self._raised: BaseException | None = None
        self._raised_where = ""
        self._last: Any = _NOTHING

    @classmethod
    def forked(cls, leave: Sequence[int]) -> Solution:
        """Fork the solution's process, which is told nothing yet.

        Args:
            leave: Descriptors that it must not have.
        """
        ours, theirs = socket.socketpair()
        process = os.fork()
        if process == 0:
            ours.close()
            for descriptor in leave:
                os.close(descriptor)
            SolutionProcess(MessageSocket(theirs.detach())).serve()
            os._exit(0)
        theirs.close()
        return cls(MessageSocket(ours.detach()), process)

    def end(self) -> None:
        """End the solution's process; what it started may live on."""
        with suppress(OSError):
            os.kill(self._process, signal.SIGKILL)
            os.waitpid(self._process, 0)

    def load(self, given: str, reply: str, wanted: Sequence[str]) -> None:
        """Have the code chosen and run; raise what that raises.

        Raises:
            NoCodeError: there is none.
        """
        asked = {"given": given, "reply": reply, "wanted": list(wanted), "memory": self.memory}
        self._exchange({"load": asked}, Containers())
        sys.modules[MODULE] = _SolutionModule(self, MODULE)

    def look_up(self, names: Sequence[str]) -> Dict[str, Any]:
        """Return what the solution has under some names; those it does not have are left out.

        A module is the one that the tests would import by that very name.
        """
        told = self._exchange({"look_up": list(names)}, Containers())
        found: Dict[str, Any] = {}
        for name, one in told.items() if isinstance(told, dict) else ():
            if not isinstance(one, dict):
                continue
            if "value" in one:
                found[name] = self._crossing.decode(one["value"], Containers())
            elif one.get("module") == name and _is_standard(name):
                found[name] = import_module(name)
        return found

    def ask(self, do: str, what: Any, *args: Any, **kwargs: Any) -> Any:
        """Have something done with an object of the solution; return or raise what that does.

        Raises:
            SolutionGoneError: its process has ended.
            CannotCrossError: an argument cannot cross.
        """
        containers = Containers()
        try:
            asked = {
                "do": do,
                "args": [self._crossing.encode(one, containers, True) for one in (what, *args)],
                "kwargs": {
                    name: self._crossing.encode(one, containers, True)
                    for name, one in kwargs.items()
                },
            }
        except RecursionError:
            raise self.cannot_cross("it is nested too deeply") from None
        self.used = True
        wire = self._exchange(asked, containers)
        value = self._checked(lambda: self._crossing.decode(wire, containers))
        if do == "call":
            self._last = value
        return value

    def raised_where(self, error: BaseException) -> str | None:
        """Return the line of the solution, as its process says."""
        return self._raised_where if error is self._raised else None

    def last_in_words(self) -> str:
        """Return what the last call gave; empty where that cannot be said."""
        last, self._last = self._last, _NOTHING
        if last is _NOTHING:
            return ""
        self.gone = self.gone or "its tests are over"
        try:
            text = repr(last)
        except BaseException:  # noqa: BLE001 - of an object of the solution, or nested too deeply
            return "the last call gave an object of the solution"
        return f"the last call gave {text if len(text) <= _SHOWN else text[:_SHOWN] + '…'}"

    def _exchange(self, asked: Message, containers: Containers) -> Wire:
        with self._lock:
            self._asked += 1
            number = self._asked
            self._send({**asked, "id": number})
            while True:
                reply = self._received()
                if "back" not in reply:
                    break
                self._send(self._called_back(reply))
        if reply.get("of") != number:
            raise self._lost("it said what nobody asked")
        self._checked(lambda: self._take_changes(reply, containers))
        printed = reply.get("printed")
        if isinstance(printed, str) and printed:
            sys.stdout.write(printed)
        if isinstance(reply.get("no_code"), str):
            raise NoCodeError(reply["no_code"])
        if reply.get("raised") is not None:
            error = self._checked(lambda: self._exceptions.made(reply["raised"], self._crossing))
            self._raised, self._raised_where = error, str(reply.get("where") or "")
            raise error
        return reply.get("value")

    def _take_changes(self, reply: Message, containers: Containers) -> None:
        for number, content in reply.get("changed") or ():
            self._crossing.fill(containers.numbered[number], content, containers)

    def _called_back(self, asked: Message) -> Message:
        """Call a function of the tests for the solution."""
        try:
            known = Containers()
            what = self._ours[asked["back"]]
            args = [self._crossing.decode(one, known) for one in asked["args"]]
            kwargs = {k: self._crossing.decode(one, known) for k, one in asked["kwargs"].items()}
            does: Callable[..., Any] = next if asked["do"] == "next" else what
            called = (what,) if does is next else args
        except (BrokenMessageError, LookupError, TypeError, AttributeError) as error:
            raise self._lost("it called what the tests do not have") from error
        try:
            returned = does(*called, **kwargs)
            return {"returned": self._crossing.encode(returned, Containers())}
        except Exception as error:  # noqa: BLE001 - of the tests' function: the solution gets it
            self.note(error)
            return {"returned": None, "raised": self._exceptions.told(error, self._crossing)}

    def _send(self, message: Message) -> None:
        if self.gone is not None:
            raise SolutionGoneError(self.gone)
        try:
            self._socket.send(message)
        except CannotCrossError as error:
            raise self.cannot_cross(str(error)) from None
        except OSError as error:
            raise self._lost("its process has ended") from error

    def _received(self) -> Message:
        reply = self._checked(self._socket.receive)
        if reply is None:
            raise self._lost("its process has ended")
        assert isinstance(reply, dict)
        return reply

    def _checked(self, made: Callable[[], Any]) -> Any:
        try:
            return made()
        except (BrokenMessageError, LookupError, TypeError, ValueError, RecursionError) as error:
            raise self._lost(f"its process said what nobody can read: {error}") from error

    def _lost(self, why: str) -> SolutionGoneError:
        self.gone = why
        return SolutionGoneError(why)

    def note(self, error: BaseException | None) -> None:
        """Take down what is raised in the tests where the solution may catch it: asserts count."""
        if isinstance(error, AssertionError) and self.raised_where(error) is None:
            self.caught = self.caught or error

    def cannot_cross(self, what: str) -> CannotCrossError:
        """Take down what the tests would need that cannot cross; return it as an exception."""
        self.uncrossed = what
        return CannotCrossError(what)

    def _refer(self, value: Any) -> List[Wire]:
        if isinstance(value, SolutionObject):
            return ["theirs", number_of(value)]
        if isinstance(value, type) and issubclass(value, BaseException):
            return ["exception", self._exceptions.name(value)]
        iterates = hasattr(type(value), "__next__")
        if not iterates and not callable(value):
            raise self.cannot_cross(
                f"an object of type {type(value).__name__} is no plain data: it cannot be passed "
                "to the solution, which is another process"
            )
        number = self._our_numbers.get(id(value))
        if number is None:
            number = self._our_numbers[id(value)] = len(self._ours)
            self._ours.append(value)
        name = getattr(value, "__name__", type(value).__name__)
        return ["generator" if iterates else "function", number, str(name)]

    def _resolve(self, form: str, rest: List[Wire]) -> Any:
        if form == "theirs":
            return self._ours[rest[0]]
        if form == "exception":
            return self._exceptions.named(rest[0])
        number, name = rest
        if not isinstance(number, int) or not isinstance(name, str):
            raise BrokenMessageError("it named no object")
        if number not in self._objects:
            kind = SolutionObject if form == "object" else SolutionFunction
            self._objects[number] = kind(self, number, name)
        found = self._objects[number]
        if form == "generator":
            return generator(found)
        return coroutine(found) if form == "coroutine" else found


def _is_standard(name: str) -> bool:
    """Return whether a module is the standard library's."""
    known = getattr(sys, "stdlib_module_names", None)  # from Python 3.10 on
    if known is not None:
        return name in known
    spec = find_spec(name)
    origin = str(None if spec is None else spec.origin)
    beside = origin.startswith(os.path.dirname(os.__file__)) and "-packages" not in origin
    return origin in ("built-in", "frozen") or beside


class _SolutionModule(ModuleType):
    """The solution as a module that the tests import."""

    def __init__(self, solution: Solution, name: str) -> None:
        super().__init__(name)
        self.__solution = solution

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = self.__solution.look_up([name])
        if name not in found:
            raise AttributeError(f"the solution has no {name}")
        return found[name]
