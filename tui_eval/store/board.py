"""A run's counts, as heads, progress lines and summaries show them."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.states import TrialState, Verdict
from tui_eval.store import reader
from tui_eval.store.rows import TallyRow


@dataclass(frozen=True, slots=True)
class Counts:
    """How many trials stand where, and what they cost; of a column or of a whole run."""

    total: int = 0
    queued: int = 0
    running: int = 0
    scoring: int = 0
    done: int = 0
    error: int = 0
    cancelled: int = 0
    passed: int = 0
    failed: int = 0
    ungraded: int = 0
    attempts: int = 0
    """Every attempt sent."""
    retries: int = 0
    """Those after a trial's first."""
    cached: int = 0
    """Trials whose output was there already."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None: some of it is unknown."""

    @property
    def settled(self) -> int:
        """Trials to which nothing more happens unless somebody asks."""
        return self.done + self.error + self.cancelled

    @property
    def answered(self) -> int:
        """Trials that were answered in this run, whatever was made of it."""
        return max(self.done + self.scoring - self.cached, 0)

    @property
    def graded(self) -> int:
        """Trials that passed or failed."""
        return self.passed + self.failed


def board(db: sqlite3.Connection, run: int) -> tuple[Counts, dict[int, Counts]]:
    """Give the counts of a whole run, and those of each of its columns by index.

    Every column of the run has counts, also one of which no trial is staged yet.
    """
    columns = [column.index for column in reader.columns(db, run)]
    rows = reader.tallies(db, run)
    return counts(rows), {
        col: counts([row for row in rows if row.col == col])
        for col in sorted({*columns, *(row.col for row in rows)})
    }


def spent(db: sqlite3.Connection, run: int) -> float:
    """Give what a run is known to have cost, in US dollars; what is unknown adds nothing."""
    return sum(row.cost_usd for row in reader.tallies(db, run))


def counts(rows: Sequence[TallyRow]) -> Counts:
    """Add tallies up."""

    def of(state: TrialState, verdict: Verdict | None = None) -> int:
        return sum(
            row.n
            for row in rows
            if row.state is state and (verdict is None or row.verdict is verdict)
        )

    unpriced = sum(row.unpriced for row in rows)
    return Counts(
        total=sum(row.n for row in rows),
        queued=of(TrialState.QUEUED),
        running=of(TrialState.RUNNING),
        scoring=of(TrialState.SCORING),
        done=of(TrialState.DONE),
        error=of(TrialState.ERROR),
        cancelled=of(TrialState.CANCELLED),
        passed=of(TrialState.DONE, Verdict.PASS),
        failed=of(TrialState.DONE, Verdict.FAIL),
        ungraded=of(TrialState.DONE, Verdict.UNGRADED),
        attempts=sum(row.attempts for row in rows),
        retries=sum(row.retries for row in rows),
        cached=sum(row.cached for row in rows),
        input_tokens=sum(row.input_tokens for row in rows),
        output_tokens=sum(row.output_tokens for row in rows),
        cost_usd=None if unpriced else sum(row.cost_usd for row in rows),
    )
