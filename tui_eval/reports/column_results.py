"""What each column of a run came to: the rows of a summary."""

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tui_eval.model.outputs.finish import Ending
from tui_eval.reports.rates import trial_figures
from tui_eval.reports.rates.run_rates import Rates, rates
from tui_eval.reports.rates.scorer_rates import ScorerTally, scorer_tallies
from tui_eval.store.read import run_queries
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.rows import ColumnRow
from tui_eval.suites.spec import Suite


@dataclass(frozen=True, slots=True)
class ColumnResults:
    """One row of a summary."""

    column: ColumnRow
    counts: Counts
    rates: Rates
    p50_s: float | None
    """Median of the calls; None: no call was timed."""
    p95_s: float | None
    cut_short: int
    """Outputs that ended before the model did."""
    filtered: int
    """Outputs that the endpoint's content filter took away."""
    scorers: Mapping[str, ScorerTally]
    tags: Mapping[str, Rates]


def of_sweep(of: ColumnResults) -> ColumnResults:
    """Return what a sweep's column came to: times and errors, as nothing of it is scored."""
    rates = replace(
        of.rates,
        n=0,
        passed=0,
        unjudged=0,
        rated=0,
        cases_left_out=0,
        left_out=of.rates.error + of.rates.cancelled,
        pass_rate=None,
        interval=None,
        bounds=None,
        clusters=None,
    )
    return replace(of, counts=counts_of_sweep(of.counts), rates=rates, tags={})


def counts_of_sweep(counts: Counts) -> Counts:
    """Return the counts of a sweep, or of its column: its trials passed nothing."""
    return replace(counts, passed=0, failed=0, ungraded=0)


def column_results(
    db: sqlite3.Connection, run_id: int, suite: Suite, counts: Mapping[int, Counts]
) -> Iterator[ColumnResults]:
    """Yield what each column came to, in order.

    Args:
        db: The connection.
        run_id: The run.
        suite: Its suite.
        counts: Its trials counted, by the column's index.

    Raises:
        UnknownRunError: there is no such run.
    """
    of_run = rates(db, run_id, suite.run)
    ends = trial_figures.endings(db, run_id)
    times = trial_figures.call_times(db, run_id)
    scored = scorer_tallies(db, run_id, suite.run)
    for column in run_queries.columns(db, run_id):
        col = column.index
        calls = times.get(col)
        ended = ends.get(col, Counter[Ending]())
        yield ColumnResults(
            column=column,
            counts=counts[col],
            rates=of_run.columns[col],
            p50_s=None if calls is None else calls.p50,
            p95_s=None if calls is None else calls.p95,
            cut_short=ended[Ending.CUT],
            filtered=ended[Ending.FILTERED],
            scorers=scored.get(col, {}),
            tags={tag: of_tag[col] for tag, of_tag in of_run.tags.items() if col in of_tag},
        )
