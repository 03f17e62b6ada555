"""The runs of a store, one line each."""

import sqlite3
from collections.abc import Sequence
from datetime import datetime

from tui_eval.format import clock, cost, rate
from tui_eval.model.states import RunState
from tui_eval.reports.rates.pass_rates import pass_rates, rests_on_judges
from tui_eval.reports.results import effective_state
from tui_eval.reports.terminal.tables import AnsiStyle, TableColumn, table
from tui_eval.store.read import run_queries
from tui_eval.store.read.run_counts import board
from tui_eval.store.rows import RunRow


def listing(
    db: sqlite3.Connection, rows: Sequence[RunRow], now: float, width: int, ink: AnsiStyle
) -> list[str]:
    """Return the lines of a list of runs.

    The rates are those of each run's document, one for each target.

    Args:
        db: The connection.
        rows: The runs.
        now: The present moment (Unix seconds).
        width: Cells of a line.
        ink: Colours or none.
    """
    wholes = [board(db, row.id)[0] for row in rows]
    return table(
        [
            TableColumn("run", [row.name for row in rows], left=True),
            TableColumn("state", [_state(row) for row in rows], left=True),
            TableColumn("done", [f"{of.settled:,}/{of.total:,}" for of in wholes]),
            TableColumn("pass", [_passes(db, row) for row in rows], left=True),
            TableColumn("errors", [f"{of.error:,}" for of in wholes]),
            TableColumn("ungraded", [f"{of.ungraded:,}" for of in wholes]),
            TableColumn("cost", [cost(of) for of in wholes]),
            TableColumn("time", [clock(row.wall(now)) for row in rows]),
            TableColumn("when", [_when(row.created_at) for row in rows], left=True),
            TableColumn("name", [row.label or "" for row in rows], left=True),
        ],
        width,
        ink,
    )


def _state(row: RunRow) -> str:
    state = effective_state(row)
    live = " (live)" if row.live and state is not RunState.RUNNING else ""
    return f"{state}{live}{_what(row)}"


def _what(row: RunRow) -> str:
    if row.is_sweep:
        return ", sweep"
    return ", partial" if row.partial else ""


def _passes(db: sqlite3.Connection, row: RunRow) -> str:
    if row.is_sweep:
        return ""  # nothing is scored
    by_column = pass_rates(db, row.id)
    judged = rests_on_judges(db, row.id)
    names = {column.index: column.name for column in run_queries.columns(db, row.id)}
    shown = ", ".join(
        rate(of.rate, judged) if len(by_column) == 1 else f"{names[col]} {rate(of.rate, judged)}"
        for col, of in by_column.items()
    )
    open_ones = [of for of in by_column.values() if of.open]
    so_far = open_ones and any(of.rate is not None for of in by_column.values())
    return f"{shown} so far" if so_far else shown


def _when(created_at: float) -> str:
    return datetime.fromtimestamp(created_at).astimezone().strftime("%Y-%m-%d %H:%M")
