"""A worker as an actor of Ray: orders come as calls of it, what it sends is fetched from it."""

import asyncio
import platform
import socket
from typing import TYPE_CHECKING, Any, Final

import tui_eval

if TYPE_CHECKING:
    from tui_eval.engine.executors.attempt_worker import AttemptWorker

ANSWERS_S: Final = 5.0
"""Seconds after which a worker answers whoever fetches, also where it has nothing to send."""


class RayWorker:
    """One a node, as long as the engine's job lasts: Ray ends it with the job.

    What a worker makes of its orders is `AttemptWorker`'s; here is only how they come.
    """

    def __init__(self, setup: bytes) -> None:
        """Take what the worker is made of, as `WorkerSetup.packed` gave it."""
        self._setup = setup
        self._worker: AttemptWorker | None = None
        self._unsent: list[bytes] = []
        self._has_some = asyncio.Event()
        self._shared: dict[str, Any] = {}
        """References to what the engine has shared, by name; each in a list of its own."""

    async def versions(self) -> dict[str, str]:
        """Tell what it is; nothing of a run is read before that is known."""
        return {"tui-eval": tui_eval.__version__, "python": platform.python_version()}

    async def begin(self) -> None:
        """Make the worker's targets."""
        # not in the process that starts the actor: it needs nothing of this
        from tui_eval.engine.executors.attempt_worker import AttemptWorker
        from tui_eval.engine.executors.worker_setup import WorkerSetup

        where = socket.gethostname()
        setup = WorkerSetup.unpacked(self._setup)
        worker = AttemptWorker(setup, self._send, self._fetch, where)
        self._worker = await worker.__aenter__()

    async def take(self, handful: bytes, shared: dict[str, Any]) -> None:
        """Do what an engine says.

        Args:
            handful: What it says.
            shared: References to what it has shared since.
        """
        assert self._worker is not None, "it has begun"
        self._shared |= shared
        self._worker.take(handful)

    async def fetch(self) -> list[bytes]:
        """Return what is to be sent, as soon as there is something, or empty after a while."""
        try:
            async with asyncio.timeout(ANSWERS_S):
                await self._has_some.wait()
        except TimeoutError:
            return []
        unsent, self._unsent = self._unsent, []
        self._has_some.clear()
        return unsent

    async def end(self) -> None:
        """End what runs, and leave nothing of it behind."""
        if self._worker is not None:
            await self._worker.__aexit__(None, None, None)

    def _send(self, handful: bytes) -> None:
        self._unsent.append(handful)
        self._has_some.set()

    async def _fetch(self, name: str) -> bytes:
        (reference,) = self._shared[name]
        data: bytes = await reference
        return data
