"""The engine's end of the socket to the Python program whose functions it calls."""

import asyncio
import itertools
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from tui_eval.model.json import JsonObject
from tui_eval.suites import given_functions
from tui_eval.suites.given_functions import FunctionHolder
from tui_eval.targets.python_function.function_pool import CallReply
from tui_eval.targets.python_function.message_lines import LARGE, MessageLines, WorkerLostError


class CallerConnection(FunctionHolder):
    """Calls functions there, many at the same time."""

    def __init__(self, messages: MessageLines, gone: Callable[[], None]) -> None:
        """Take the socket.

        Args:
            messages: What goes over it.
            gone: Told once, where the program has ended.
        """
        self._messages = messages
        self._gone = gone
        self._waiting: dict[int, asyncio.Future[CallReply]] = {}
        self._numbers = itertools.count()

    async def call(
        self, code: str, args: list[Any], kwargs: JsonObject, *, offered: bool = False
    ) -> CallReply:
        """Call a function; whoever is cancelled has its call cancelled there.

        Where the program has ended, nothing comes back: the engine is leaving, and drops the call.

        Args:
            code: The digest of its code.
            args: By place.
            kwargs: By name.
            offered: Whether it takes of those the ones that it has.
        """
        number = next(self._numbers)
        reply: asyncio.Future[CallReply] = asyncio.get_running_loop().create_future()
        self._waiting[number] = reply
        message: JsonObject = {"call": number, "function": code, "args": args, "kwargs": kwargs}
        try:
            await self._send({**message, "offered": offered})
            return await reply
        except asyncio.CancelledError:
            await asyncio.shield(self._send({"cancel": number}))
            raise
        finally:
            del self._waiting[number]

    async def listen(self) -> None:
        """Give replies to those who wait for them, until the program has ended."""
        try:
            while True:
                reply = await self._messages.receive()
                number = reply.get("call")
                waiting = self._waiting.get(number) if isinstance(number, int) else None
                if waiting is not None and not waiting.done():
                    waiting.set_result(CallReply(reply, "", self._messages.size >= LARGE))
        except WorkerLostError:
            self._gone()

    async def _send(self, message: JsonObject) -> None:
        try:
            await self._messages.send(message)
        except WorkerLostError:
            return  # `listen` finds out, too, and tells


@asynccontextmanager
async def caller(descriptor: int, gone: Callable[[], None]) -> AsyncIterator[CallerConnection]:
    """Open the socket to the program that started this engine; its functions are known within.

    Args:
        descriptor: The socket that was inherited.
        gone: Told once, where the program has ended.
    """
    inherited = socket.socket(fileno=descriptor)
    inherited.set_inheritable(False)
    inherited.setblocking(False)
    reader, writer = await asyncio.open_unix_connection(sock=inherited)
    messages = MessageLines(reader, writer)
    connection = CallerConnection(messages, gone)
    try:
        there = (await messages.receive()).get("functions")
    except WorkerLostError:
        there = []  # it has ended at once
    for code in there if isinstance(there, list) else []:
        given_functions.offer(str(code), connection)
    listening = asyncio.create_task(connection.listen(), name="listens to the program")
    try:
        yield connection
    finally:
        listening.cancel()
        await asyncio.gather(listening, return_exceptions=True)
        messages.close()
