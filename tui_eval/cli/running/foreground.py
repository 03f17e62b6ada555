"""The one journey of `run`, `resume`, `retry`, `rescore`: work or wait until all is settled."""

import asyncio
import logging
import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from tui_eval.cli import streams
from tui_eval.cli.errors import tell_crash
from tui_eval.cli.logs import logged_to_file
from tui_eval.cli.running.reporter import OutputForm, Reporter
from tui_eval.cli.running.signals import StopSignals
from tui_eval.engine.host import Engine, RunBusyError, host
from tui_eval.invocation import command_name
from tui_eval.model.exit_code import ExitCode
from tui_eval.providers.errors import UnavailableError
from tui_eval.reports.results import Results, results
from tui_eval.store.connection import Connection, readable
from tui_eval.store.errors import StoreError, StoreMovedError, UnknownRunError
from tui_eval.store.follow import Pulse, follow
from tui_eval.store.lease import Lease
from tui_eval.store.location import log_file
from tui_eval.store.opening.store_file import check_place
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.rows import RunRow
from tui_eval.suites.loading.errors import SuiteError

_LOOK_S = 0.2
_PROGRESS_S = 0.25
"""Seconds between two looks for the line of progress: each takes time from the engine beside it."""
_LAST_WORD_S = 3.0
"""Seconds that an engine which was told to end at once has for its last words to the store."""
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run was left that was seen to its end."""

    code: int
    """The exit code."""
    results: Results | None
    """None: they could not be read."""
    stopped: bool
    """Whether somebody asked this process to stop, whatever the run had come to by then."""


def drive(
    store: Path, run_id: int, form: OutputForm, *, asked: bool = False, follows: bool = False
) -> RunEnd:
    """See a run to its end, tell of it, and say how it was left.

    Where no engine works on the run, one does here; otherwise this waits for the one that does.

    Args:
        store: The store's file.
        run_id: The run.
        form: What stdout gets.
        asked: Whether this is about requests: then there is work only while one is pending.
        follows: Whether stdout has the summary of another run already.

    Raises:
        SuiteError: its data has mistakes; nothing was started.
        UnavailableError: a target cannot even be described; likewise.
        StoreMovedError: its file was moved, removed or replaced meanwhile.
        StoreError: the store cannot be used.
    """
    # what is said is said here, and not by a library's log in the middle of the progress
    logging.getLogger().addHandler(logging.NullHandler())
    return asyncio.run(_Drive(store, run_id, Reporter(form, store, follows=follows)).go(asked))


class _Drive:
    def __init__(self, store: Path, run_id: int, telling: Reporter) -> None:
        self._store = store
        self._run = run_id
        self._telling = telling
        self._known = 0
        """The newest change that was told."""
        self._engine: Engine | None = None
        self._stops = StopSignals()
        self._leaving = asyncio.Event()
        self._broke = False
        self._moved: StoreMovedError | None = None
        """Raised in the end: what is left to read is in no file that anybody finds."""
        self._name = ""
        self._last_word: asyncio.TimerHandle | None = None
        """When the process ends whatever the engine does."""

    async def go(self, asked: bool) -> RunEnd:
        """See the run to its end."""
        async with readable(self._store) as reading:
            # read before anything happens, so that every trial that settles is told
            self._known = await reading.call(run_queries.change)
            limits = await reading.call(run_queries.limits, self._run)
            run = await self._row(reading)
            self._name = run.name
            self._telling.begin(run, limits)
            with self._signals():
                following = asyncio.create_task(self._follow(reading))
                try:
                    await self._until_settled(reading, asked)
                finally:
                    await _end(following)
            if self._moved is not None:
                raise self._moved
            await reading.call(check_place)  # who follows the run may not have looked since
            try:
                await self._tell(
                    reading, Pulse(self._known, await reading.call(run_queries.change))
                )
                return await self._finish(reading)
            except sqlite3.Error as error:
                if not self._broke:
                    raise
                streams.tell(f"error: the store: {error}; `{command_name()} doctor` looks at it")
                # something was started, whatever can be read of it
                return RunEnd(ExitCode.INCOMPLETE, None, self._leaving.is_set())

    async def _until_settled(self, reading: Connection, asked: bool) -> None:
        begun = asked
        while not (self._leaving.is_set() or self._broke or self._moved):
            if (await self._row(reading)).live:
                await self._wait(reading)
            elif not begun or await self._pending(reading):
                await self._host()
            else:
                return
            begun = True

    async def _host(self) -> None:
        """Work on the run in this process."""
        self._engine = Engine(self._store, self._run, self._stalled)
        file = log_file(self._store, self._name)
        try:
            with logged_to_file(file) as written:
                if written:
                    self._telling.say(f"its log is {file}")
                await host(self._store, self._run, self._engine)
        except RunBusyError:
            return  # somebody was quicker: wait for them
        except (SuiteError, UnavailableError):
            raise  # nothing was started, and the run is forgotten
        except StoreMovedError as error:
            self._moved = error
        except StoreError as error:
            self._broke = True
            self._telling.say(f"error: {error}")
        except Exception as error:  # noqa: BLE001 - the edge of the engine: the run stays resumable
            self._broke = True
            self._telling.say("the run could not go on")
            tell_crash(error)
        finally:
            self._engine = None
            if self._last_word is not None:
                self._last_word.cancel()

    async def _wait(self, reading: Connection) -> None:
        """Wait for the process that works on the run; say which, and whether it stands still."""
        told = ""
        while (run := await self._row(reading)).live and not self._leaving.is_set():
            if self._moved is not None:
                return
            if (words := _worked_on_by(run.lease)) != told:
                self._telling.say(words)
                told = words
            with suppress(TimeoutError):
                async with asyncio.timeout(_LOOK_S):
                    await self._leaving.wait()

    async def _follow(self, reading: Connection) -> None:
        try:
            every_s = None if self._telling.events else _PROGRESS_S
            async for pulse in follow(reading, self._known, every_s=every_s):
                await self._tell(reading, pulse)
        except StoreMovedError as error:
            self._moved = error
        except UnknownRunError:
            return  # forgotten: whoever found the mistakes tells them

    async def _tell(self, reading: Connection, pulse: Pulse) -> None:
        self._telling.update(await reading.call(self._telling.look, self._run, pulse))
        self._known = pulse.change

    async def _finish(self, reading: Connection) -> RunEnd:
        of = await reading.call(results, self._run)
        code = ExitCode.INTERRUPTED if of.exit_code is None else of.exit_code
        if self._broke:
            code = ExitCode.INCOMPLETE
        self._telling.finished(of, code)
        if of.run.live and self._leaving.is_set():
            streams.tell(f"the run goes on; `{command_name()} watch {self._of_run(of)}` shows it")
        elif code == ExitCode.NOT_STARTED:
            pass  # the reason says what to do instead
        elif self._broke or (of.resumable and self._telling.form is not OutputForm.TEXT):
            streams.tell(f"`{command_name()} resume {self._of_run(of)}` goes on from here")
        if self._telling.unheard:
            code = code or ExitCode.INCOMPLETE
        return RunEnd(code, of, self._leaving.is_set())

    def _of_run(self, of: Results) -> str:
        return f"{of.run.name}{self._telling.of_store}"

    async def _pending(self, reading: Connection) -> bool:
        return bool(await reading.call(request_queries.requests, self._run))

    async def _row(self, reading: Connection) -> RunRow:
        return await reading.call(run_queries.run, self._run)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        for number in _SIGNALS:
            loop.add_signal_handler(number, self._stop)
        try:
            yield
        finally:
            for number in _SIGNALS:
                loop.remove_signal_handler(number)

    def _stalled(self, reason: str | None) -> None:
        if reason is None:
            self._telling.say("the store can be written again: going on")
        else:
            self._telling.say(f"{self._store}: {reason}; nothing is lost, waiting until it passes")

    def _stop(self) -> None:
        stops = self._stops.count(asyncio.get_running_loop().time())
        self._leaving.set()
        if self._engine is None or stops is None:
            return
        if stops == 1:
            self._telling.say("stopping: what is in flight has a moment to end; again: at once")
            self._engine.stop()
        else:
            self._engine.abort()
            if self._last_word is None:
                loop = asyncio.get_running_loop()
                self._last_word = loop.call_later(_LAST_WORD_S, self._leave_without)

    def _leave_without(self) -> None:
        """End the process where the engine cannot: the store takes nothing from it.

        That is what a crash would be: the next engine finds what was in flight, and asks again.
        """
        command = f"{command_name()} resume {self._name}{self._telling.of_store}"
        self._telling.say(f"stopped; the store could not be told. `{command}` goes on")
        os._exit(ExitCode.INTERRUPTED)


def _worked_on_by(lease: Lease) -> str:
    if lease.stopped:
        return (
            f"process {lease.pid} works on this run and is stopped: `kill -CONT {lease.pid}` lets "
            "it go on; once it is ended, another takes over"
        )
    return f"process {lease.pid} works on this run: waiting for it; Ctrl-C ends the waiting"


async def _end(task: "asyncio.Task[None]") -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
