"""The orders of the list of runs."""

from collections.abc import Callable, Sequence
from enum import StrEnum
from typing import Final

from tui_eval.format import estimated_usd
from tui_eval.ui.dialogs.menu import Choice
from tui_eval.ui.runs.run_list import ListedRun
from tui_eval.ui.store_access.rate_book import RateBook


class RunOrder(StrEnum):
    """What runs are sorted by; as the menu says it."""

    NEWEST = "newest"
    SUITE = "suite"
    RATE = "pass rate, lowest first"
    ERRORS = "errors and ungraded"
    COST = "cost"
    DURATION = "duration"


def in_order(
    runs: Sequence[ListedRun], order: RunOrder, book: RateBook, now: float
) -> Sequence[ListedRun]:
    """Return runs sorted; ties, and what is not known, stay in the order they come in.

    Args:
        runs: Live ones first, then the newest.
        order: What they are sorted by.
        book: Rates, as far as they are known.
        now: Unix seconds.
    """
    if order is RunOrder.NEWEST:
        return runs

    def lowest(one: ListedRun) -> float:
        rated = book.of(one.run.id)
        known = [] if rated is None else [share for share in rated.shares if share is not None]
        return min(known, default=2.0)

    keys: dict[RunOrder, Callable[[ListedRun], float | str]] = {
        RunOrder.SUITE: lambda one: one.run.suite.casefold(),
        RunOrder.RATE: lowest,
        RunOrder.ERRORS: lambda one: -(one.total.error + one.total.ungraded),
        RunOrder.COST: lambda one: -(estimated_usd(one.total) or one.total.known_usd),
        RunOrder.DURATION: lambda one: -(one.run.wall(now) or 0.0),
    }
    return sorted(runs, key=keys[order])


def order_choices(chosen: RunOrder) -> list[Choice[RunOrder]]:
    """Return what there is to choose from."""
    return [Choice(str(one), one, chosen=one is chosen) for one in RunOrder]


COLUMN_OF: Final = {
    RunOrder.SUITE: "suite",
    RunOrder.RATE: "pass",
    RunOrder.ERRORS: "!",
    RunOrder.COST: "cost",
    RunOrder.DURATION: "time",
}
"""The column whose head says that the list is sorted by it."""
