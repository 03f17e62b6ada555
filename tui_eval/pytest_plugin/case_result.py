"""What a case came to in all columns of a run, as a test has it."""

import sqlite3
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import attrgetter
from typing import Final

from tui_eval.model.visible import visible_line
from tui_eval.reports.rates.case_results import case_verdict, fate
from tui_eval.reports.trial_outcomes import ReportedOutcome, outcome, why
from tui_eval.store.read import report_queries
from tui_eval.store.read.report_queries import TrialLine
from tui_eval.store.rows import RunRow
from tui_eval.suites.frozen_suite import frozen_suite

_REASON: Final = 500
_OUTPUT: Final = 2_000
"""Characters of an output that are shown."""


@dataclass(slots=True)
class CaseResult:
    """Why a case is not right, a line for each trial; empty in all: it passed everywhere."""

    failed: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    """Of columns where a trial has no output, so that nothing can be said."""
    left_out: list[str] = field(default_factory=list)
    """Of columns where too little is graded: ungraded, cancelled."""


def case_result(db: sqlite3.Connection, run: RunRow, case_id: str) -> CaseResult:
    """Return what a case came to, by the suite's own rule of epochs."""
    rules = frozen_suite(db, run.id).run
    found = CaseResult()
    lines = report_queries.lines_of_case(db, run.id, case_id)
    for _, of_column in groupby(lines, attrgetter("column")):
        trials = [*of_column]
        fates = tuple(map(fate, trials))
        value = case_verdict(fates, rules.errors, rules.reduction).value
        if value is not None and value < 1:
            found.failed += _told(trials, output=True)
        elif {"error", "open"} & {*fates} and value is None:
            found.errors += _told(trials)
        elif value is None:
            found.left_out += _told(trials)
    return found


def _told(trials: Sequence[TrialLine], *, output: bool = False) -> Iterator[str]:
    """Yield what those trials of a column came to that did not pass."""
    for line in trials:
        what = outcome(line)
        if what is ReportedOutcome.PASS:
            continue
        epoch = f" epoch {line.epoch + 1}" if len(trials) > 1 else ""
        said = f"\n  output: {visible_line(line.text, _OUTPUT)}" if output and line.text else ""
        reason = visible_line(why(line), _REASON)
        yield f"{visible_line(line.column)}{epoch}: {what}: {reason}{said}"
