"""The trials of a run that did not pass, one line each."""

import sqlite3
from collections.abc import Collection, Iterator

from tui_eval.engine.settings import Settings
from tui_eval.model.states import TrialState, Verdict
from tui_eval.model.visible import visible_line
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.reports.trial_outcomes import deciding
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.report_queries import ScoreLine
from tui_eval.store.search.views import TrialOutcome
from tui_eval.suites.frozen_suite import frozen_suite

_REASON = 300


def failures(
    db: sqlite3.Connection,
    run_id: int,
    ink: AnsiStyle,
    which: Collection[TrialOutcome] = (TrialOutcome.FAILED,),
) -> Iterator[str]:
    """Yield a line for each trial that failed, or stands otherwise: case, target, and why.

    Args:
        db: A connection to the store.
        run_id: The run.
        ink: How lines are set.
        which: How the trials stand.
    """
    settings = Settings.from_json(run_queries.run(db, run_id).settings)
    suite = frozen_suite(db, run_id)
    epochs = (settings.epochs or suite.run.epochs) > 1
    for line in report_queries.lines(db, run_id, which):
        epoch = f" epoch {line.epoch + 1}" if epochs else ""
        why = "; ".join(map(_said, deciding(line)))
        if line.state is TrialState.ERROR:
            message = visible_line(line.error_message or "", _REASON)
            why = f"{visible_line(line.error_kind or 'error')}: {message}"
        reported = (
            score for score in line.scores if score.verdict is Verdict.FAIL and not score.required
        )
        if beside := "; ".join(map(_said, reported)):
            why += ink.dim(f"  reported: {beside}")
        name = ink.bold(visible_line(line.case_id, 80))
        yield f"{name}  {visible_line(line.column)}{epoch}  {why}"


def _said(score: ScoreLine) -> str:
    return f"{visible_line(score.scorer)}: {visible_line(score.reason, _REASON)}"
