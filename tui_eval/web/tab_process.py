"""The process behind a tab: the app, which draws into a pipe and is typed to through another.

The pipes speak as `textual.drivers.web_driver` says: a letter, a length in four bytes, so many
bytes.
"""

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Sequence
from contextlib import suppress
from typing import Final

from tui_eval.model.json import JsonObject

BEGINS: Final = b"__GANGLION__\n"
"""The line after which a Textual app speaks in packets."""
_TYPED, _TOLD = b"D", b"M"
_WORDS: Final = 4000
"""Bytes that are kept of what a process says before it draws: why it does not start."""
GRACE_S: Final = 3.0
"""Seconds that an app has to leave once it is asked to; then it is killed."""


class TabProcess:
    """A process that runs the app for one tab."""

    def __init__(self, process: Process) -> None:
        self._process = process
        self.said = ""
        """What it said in place of drawing; empty: it drew."""

    @classmethod
    async def start(cls, command: Sequence[str], environ: dict[str, str]) -> "TabProcess":
        """Start the app.

        Args:
            command: Its command line.
            environ: Its environment.

        Raises:
            OSError: it cannot be started.
        """
        # a session of its own: Ctrl+C is for the server, which ends its tabs in order
        process = await asyncio.create_subprocess_exec(
            *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, env=environ, start_new_session=True
        )
        return cls(process)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    @property
    def exit_code(self) -> int | None:
        """How it ended; None: it has not."""
        return self._process.returncode

    async def drawn(self) -> AsyncIterator[bytes]:
        """Yield what the app draws, until it leaves."""
        stdout = self._process.stdout
        assert stdout is not None, "it is a pipe"
        while (line := await self._line(stdout)) != BEGINS:
            if not line:
                return
            self.said = (self.said + line.decode("utf-8", "replace"))[-_WORDS:]
        self.said = ""
        try:
            while True:
                kind = await stdout.readexactly(1)
                size = int.from_bytes(await stdout.readexactly(4), "big")
                payload = await stdout.readexactly(size)
                if kind == _TYPED:
                    yield payload
                elif kind == _TOLD and json.loads(payload).get("type") == "exit":
                    return
        except asyncio.IncompleteReadError:
            return

    @staticmethod
    async def _line(stdout: asyncio.StreamReader) -> bytes:
        try:
            return await stdout.readline()
        except ValueError:  # longer than what is buffered: nothing of ours
            return b""

    async def type(self, text: str) -> None:
        """Give the app what was typed, or what a mouse did."""
        await self._send(_TYPED, text.encode("utf-8", "replace"))

    async def resize(self, width: int, height: int) -> None:
        """Tell the app how many columns and rows there are."""
        await self._tell({"type": "resize", "width": width, "height": height})

    async def focus(self, *, gained: bool) -> None:
        """Tell the app whether the tab is looked at."""
        await self._tell({"type": "focus" if gained else "blur"})

    async def end(self) -> None:
        """Have the app leave; kill it where it does not. Engines that it started go on."""
        if self._process.returncode is None:
            await self._tell({"type": "quit"})
            if self._process.stdin is not None:
                self._process.stdin.close()
            with suppress(TimeoutError):
                async with asyncio.timeout(GRACE_S):
                    # read on: an app whose pipe is full could not leave
                    await asyncio.gather(self._drain(), self._process.wait())
        self.kill()
        await self._process.wait()

    def kill(self) -> None:
        """End the process at once, where it has not ended."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def _drain(self) -> None:
        stdout = self._process.stdout
        assert stdout is not None, "it is a pipe"
        while await stdout.read(65536):
            pass

    async def _tell(self, what: JsonObject) -> None:
        await self._send(_TOLD, json.dumps(what).encode())

    async def _send(self, kind: bytes, payload: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None, "it is a pipe"
        with suppress(ConnectionError, RuntimeError):  # it has ended: whoever reads it sees that
            stdin.write(kind + len(payload).to_bytes(4, "big") + payload)
            await stdin.drain()
