"""Workers in the test's own loop: an executor kind without any machine but this one."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from tui_eval.engine.executors.attempt_worker import AttemptWorker
from tui_eval.engine.executors.executor import Executor
from tui_eval.engine.executors.handful import Return, UnreadableMessage, packed, returns
from tui_eval.engine.executors.kinds import EXECUTORS
from tui_eval.engine.executors.remote_attempts import RemoteAttempts
from tui_eval.engine.executors.worker_setup import WorkerSetup
from tui_eval.engine.settings import Settings
from tui_eval.model.runs.executor_choice import ExecutorChoice

NEARBY = Settings(executor=ExecutorChoice("nearby"))


class NearbyExecutor(Executor):
    """Two workers, of which tests may take one away; bytes alone go between them and the engine."""

    made: list["NearbyExecutor"]
    """All that were made while a test ran."""
    workers_wanted = 2

    def __init__(self, address: str | None, setup: Callable[[], WorkerSetup]) -> None:
        self.address = address
        self.setup = self.seen(setup())
        self._attempts = RemoteAttempts(self)
        self.workers: dict[str, AttemptWorker] = {}
        self.sent: list[bytes] = []
        """All that has crossed."""
        self.given: list[bytes] = []
        """What of it the engine has sent."""
        self.shared: dict[str, bytes] = {}
        self.change: Callable[[AttemptWorker], Any] = lambda worker: None
        self._told = 0
        self._ending: list[asyncio.Task[None]] = []
        self.made.append(self)

    @staticmethod
    def seen(setup: WorkerSetup) -> WorkerSetup:
        """Return what workers are made of; tests may change it."""
        return setup

    @staticmethod
    def told(number: int, message: Return) -> Return:
        """Return what crosses in place of a worker's message; tests may change it."""
        return message

    @staticmethod
    def missing() -> str | None:
        return None

    @property
    def attempts(self) -> RemoteAttempts:
        return self._attempts

    async def connect(self) -> None:
        while len(self.workers) < self.workers_wanted:
            await self.join(f"w{len(self.workers)}")

    async def join(self, name: str) -> None:
        loop = asyncio.get_running_loop()

        def send(handful: bytes) -> None:
            changed = []
            for message in returns(handful):
                assert not isinstance(message, UnreadableMessage)
                changed.append(self.told(self._told, message))
                self._told += 1
            handful = packed(*changed)
            self.sent.append(handful)
            loop.call_soon(self._attempts.came, name, handful)

        worker = AttemptWorker(self.setup, send, self._fetch, f"node of {name}")
        self.workers[name] = await worker.__aenter__()
        self._attempts.joined(name, f"node of {name}", 2.0)

    def lose(self, name: str) -> None:
        """Let a worker be gone, and told so."""
        worker = self.workers.pop(name)
        self._attempts.lost(name, "it was taken away")
        self._ending.append(asyncio.create_task(worker.__aexit__(None, None, None)))

    def give(self, worker: str, handful: bytes) -> None:
        self.sent.append(handful)
        self.given.append(handful)
        if (there := self.workers.get(worker)) is not None:
            asyncio.get_running_loop().call_soon(there.take, handful)

    def share(self, name: str, data: bytes) -> None:
        self.shared[name] = data

    async def _fetch(self, name: str) -> bytes:
        return self.shared[name]

    async def close(self) -> None:
        with suppress(asyncio.CancelledError):
            await asyncio.gather(*self._ending)
        for worker in self.workers.values():
            await worker.__aexit__(None, None, None)


def register(monkeypatch: Any) -> list[NearbyExecutor]:
    """Have `NEARBY` stand for it; return those that are made."""
    made: list[NearbyExecutor] = []
    monkeypatch.setattr(NearbyExecutor, "made", made, raising=False)
    monkeypatch.setitem(EXECUTORS, "nearby", NearbyExecutor)
    return made
