"""Trying edited scorers on a run's outputs: what would come of it, without recording anything."""

import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass

from tui_eval.engine.edited import Edits
from tui_eval.engine.flip import Flip
from tui_eval.engine.marking import Marking
from tui_eval.model.case import Column
from tui_eval.model.output import Failure
from tui_eval.model.score import Score, Tally, tally
from tui_eval.model.states import Verdict
from tui_eval.store import reader
from tui_eval.store.rows import ScoreRow, TrialRow
from tui_eval.suites.prompts import Renderer
from tui_eval.suites.spec import Suite
from tui_eval.suites.templates import TemplateError

_PAGE = 200


@dataclass(frozen=True, slots=True)
class Tried:
    """How far it has come."""

    outputs: int = 0
    """Tried so far."""
    judged: int = 0
    """Of them, those whose verdict hangs on judges that are to be asked anew."""
    broken: int = 0
    """Of them, those that the edited scorers cannot be made for."""
    problem: str | None = None
    """Why not, of the first."""


def tryout(
    db: sqlite3.Connection, run: int, changed: Suite, edits: Edits
) -> Iterator[Flip | Tried]:
    """Score a run's outputs with edited scorers, as far as that asks nobody.

    Args:
        db: The connection.
        run: The run.
        changed: Its suite with the edited scorers.
        edits: What they differ in.

    Yields:
        Each verdict that would change, in dataset order, and now and then how far it is; that last.
    """
    try:
        marking = Marking(changed, Renderer(changed))
    except TemplateError as error:
        yield Tried(problem=str(error))
        return
    columns = {
        row.index: Column(row.index, row.name, row.target, row.prompt)
        for row in reader.columns(db, run)
    }
    outputs = judged = broken = 0
    problem: str | None = None
    place = -1
    while page := reader.trials_from(db, run, place + 1, _PAGE):
        place = page[-1].place
        for trial in page:
            if trial.verdict is None or trial.output is None:
                continue  # nothing was graded: there is nothing to compare with
            outputs += 1
            found = _tried(db, run, marking, columns[trial.col], trial, edits)
            if isinstance(found, Failure):
                broken, problem = broken + 1, problem or found.message
            elif found is None:
                judged += 1
            elif found[0].verdict is not trial.verdict:
                yield _flip(trial, trial.verdict, *found)
        yield Tried(outputs, judged, broken, problem)


def _tried(
    db: sqlite3.Connection,
    run: int,
    marking: Marking,
    column: Column,
    trial: TrialRow,
    edits: Edits,
) -> tuple[Tally, list[Score]] | Failure | None:
    """Give what a trial's scores would come to, and the new ones; None: judges must be asked."""
    assert trial.output is not None, "only what has an output is tried"
    case = reader.case(db, run, trial.seq)
    output = reader.output(db, trial.output)
    kept = [
        score.as_score()
        for score in reader.scores(db, trial.id)
        if _counts(score) and (score.scorer not in edits.scorers or score.source == "human")
    ]
    marks = marking.marks(column, case, output, kept)
    if isinstance(marks, Failure):
        return marks
    if marks.asks:
        return None
    return tally([*kept, *marks.scores]), list(marks.scores)


def _counts(score: ScoreRow) -> bool:
    return score.current and not score.superseded and score.withdrawn_at is None


def _flip(trial: TrialRow, was: Verdict, found: Tally, scores: list[Score]) -> Flip:
    telling = [score for score in scores if score.grade.verdict is found.verdict] or scores
    why = f"{telling[0].scorer}: {telling[0].grade.reason}" if telling else "a scorer is gone"
    return Flip(trial.place, trial.case_id, trial.column, trial.epoch, was, found.verdict, why)
