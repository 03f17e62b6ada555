"""A run at one moment, as its screen has it."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from tui_eval.engine.limits.spend_caps import Caps
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.reports.spending import Spending, spending
from tui_eval.store.read import (
    report_queries,
    request_queries,
    run_counts,
    run_queries,
)
from tui_eval.store.read.comparing import baseline_queries
from tui_eval.store.read.consignment_queries import BulkProgress, bulk_progress
from tui_eval.store.read.judges.judge_calls import JudgingNow, judging_now
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.read.run_parts import RunParts, run_parts
from tui_eval.store.read.trials import attempt_queries, trial_queries, trial_rows
from tui_eval.store.rows import ColumnRow, LimitRow, RequestRow, RunRow, TrialRow
from tui_eval.store.search.case_conditions import EarlierResults, EarlierRun

MOST_CHANGES = 400
"""Changed rows that are read one by one; after more of them the table reads its rows again."""


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
    stopping: bool = False
    """Whether its engine has been told to stop: what is in flight ends first."""
    log: Path | None = None
    """Where its engine wrote its log; None while one works on it, and where there is none."""
    earlier: EarlierRun | None = None
    """With whose verdicts those of the run are compared; None: there is none, or nobody has looked
    yet."""
    bulk: tuple[BulkProgress, ...] = ()
    """How far is what providers are asked in bulk: of targets, of judges, where they are."""
    parts: RunParts | None = None
    """What a run that is a part has of the whole; None: it is none, or an engine works on it."""
    bulk_moved: bool = False
    """Whether that is another than in the last snapshot: trials that wait for it say so, and do not
    change for it."""
    earlier_results: EarlierResults = field(default_factory=dict)
    """What cases of `changed` came to in it, where that was something else."""

    @property
    def column_title(self) -> str:
        """What the names of its columns say: a target, or a target with one of several prompts."""
        prompted = any(column.names_prompt for column in self.columns)
        return "target · prompt" if prompted else "target"

    def spending(self, usd_per_minute: float | None = None) -> Spending:
        """Return what it costs; `usd_per_minute` is what is spent just now, where that is known."""
        return spending(self.run, self.total, self.by_column.values(), self.caps, usd_per_minute)


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
        changed = trial_rows.trials_changed(db, run_id, since, MOST_CHANGES + 1)
    overflow = len(changed) > MOST_CHANGES
    if overflow:
        changed = []
    requests = (request_queries.request(db, number) for number in awaited)
    return Snapshot(
        run=run,
        columns=tuple(run_queries.columns(db, run_id)),
        stopping=request_queries.stopping(db, run),
        pinned=run_id in baseline_queries.pinned(db),
        total=total,
        by_column=by_column,
        epochs=trial_queries.epochs(db, run_id),
        limits=run_queries.limits(db, run_id),
        left_alone=trial_queries.left_alone(db, run_id),
        pending=tuple(request_queries.requests(db, run_id)),
        answered=tuple(
            request for request in requests if request is not None and request.outcome is not None
        ),
        changed=tuple(changed),
        reasons=trial_rows.reasons(db, [trial.id for trial in changed]),
        overflow=overflow,
        change=change,
        progress=attempt_queries.progress_of_run(db, run_id) if total.running else {},
        judging=judging_now(db, run_id),
        bulk=bulk_progress(db, run_id),
        # cases are counted for it: not while they become more
        parts=run_parts(db, run_id) if run.partial and not run.live else None,
    )
