"""A run's counts, as heads, progress lines and summaries show them."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass, replace

from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read import run_queries
from tui_eval.store.read.figures.call_spending import UnansweredAttempts, unanswered
from tui_eval.store.rows import ColumnRow, TallyRow


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
    """Every attempt that was sent for certain."""
    retries: int = 0
    """Those after a trial's first."""
    lost: int = 0
    """Attempts that may have been sent: their engine ended meanwhile."""
    cached: int = 0
    """Trials whose output was there already."""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    """None: some of it is unknown, as what calls cost of which no answer came."""
    known_usd: float = 0.0
    """What is known to be spent."""
    about_usd: float | None = None
    """That, and estimates where no endpoint told; None: nothing is estimated."""
    unestimated: bool = False
    """Whether some of what is unknown is not in `about_usd` either."""

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
    """Return the counts of a whole run, and those of each of its columns by index.

    Every column of the run has counts, also one of which no trial is staged yet.
    """
    columns = {column.index: column for column in run_queries.columns(db, run)}
    rows = run_queries.tallies(db, run)
    apart = unanswered(db, run, abandoned(db, run))
    by_column = {
        col: _without(
            counts([row for row in rows if row.col == col]), apart.get(col), columns.get(col)
        )
        for col in sorted({*columns, *(row.col for row in rows)})
    }
    of_columns = by_column.values()
    whole = replace(
        counts(rows),
        attempts=sum(of.attempts for of in of_columns),
        retries=sum(of.retries for of in of_columns),
        lost=sum(of.lost for of in of_columns),
        unestimated=any(of.unestimated for of in of_columns),
    )
    if any(of.cost_usd is None for of in of_columns):
        whole = replace(whole, cost_usd=None)
    return whole, by_column


def abandoned(db: sqlite3.Connection, run: int) -> bool:
    """Return whether the engine that holds a run has gone without a word."""
    try:
        lease = run_queries.run(db, run).lease
    except UnknownRunError:
        return False
    return lease.pid is not None and not lease.alive()


def _without(of: Counts, apart: UnansweredAttempts | None, column: ColumnRow | None) -> Counts:
    """Take from a column's counts what is not certain to have been sent, and to have been free."""
    if apart is None:
        return of
    # where somebody is asked, a call that was answered says whether calls are free
    asked = column is None or column.source is AnswerSource.ASKED
    free = of.cost_usd == 0 and (not asked or of.input_tokens + of.output_tokens > 0)
    unpaid = bool(apart.unpaid) and not free
    return replace(
        of,
        attempts=of.attempts - apart.lost - apart.unsent,
        retries=of.retries - apart.retries,
        lost=apart.lost,
        cost_usd=None if unpaid else of.cost_usd,
        unestimated=unpaid or of.unestimated,
    )


def spent(db: sqlite3.Connection, run: int) -> float:
    """Return what a run is known to have cost, in US dollars; what is unknown adds nothing."""
    return sum(row.cost_usd for row in run_queries.tallies(db, run))


def counts(rows: Sequence[TallyRow]) -> Counts:
    """Add tallies up."""

    def of(state: TrialState, verdict: Verdict | None = None) -> int:
        return sum(
            row.n
            for row in rows
            if row.state is state and (verdict is None or row.verdict is verdict)
        )

    unpriced = sum(row.unpriced for row in rows)
    unestimated = sum(row.unestimated for row in rows)
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
        known_usd=sum(row.cost_usd for row in rows),
        about_usd=sum(row.about_usd for row in rows) if unestimated < unpriced else None,
        unestimated=unestimated > 0,
    )
