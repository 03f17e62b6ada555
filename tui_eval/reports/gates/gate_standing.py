"""How a run stands to its suite's gate: its columns measured, and held against its baseline."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tui_eval.format import estimated_usd
from tui_eval.reports.column_results import ColumnResults, column_results
from tui_eval.reports.comparison.baseline.base import BaseComparison, base_comparison
from tui_eval.reports.comparison.baseline.baseline_gate import (
    ColumnAgainstBaseline,
    against_baseline,
)
from tui_eval.reports.gates import gate
from tui_eval.reports.gates.gate import GateMeasures, Missed, TargetMeasures
from tui_eval.reports.rates.run_rates import Rates
from tui_eval.statistics.estimates import percentile
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.run_counts import board
from tui_eval.store.rows import RunRow
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.spec import Gate, Thresholds


@dataclass(frozen=True, slots=True)
class GateStanding:
    """How a run stands to its gate, by what is settled."""

    missed: Sequence[Missed]
    """What does not hold."""
    against: Sequence[ColumnAgainstBaseline]
    """Empty: there is no `[gate.baseline]`, or nobody compared."""


def gate_standing(
    db: sqlite3.Connection,
    run: RunRow,
    asked: Gate,
    columns: Sequence[ColumnResults],
    base: BaseComparison | None,
) -> GateStanding:
    """Hold columns against a gate; of a partial run those that have trials.

    Args:
        db: The connection.
        run: The run.
        asked: Its suite's gate.
        columns: What its columns came to.
        base: How it differs from its baseline; None: it is not held against that.
    """
    held = [of for of in columns if of.rates.trials or not run.partial]
    measured = [_measures(db, run.id, of, asked.tags) for of in held]
    missed: list[Missed] = [*gate.judge(asked, measured, partial=run.partial)]
    if asked.baseline is None or base is None:
        return GateStanding(missed, ())
    names = [of.column.name for of in held]
    against = against_baseline(asked.baseline, base, names, partial=run.partial)
    return GateStanding([*missed, *(one for of in against for one in of.missed)], against)


def gate_so_far(db: sqlite3.Connection, run_id: int, *, settled: bool) -> GateStanding | None:
    """Return how a run stands to its gate by what is settled so far.

    None: there is no gate, or nobody knows yet which columns the run has.

    A few reads in a row: put them in a `report_queries.moment`.

    Args:
        db: The connection.
        run_id: The run.
        settled: Whether it is held against its baseline: no p that is looked at while trials are
            open means what it says.

    Raises:
        UnknownRunError: there is no such run.
    """
    run = run_queries.run(db, run_id)
    suite = frozen_suite(db, run_id)
    if suite.gate is None:
        return None
    columns = list(column_results(db, run_id, suite, board(db, run_id)[1]))
    if not columns:
        return None
    compared = settled and suite.gate.baseline is not None
    base = base_comparison(db, run) if compared else None
    return gate_standing(db, run, suite.gate, columns, base)


def _measures(
    db: sqlite3.Connection, run_id: int, of: ColumnResults, gated_tags: Mapping[str, Thresholds]
) -> TargetMeasures:
    def of_rates(rates: Rates, p95_s: float | None, cost_usd: float | None) -> GateMeasures:
        return GateMeasures(
            trials=rates.trials - rates.cancelled,
            pass_rate=rates.pass_rate,
            mean_score=rates.mean_score,
            errors=rates.error,
            ungraded=rates.ungraded,
            p95_latency_s=p95_s,
            cost_usd=cost_usd,
        )

    col = of.column.index
    free = of.counts.cost_usd == 0
    return TargetMeasures(
        column=of.column.name,
        target=of.column.target,
        whole=of_rates(of.rates, of.p95_s, estimated_usd(of.counts)),
        scorers={
            name: GateMeasures(
                trials=tally.n + tally.ungraded,
                pass_rate=tally.pass_rate,
                mean_score=tally.mean,
                ungraded=tally.ungraded,
            )
            for name, tally in of.scorers.items()
        },
        tags={
            tag: of_rates(
                of.tags[tag],
                None
                if asked.max_p95_latency_s is None
                else percentile(report_queries.latencies(db, run_id, col, tag), 0.95),
                None
                if asked.max_cost_usd is None
                # where all calls are free, so are those that were never answered
                else (0.0 if free else report_queries.cost_of_tag(db, run_id, col, tag)),
            )
            for tag, asked in gated_tags.items()
            if tag in of.tags
        },
    )
