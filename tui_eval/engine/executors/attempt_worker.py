"""What a worker does, whatever brings it its orders: it makes attempts, as an engine would."""

import asyncio
import logging
import os
import shutil
import tempfile
import time
import traceback
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Final, Self, TypeAlias

from tui_eval.engine.executors.handful import (
    AttemptNews,
    AttemptOrder,
    AttemptRecall,
    AttemptReturn,
    CheckOrder,
    CheckReturn,
    OversizedMessageError,
    Return,
    orders,
)
from tui_eval.engine.executors.outbox import Outbox
from tui_eval.engine.executors.remote_calls import RemoteCalls
from tui_eval.engine.executors.worker_checks import WorkerChecks
from tui_eval.engine.executors.worker_setup import WorkerSetup
from tui_eval.engine.executors.workspace_parcel import unpacked
from tui_eval.engine.journey.lazy_open import LazyOpen
from tui_eval.model.json import digest
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.processes.supervisor import Processes
from tui_eval.processes.workspace.removal import remove_folder
from tui_eval.providers.errors import UnavailableError
from tui_eval.store.files import FileStore
from tui_eval.targets import build
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.base import Target
from tui_eval.targets.conversation.call_log import HeldError

NEWS_S: Final = 0.5
"""Seconds between two messages of how far one attempt is."""
PAUSE_S: Final = 0.02
"""Seconds between two handfuls to the engine."""
_PREFIX: Final = "tui-eval-worker-"
_ITS_OWN: Final = (
    "Workers have the environment and the files of their node: change it there, start the node "
    "anew, then resume the run"
)

Fetch: TypeAlias = Callable[[str], Awaitable[bytes]]
"""Gives the bytes that an engine has shared, by their name."""
log = logging.getLogger(__name__)


class AttemptWorker:
    """Makes the attempts it is ordered to; as a context, which ends what runs when it is left.

    Its targets are those of the frozen suite; keys are those of its own environment.
    """

    def __init__(
        self, setup: WorkerSetup, send: Callable[[bytes], None], fetch: Fetch, where: str
    ) -> None:
        """Take what it is made of; nothing is opened and no key is read.

        Args:
            setup: What it is made of.
            send: Sends a handful to the engine; it does not wait.
            fetch: Gives what the engine has shared.
            where: What people call the machine it is on.
        """
        self._setup = setup
        self._processes = Processes()
        self._targets: dict[str, Target] = {}
        """By name, once there is a folder."""
        self._where = where
        self._fetch = fetch
        self._opened: dict[tuple[str, str], LazyOpen] = {}
        """By the target's name, and the digest of the identity it is to have."""
        self._tasks: dict[int, asyncio.Task[None]] = {}
        self._outbox: Outbox[Return] = Outbox(send, lambda: PAUSE_S)
        self._calls: dict[int, RemoteCalls] = {}
        """Of the conversations that attempts hold."""
        self._workspaces: dict[str, asyncio.Task[Path]] = {}
        self._checks: WorkerChecks | None = None
        """Likewise."""
        self._folder = Path()

    async def __aenter__(self) -> Self:
        """Make the targets, and the folder that it works in; remove those of killed workers."""
        await asyncio.to_thread(_sweep)
        self._folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        suite = await asyncio.to_thread(self._setup.at_hand, self._folder / "suite")
        self._targets = build(suite, {}, self._setup.usual_concurrency, self._processes)
        await self._processes.__aenter__()
        self._checks = WorkerChecks(suite, self._targets, self._processes, self._folder)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """End what runs, close what was opened, and take its folder away."""
        for task in [*self._tasks.values(), *self._workspaces.values()]:
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)
        for opened in self._opened.values():
            await opened.close()
        if self._checks is not None:
            await self._checks.close()
        await self._processes.close()
        with suppress(OSError):
            await asyncio.to_thread(remove_folder, self._folder)

    def take(self, handful: bytes) -> None:
        """Do what an engine says; what comes of it is sent.

        Raises:
            HandfulError: it is none of ours.
        """
        for order in orders(handful):
            if isinstance(order, AttemptOrder | CheckOrder):
                made = asyncio.create_task(self._done(order))
                self._tasks[order.attempt] = made
                made.add_done_callback(partial(self._over, order.attempt))
            elif isinstance(order, AttemptRecall):
                if (task := self._tasks.get(order.attempt)) is not None:
                    task.cancel()
            elif (calls := self._calls.get(order.attempt)) is not None:
                calls.heard(order)

    def _over(self, attempt: int, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(attempt, None)
        self._calls.pop(attempt, None)
        if task.cancelled():  # before it had begun
            self._outbox.put(AttemptReturn(attempt, None))
        elif (error := task.exception()) is not None:  # what came of it cannot be told
            log.error("attempt %d", attempt, exc_info=error)
            why = f"{self._where}: {type(error).__name__}: {error}"
            self._outbox.put(
                AttemptReturn(attempt, Failure("bug", f"an error in tui-eval, on {why}"))
                if attempt >= 0
                else CheckReturn(attempt, None, f"an error in tui-eval, at its worker on {why}")
            )

    async def _done(self, order: AttemptOrder | CheckOrder) -> None:
        if isinstance(order, AttemptOrder):
            await self._make(order)
        else:
            assert self._checks is not None, "it has begun"
            self._outbox.put(await self._checks.decided(order))

    async def _make(self, order: AttemptOrder) -> None:
        calls = self._calls[order.attempt] = RemoteCalls(order.attempt, self._outbox.put)
        news = _News(order.attempt, self._outbox)
        kept = self._folder / f"kept-{order.attempt}"
        context = AttemptContext(
            order.timeout_s,
            order.attempt,
            folders=self._folder / "attempts",
            kept=kept,
            limits=order.limits,
            on_progress=news.tell,
            calls=calls,
        )
        reply: Output | Failure | None
        try:
            reply = context.recorded(await self._reply(order, context))
        except (asyncio.CancelledError, HeldError):
            reply = None
        except Exception:
            log.exception("attempt %d", order.attempt)
            told = traceback.format_exc(limit=-1).strip().splitlines()[-1]
            reply = Failure("bug", f"an error in tui-eval, on {self._where}: {told}")
        news.end()
        files = () if reply is None else await asyncio.to_thread(_files, kept, reply)
        returned = AttemptReturn(order.attempt, reply, context.partial, context.messages, files)
        try:
            self._outbox.put(returned)
        except OversizedMessageError as error:
            self._outbox.put(AttemptReturn(order.attempt, Failure("too_large", str(error))))
        context.written()  # what a later engine would need is at the engine by then
        if kept.exists():
            with suppress(OSError):
                await asyncio.to_thread(shutil.rmtree, kept)

    async def _reply(self, order: AttemptOrder, context: AttemptContext) -> Output | Failure:
        target = self._targets.get(order.target)
        if target is None:
            return Failure(
                "unavailable", f"{self._where} has no target {order.target!r}", fatal=True
            )
        meant = (order.target, order.identity)
        if (opened := self._opened.get(meant)) is None:
            opening = self._as_ordered(target, order.identity)
            opened = self._opened[meant] = LazyOpen({order.target: opening})
        if (unready := await opened.ready(order.target)) is not None:
            told = f"on {self._where}: {unready.message}. {_ITS_OWN}"
            return replace(unready, message=told)
        request = order.request
        if order.workspace is not None:
            try:
                folder = await asyncio.shield(self._workspace(order.workspace))
            except OSError as error:
                why = f"on {self._where}: its workspace cannot be made: {error}"
                return Failure("setup", why, unsent=True)
            request = target.moved(request, folder)
        context.began = time.monotonic()  # opening its target is none of its time
        return await target.generate(request, context)

    @asynccontextmanager
    async def _as_ordered(self, target: Target, identity: str) -> AsyncIterator[None]:
        """Open a target that is the one which the engine means.

        Raises:
            UnavailableError: it is not, or cannot be opened.
        """
        if (problem := target.problem()) is not None:
            raise UnavailableError(problem)
        await target.prepare()
        if digest(target.identity()).hex() != identity:
            raise UnavailableError(
                f"target {target.name!r} is not what it is where the run was started: its program "
                "prints another version, or its files are not there or differ; put the same there"
            )
        async with target:
            yield

    def _workspace(self, name: str) -> "asyncio.Task[Path]":
        """Return the folder with what was shared under a name; it is fetched once."""
        task = self._workspaces.get(name)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._workspaces[name] = asyncio.create_task(self._unpacked(name))
        return task

    async def _unpacked(self, name: str) -> Path:
        data = await self._fetch(name)
        folder = self._folder / f"source-{name}"
        try:
            await asyncio.to_thread(unpacked, data, folder)
        except OSError:  # another attempt may find room for it
            await asyncio.to_thread(remove_folder, folder)
            raise
        return folder


class _News:
    """Tells how far an attempt is, the latest at a bounded pace."""

    def __init__(self, attempt: int, outbox: Outbox[Return]) -> None:
        self._attempt = attempt
        self._outbox = outbox
        self._latest: AttemptProgress | None = None
        self._due: asyncio.TimerHandle | None = None

    def tell(self, progress: AttemptProgress) -> None:
        """Have it told, at once where nothing was told lately."""
        self._latest = progress
        if self._due is None:
            self._say()

    def end(self) -> None:
        """Tell nothing more."""
        if self._due is not None:
            self._due.cancel()

    def _say(self) -> None:
        self._due = None
        if self._latest is not None:
            self._outbox.put(AttemptNews(self._attempt, self._latest))
            self._latest = None
            self._due = asyncio.get_running_loop().call_later(NEWS_S, self._say)


def _files(kept: Path, reply: Output | Failure) -> tuple[bytes, ...]:
    """Return what the files hold that a record names, in its order."""
    files = FileStore(kept)
    return tuple(files.get(one.digest) for one in reply.record.files)


def _sweep() -> None:
    """Remove folders of workers whose process has gone; nobody removes them where one is killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        pid = folder.name.removeprefix(_PREFIX).partition("-")[0]
        if pid.isdecimal() and not _lives(int(pid)):
            with suppress(OSError):
                remove_folder(folder)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True  # somebody else's
    return True
