"""The levels of a sweep, one after the other: each begins when nothing of the last one is open."""

import logging
import sqlite3
from typing import Protocol

from tui_eval.engine.dispatch.workers import Workers
from tui_eval.engine.run_store import RunStore
from tui_eval.engine.session import Session
from tui_eval.model.runs.sweep_plan import SweepPlan
from tui_eval.model.states import RunState
from tui_eval.statistics.load import level_load
from tui_eval.store.read import run_queries, sweep_queries
from tui_eval.store.read.comparing import comparison_queries
from tui_eval.store.read.sweep_queries import SweepLevel
from tui_eval.store.read.trials.open_trials import open_count
from tui_eval.store.tx import Tx
from tui_eval.store.write import sweep_writes
from tui_eval.store.write.output_writes import NO_KEY
from tui_eval.store.write.run_writes import NewTrial

log = logging.getLogger(__name__)


class Phases(Protocol):
    """What comes after the trials that a run has."""

    async def take_up(self) -> None:
        """Look at what an earlier engine has left, before anything begins."""

    async def go_on(self) -> None:
        """Open what is next, if nothing is open; nothing, where nothing is next."""


class OnePhase:
    """A run that is staged whole."""

    async def take_up(self) -> None:
        """Do nothing: all trials are there."""

    async def go_on(self) -> None:
        """Do nothing: nothing comes after them."""


def phases(session: Session, store: RunStore, workers: Workers) -> Phases:
    """Return what comes after the trials that a run has."""
    plan = session.settings.sweep
    return OnePhase() if plan is None else SweepPhases(plan, session, store, workers)


class SweepPhases:
    """Adds the trials of each level, and sets the limit to it.

    A level counts only if it went to its end undisturbed. Where calls were held back meanwhile (a
    pause, a full disk) or its engine ended, it is measured anew, with trials of its own.
    """

    def __init__(
        self, plan: SweepPlan, session: Session, store: RunStore, workers: Workers
    ) -> None:
        self._plan = plan
        self._columns = len(session.columns)
        (self._endpoint,) = {session.targets[one.target].endpoint for one in session.columns}
        self._store = store
        self._workers = workers
        self._undisturbed: int | None = None
        """How often calls had been held back as the level under way began; None: it began in an
        earlier engine."""

    async def take_up(self) -> None:
        """Close what an engine that ended left open of its level."""

        def drop(tx: Tx) -> None:
            for level in sweep_queries.sweep_levels(tx.db, self._store.run):
                if not level.ended:
                    sweep_writes.drop_level(tx, self._store.run, level)

        await self._store.writer.write(drop)

    async def go_on(self) -> None:
        """End the level under way, and begin the next, if nothing is open."""
        disturbed = self._undisturbed != self._workers.held_back
        begun = await self._store.writer.write(lambda tx: self._turn(tx, disturbed))
        if begun is None:
            return
        log.info("level %d: %d calls after %d", begun.level, begun.calls, begun.warm_up)
        self._undisturbed = self._workers.held_back
        self._workers.set_limit(self._endpoint, begun.level)
        self._workers.look_again()

    def _turn(self, tx: Tx, disturbed: bool) -> SweepLevel | None:
        """Write the end of one level and the beginning of the next; None: there is none."""
        run = self._store.run
        state = run_queries.run(tx.db, run).state
        if open_count(tx.db, run) or state is RunState.CANCELLED:
            return None
        known = sweep_queries.sweep_levels(tx.db, run)
        if known and not known[-1].ended and not disturbed:
            sweep_writes.end_level(tx, run, known[-1].number)
            known[-1] = known[-1]._replace(ended=True)
        wanted = self._next(tx.db, known)
        if wanted is None:
            return None
        begun = SweepLevel(
            number=len(known),
            level=wanted,
            first=known[-1].after if known else 0,
            warm_up=self._plan.warm_up(wanted),
            calls=self._plan.counted(wanted),
            ended=False,
        )
        sweep_writes.begin_level(tx, run, begun, self._trials(tx.db, begun))
        return begun

    def _next(self, db: sqlite3.Connection, known: list[SweepLevel]) -> int | None:
        """Return the level to measure next; None: all are, or the last one was too much."""
        whole = [level for level in known if level.ended]
        if whole and not self._plan.every_level:
            last = whole[-1]
            load = level_load(last.level, sweep_queries.sweep_calls(db, self._store.run, last))
            if load.too_much(self._plan.stop_at):
                return None
        measured = {level.level for level in whole}
        return next((level for level in self._plan.levels if level not in measured), None)

    def _trials(self, db: sqlite3.Connection, of: SweepLevel) -> list[NewTrial]:
        """Return the trials of a level: they go on through cases and columns, again and again.

        No output of theirs is found again: what it took says something of the level, and it is not
        to stand in a run that was never so driven.
        """
        cases = comparison_queries.count(db, self._store.run)
        return [
            NewTrial(
                place,
                place // self._columns % cases,
                place % self._columns,
                place // (self._columns * cases),
                NO_KEY,
            )
            for place in range(of.first, of.after)
        ]
