"""What a run comes to, as of one moment: all that is shown beside each other is read together."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pydantic import ValidationError

from tui_eval.model.json import JsonObject
from tui_eval.reports.rates.pass_rates import (
    ColumnPassRate,
    a_case_is_a_trial,
    pass_rates,
    rests_on_judges,
)
from tui_eval.store.read import report_queries, run_queries, suite_queries
from tui_eval.store.read.run_counts import Counts, board

if TYPE_CHECKING:
    from tui_eval.reports.gates.gate import Missed


@dataclass(frozen=True, slots=True)
class LiveGate:
    """Whether a run passes its suite's gate, by the trials that are settled."""

    settled: bool
    """Whether nothing more will happen by itself: then it is the last word."""
    missed: tuple["Missed", ...]
    """Thresholds that do not hold; while trials are open without those that cannot be measured
    yet."""
    unmeasured: int
    """Those that cannot be measured yet."""
    unclear: tuple[str, ...] = ()
    """Columns of which nobody can tell how they stand to the baseline; only once it is settled."""
    later: bool = False
    """Whether it is held against its baseline once it is settled, which it is not yet."""
    bare: bool = False
    """Whether it asks of a run nothing but how it stands to its baseline."""


@dataclass(frozen=True, slots=True)
class LiveResults:
    """Counts, rates and gate of one moment, so that none contradicts another."""

    total: Counts
    by_column: Mapping[int, Counts] = field(default_factory=dict)
    rates: Mapping[int, ColumnPassRate] = field(default_factory=dict)
    """By the column's index."""
    judged: bool = False
    """Whether the rates rest on what judges say."""
    gate: LiveGate | None = None
    """None: the run has none, one of a later version, or no columns yet that it could hold for."""
    one_each: bool | None = None
    """Whether a case is a trial; None: it may still become another."""


def live_results(db: sqlite3.Connection, run_id: int, one_each: bool | None = None) -> LiveResults:
    """Read what a run comes to; the same as its document says at that moment.

    Args:
        db: The connection.
        run_id: The run.
        one_each: What an earlier reading said of that: it saves a look at all cases.

    Raises:
        UnknownRunError: there is no such run.
    """
    with report_queries.moment(db):
        total, by_column = board(db, run_id)
        if one_each is None:
            one_each = a_case_is_a_trial(db, run_id)
        return LiveResults(
            total,
            by_column,
            pass_rates(db, run_id, one_each),
            rests_on_judges(db, run_id),
            _gate(db, run_id, total, asked) if (asked := suite_queries.gate(db, run_id)) else None,
            one_each if run_queries.run(db, run_id).staged else None,
        )


def _gate(db: sqlite3.Connection, run_id: int, total: Counts, asked: JsonObject) -> LiveGate | None:
    # imported late: the suite's format is slow to load, and the first picture needs none of it
    from tui_eval.reports.comparison.baseline.baseline_gate import GateWord
    from tui_eval.reports.gates.gate_standing import gate_so_far

    settled = run_queries.run(db, run_id).staged and total.settled == total.total
    try:
        found = gate_so_far(db, run_id, settled=settled)
    except ValidationError:
        return None  # a run of a version that knew more: its rules are not ours to guess
    if found is None:
        return None
    known = [threshold for threshold in found.missed if settled or threshold.got is not None]
    unclear = (one.column for one in found.against if one.word is GateWord.UNCLEAR)
    return LiveGate(
        settled,
        tuple(known),
        len(found.missed) - len(known),
        tuple(unclear),
        later=not settled and bool(asked.get("baseline")),
        bare=not any(value for name, value in asked.items() if name != "baseline"),
    )
