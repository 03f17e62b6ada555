"""A run, as Python code sees it."""

import asyncio
import json
import sqlite3
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, Literal, Self

from tui_eval.api.errors import LaunchError, RunBusy
from tui_eval.api.following import follow
from tui_eval.api.frames import Backend, attempt_rows, frame, score_rows, trial_rows
from tui_eval.api.function_server import spawn
from tui_eval.api.given import MAPPING, GivenFunction, held, known_functions, with_names
from tui_eval.api.options import ADDRESS_ALONE, SuiteLike
from tui_eval.api.results import ColumnView, GateView
from tui_eval.engine.control import submit
from tui_eval.engine.control.changed_scorers import rescoring
from tui_eval.engine.preflight.taking_up import (
    RunUnreadyError,
    RunUntrustedError,
    settings_after,
)
from tui_eval.engine.settings import Settings
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.runs.executor_choice import AS_BEFORE, NamedExecutor
from tui_eval.reports.document import document
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.jsonl import jsonl
from tui_eval.reports.results import effective_state, results
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.connection import open_readable
from tui_eval.store.read import request_queries, run_queries
from tui_eval.store.requests import JUST_STOPPED, Outcome, Verb, why_cancelled
from tui_eval.store.rows import RunRow
from tui_eval.store.write import run_writes
from tui_eval.store.writer import once
from tui_eval.suites.frozen_suite import frozen_suite

_LOOK_S: Final = 0.05
_TAKES_UP: Final = frozenset((Verb.RESUME, Verb.RESCORE))
"""What a refusal of is raised; whoever cancels or stops a run that has ended has what they want."""
_WIDTH: Final = 100


class Run:
    """A run of the store; what it says is read when it is asked for."""

    def __init__(
        self,
        store: Path,
        run_id: int,
        engine: "subprocess.Popen[bytes] | None" = None,
        functions: Sequence[GivenFunction] = (),
        loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Take a run that is there.

        Args:
            store: The store's file.
            run_id: The run.
            engine: The process that works on it, where it was started here.
            functions: Those of this program that its suite calls.
            loop: Where async ones of them run, as long as it does; None: on one of their own.
        """
        self._store = store
        self._id = run_id
        self._engine = engine
        self._functions = {one.code: one for one in functions}
        self._loop = loop

    def __repr__(self) -> str:
        return f"<Run {self.name}: {self.state}>"

    @property
    def name(self) -> str:
        """Its name."""
        return self._row().name

    @property
    def store(self) -> Path:
        """The file of the store that it is in."""
        return self._store

    @property
    def state(self) -> str:
        """Its state: `pending`, `running`, `paused`, `interrupted`, `done` or `cancelled`."""
        return effective_state(self._row()).value

    @property
    def document(self) -> dict[str, Any]:
        """What `run --json` prints; of a run that goes on, as it stands."""
        with self._reading() as db:
            return document(db, self._id)

    @property
    def exit_code(self) -> int | None:
        """The exit code that `run` ends with; None while an engine may still change it."""
        with self._reading() as db:
            return results(db, self._id, compared=False).exit_code

    @property
    def gate(self) -> GateView:
        """Whether its gate holds."""
        return GateView(self.document["gate"])

    @property
    def targets(self) -> tuple[str, ...]:
        """The names of its columns, in their order."""
        with self._reading() as db:
            return tuple(one.name for one in run_queries.columns(db, self._id))

    def __getitem__(self, target: str) -> ColumnView:
        """Return one column's results.

        Raises:
            KeyError: it has no such target; the message names those it has.
        """
        targets = self.document["targets"]
        if target not in targets:
            raise KeyError(f"{target!r} is none of its targets: {', '.join(targets)}")
        return ColumnView(target, targets[target])

    def report(self) -> str:
        """Return the summary that `run` prints; its commands name the store."""
        with self._reading() as db:
            return summary(results(db, self._id), width=_WIDTH, ink=AnsiStyle(), store=self._store)

    def wait(self, timeout: float | None = None) -> Self:
        """Wait until nobody works on it.

        Args:
            timeout: Seconds; None: as long as it takes.

        Raises:
            TimeoutError: it still goes on.
        """
        until = None if timeout is None else time.monotonic() + timeout
        while self._goes_on():
            if until is not None and time.monotonic() >= until:
                raise TimeoutError(f"run {self.name} is still {self.state}")
            time.sleep(_LOOK_S)
        return self

    async def await_end(self) -> Self:
        """Wait until nobody works on it; the loop goes on meanwhile."""
        while await asyncio.to_thread(self._goes_on):  # noqa: ASYNC110  # it is another process
            await asyncio.sleep(_LOOK_S)
        return self

    def follow(self) -> Iterator[dict[str, Any]]:
        """Yield the events of `--events`: all that has happened, then what does, to the end."""
        return follow(self._store, self._id, self._goes_on)

    async def afollow(self) -> AsyncIterator[dict[str, Any]]:
        """Yield what `follow` does; the loop goes on meanwhile."""
        events = self.follow()
        while (event := await asyncio.to_thread(next, events, None)) is not None:
            yield event

    def cancel(self, cases: Sequence[str] = ()) -> Self:
        """Cancel it, or some of its cases; what they have produced stays."""
        if cases:
            return self._ask(Verb.CANCEL, {"which": "all", "cases": [*cases]})
        return self._ask(Verb.CANCEL_RUN, {})

    def stop(self) -> Self:
        """Stop it, to be resumed."""
        return self._ask(Verb.STOP, {})

    def resume(
        self,
        *,
        max_cost_usd: float | None = None,
        max_tokens: int | None = None,
        executor: Literal["local", "ray"] | None = None,
        address: str | None = None,
        functions: Sequence[Callable[..., Any]] = (),
        trust: bool = False,
    ) -> Self:
        """Finish what is missing, in a process of its own.

        Args:
            max_cost_usd: See `start`, in place of what held so far; None: that holds.
            max_tokens: Likewise.
            executor: Who makes its attempts from now on; None: as before.
            address: Where the executor's cluster is.
            functions: Those that the suite calls, where another program has started the run; the
                same code, whatever they are called.
            trust: See `start`.

        Raises:
            LaunchError: it was cancelled, or a key, a model or a function is missing.
            TrustError: see `start`.
            RunBusy: its engine is just leaving: ask again.
        """
        self._refuse_cancelled()
        caps: dict[str, Json] = {"max_cost_usd": max_cost_usd, "max_tokens": max_tokens}
        args: JsonObject = {name: cap for name, cap in caps.items() if cap is not None}
        self._hold(held(functions))
        self._need([Verb.RESUME], trust=trust, named=NamedExecutor(executor, address))
        return self._ask(Verb.RESUME, args)

    def rescore(
        self,
        suite: SuiteLike | None = None,
        *,
        scorers: Sequence[str] = (),
        ungraded: bool = False,
        trust: bool = False,
    ) -> Self:
        """Score its outputs again; no target is asked.

        Args:
            suite: Take scorers and judges from this one, edited since; None: the run's own.
            scorers: Only these; empty: all.
            ungraded: Only what is ungraded.
            trust: See `start`.

        Raises:
            SuiteError: the suite has mistakes.
            LaunchError: it was cancelled, or its engine refuses, saying why.
            TrustError: see `start`.
            RunBusy: its engine is just leaving: ask again.
        """
        self._refuse_cancelled()
        args: JsonObject = {"which": "ungraded" if ungraded else "all"}
        if isinstance(suite, Mapping):
            given, functions = with_names(suite)
            self._hold(functions)
            args |= rescoring(self._store, self._row(), Path(MAPPING), trusted=trust, given=given)
        elif suite is not None:
            args |= rescoring(self._store, self._row(), Path(suite), trusted=trust)
        if scorers:
            args["scorers"] = [*scorers]
        self._need([], trust=trust)
        return self._ask(Verb.RESCORE, args)

    def trials(
        self,
        *,
        verdict: str | None = None,
        state: str | None = None,
        target: str | None = None,
    ) -> Iterator[dict[str, Any]]:
        """Yield its trials in dataset order, each as `export --format jsonl` has it.

        Args:
            verdict: Only those with this verdict: `pass`, `fail`, `ungraded`.
            state: Only those in this state.
            target: Only those of this target.
        """
        wanted = {"verdict": verdict, "state": state}
        with self._reading() as db:
            choice = ExportChoice(failed=verdict == "fail", target=target)
            for line in jsonl(db, self._row(), choice):
                trial: dict[str, Any] = json.loads(line)
                if all(value in (None, trial[name]) for name, value in wanted.items()):
                    yield trial

    def frame(self, backend: Backend = "pandas") -> Any:  # noqa: ANN401  # of a library not ours
        """Return its trials as a data frame, a row each.

        Raises:
            ImportError: the library is not installed.
        """
        return frame(trial_rows(self.trials()), backend)

    def scores(self, backend: Backend = "pandas") -> Any:  # noqa: ANN401
        """Return its scores as a data frame, a row for each scorer of each trial."""
        return frame(score_rows(self.trials()), backend)

    def attempts(self, backend: Backend = "pandas") -> Any:  # noqa: ANN401
        """Return its attempts as a data frame, a row for each try at a trial's output."""
        with self._reading() as db:
            return frame(attempt_rows(db, self._row()), backend)

    def _row(self) -> RunRow:
        with self._reading() as db:
            return run_queries.run(db, self._id)

    @contextmanager
    def _reading(self) -> Iterator[sqlite3.Connection]:
        db = open_readable(self._store)
        try:
            yield db
        finally:
            db.close()

    def _goes_on(self) -> bool:
        if self._engine is not None and self._engine.poll() is None:
            return True
        return self._row().live

    def _refuse_cancelled(self) -> None:
        row = self._row()
        if why := why_cancelled(row.state, row.name):
            raise LaunchError([why])

    def _need(
        self, verbs: Sequence[Verb], *, trust: bool, named: NamedExecutor = AS_BEFORE
    ) -> None:
        """Refuse to take it up without what it needs, unless somebody works on it already."""
        row = self._row()
        if row.live:
            if not named.says_nothing:
                raise RunBusy(f"an engine works on run {self.name}: stop() it to name an executor")
            return
        try:
            with self._reading() as db:
                settings = settings_after(db, row, verbs, named, trusted=trust)
        except RunUntrustedError as error:
            why = f"{error}; look at where it comes from, then say trust=True"
            raise LaunchError([why]) from None
        except RunUnreadyError as error:
            raise LaunchError(error.reasons) from None
        except ValueError:
            raise LaunchError([ADDRESS_ALONE]) from None
        if settings != Settings.from_json(row.settings):
            kept = settings.as_json()
            once(self._store, lambda tx: run_writes.set_settings(tx, self._id, kept))

    def _hold(self, functions: Iterable[GivenFunction]) -> None:
        """Keep functions for the engine that works on it next.

        Raises:
            RunBusy: one works on it that cannot call them.
        """
        given = {one.code: one for one in functions}
        new = {code: one for code, one in given.items() if code not in self._functions}
        if new and self._goes_on():
            names = ", ".join(one.name for one in new.values())
            raise RunBusy(
                f"an engine works on run {self.name} that cannot call {names}: wait() for its end, "
                "or stop() it"
            )
        self._functions |= given

    def _spawned(self) -> "subprocess.Popen[bytes]":
        with self._reading() as db:
            named = frozen_suite(db, self._id).given_functions
        self._functions = known_functions(named) | self._functions  # of another `Run` here
        return spawn(self._store, self.name, [*self._functions.values()], self._loop)

    def _ask(self, verb: Verb, args: JsonObject) -> Self:
        request = submit.ask(self._store, self._id, verb, args)
        with self._reading() as db:
            needs_engine = submit.needs_engine(db, self._id, request)
        if needs_engine:
            self._engine = self._spawned()
        while not self._answered(request):
            time.sleep(_LOOK_S)
        if verb in _TAKES_UP:
            self._raise_refusal(request)
        return self

    def _raise_refusal(self, request: int) -> None:
        with self._reading() as db:
            row = request_queries.request(db, request)
        if row is None or row.outcome != Outcome.CLOSED:
            return
        if row.detail == JUST_STOPPED:
            raise RunBusy(f"run {self.name}: {row.detail}")
        raise LaunchError([row.detail or "it makes no sense any more"])

    def _answered(self, request: int) -> bool:
        with self._reading() as db:
            row = request_queries.request(db, request)
            if row is not None and row.outcome is None and not self._goes_on():
                submit.settle(self._store, self._id, request)  # its engine has just gone
                return submit.needs_engine(db, self._id, request)
        return row is None or row.outcome is not None
