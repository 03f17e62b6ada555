"""The pass rates of tags and targets, as the summary of a run has them."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tui_eval.format import UNKNOWN, interval, rate
from tui_eval.reports.rates.pass_rates import rests_on_judges
from tui_eval.reports.rates.run_rates import Rates, rates
from tui_eval.store.read import run_queries
from tui_eval.store.search.views import Condition, FilterKind
from tui_eval.suites.frozen_suite import readable_suite


@dataclass(frozen=True, slots=True)
class GroupRates:
    """Rates over all trials of a run, never pooled over targets."""

    by_column: Mapping[str, Rates] = field(default_factory=dict)
    by_tag: Mapping[str, Mapping[str, Rates]] = field(default_factory=dict)
    """For each tag, by the column's name."""
    judged: bool = False
    """Whether they rest on what judges say."""

    def of(self, group: Condition, columns: Sequence[str]) -> list[Rates | None]:
        """Return the rates of a group: of a target its own, of a tag one for each column."""
        if group.kind is FilterKind.TARGET:
            return [self.by_column.get(group.value)]
        of_tag = self.by_tag.get(group.value, {})
        return [of_tag.get(name) for name in columns]

    def words(self, of: Rates | None) -> str:
        """Return `72.1%  66.1–77.4`, or `12 of 15` where there are few; for a cell."""
        if of is None:
            return UNKNOWN
        if of.small:
            return f"{of.passed} of {of.n}"
        within = "so far" if of.open else interval(of.interval)
        return f"{rate(of.pass_rate, self.judged)}  {within}"


def group_rates(db: sqlite3.Connection, run: int) -> GroupRates | None:
    """Return the rates of a run's tags and targets; None: a later version has made the run."""
    suite = readable_suite(db, run)
    if suite is None:
        return None
    found = rates(db, run, suite.run)
    names = {column.index: column.name for column in run_queries.columns(db, run)}
    return GroupRates(
        {names[col]: of for col, of in found.columns.items()},
        {tag: {names[col]: of for col, of in of_tag.items()} for tag, of_tag in found.tags.items()},
        rests_on_judges(db, run),
    )
