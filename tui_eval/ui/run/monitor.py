"""Reading a run for its screen: when the store changed, and no more often than is shown."""

import asyncio
import math
import sqlite3
import time
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

from tui_eval.engine.settings import caps_in_force
from tui_eval.model.json import JsonObject
from tui_eval.reports.live_results import LiveResults, live_results
from tui_eval.store.location import log_file
from tui_eval.store.read import run_queries, suite_queries
from tui_eval.store.read.consignment_queries import BulkProgress
from tui_eval.store.read.trials import trial_queries
from tui_eval.store.read.trials.trial_queries import RecentActivity
from tui_eval.store.search.case_conditions import EarlierRun
from tui_eval.ui.run.figures import ColumnDifferences, Figures, count_differences, count_figures
from tui_eval.ui.run.snapshot import Snapshot, snapshot
from tui_eval.ui.store_access.read_pace import rest
from tui_eval.ui.store_access.store_client import StoreClient

_SNAPSHOT_S = 0.1
"""At least so long between two looks at what changed."""
_LAST_MINUTE_S = 60
_FIGURES_S = 1.0
_FIGURES_SHARE = 20
"""Figures that take a second to count are counted every twenty."""
_RESULTS_SHARE = 8
_QUICK_S = 0.005
"""Results that take no longer are read with each snapshot: a trial's detail waits for neither."""
_DIFFERENCES_S = 1.0
_DIFFERENCES_SHARE = 20
"""ColumnDifferences that take a second to work out are worked out every twenty."""


class RunMonitor:
    """Reads a run for a screen, again and again, until the screen's worker is cancelled."""

    def __init__(self, client: StoreClient, run_id: int) -> None:
        self._client = client
        self._run_id = run_id
        self._since = -1
        self._bulk: tuple[BulkProgress, ...] = ()
        """How far what providers are asked in bulk was in the last snapshot."""
        self._wake = asyncio.Event()
        self._wake_figures = asyncio.Event()
        self._wake_results = asyncio.Event()
        self._wake_differences = asyncio.Event()
        self.earlier: EarlierRun | None = None
        """The run with whose verdicts those of this one are compared, as far as it is known."""
        self._one_each: bool | None = None
        """Whether a case is a trial, as the newest results say it."""
        self._results_took = math.inf
        """Seconds the newest results took to read."""
        self._differences_wanted: bool | None = None
        """None: nobody has said yet."""
        self.wake()
        self.awaited: set[int] = set()
        """Requests whose answers the screen waits for."""

    def wake(self) -> None:
        """Read again: the store may have changed."""
        self._wake.set()
        self._wake_figures.set()
        self._wake_results.set()
        self._wake_differences.set()

    def want_differences(self, wanted: bool) -> None:
        """Say whether anybody shows how columns differ: it takes a pass over the run."""
        if wanted != self._differences_wanted:
            self._differences_wanted = wanted
            self._wake_differences.set()

    async def snapshots(self) -> AsyncGenerator[tuple[Snapshot | LiveResults, ...], None]:
        """Yield a snapshot at once, then one whenever something changed.

        What the run comes to goes with it where that is quickly read, else see `results`: what
        belongs together is painted together.

        Raises:
            UnknownRunError: the run is not there (any more).
        """
        rules, gated = await self._client.read(_of_suite, self._run_id)
        while True:
            await self._wake.wait()
            self._wake.clear()
            quick = self._results_took <= _QUICK_S
            found, results = await self._client.read(self._read_both if quick else self._read_one)
            if quick and self._results_took > _QUICK_S:
                self._wake_results.set()  # from now on they are read apart
            found = replace(
                found,
                caps=caps_in_force(rules, found.run.settings),
                gated=gated,
                bulk_moved=found.bulk != self._bulk,
                log=None if found.run.live else await self._log(found.run.name),
            )
            self._since, self._bulk = found.change, found.bulk
            self.awaited -= {request.id for request in found.answered}
            yield (found,) if results is None else (found, results)
            await asyncio.sleep(_SNAPSHOT_S)

    def _read_one(self, db: sqlite3.Connection) -> tuple[Snapshot, None]:
        awaited = sorted(self.awaited)
        return snapshot(db, self._run_id, self._since, awaited, self.earlier), None

    def _read_both(self, db: sqlite3.Connection) -> tuple[Snapshot, LiveResults]:
        found, _ = self._read_one(db)
        return found, self._read_results(db)

    def _read_results(self, db: sqlite3.Connection) -> LiveResults:
        began = time.monotonic()
        found = live_results(db, self._run_id, self._one_each)
        self._results_took, self._one_each = time.monotonic() - began, found.one_each
        return found

    async def _log(self, run_name: str) -> Path | None:
        """Return the log of the run's engine; None: it writes none, as those of commands do."""
        file = log_file(self._client.path, run_name)
        return file if await asyncio.to_thread(file.exists) else None

    async def figures(self) -> AsyncGenerator[tuple[Figures], None]:
        """Yield figures at once, then when something changed; the rarer the longer it takes.

        Raises:
            UnknownRunError: the run is not there any more.
        """
        while True:
            await self._wake_figures.wait()
            self._wake_figures.clear()
            began = time.monotonic()
            yield (await self._client.survey(count_figures, self._run_id),)
            took = time.monotonic() - began
            await asyncio.sleep(rest(_FIGURES_S, took, _FIGURES_SHARE))

    async def results(self) -> AsyncGenerator[tuple[LiveResults], None]:
        """Yield what the run comes to, at once and again; the rarer the longer that takes.

        Nothing comes while snapshots bring it.

        Raises:
            UnknownRunError: the run is not there any more.
        """
        while True:
            await self._wake_results.wait()
            self._wake_results.clear()
            if self._results_took > _QUICK_S:
                yield (await self._client.survey(self._read_results),)
                await asyncio.sleep(rest(_SNAPSHOT_S, self._results_took, _RESULTS_SHARE))
                if self._wake_results.is_set():
                    self._wake.set()  # of what changed since, a snapshot may have come without them

    async def differences(self) -> AsyncGenerator[tuple[ColumnDifferences], None]:
        """Yield how columns differ, when something changed; nothing where nobody wants to know it.

        It is the rarer the longer that takes. Before, it finds out which run is the earlier one.

        Raises:
            UnknownRunError: the run is not there any more.
        """
        while True:
            await self._wake_differences.wait()
            self._wake_differences.clear()
            if self._differences_wanted is None:
                continue  # the first snapshot is not shown yet
            began = time.monotonic()
            earlier = await self._client.survey(_earlier_run, self._run_id)
            if earlier != self.earlier:
                self.earlier = earlier
                self._wake.set()  # the next snapshot has it
            if self._differences_wanted:
                yield (await self._client.survey(count_differences, self._run_id),)
            else:
                yield (ColumnDifferences(),)
            took = time.monotonic() - began
            await asyncio.sleep(max(_DIFFERENCES_S, took * _DIFFERENCES_SHARE))

    async def last_minute(self) -> RecentActivity:
        """Return what happened in the last minute."""
        now = time.time()
        return await self._client.survey(
            trial_queries.recent_activity, self._run_id, now, _LAST_MINUTE_S
        )


def _of_suite(db: sqlite3.Connection, run_id: int) -> tuple[JsonObject, bool]:
    """Return the `[run]` table of a run's frozen suite, and whether it has a gate."""
    return suite_queries.run_table(db, run_id), bool(suite_queries.gate(db, run_id))


def _earlier_run(db: sqlite3.Connection, run_id: int) -> EarlierRun | None:
    # imported late: the suite's format is slow to load, and the first picture needs none of it
    from tui_eval.reports.comparison.earlier import earlier_run

    return earlier_run(db, run_queries.run(db, run_id))
