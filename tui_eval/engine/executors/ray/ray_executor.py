"""Has workers on the nodes of a Ray cluster make attempts."""

import asyncio
import importlib.util
import logging
import os
import socket
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import IO, Final

from tui_eval.engine.executors.executor import Executor
from tui_eval.engine.executors.handful import MOST
from tui_eval.engine.executors.ray.frames import frame, next_frame
from tui_eval.engine.executors.remote_attempts import RemoteAttempts
from tui_eval.engine.executors.worker_setup import WorkerSetup
from tui_eval.isolated.calls import import_path
from tui_eval.model.json import JsonObject
from tui_eval.providers.errors import UnavailableError

_BRIDGE: Final = "tui_eval.engine.executors.ray.bridge"
_PASSED_ON: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH")
"""Of the environment, beside Ray's own: there may be keys in the rest."""
_RAY: Final = "RAY_"
_ENDED_S: Final = 8.0
"""Seconds that the process with Ray has to end by itself."""
_LOOK_S: Final = 5.0
"""Seconds between two looks whether that process has said anything since …"""
_SILENT_LOOKS: Final = 9
"""… and after how many in vain it is taken as hanging. (Looks, as an engine may be stopped itself
for a while, and hears then what was said meanwhile.)"""
_SAID: Final = 2_000
"""Bytes of what it has printed last that the log gets, where it ends by itself."""

log = logging.getLogger(__name__)


class RayExecutor(Executor):
    """Workers on Ray, reached through a process that has Ray in it; see `bridge`."""

    def __init__(self, address: str | None, setup: Callable[[], WorkerSetup]) -> None:
        """Describe it; nothing is started.

        Args:
            address: The head's, `HOST:PORT`; None: what RAY_ADDRESS says, or this machine's.
            setup: Gives what its workers are made of.
        """
        self._address = address or ""
        self._setup = setup
        self._turn = asyncio.Lock()
        self._closing = False
        self._attempts = RemoteAttempts(self)
        self._process: asyncio.subprocess.Process | None = None
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None
        self._watching: asyncio.Task[None] | None = None
        self._silent = 0
        """Looks since that process said something."""
        self._printed: IO[bytes] | None = None

    @staticmethod
    def missing() -> str | None:
        """Say that Ray is not installed."""
        if importlib.util.find_spec("ray") is not None:
            return None
        return "--executor ray needs Ray, which is not installed: pip install 'tui-eval[ray]'"

    @property
    def attempts(self) -> RemoteAttempts:
        """The attempts that its workers make."""
        return self._attempts

    async def connect(self) -> None:
        """Join the cluster, and wait for the first worker.

        Raises:
            UnavailableError: there is no cluster, or no worker on it.
        """
        async with self._turn:
            if self._process is None:
                await self._start()
        await self._attempts.ready()
        if (why := self._attempts.failure) is not None:
            raise UnavailableError(why)

    async def _start(self) -> None:
        if (missing := self.missing()) is not None:
            raise UnavailableError(missing)
        setup = await asyncio.to_thread(self._setup)
        ours, theirs = socket.socketpair()
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 - closed as the process has ended
        with theirs:
            self._process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-P", "-m", _BRIDGE),
                stdin=theirs.fileno(),
                stdout=self._printed,
                stderr=self._printed,
                start_new_session=True,  # Ctrl+C is for the engine
                env=_environment(),
            )
        reader, self._writer = await asyncio.open_connection(sock=ours)
        self._listening = asyncio.create_task(self._listen(reader), name="ray")
        self._watching = asyncio.create_task(self._watch(), name="ray's silence")
        start: JsonObject = {"do": "start", "address": self._address, "most": str(MOST)}
        self._say(start, setup.packed())

    def give(self, worker: str, handful: bytes) -> None:
        """Send messages to a worker."""
        self._say({"do": "give", "worker": worker}, handful)

    def share(self, name: str, data: bytes) -> None:
        """Have bytes in Ray's object store."""
        self._say({"do": "share", "name": name}, data)

    async def close(self) -> None:
        """End the workers; a cluster that does not answer keeps nobody waiting for long."""
        self._closing = True
        if self._writer is not None:
            self._writer.close()
        if self._watching is not None:
            self._watching.cancel()
        if self._process is not None:
            try:
                await asyncio.wait_for(self._process.wait(), _ENDED_S)
            except TimeoutError:
                self._process.kill()
                await self._process.wait()
        if self._listening is not None:
            self._listening.cancel()
            with suppress(asyncio.CancelledError):
                await self._listening
        if self._printed is not None:
            self._printed.close()
        if self._attempts.late:
            log.info("%d replies came late and were not written", self._attempts.late)

    def _say(self, head: JsonObject, body: bytes = b"") -> None:
        assert self._writer is not None, "it is connected"
        if not self._writer.is_closing():
            self._writer.write(frame(head, body))

    async def _watch(self) -> None:
        """Go on without the process that speaks with Ray once it hangs: nothing comes by it."""
        while self._silent < _SILENT_LOOKS:
            await asyncio.sleep(_LOOK_S)
            self._silent += 1
        assert self._process is not None
        self._attempts.failed(
            f"the process that speaks with Ray ({self._process.pid}) has said nothing for "
            f"{_LOOK_S * _SILENT_LOOKS:g} s and is ended: see that the cluster runs, then resume "
            "the run"
        )
        self._process.kill()

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        attempts = self._attempts
        try:
            while (got := await next_frame(reader)) is not None:
                self._silent = 0
                self._heard(*got)
        except Exception as error:  # else everybody would wait for what nobody hears
            log.exception("what Ray's process says")
            attempts.failed(f"what the process that speaks with Ray says cannot be read: {error}")
            return
        if attempts.failure is None and not self._closing:
            assert self._process is not None
            code = await self._process.wait()
            log.warning("Ray said last: %s", self._said())
            attempts.failed(
                f"the process that speaks with Ray has ended (exit code {code}), perhaps because "
                "Ray's head has gone: see that the cluster runs, then resume the run"
            )

    def _heard(self, head: dict[str, str], body: bytes) -> None:
        match head["is"]:
            case "alive":
                pass
            case "came":
                self._attempts.came(head["worker"], body)
            case "joined":
                self._attempts.joined(head["worker"], head["node"], float(head["cpus"]))
            case "unplaced":
                self._attempts.unplaced(head["node"], head["why"])
            case "lost":
                self._attempts.lost(head["worker"], head["why"])
            case _:
                self._attempts.failed(head["why"])

    def _said(self) -> str:
        assert self._printed is not None
        size = self._printed.seek(0, os.SEEK_END)
        self._printed.seek(max(0, size - _SAID))
        return self._printed.read().decode("utf-8", "replace")


def _environment() -> dict[str, str]:
    """Return the environment of the process with Ray: no key of the engine's is in it."""
    passed = {
        name: value
        for name, value in os.environ.items()
        if name in _PASSED_ON or name.startswith(_RAY)
    }
    return {**passed, "PYTHONPATH": import_path(), "RAY_USAGE_STATS_ENABLED": "0"}
