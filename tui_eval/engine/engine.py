"""One engine works on one run: takes its lease, stages it, runs it, lets go of it."""

import asyncio
import logging
import sqlite3
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path

from tui_eval.engine import departure, run_hold
from tui_eval.engine.board_poster import BoardPoster
from tui_eval.engine.bulk.polling import BulkPolling
from tui_eval.engine.control.request_handler import RequestHandler
from tui_eval.engine.departure import Departure, Urgency
from tui_eval.engine.dispatch.workers import Workers
from tui_eval.engine.early_writer import EarlyWriter
from tui_eval.engine.executors.executor import Executor
from tui_eval.engine.executors.kinds import executor_of
from tui_eval.engine.executors.remote_attempts import RemoteAttempts
from tui_eval.engine.file_sweep import sweeping
from tui_eval.engine.launch.orphans import take_up
from tui_eval.engine.launch.stage_run import changed_meanwhile, stage_run
from tui_eval.engine.launch.staging import StagingStoppedError
from tui_eval.engine.limits.started_call import LimitChange
from tui_eval.engine.preflight.start_refusal import needs_workers, start_refusal
from tui_eval.engine.run_store import RunStore
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.engine.sweep.sweep_phases import Phases, phases
from tui_eval.model.runs import endpoint_event
from tui_eval.model.states import RunState, StartRefusal
from tui_eval.processes.supervisor import Processes
from tui_eval.providers.errors import UnavailableError
from tui_eval.store import lease
from tui_eval.store.connection import Connection, explain, put_away, readable
from tui_eval.store.errors import StoreMovedError
from tui_eval.store.read import run_queries, suite_queries
from tui_eval.store.read.figures.call_spending import spending
from tui_eval.store.read.figures.program_figures import resources_by_column
from tui_eval.store.read.judges import judge_queries
from tui_eval.store.read.run_counts import board, spent
from tui_eval.store.read.trials.conversation_queries import conversation_figures
from tui_eval.store.rows import RunRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes
from tui_eval.store.writer import Writer
from tui_eval.suites.data.data_files import DataChangedError
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.targets.disk_room import DiskRoom

GRACE_S = 5.0
"""Seconds that calls in flight have to end when the run is stopped."""
_LOOK_S = 0.05
_STALL_LOOK_S = 0.5

log = logging.getLogger(__name__)


class RunBusyError(Exception):
    """Another engine works on the run."""


class Engine:
    """Hosts a run until nothing is open and nothing is asked."""

    def __init__(
        self,
        store: Path,
        run_id: int,
        on_stall: Callable[[str | None], None] | None = None,
        polling: BulkPolling | None = None,
    ) -> None:
        """Make an engine for a run.

        Args:
            store: The store's file.
            run_id: The run.
            on_stall: Told why nothing can be written just now (a full disk, a lock), and None once
                it goes on. It cannot be told in the store.
            polling: How often providers that were asked in bulk are asked how far they are; None:
                as often as is usual.
        """
        self._store = store
        self._run = run_id
        self._on_stall = on_stall or _log_stall
        self._polling = polling or BulkPolling()
        self._departure: Departure | None = None
        """Why it is leaving; None: it works."""
        self._turn = asyncio.Event()
        self._workers: Workers | None = None

    def stop(self) -> None:
        """Begin nothing new, give what is in flight a short grace, leave the run resumable."""
        self.leave(departure.STOPPED)

    def abort(self) -> None:
        """Like `stop`, without the grace."""
        self.leave(departure.ABORTED)

    async def run(self) -> None:
        """Work until the run is settled, stopped, or cannot go on.

        Raises:
            RunBusyError: a live engine holds the run.
            SuiteError: the data has mistakes; the run is `interrupted` with them as its reason.
            UnavailableError: a target cannot even be described, or a judge that cases bring cannot
                be asked; likewise.
            LeaseLostError: another engine took the run over meanwhile.
            StoreMovedError: the store's file was moved, removed or replaced meanwhile.
            StoreError: the store cannot be used.
        """
        try:
            await self._host()
        except sqlite3.Error as error:
            raise explain(self._store, error) from error

    async def _host(self) -> None:
        async with AsyncExitStack() as opened:
            early = await EarlyWriter.open(self._store, self._on_stall, lambda: self.leaving)
            opened.push_async_callback(early.connection.close)
            reading = await opened.enter_async_context(readable(self._store))
            number = await early.write(run_hold.take, self._run)
            if number is None:
                raise RunBusyError("another engine works on this run")
            await opened.enter_async_context(sweeping(self._store))
            row = await reading.call(run_queries.run, self._run)
            suite = await reading.call(frozen_suite, self._run)
            scoring_version = await reading.call(suite_queries.spec_change, self._run)
            processes = await opened.enter_async_context(Processes())
            session = Session(suite, Settings.from_json(row.settings), scoring_version, processes)
            opened.callback(session.close)
            refused = await start_refusal(session, reading, row)
            executor = executor_of(session.settings.executor, session.worker_setup)
            if executor is not None and refused is None:
                opened.push_async_callback(executor.close)
                refused = await self._connect(executor, row, reading, early)
            if refused is not None:
                await early.write(run_hold.refuse, self._run, refused)
                return
            if not row.staged and not await self._stage(early, row, session, number):
                return
            await self._write_and_work(early.connection, session, reading, number, executor)

    async def _connect(
        self, executor: Executor, row: RunRow, reading: Connection, early: EarlyWriter
    ) -> Departure | None:
        """Have workers ready where some are needed, unless the run is stopped meanwhile.

        Returns:
            Why there are none; None: nobody needs to know.
        """
        if not await needs_workers(reading, row):
            return None
        changes = executor.attempts.changes
        changes.put_nowait(LimitChange(endpoint_event.EXECUTOR, 0, endpoint_event.PLACING))
        connecting = asyncio.ensure_future(executor.connect())
        try:
            while not connecting.done() and not self.leaving:
                while not changes.empty():
                    await early.write(self._limit(changes.get_nowait()))
                await asyncio.wait((connecting,), timeout=lease.BEAT_S)
                await early.write(lease.beat, self._run)
            if connecting.done():
                await connecting
        except UnavailableError as error:
            return departure.refused(str(error), StartRefusal.UNREADY)
        finally:
            connecting.cancel()
        return None

    async def _stage(self, early: EarlyWriter, row: RunRow, session: Session, number: int) -> bool:
        """Stage the run; False where it was stopped meanwhile, or may not begin."""
        stage = partial(stage_run, row=row, session=session, number=number)
        try:
            await session.prepare()
            await early.connection.call(stage, early.told(), early.stopped)
        except StagingStoppedError:
            await early.write(run_hold.let_go, self._run, self._why)
            return False
        except DataChangedError as error:
            changed = departure.refused(changed_meanwhile(error, row), StartRefusal.DATA)
            await early.write(run_hold.refuse, self._run, changed)
            return False
        except (SuiteError, UnavailableError) as error:
            refused = departure.refused(str(error), StartRefusal.SUITE)
            await early.write(run_hold.let_go, self._run, refused)
            raise
        return True

    async def _write_and_work(
        self,
        writing: Connection,
        session: Session,
        reading: Connection,
        number: int,
        executor: Executor | None,
    ) -> None:
        """Work on the run with one writer for all that comes of it."""
        writer = Writer(writing, self._run, number)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(writer.run())
                try:
                    await self._work(session, reading, writer, executor)
                finally:
                    writer.close()
        except BaseExceptionGroup:
            if writer.broken is None:
                raise
            if isinstance(writer.broken, StoreMovedError):
                await writing.call(put_away)  # it may have been moved: let it be whole there
            # it failed every worker at once: one error says why
            raise writer.broken from None
        await writing.call(put_away)

    async def _work(
        self, session: Session, reading: Connection, writer: Writer, executor: Executor | None
    ) -> None:
        async with AsyncExitStack() as opened:
            settings = session.settings
            if settings.board is not None:
                part = None if settings.part is None else str(settings.part)
                poster = BoardPoster(Path(settings.board), reading, self._run, part)
                await opened.enter_async_context(poster)
            await session.off_loop.bounded(session.gold)
            room = DiskRoom(self._store.absolute().parent)
            store = RunStore(self._run, reading, writer, self._store, room=room)
            finish = session.suite.run.orphans == "finish"
            store.orphans.update(await take_up(store, session.processes, finish=finish))
            took = await reading.call(resources_by_column, self._run)
            workers = self._workers = Workers(
                session, store, opened, self, took, self._polling, executor
            )
            handler = RequestHandler(session, store, workers, self)
            coming = phases(session, store, workers)
            await coming.take_up()
            await coming.go_on()
            await handler.answer_pending()  # a retry may be why this engine was started
            await workers.prepare()
            await self._end_bulk(workers)
            if await writer.write(self._finish(owes=workers.judging.owes)):
                return
            judge_tokens, judge_usd = await reading.call(judge_queries.spent, self._run)
            talked = await reading.call(conversation_figures, self._run)
            capped = session.caps().of_calls
            before = await reading.call(spending, self._run) if capped else {}
            workers.spend_caps.open(
                session.caps(),
                (await reading.call(board, self._run))[0],
                await reading.call(spent, self._run) + judge_usd + talked.known_usd,
                judge_tokens + talked.user_input_tokens + talked.user_output_tokens,
                before,
            )
            limits = workers.limits()
            start = partial(run_hold.start, run=self._run, limits=limits, paused=handler.paused)
            await writer.write(start)
            async with asyncio.TaskGroup() as group:
                group.create_task(workers.run())
                background = [
                    group.create_task(self._beat(writer)),
                    group.create_task(self._listen(reading, handler)),
                    group.create_task(self._watch_writer(writer)),
                    group.create_task(self._watch_room(store.room, handler)),
                ]
                if executor is not None:
                    telling = self._tell_of_workers(writer, executor.attempts)
                    background.append(group.create_task(telling))
                workers.set_open(not handler.paused)
                await self._until_over(workers, writer, coming, session)
                for task in background:
                    task.cancel()
                workers.end()

    async def _until_over(
        self, workers: Workers, writer: Writer, coming: Phases, session: Session
    ) -> None:
        """Work until nothing is left to do, or until there is a reason to leave; and let go."""
        while self._departure is None:
            if session.settings.submit and workers.waits_for_bulk:
                self.leave(departure.SUBMITTED)
                break
            if workers.idle:
                await coming.go_on()
            if workers.idle and await writer.write(self._finish()):
                return
            if workers.idle:
                workers.look_again()
                await asyncio.sleep(_LOOK_S)
            else:
                await self._turn.wait()
            self._turn.clear()
        await self._drain(workers)
        await self._end_bulk(workers)
        if self._why.at_cap and (empty := workers.spend_caps.empty()) is not None:
            self._departure = departure.capped(empty)  # the sums are the final ones by now
        if self._why.at_cap and await writer.write(self._finish(owes=workers.judging.owes)):
            return  # it was reached by the last trial of all
        back = partial(run_hold.give_back, run=self._run, why=self._why, trials=workers.give_up())
        await writer.write(back)

    def _finish(self, *, owes: bool = False) -> Callable[[Tx], bool]:
        return partial(run_hold.finish, run=self._run, owes=owes)

    async def _drain(self, workers: Workers) -> None:
        """Let what is in flight end, as the departure has it."""
        loop = asyncio.get_running_loop()
        deadline: float | None = None
        while workers.busy:
            urgency = self._why.urgency
            if urgency >= Urgency.GRACE and deadline is None:
                deadline = loop.time() + GRACE_S
            if urgency is Urgency.AT_ONCE or (deadline is not None and loop.time() >= deadline):
                workers.drop_calls()
            await asyncio.sleep(_LOOK_S)

    async def _end_bulk(self, workers: Workers) -> None:
        """Have providers end what they were asked in bulk, where the run is cancelled."""
        if self._departure is not None and self._departure.state is RunState.CANCELLED:
            await workers.cancel_bulk()

    async def _beat(self, writer: Writer) -> None:
        while True:
            await asyncio.sleep(lease.BEAT_S)
            await writer.write(partial(lease.beat, run=self._run))

    async def _listen(self, reading: Connection, handler: RequestHandler) -> None:
        seen = -1
        while True:
            version = await reading.call(run_queries.data_version)
            if version != seen:
                seen = version
                await handler.answer_pending()
                self.wake()
            await asyncio.sleep(_LOOK_S)

    def _limit(self, change: LimitChange) -> Callable[[Tx], None]:
        endpoint, concurrency, event = change.endpoint, change.concurrency, change.event
        return lambda tx: run_writes.add_limit(tx, self._run, endpoint, concurrency, event)

    async def _tell_of_workers(self, writer: Writer, workers: RemoteAttempts) -> None:
        while True:
            await writer.write(self._limit(await workers.changes.get()))

    async def _watch_writer(self, writer: Writer) -> None:
        told: str | None = None
        while True:
            await asyncio.sleep(_STALL_LOOK_S)
            if writer.stalled != told:
                told = writer.stalled
                self._on_stall(told)

    async def _watch_room(self, room: DiskRoom, handler: RequestHandler) -> None:
        while True:
            await asyncio.sleep(_STALL_LOOK_S)
            await handler.tell_room(room.lacking)

    def leave(self, why: Departure) -> None:
        """Begin nothing new, and let go of the run once what is in flight has ended."""
        if self._departure is None and why.urgency is Urgency.PATIENT:
            log.warning("cannot go on: %s", why.reason)
        self._departure = why if self._departure is None else self._departure.joined(why)
        if self._workers is not None:
            self._workers.set_open(False)
        self.wake()

    @property
    def leaving(self) -> bool:
        """Whether nothing new is begun any more."""
        return self._departure is not None

    @property
    def stopping(self) -> bool:
        """Whether a person stops the run, and what is in flight has but a grace."""
        return self._departure is not None and self._departure.urgency >= Urgency.GRACE

    @property
    def _why(self) -> Departure:
        """The reason that counts so far, once the engine is leaving."""
        assert self._departure is not None, "it works"
        return self._departure

    def wake(self) -> None:
        """Look whether anything is left to do."""
        self._turn.set()


def _log_stall(reason: str | None) -> None:
    if reason is None:
        log.warning("the store can be written again")
    else:
        log.warning("the store cannot be written (%s); waiting until it can", reason)
