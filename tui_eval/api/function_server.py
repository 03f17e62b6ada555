"""Answers an engine that calls functions of this program.

A thread reads calls from the socket and another writes replies to it. A function that is not async
is called in a thread of its own, so that one that hangs keeps no other from its turn; an async one
on a loop: that of whoever awaits the run, else one in a thread of its own. The engine says how many
calls there are at a time.
"""

import asyncio
import concurrent.futures
import contextvars
import inspect
import json
import queue
import socket
import subprocess
import threading
import time
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from tui_eval.api.given import GivenFunction
from tui_eval.engine.launch import create_run
from tui_eval.isolated.function_worker import encoded, raised

_Future = concurrent.futures.Future
_BUFFER: Final = 1 << 16
_ENDS_S: Final = 1.0
"""Seconds in which calls that are cancelled end, once the engine has gone."""


class FunctionServer:
    """Serves one engine until that closes its end."""

    def __init__(
        self, functions: Iterable[GivenFunction], loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        """Make the two ends of the socket; nothing is served yet.

        Args:
            functions: Those that it may call.
            loop: Where async ones run, as long as it does; None: on one of their own.
        """
        self._functions = {one.code: one for one in functions}
        self._loop = loop
        self._own: asyncio.AbstractEventLoop | None = None
        self._here, self.engine_end = socket.socketpair()
        self._replies: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self._running: dict[int, _Future[Any]] = {}
        self._context = contextvars.copy_context()
        self._making = threading.Lock()

    def serve(self) -> None:
        """Begin to serve; the engine's end is that process's alone by now."""
        self.engine_end.close()
        self._replies.put({"functions": [*self._functions]})
        for work in (self._read, self._write):
            threading.Thread(target=work, name="functions of a run", daemon=True).start()

    def _read(self) -> None:
        with self._here.makefile("rb", buffering=_BUFFER) as lines, suppress(OSError):
            for line in lines:
                message = json.loads(line)
                if "cancel" in message:
                    self._cancel(message["cancel"])
                else:
                    self._begin(message)
        self._replies.put(None)
        for future in [*self._running.values()]:
            future.cancel()
        with self._making:
            if self._own is not None:
                self._own.call_soon_threadsafe(self._own.call_later, _ENDS_S, self._own.stop)

    def _write(self) -> None:
        while (reply := self._replies.get()) is not None:
            error = reply.pop("error", None)
            if error is not None:
                reply["raised"] = raised(_without_ours(error), str(Path.cwd()))
            with suppress(OSError):  # it has gone, and asks for nothing any more
                self._here.sendall(encoded(reply).encode("ascii") + b"\n")
        self._here.close()

    def _begin(self, message: Mapping[str, Any]) -> None:
        given = self._functions[message["function"]]
        number, kwargs = message["call"], message["kwargs"]
        began = time.monotonic()
        if message["offered"]:
            taken = given.offered()
            kwargs = {name: one for name, one in kwargs.items() if name in taken}

        def call() -> None:
            try:
                returned = given.function(*message["args"], **kwargs)
            except BaseException as error:  # noqa: BLE001 - a trial's edge: it may raise anything
                self._reply(number, began, error=error)
                return
            if inspect.isawaitable(returned):
                self._await(number, began, returned)
            else:
                self._reply(number, began, returned=returned)

        if given.is_async:
            call()  # which only makes what is awaited
            return
        context = self._context.copy()
        threading.Thread(target=context.run, args=(call,), name=given.name, daemon=True).start()

    def _await(self, number: int, began: float, awaitable: Awaitable[Any]) -> None:
        future = asyncio.run_coroutine_threadsafe(_awaited(awaitable), self._running_loop())
        self._running[number] = future

        def ended(of: "_Future[Any]") -> None:
            self._running.pop(number, None)
            if of.cancelled():
                self._reply(number, began, error=asyncio.CancelledError("it was cancelled"))
            elif (error := of.exception()) is not None:
                self._reply(number, began, error=error)
            else:
                self._reply(number, began, returned=of.result())

        future.add_done_callback(ended)

    def _cancel(self, number: int) -> None:
        future = self._running.pop(number, None)
        if future is not None:
            future.cancel()

    def _reply(self, number: int, began: float, **what: Any) -> None:  # noqa: ANN401 - any value
        self._replies.put({"call": number, "seconds": time.monotonic() - began, **what})

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        if self._loop is not None and self._loop.is_running():
            return self._loop
        with self._making:
            if self._own is None:
                self._own = asyncio.new_event_loop()
                name = "loop of a run's functions"
                threading.Thread(target=_run, args=(self._own,), name=name, daemon=True).start()
            return self._own


def _without_ours(error: BaseException) -> BaseException:
    """Return an exception whose traceback begins in the function."""
    trace = error.__traceback__
    while trace is not None and trace.tb_frame.f_code.co_filename == __file__:
        trace = trace.tb_next
    return error.with_traceback(trace)


def _run(loop: asyncio.AbstractEventLoop) -> None:
    loop.run_forever()
    loop.close()


async def _awaited(what: Awaitable[Any]) -> Any:  # noqa: ANN401 - any value
    return await what


def spawn(
    store: Path,
    run_name: str,
    functions: Sequence[GivenFunction],
    loop: asyncio.AbstractEventLoop | None = None,
) -> "subprocess.Popen[bytes]":
    """Start a run's engine, which calls functions of this program.

    Args:
        store: The store's file.
        run_name: The run.
        functions: Those that it may call; empty: none.
        loop: Where async ones run, as long as it does; None: on one of their own.
    """
    if not functions:
        return create_run.spawn(store, run_name)
    server = FunctionServer(functions, loop)
    engine = create_run.spawn(store, run_name, server.engine_end)
    server.serve()
    return engine
