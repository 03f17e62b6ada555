"""Reading a run for its screen: when the store changed, and no more often than is shown."""

import asyncio
import sqlite3
import time
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.engine.limits.spend_caps import Caps
from tui_eval.engine.settings import caps_in_force
from tui_eval.format import points
from tui_eval.model.attempt_record import AttemptProgress
from tui_eval.model.finish import Ending
from tui_eval.model.json import JsonObject
from tui_eval.model.states import RunState
from tui_eval.reports.live_results import LiveResults, live_results
from tui_eval.reports.rates import trial_figures
from tui_eval.reports.spending import Spending, spending
from tui_eval.statistics.estimates import percentile
from tui_eval.store.location import log_file
from tui_eval.store.read import (
    attempt_queries,
    baseline_queries,
    grade_queries,
    report_queries,
    run_counts,
    run_queries,
    trial_queries,
)
from tui_eval.store.read.judges.judge_calls import JudgingNow, judging_now
from tui_eval.store.read.judges.judge_figures import JudgeFigures, has_judges, judge_figures
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.read.trial_queries import RecentActivity
from tui_eval.store.rows import ColumnRow, LimitRow, RequestRow, RunRow, TrialRow
from tui_eval.store.search.case_conditions import EarlierResults, EarlierRun
from tui_eval.store.write import notes
from tui_eval.ui.read_pace import rest
from tui_eval.ui.store_client import StoreClient
from tui_eval.ui.theme.tones import Tone

if TYPE_CHECKING:
    from tui_eval.reports.agreement.run_agreement import PeoplesWord

_SNAPSHOT_S = 0.1
"""At least so long between two looks at what changed."""
_LAST_MINUTE_S = 60
_FIGURES_S = 0.25
_FIGURES_SHARE = 20
"""Figures that take a second to count are counted every twenty."""
MOST_CHANGES = 400
"""Changed rows that are read one by one; after more of them the table reads its rows again."""
_RESULTS_SHARE = 8
_DIFFERENCES_S = 1.0
_DIFFERENCES_SHARE = 20
"""ColumnDifferences that take a second to work out are worked out every twenty."""
_BUCKETS = 24
_MOST_TAGS = 30


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A run at one moment; cheap to read at any size."""

    run: RunRow
    columns: tuple[ColumnRow, ...]
    total: Counts
    by_column: dict[int, Counts]
    epochs: int
    """How often each case is asked; 0 while nobody knows."""
    limits: dict[str, LimitRow]
    """By endpoint."""
    left_alone: dict[str, LimitRow]
    """Endpoints that are left alone because they refuse everybody, and since when (Unix
    seconds)."""
    pending: tuple[RequestRow, ...]
    """Requests that are not answered yet, whoever asked."""
    answered: tuple[RequestRow, ...]
    """Of the requests that were waited for, those that have been answered."""
    changed: tuple[TrialRow, ...]
    """Trials that changed since the last snapshot."""
    reasons: dict[int, str]
    """Of these, why those that did not pass did not, by trial id."""
    overflow: bool
    """Whether more trials changed than `changed` has."""
    change: int
    progress: Mapping[int, AttemptProgress] = field(default_factory=dict)
    """How far running attempts are that tell it, by trial id."""
    judging: JudgingNow = field(default_factory=JudgingNow)
    caps: Caps = field(default_factory=Caps)
    """Where the run pauses and asks."""
    gated: bool = False
    """Whether its suite has a gate."""
    pinned: bool = False
    """Whether it is its suite's baseline."""
    log: Path | None = None
    """Where its engine wrote its log; None while one works on it, and where there is none."""
    earlier: EarlierRun | None = None
    """With whose verdicts those of the run are compared; None: there is none, or nobody has looked
    yet."""
    earlier_results: EarlierResults = field(default_factory=dict)
    """What cases of `changed` came to in it, where that was something else."""

    def spending(self, usd_per_minute: float | None = None) -> Spending:
        """Return what it costs; `usd_per_minute` is what is spent just now, where that is known."""
        return spending(self.run, self.total, self.by_column.values(), self.caps, usd_per_minute)


@dataclass(frozen=True, slots=True)
class Figures:
    """What takes a pass over the trials to know."""

    cut: dict[int, int]
    """Truncated outputs, by column."""
    p50: dict[int, float]
    """Median call time in seconds, by column; columns without one are not in it."""
    failing: tuple[tuple[str, int], ...]
    errors: tuple[tuple[str, int], ...]
    tags: tuple[tuple[str, int], ...]
    """Trials by tag, the most first; the rarest are left out where there are very many."""
    noted: int
    """Trials with a note."""
    backing_off: int
    history: tuple[int, ...]
    """Trials settled in each of equal parts of the run's time; empty while it is live."""
    judges: tuple[JudgeFigures, ...] = ()
    """What each judge did for each scorer; empty where the suite has none."""
    people: "PeoplesWord | None" = None
    """What people's grades say; None: nobody graded anything."""


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """How a column differs from what it is compared with."""

    words: str
    """In percentage points, with what that comes to."""
    tone: Tone


@dataclass(frozen=True, slots=True)
class ColumnDifferences:
    """How the columns of a run differ from its base, or from its first column."""

    base: str | None = None
    """The name of the run or file they are compared with; None: the first column, or nothing."""
    by_column: Mapping[int, ColumnDifference] = field(default_factory=dict)
    """By the column's index; empty: not compared, or not yet."""


class RunMonitor:
    """Reads a run for a screen, again and again, until the screen's worker is cancelled."""

    def __init__(self, client: StoreClient, run_id: int) -> None:
        self._client = client
        self._run_id = run_id
        self._since = -1
        self._wake = asyncio.Event()
        self._wake_figures = asyncio.Event()
        self._wake_results = asyncio.Event()
        self._wake_differences = asyncio.Event()
        self.earlier: EarlierRun | None = None
        """The run with whose verdicts those of this one are compared, as far as it is known."""
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

    async def snapshots(self) -> AsyncGenerator[Snapshot, None]:
        """Yield a snapshot at once, then one whenever something changed.

        Raises:
            UnknownRunError: the run is not there (any more).
        """
        rules, gated = await self._client.read(_of_suite, self._run_id)
        while True:
            await self._wake.wait()
            self._wake.clear()
            found = await self._client.read(
                snapshot, self._run_id, self._since, sorted(self.awaited), self.earlier
            )
            found = replace(
                found,
                caps=caps_in_force(rules, found.run.settings),
                gated=gated,
                log=None if found.run.live else await self._log(found.run.name),
            )
            self._since = found.change
            self.awaited -= {request.id for request in found.answered}
            yield found
            await asyncio.sleep(_SNAPSHOT_S)

    async def _log(self, run_name: str) -> Path | None:
        """Return the log of the run's engine; None: it writes none, as those of commands do."""
        file = log_file(self._client.path, run_name)
        return file if await asyncio.to_thread(file.exists) else None

    async def figures(self) -> AsyncGenerator[Figures, None]:
        """Yield figures at once, then when something changed; the rarer the longer it takes.

        Raises:
            UnknownRunError: the run is not there any more.
        """
        while True:
            await self._wake_figures.wait()
            self._wake_figures.clear()
            began = time.monotonic()
            yield await self._client.survey(count_figures, self._run_id)
            took = time.monotonic() - began
            await asyncio.sleep(rest(_FIGURES_S, took, _FIGURES_SHARE))

    async def results(self) -> AsyncGenerator[LiveResults, None]:
        """Yield what the run comes to, at once and again; the rarer the longer that takes.

        Raises:
            UnknownRunError: the run is not there any more.
        """
        one_each: bool | None = None
        while True:
            await self._wake_results.wait()
            self._wake_results.clear()
            began = time.monotonic()
            found = await self._client.survey(live_results, self._run_id, one_each)
            took = time.monotonic() - began
            one_each = found.one_each
            yield found
            await asyncio.sleep(rest(_SNAPSHOT_S, took, _RESULTS_SHARE))

    async def differences(self) -> AsyncGenerator[ColumnDifferences, None]:
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
                yield await self._client.survey(count_differences, self._run_id)
            else:
                yield ColumnDifferences()
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
    return run_queries.run_table(db, run_id), bool(run_queries.gate(db, run_id))


def _earlier_run(db: sqlite3.Connection, run_id: int) -> EarlierRun | None:
    # imported late: the suite's format is slow to load, and the first picture needs none of it
    from tui_eval.reports.comparison.earlier import earlier_run

    return earlier_run(db, run_queries.run(db, run_id))


def snapshot(
    db: sqlite3.Connection,
    run_id: int,
    since: int,
    awaited: Sequence[int],
    earlier: EarlierRun | None = None,
) -> Snapshot:
    """Read a run as it stands, all of it as of one moment.

    Args:
        db: The connection.
        run_id: The run.
        since: The change number of the last snapshot; -1: this is the first, which lists none.
        awaited: Requests whose answers are waited for.
        earlier: With whose verdicts those of changed trials are compared; None: with nobody's.

    Raises:
        UnknownRunError: there is no such run.
    """
    with report_queries.moment(db):
        found = _snapshot(db, run_id, since, awaited)
        if earlier is None:
            return found
        # imported late: the suite's format is slow to load, and the first picture needs none of it
        from tui_eval.reports.comparison.earlier import earlier_results

        cases = {trial.seq for trial in found.changed}
        results = earlier_results(db, run_id, earlier, cases)
        return replace(found, earlier=earlier, earlier_results=results)


def _snapshot(db: sqlite3.Connection, run_id: int, since: int, awaited: Sequence[int]) -> Snapshot:
    change = run_queries.change(db)
    run = run_queries.run(db, run_id)
    total, by_column = run_counts.board(db, run_id)
    changed: list[TrialRow] = []
    if since >= 0 and change != since:
        changed = run_queries.trials_changed(db, run_id, since, MOST_CHANGES + 1)
    overflow = len(changed) > MOST_CHANGES
    if overflow:
        changed = []
    requests = (run_queries.request(db, number) for number in awaited)
    return Snapshot(
        run=run,
        columns=tuple(run_queries.columns(db, run_id)),
        pinned=run_id in baseline_queries.pinned(db),
        total=total,
        by_column=by_column,
        epochs=trial_queries.epochs(db, run_id),
        limits=run_queries.limits(db, run_id),
        left_alone=trial_queries.left_alone(db, run_id),
        pending=tuple(run_queries.requests(db, run_id)),
        answered=tuple(
            request for request in requests if request is not None and request.outcome is not None
        ),
        changed=tuple(changed),
        reasons=run_queries.reasons(db, [trial.id for trial in changed]),
        overflow=overflow,
        change=change,
        progress=attempt_queries.progress_of_run(db, run_id) if total.running else {},
        judging=judging_now(db, run_id),
    )


def count_figures(db: sqlite3.Connection, run_id: int) -> Figures:
    """Count what takes a pass over the trials."""
    run = run_queries.run(db, run_id)
    total, _ = run_counts.board(db, run_id)
    cut = {
        column: how[Ending.CUT]
        for column, how in trial_figures.endings(db, run_id).items()
        if how[Ending.CUT]
    }
    medians = {
        column: percentile(times, 0.5)
        for column, times in trial_figures.call_times(db, run_id).items()
    }
    return Figures(
        cut=cut,
        p50={column: median for column, median in medians.items() if median is not None},
        failing=tuple(trial_figures.failing(db, run_id)),
        errors=tuple(trial_queries.error_kinds(db, run_id)),
        tags=tuple(trial_figures.tags(db, run_id, _MOST_TAGS)),
        noted=notes.count(db, run_id),
        backing_off=trial_figures.backing_off(db, run_id) if total.running else 0,
        history=()
        if run.state is RunState.RUNNING
        else trial_figures.settled_over_time(db, run_id, _BUCKETS),
        judges=tuple(judge_figures(db, run_id)) if has_judges(db, run_id) else (),
        people=_people(db, run_id),
    )


def _people(db: sqlite3.Connection, run_id: int) -> "PeoplesWord | None":
    """Return what people's grades say of a run; None: nobody graded anything."""
    if not grade_queries.any_grades(db, run_id):
        return None
    # imported late: the suite's format is slow to load, and few runs are graded by people
    from tui_eval.reports.agreement.run_agreement import peoples_word

    with report_queries.moment(db):
        return peoples_word(db, run_id)


def count_differences(db: sqlite3.Connection, run_id: int) -> ColumnDifferences:
    """Compare the run's columns with what they are held against."""
    # imported late: the suite's format is slow to load, and the first picture needs none of it
    from tui_eval.reports.comparison.comparison import Word
    from tui_eval.reports.comparison.versus import versus

    found = versus(db, run_id)
    if found is None:
        return ColumnDifferences()
    tones: dict[Word, Tone] = {Word.BETTER: "pass", Word.WORSE: "fail"}
    by_column = {
        column: ColumnDifference(
            f"{points(row.difference.diff)} {row.word if found.settled else 'so far'}",
            tones.get(row.word, "plain") if found.settled else "dim",
        )
        for column, row in found.rows.items()
        if row.difference is not None
    }
    return ColumnDifferences(found.base, by_column)
