"""What became of each case of a suite over its last full runs, and which cases are flaky."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.reports.rates.case_results import fate
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import case_history, comparison_queries
from tui_eval.store.read.comparing.comparison_queries import compared
from tui_eval.store.rows import RunRow

_GRADED: Final = {"passed": "pass", "failed": "fail"}


@dataclass(frozen=True, slots=True)
class CaseOutcomes:
    """One case in one column, over the runs."""

    case_id: str
    column: str
    outcomes: tuple[str | None, ...]
    """For each run, the oldest first: `pass`, `fail`, `mixed` (epochs that differ), `ungraded`,
    `error`, `cancelled`, `open`; None: the run did not have it."""
    flaky: bool
    """Whether its verdict flipped though the same was asked, see `case_history.flaky`."""

    @property
    def changed(self) -> bool:
        """Whether it did not come to the same in every run."""
        return len(set(self.outcomes)) > 1


@dataclass(frozen=True, slots=True)
class SuiteHistory:
    """The last full runs of a suite."""

    suite: str
    runs: Sequence[RunRow]
    """The oldest first."""
    cases: Sequence[CaseOutcomes]
    """In the order of the newest run that has them."""

    @property
    def flaky(self) -> list[CaseOutcomes]:
        """Those whose verdict flipped though the same was asked."""
        return [case for case in self.cases if case.flaky]

    def as_json(self) -> JsonObject:
        """Return the document that `history --json` prints."""
        return {
            "suite": self.suite,
            "runs": [run.name for run in self.runs],
            "cases": [
                {
                    "case_id": case.case_id,
                    "target": case.column,
                    "outcomes": list[Json](case.outcomes),
                    "flaky": case.flaky,
                }
                for case in self.cases
            ],
        }


def suite_history(
    db: sqlite3.Connection, suite: str, *, runs: int = case_history.RUNS, case_id: str | None = None
) -> SuiteHistory:
    """Read what became of a suite's cases.

    Args:
        db: The connection.
        suite: The suite's name.
        runs: How many of its full runs are looked at, the last ones.
        case_id: Only this case; None: all.
    """
    looked_at = run_queries.full_runs(db, suite, runs)[::-1]
    found: dict[tuple[str, str], list[str | None]] = {}
    for place in range(len(looked_at) - 1, -1, -1):  # the newest says in which order cases stand
        for key, outcome in _of_run(db, looked_at[place], case_id):
            found.setdefault(key, [None] * len(looked_at))[place] = outcome
    return SuiteHistory(
        suite,
        looked_at,
        [
            CaseOutcomes(case, column, tuple(outcomes), _flaky(db, suite, (case, column), outcomes))
            for (case, column), outcomes in found.items()
        ],
    )


def _of_run(
    db: sqlite3.Connection, run: RunRow, case_id: str | None
) -> Iterator[tuple[tuple[str, str], str]]:
    columns = {column.index: column.name for column in run_queries.columns(db, run.id)}
    trials = comparison_queries.trials(db, run.id)
    for (of_id, col), of_case in groupby(trials, itemgetter(0, 1)):
        if case_id is None or of_id == case_id:
            fates = {fate(compared(*trial[2:4])) for trial in of_case}
            yield (of_id, columns[col]), _outcome(fates)


def _outcome(fates: set[str]) -> str:
    """Return what the epochs of a case came to, as one word."""
    if {"passed", "failed"} <= fates:
        return "mixed"
    graded = fates & {"passed", "failed"}
    word = min(graded or fates)
    return _GRADED.get(word, word)


def _flaky(
    db: sqlite3.Connection, suite: str, case: tuple[str, str], outcomes: Sequence[str | None]
) -> bool:
    verdicts = set(outcomes)
    if "mixed" not in verdicts and not {"pass", "fail"} <= verdicts:
        return False  # nothing flipped, whatever was asked
    pasts = case_history.history_of_case(db, suite, *case, len(outcomes))
    return case_history.flaky(pasts)
