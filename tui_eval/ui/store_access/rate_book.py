"""Pass rates for lists of runs: as reports have them, each worked out once for each change."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_eval.store.errors import UnknownRunError
from tui_eval.ui.store_access.read_pace import rest
from tui_eval.ui.store_access.store_client import StoreClient

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.reports.live_results import LiveGate, LiveResults
    from tui_eval.reports.rates.pass_rates import ColumnPassRate

_AT_ONCE_S = 0.05
"""Seconds of work on rates between two looks at what is wanted most."""
_REST_SHARE = 20
"""A rate that takes a second to work out is worked out every twenty while its run goes on."""


@dataclass(frozen=True, slots=True)
class ColumnRates:
    """The rates of a run's columns."""

    shares: tuple[float | None, ...]
    """Pass rates in the order of the columns; None: nothing to say."""
    open: bool
    """Whether they may still change by themselves."""
    judged: bool
    """Whether they rest on what judges say."""
    columns: "Mapping[int, ColumnPassRate]"
    """With their intervals, by the column's index."""
    gate: "LiveGate | None"
    """None: the run has none."""


@dataclass(frozen=True, slots=True)
class _Known:
    rated: ColumnRates
    stamp: int
    """The change of the run it was worked out at."""
    again_at: float
    """Not worked out anew before; on the monotonic clock."""


class RateBook:
    """What is known of the rates of runs; shared by the screens that list them."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}

    def of(self, run_id: int) -> ColumnRates | None:
        """Return a run's newest rates; None: they have not been computed yet."""
        known = self._known.get(run_id)
        return None if known is None else known.rated

    def due(self, run_id: int, stamp: int) -> bool:
        """Say whether a run's rates are to be worked out.

        Args:
            run_id: The run.
            stamp: Its last change, see `store.reader.last_change`.
        """
        known = self._known.get(run_id)
        return known is None or (known.stamp != stamp and known.again_at <= time.monotonic())

    async def learn(self, client: StoreClient, wanted: Iterable[tuple[int, int]]) -> bool:
        """Work out the first few of the runs that are due; return whether there were any.

        Args:
            client: The way to the store.
            wanted: Runs with their last changes, what is wanted most first.
        """
        due = [(run, stamp) for run, stamp in wanted if self.due(run, stamp)]
        if not due:
            return False
        for run, known in (await client.survey(_work_out, due)).items():
            self._known[run] = known
        return True


def _work_out(db: "sqlite3.Connection", due: Sequence[tuple[int, int]]) -> dict[int, _Known]:
    """Work out as many as there is time for, at least one."""
    # imported late: the first picture needs no store
    from tui_eval.reports.live_results import live_results

    found: dict[int, _Known] = {}
    end = time.monotonic() + _AT_ONCE_S
    for run, stamp in due:
        began = time.monotonic()
        try:
            rated = _rates(live_results(db, run))
        except UnknownRunError:  # deleted meanwhile
            rated = ColumnRates((), False, False, {}, None)
        now = time.monotonic()
        found[run] = _Known(
            rated,
            stamp,
            now + rest(0.0, now - began, _REST_SHARE),
        )
        if now > end:
            break
    return found


def _rates(of: "LiveResults") -> ColumnRates:
    return ColumnRates(
        tuple(of.rates[at].rate for at in sorted(of.rates)),
        any(one.open for one in of.rates.values()),
        of.judged,
        of.rates,
        of.gate,
    )
