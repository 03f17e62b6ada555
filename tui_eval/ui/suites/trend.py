"""How each suite did in its last full runs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_eval.model.states import RunState
from tui_eval.ui.store_access.rate_book import RateBook

if TYPE_CHECKING:
    import sqlite3

MOST = 6
"""Runs of a suite that are looked at."""
_RUNS_LOOKED_AT = 1000


@dataclass(frozen=True, slots=True)
class FinishedRun:
    """One full run that was finished."""

    id: int
    name: str
    stamp: int
    """Its last change."""
    created_at: float
    columns: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Trend:
    """The last full run of a suite, and what those before it came to."""

    run: str
    created_at: float
    columns: tuple[str, ...]
    shares: tuple[float | None, ...]
    """Pass rates of its columns."""
    judged: bool
    """Whether they rest on what judges say."""
    before: tuple[float, ...]
    """Pass rates of its first column over the runs, oldest first, the last one included; only of
    runs that have that column first."""


def last_full_runs(db: "sqlite3.Connection") -> dict[str, list[FinishedRun]]:
    """Return the last full runs of each suite, newest first, by the suite's name."""
    from tui_eval.store.read import run_queries  # late: the first picture needs no store

    found: dict[str, list[FinishedRun]] = {}
    for run in run_queries.runs(db, limit=_RUNS_LOOKED_AT):
        if run.partial or run.state is not RunState.DONE:
            continue
        of_suite = found.setdefault(run.suite, [])
        if len(of_suite) < MOST:
            columns = tuple(column.name for column in run_queries.columns(db, run.id))
            stamp = run_queries.last_change(db, run.id)
            of_suite.append(FinishedRun(run.id, run.name, stamp, run.created_at, columns))
    return found


def trends(runs: Mapping[str, list[FinishedRun]], book: RateBook) -> dict[str, Trend]:
    """Return the trend of each suite whose last run has been rated."""
    found = {}
    for suite, (last, *_) in runs.items():
        rated = book.of(last.id)
        if rated is None or not last.columns:
            continue
        before = []
        for past in reversed(runs[suite]):
            known = book.of(past.id)
            if known is not None and past.columns[:1] == last.columns[:1] and known.shares:
                before.append(known.shares[0])
        found[suite] = Trend(
            last.name,
            last.created_at,
            last.columns,
            rated.shares,
            rated.judged,
            tuple(share for share in before if share is not None),
        )
    return found
