"""One engine works on one run: takes its lease, stages it, runs it, lets go of it."""

import asyncio
import logging
import os
import shlex
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack, closing
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from tui_eval.engine import departure
from tui_eval.engine.board_poster import BoardPoster
from tui_eval.engine.bulk.polling import BulkPolling
from tui_eval.engine.control.request_handler import RequestHandler
from tui_eval.engine.departure import Departure, Urgency
from tui_eval.engine.dispatch.workers import Workers
from tui_eval.engine.executors.executor import Executor
from tui_eval.engine.executors.kinds import executor_of
from tui_eval.engine.file_sweep import sweeping
from tui_eval.engine.launch.orphans import take_up
from tui_eval.engine.launch.part_of_run import WholeRun
from tui_eval.engine.launch.plan import cases_of_verdict
from tui_eval.engine.launch.staged_copy import stage_copy, staging_digest
from tui_eval.engine.launch.staging import StagingStoppedError, StagingWriter, as_launched, stage
from tui_eval.engine.preflight.permission import refusal
from tui_eval.engine.preflight.readiness import asks_targets, unready
from tui_eval.engine.run_store import RunStore
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.engine.sweep.sweep_phases import Phases, phases
from tui_eval.engine.sweep.sweep_staging import stage_sweep
from tui_eval.model import endpoint_event
from tui_eval.model.states import RunState, StartRefusal
from tui_eval.processes.supervisor import Processes
from tui_eval.providers.errors import UnavailableError
from tui_eval.store import lease, requests
from tui_eval.store.connection import Connection, explain, put_away, readable, writable
from tui_eval.store.errors import StoreFullError, StoreMovedError
from tui_eval.store.read import run_queries
from tui_eval.store.read.conversation_queries import conversation_figures
from tui_eval.store.read.figures.call_spending import spending
from tui_eval.store.read.figures.program_figures import resources_by_column
from tui_eval.store.read.judges import judge_queries
from tui_eval.store.read.open_trials import open_count
from tui_eval.store.read.run_counts import board, spent
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.rows import RunRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes, trial_writes
from tui_eval.store.writer import Writer, transact_patiently
from tui_eval.suites.data.data_files import DataChangedError, DataFile
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.loading.errors import Mistake, SuiteError
from tui_eval.targets.disk_room import DiskRoom

P = ParamSpec("P")
T = TypeVar("T")

GRACE_S = 5.0
"""Seconds that calls in flight have to end when the run is stopped."""
_LOOK_S = 0.05
_ORDERS = frozenset({Verb.STOP, Verb.PAUSE, Verb.CONTINUE, Verb.SET_LIMIT})
"""What is asked of an engine, not of its run."""
_STALL_LOOK_S = 0.5
_NOTHING_LEFT = "no case is left to run"
_CHANGED = (
    "{what} after this run was launched, before its cases were copied: "
    "start it again with tui-eval run {suite}"
)
_UPDATED = (
    "{what}, and this run has outputs of the former one: put that back and resume {run}, "
    "or evaluate the present one with tui-eval run {suite}"
)
_WIDER = "choose fewer filters, or look at the data"

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
            writing = await self._open()
            opened.push_async_callback(writing.close)
            reading = await opened.enter_async_context(readable(self._store))
            number = await self._when_there_is_room(writing, self._take)
            if number is None:
                raise RunBusyError("another engine works on this run")
            await opened.enter_async_context(sweeping(self._store))
            row = await reading.call(run_queries.run, self._run)
            suite = await reading.call(frozen_suite, self._run)
            scoring_version = await reading.call(run_queries.spec_change, self._run)
            processes = await opened.enter_async_context(Processes())
            session = Session(suite, Settings.from_json(row.settings), scoring_version, processes)
            opened.callback(session.close)
            why_not = await asyncio.to_thread(refusal, suite, session.settings, staged=row.staged)
            if why_not is not None:
                await self._when_there_is_room(writing, self._refuse, why_not, StartRefusal.TRUST)
                return
            if missing := await reading.call(self._missing):
                await self._when_there_is_room(writing, self._refuse, missing, StartRefusal.UNREADY)
                return
            if row.staged and (updated := await self._updated(session, reading, row)):
                await self._when_there_is_room(writing, self._refuse, updated, StartRefusal.VERSION)
                return
            executor = executor_of(session.settings.executor, session.worker_setup)
            if executor is not None:
                opened.push_async_callback(executor.close)
                if why := await self._unconnected(executor, row, reading, writing):
                    await self._when_there_is_room(writing, self._refuse, why, StartRefusal.UNREADY)
                    return
            if not row.staged and not await self._stage(writing, row, session, number):
                return
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

    async def _open(self) -> Connection:
        """Open the store for writing, however long the disk is too full even for that."""
        told = False
        while True:
            connection = writable(self._store)
            try:
                await connection
            except StoreFullError as error:
                if self.leaving:
                    raise
                if not told:
                    self._on_stall(error.reason)
                told = True
                await asyncio.sleep(_STALL_LOOK_S)
                continue
            if told:
                self._on_stall(None)
            return connection

    async def _when_there_is_room(
        self,
        writing: Connection,
        unit: Callable[Concatenate[Tx, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Write something before there is a writer, however long the disk is full."""
        return await writing.call(
            transact_patiently,
            lambda tx: unit(tx, *args, **kwargs),
            told=self._told_in(asyncio.get_running_loop()),
            stopped=lambda: self.leaving,
        )

    def _told_in(self, loop: asyncio.AbstractEventLoop) -> Callable[[str | None], None]:
        def told(why: str | None) -> None:
            loop.call_soon_threadsafe(self._on_stall, why)

        return told

    def _take(self, tx: Tx) -> int | None:
        recovering = lease.acquire(tx, self._run)
        if recovering is not None:
            lost = run_writes.recover(tx, self._run)
            self._forget_orders(tx)
            run_writes.begin(tx, self._run)
            log.info("run %d taken by process %d, %d were in flight", self._run, os.getpid(), lost)
        else:
            log.info("run %d is held by another engine", self._run)
        return recovering

    def _missing(self, db: sqlite3.Connection) -> str:
        """Say what is missing for what was asked; nothing: all is there."""
        return "; ".join(unready(db, self._run, self._verbs(db)))

    def _needs_workers(self, db: sqlite3.Connection) -> bool:
        """Say whether targets are to be asked, or outputs to be scored where workers are."""
        asked = run_queries.requests(db, self._run)
        at_workers = any(request.args.get("at_workers") is True for request in asked)
        return at_workers or asks_targets(db, self._run, {request.verb for request in asked})

    def _verbs(self, db: sqlite3.Connection) -> set[str]:
        return {request.verb for request in run_queries.requests(db, self._run)}

    async def _updated(self, session: Session, reading: Connection, row: RunRow) -> str | None:
        """Say that a target which has to be asked is another one now; None: none is.

        Its outputs would stand among those of the former one, under keys of the former one.
        """
        if not await reading.call(lambda db: asks_targets(db, self._run, self._verbs(db))):
            return None
        then = await reading.call(run_queries.columns, self._run)
        try:
            updated = await session.updated(then)
        except UnavailableError as error:
            return str(error)
        suite = shlex.quote(row.path or "SUITE")
        return updated and _UPDATED.format(what=updated, run=row.name, suite=suite)

    async def _unconnected(
        self, executor: Executor, row: RunRow, reading: Connection, writing: Connection
    ) -> str | None:
        """Say why there are no workers though some are needed.

        None: there are, or the run is stopped meanwhile.
        """
        if row.staged and not await reading.call(self._needs_workers):
            return None
        connecting = asyncio.ensure_future(executor.connect())
        try:
            while not connecting.done() and not self.leaving:
                await asyncio.wait((connecting,), timeout=lease.BEAT_S)
                await self._when_there_is_room(writing, lease.beat, self._run)
            if connecting.done():
                await connecting
        except UnavailableError as error:
            return str(error)
        finally:
            connecting.cancel()
        return None

    def _refuse(self, tx: Tx, why: str, word: StartRefusal) -> None:
        """Leave a run that nobody here trusts, or that lacks what it needs, as it is."""
        log.warning("%s", why)
        for request in run_queries.requests(tx.db, self._run):
            requests.answer(tx, request.id, Outcome.CLOSED, why)
        self._let_go(tx, departure.refused(why, word))

    def _forget_orders(self, tx: Tx) -> None:
        """Close what was asked of an engine that has gone: it would stop or pause this one."""
        for request in run_queries.requests(tx.db, self._run):
            if request.verb in _ORDERS:
                requests.answer(tx, request.id, Outcome.CLOSED, "the engine it was meant for died")

    async def _stage(self, writing: Connection, row: RunRow, session: Session, number: int) -> bool:
        """Stage the run; False where it was stopped meanwhile."""
        try:
            await session.prepare()
            await writing.call(self._stage_all, row, session, number, asyncio.get_running_loop())
        except StagingStoppedError:
            await self._when_there_is_room(writing, self._let_go, self._why)
            return False
        except DataChangedError as error:
            why = _CHANGED.format(what=error, suite=shlex.quote(row.path or "SUITE"))
            await self._when_there_is_room(writing, self._refuse, why, StartRefusal.DATA)
            return False
        except (SuiteError, UnavailableError) as error:
            refused = departure.refused(str(error), StartRefusal.SUITE)
            await self._when_there_is_room(writing, self._let_go, refused)
            raise
        return True

    def _stage_all(
        self,
        db: sqlite3.Connection,
        row: RunRow,
        session: Session,
        number: int,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        chosen = cases_of_verdict(db, row.suite, session.settings, row.id)
        writer = StagingWriter(
            db, row.id, number, self._told_in(loop), stopped=lambda: self.leaving
        )

        def add_columns(tx: Tx) -> None:
            run_writes.add_columns(tx, row.id, session.column_rows())

        writer.write(add_columns)
        kept = run_queries.data_files(db, row.id)
        files = None if kept is None else [DataFile.of(one) for one in kept]
        if (plan := session.settings.sweep) is not None:
            there = stage_sweep(writer, session, plan, files or [])
        else:
            digest = staging_digest(session, run_queries.spec(db, row.id), files)
            if digest is not None and files is not None:
                copied = stage_copy(writer, digest, session, files)
                if copied is not None:
                    return
            whole = WholeRun()

            def set_part(tx: Tx) -> None:
                if (part := session.settings.part) is not None:
                    digest = whole.digest(session.decided_by())
                    run_writes.set_part(tx, row.id, part, digest, whole.cases)

            with closing(session.wanted(chosen, whole)) as portions:
                launched = (
                    portions if files is None else as_launched(portions, session.suite, files)
                )
                ready = session.judges_ready(launched)
                there = stage(
                    writer,
                    ready,
                    session,
                    reuse=session.reuses,
                    whole=lambda: session.is_whole,
                    staged_as=lambda: None if session.depends_on_more else digest,
                    last=set_part,
                )
            there += whole.cases  # of few cases one part may have none
        if there == 0:
            raise SuiteError(
                [Mistake(row.path or row.suite, None, "dataset", _NOTHING_LEFT, _WIDER)]
            )

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
            await workers.judging.prepare()
            await self._end_bulk(workers)
            if await writer.write(partial(self._finish, owes=workers.judging.owes)):
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
            await writer.write(partial(self._start, limits=workers.limits(), paused=handler.paused))
            async with asyncio.TaskGroup() as group:
                group.create_task(workers.run())
                background = [
                    group.create_task(self._beat(writer)),
                    group.create_task(self._listen(reading, handler)),
                    group.create_task(self._watch_writer(writer)),
                    group.create_task(self._watch_room(store.room, handler)),
                ]
                workers.set_open(not handler.paused)
                await self._until_over(workers, writer, coming, session)
                for task in background:
                    task.cancel()
                workers.end()

    def _start(self, tx: Tx, limits: dict[str, int], paused: bool) -> None:
        run_writes.move(tx, self._run, RunState.RUNNING)
        if paused:  # somebody asked for it while the run was staged
            run_writes.move(tx, self._run, RunState.PAUSED, reason="paused", stopped_by="person")
        for endpoint, concurrency in limits.items():
            run_writes.add_limit(tx, self._run, endpoint, concurrency, endpoint_event.START)

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
            if workers.idle and await writer.write(self._finish):
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
        finish = partial(self._finish, owes=workers.judging.owes)
        if self._why.at_cap and await writer.write(finish):
            return  # it was reached by the last trial of all
        await writer.write(partial(self._give_back, trials=workers.give_up()))

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

    def _finish(self, tx: Tx, *, owes: bool = False) -> bool:
        """Let go if no trial is open and nothing is asked; the look and the act are one.

        Args:
            tx: The transaction.
            owes: Whether an audit is not complete: a run that goes on waits for it.
        """
        if owes and run_queries.run(tx.db, self._run).state is not RunState.CANCELLED:
            return False
        if open_count(tx.db, self._run) or run_queries.requests(tx.db, self._run):
            return False
        if run_queries.run(tx.db, self._run).state is not RunState.CANCELLED:
            run_writes.move(tx, self._run, RunState.RUNNING)  # it may have had nothing to do at all
        self._let_go(tx, departure.DONE)
        return True

    def _give_back(self, tx: Tx, trials: Sequence[int]) -> None:
        for trial in trials:
            trial_writes.give_back(tx, trial)
        for request in run_queries.requests(tx.db, self._run):
            requests.answer(tx, request.id, Outcome.CLOSED, requests.JUST_STOPPED)
        self._let_go(tx, self._why)

    def _let_go(self, tx: Tx, left: Departure) -> None:
        if left.fact is not None:
            left.fact(tx)
        if run_queries.run(tx.db, self._run).state is not RunState.CANCELLED:
            run_writes.move(
                tx, self._run, left.state, reason=left.reason, stopped_by=left.stopped_by
            )
        run_writes.end(tx, self._run)
        lease.release(tx, self._run)
        log.info(
            "run %d let go as %s: %s", self._run, left.state, left.reason or "nothing is left to do"
        )

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
