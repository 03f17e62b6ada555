"""The process that calls a suite's function: run by its path, by the interpreter the suite names.

It imports nothing of this package and nothing beside the standard library, and runs on every
CPython from 3.8 on.

Standard input is a socket, a JSON object a line in both directions. It is moved away before any
foreign code runs, and what is printed, on whichever descriptor, goes to standard error: a function
that prints what looks like a reply has printed it, no more. First comes `load`, answered with
`loaded` or `refused`; then one call at a time, each with an id that nobody knows beforehand:
`began` is said before the function is called, then what came of it. After each call its id is
written as a line to standard error, which is where that call's prints end.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import importlib
import inspect
import json
import os
import resource
import sys
import time
import traceback
from typing import Any, Callable, Dict, Iterator, List

MOST_REPLY = 16_000_000
"""Characters of JSON that a function may return."""
_MOST_MESSAGE = 2_000
_MOST_TRACEBACK = 16_000
_HIGH = 200
"""Above the descriptors that programs close one by one."""
_OURS = os.path.abspath(__file__)

Message = Dict[str, Any]


class RefusedCallableError(Exception):
    """The function cannot be called."""

    def __init__(self, what: str, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.what = what
        """`module`, `function` or `args`."""
        self.trace = trace


class StandardDescriptors:
    """Standard output and error, both the stream that the engine has captured."""

    def __init__(self) -> None:
        os.dup2(2, 1)
        self._kept = fcntl.fcntl(2, fcntl.F_DUPFD_CLOEXEC, _HIGH)
        for stream in (sys.stdout, sys.stderr):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")  # type: ignore[union-attr]
        self._streams = (sys.stdout, sys.stderr)
        self._file = self._identity(2)

    def intact(self) -> bool:
        """Return whether the next call can print as this one could."""
        try:
            same = self._identity(1) == self._identity(2) == self._file
        except OSError:
            return False
        return same and not any(stream.closed for stream in self._streams)

    def mark(self, call: str) -> None:
        """Flush what was printed and write the line that ends it; restore replaced streams."""
        for stream in (sys.stdout, sys.stderr, *self._streams):
            with contextlib.suppress(Exception):  # closed, or whatever the function put there
                stream.flush()
        sys.stdout, sys.stderr = self._streams
        line = memoryview(f"\n{call}\n".encode())
        while line:
            line = line[os.write(self._kept, line) :]

    @staticmethod
    def _identity(descriptor: int) -> tuple[int, int]:
        found = os.fstat(descriptor)
        return found.st_dev, found.st_ino


class EngineSocket:
    """The socket to the engine."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lines = os.fdopen(descriptor, "rb", closefd=False)

    def receive(self) -> Message | None:
        """Return the next message; None where the engine has gone."""
        line = self._lines.readline()
        return json.loads(line) if line.endswith(b"\n") else None

    def send(self, message: Message) -> None:
        """Send a message."""
        self.send_text(json.dumps(message))

    def send_text(self, text: str) -> None:
        """Send a message that is JSON already."""
        data = memoryview((text + "\n").encode("ascii"))
        while data:
            data = data[os.write(self._descriptor, data) :]


def main() -> None:
    """Load the function and call it until the engine has gone."""
    private = fcntl.fcntl(0, fcntl.F_DUPFD_CLOEXEC, _HIGH)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    connection = EngineSocket(private)
    descriptors = StandardDescriptors()
    asked = connection.receive()
    if asked is None:
        return
    wanted = asked["load"]
    try:
        function = loaded(wanted)
        taken = names_taken(function, wanted)
    except RefusedCallableError as refusal:
        said = {"what": refusal.what, "message": str(refusal), "traceback": refusal.trace}
        descriptors.mark(wanted["id"])
        connection.send({"refused": said})
        return
    descriptors.mark(wanted["id"])
    connection.send({"loaded": {"python": sys.version.split()[0]}})
    FunctionCalls(function, taken, connection, descriptors, wanted["folder"]).serve()


def loaded(wanted: Message) -> Callable[..., Any]:
    """Import the module and return its function.

    Raises:
        RefusedCallableError: it is not there.
    """
    folder, module, path = wanted["folder"], wanted["module"], wanted["function"]
    if sys.path and os.path.abspath(sys.path[0]) == os.path.dirname(_OURS):
        del sys.path[0]
    if wanted.get("path") is not None:
        sys.path[:] = wanted["path"]  # nothing beside the suite stands in a plugin's place
    else:
        sys.path.insert(0, folder)
    try:
        found: Any = importlib.import_module(module)
    except BaseException as error:  # noqa: BLE001 - foreign code: it may raise anything
        _leave_if_forked()
        missing = error.name if isinstance(error, ModuleNotFoundError) else None
        if missing is not None and f"{module}.".startswith(f"{missing}."):
            text = f"no module {missing} beside the suite, nor installed for {sys.executable}"
            raise RefusedCallableError("module", text) from None
        said = raised(error, folder)
        text = f"module {module} cannot be imported: {said['summary']}"
        raise RefusedCallableError("module", text, said["traceback"]) from None
    for name in path.split("."):
        if not hasattr(found, name):
            public = [one for one in vars(found) if not one.startswith("_")]
            there = ", ".join(one for one in public if callable(getattr(found, one)))
            text = f"{module} has no {path}; it has {there[:300] or 'nothing that can be called'}"
            raise RefusedCallableError("function", text)
        found = getattr(found, name)
    if not callable(found):
        raise RefusedCallableError(
            "function", f"{module}:{path} is {_kind(found)}, which cannot be called"
        )
    return found  # type: ignore[no-any-return]


def names_taken(function: Callable[..., Any], wanted: Message) -> List[str]:
    """Return which keywords it is called with: all, or of those that are offered what it takes.

    Raises:
        RefusedCallableError: it takes other arguments than it would get.
    """
    keywords: List[str] = wanted["keywords"]
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return keywords  # of a builtin: the call will tell
    shown = f"{wanted['function']}{signature}"[:200]
    takes = signature.parameters.values()
    if wanted["offered"] and not any(one.kind is one.VAR_KEYWORD for one in takes):
        named = [one.name for one in takes if one.kind is not one.POSITIONAL_ONLY]
        offered, keywords = keywords, [name for name in keywords if name in named]
        if not keywords:
            raise RefusedCallableError("args", f"{shown} takes none of {', '.join(offered)}")
    try:
        signature.bind(*[None] * wanted["positional"], **dict.fromkeys(keywords))
    except TypeError as error:
        raise RefusedCallableError("args", f"{shown} does not take these: {error}") from None
    return keywords


class FunctionCalls:
    """FunctionCalls of one function, one after the other."""

    def __init__(
        self,
        function: Callable[..., Any],
        taken: List[str],
        connection: EngineSocket,
        descriptors: StandardDescriptors,
        folder: str,
    ) -> None:
        self._function = function
        self._taken = frozenset(taken)
        self._connection = connection
        self._descriptors = descriptors
        self._folder = folder
        self._loop: asyncio.AbstractEventLoop | None = None

    def serve(self) -> None:
        """Answer until the engine has gone."""
        while True:
            asked = self._connection.receive()
            if asked is None:
                return
            self._connection.send({"began": asked["call"]})
            reply = self._called(asked)
            self._descriptors.mark(asked["call"])
            self._connection.send_text(reply)

    def _called(self, asked: Message) -> str:
        began = time.monotonic()
        reply: Message = {"call": asked["call"]}
        try:
            os.chdir(self._folder)
            named = {name: given for name, given in asked["kwargs"].items() if name in self._taken}
            returned = self._function(*asked["args"], **named)
            if inspect.isawaitable(returned):
                returned = self._own_loop().run_until_complete(_awaited(returned))
        except BaseException as error:  # noqa: BLE001 - foreign code: it may raise anything
            _leave_if_forked()
            reply["raised"] = raised(error, self._folder)
        else:
            _leave_if_forked()
            reply["returned"] = returned
        reply["seconds"] = time.monotonic() - began
        reply["peak"] = peak_memory()
        reply["intact"] = self._descriptors.intact()
        return encoded(reply)

    def _own_loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop of all calls, so that what a coroutine opened serves the next one."""
        if self._loop is None or self._loop.is_closed():
            self._loop = asyncio.new_event_loop()
        return self._loop


async def _awaited(what: Any) -> Any:
    return await what


def peak_memory() -> int:
    """Return the most bytes that this process ever had in memory."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def encoded(reply: Message) -> str:
    """Return a reply as JSON; where what was returned is none, that is what it says."""
    try:
        text = json.dumps(reply, allow_nan=False)
    except Exception as error:  # noqa: BLE001 - of a foreign object's methods too
        returned = reply.pop("returned", None)
        try:
            where = next(_not_json(returned, "what it returned"), None)
        except Exception:  # noqa: BLE001 - likewise: nested too deep, a cycle
            where = None
        reply["unsuitable"] = where or f"what it returned is not JSON: {_text(error)}"
        return json.dumps(reply)
    if len(text) > MOST_REPLY:
        del reply["returned"]
        reply["unsuitable"] = f"it returned more than {MOST_REPLY // 1_000_000} MB"
        return json.dumps(reply)
    return text


def _not_json(value: Any, where: str) -> Iterator[str]:
    """Yield what keeps a value from being JSON."""
    if isinstance(value, dict):
        for key, one in value.items():
            if not isinstance(key, (str, int, float, bool, type(None))):
                yield f"{where} has a key that is {_kind(key)}, which is not JSON"
            yield from _not_json(one, f"{where}.{_text(key)[:40]}")
    elif isinstance(value, (list, tuple)):
        for index, one in enumerate(value):
            yield from _not_json(one, f"{where}[{index}]")
    elif isinstance(value, float):
        if value != value or value in (float("inf"), float("-inf")):
            yield f"{where} is {value!r}, which is not JSON"
    elif not isinstance(value, (str, int, bool, type(None))):
        yield f"{where} is {_kind(value)}, which is not JSON"


def raised(error: BaseException, folder: str) -> Message:
    """Return an exception in words, its traceback without this file and with short paths."""
    name = type(error).__name__
    message = _text(error)[:_MOST_MESSAGE]
    try:
        lines = traceback.format_exception(type(error), error, error.__traceback__)
        text = "".join(_without_ours(lines))
        text = text.replace(folder.rstrip(os.sep) + os.sep, "")
        for one in sorted(filter(None, sys.path), key=len, reverse=True):
            text = text.replace(one.rstrip(os.sep) + os.sep, "")
    except Exception:  # noqa: BLE001 - of a foreign exception's methods
        text = "(its traceback cannot be shown)"
    if len(text) > _MOST_TRACEBACK:
        half = _MOST_TRACEBACK // 2
        text = text[:half] + "\n  …\n" + text[-half:]
    first = message.splitlines()[0] if message.strip() else ""
    summary = f"{name}: {first}" if first else name
    return {"type": name, "message": message, "summary": summary, "traceback": text}


def _without_ours(lines: List[str]) -> Iterator[str]:
    for line in lines:
        own = (f'  File "{_OURS}"', f'  File "{__file__}"')
        if not line.startswith(own) and "<frozen importlib" not in line:
            yield line


def _text(what: Any) -> str:
    try:
        return str(what)
    except Exception:  # noqa: BLE001 - a foreign object's method
        return "(it has no text)"


def _kind(what: Any) -> str:
    kind = type(what)
    place = "" if kind.__module__ == "builtins" else kind.__module__ + "."
    return f"of type {place}{kind.__qualname__}"


_PID = os.getpid()


def _leave_if_forked() -> None:
    """End a process that the function forked and that came back here in its place."""
    if os.getpid() != _PID:
        os._exit(0)


if __name__ == "__main__":
    main()
