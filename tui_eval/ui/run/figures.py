"""What takes a pass over a run's trials to know: figures, and how its columns differ."""

import sqlite3
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from tui_eval.format import many, points
from tui_eval.model.outputs.finish import Ending
from tui_eval.reports.rates import trial_figures
from tui_eval.reports.rates.run_rates import SMALL_GROUP
from tui_eval.store.read import (
    grade_queries,
    report_queries,
    run_counts,
)
from tui_eval.store.read.judges.judge_figures import JudgeFigures, has_judges, judge_figures
from tui_eval.store.read.trials import trial_queries
from tui_eval.store.write.people import notes
from tui_eval.ui.theme.tones import Tone

if TYPE_CHECKING:
    from tui_eval.reports.agreement.run_agreement import PeoplesWord

_MOST_TAGS = 30


@dataclass(frozen=True, slots=True)
class Figures:
    """What takes a pass over the trials to know."""

    cut: dict[int, int]
    """Truncated outputs, by column."""
    p50: dict[int, float]
    """Median call time in seconds, by column; columns without one are not in it."""
    failing: tuple[tuple[str, int], ...]
    errors: tuple[tuple[str, int], ...]
    tags: tuple[tuple[str, int], ...]
    """Trials by tag, the most first; the rarest are left out where there are very many."""
    noted: int
    """Trials with a note."""
    backing_off: int
    judges: tuple[JudgeFigures, ...] = ()
    """What each judge did for each scorer; empty where the suite has none."""
    people: "PeoplesWord | None" = None
    """What people's grades say; None: nobody graded anything."""


@dataclass(frozen=True, slots=True)
class ColumnDifference:
    """How a column differs from what it is compared with."""

    words: str
    """In percentage points, with what that comes to."""
    tone: Tone


@dataclass(frozen=True, slots=True)
class ColumnDifferences:
    """How the columns of a run differ from its base, or from its first column."""

    base: str | None = None
    """The name of the run or file they are compared with; None: the first column, or nothing."""
    by_column: Mapping[int, ColumnDifference] = field(default_factory=dict)
    """By the column's index; empty: not compared, or not yet."""


def count_figures(db: sqlite3.Connection, run_id: int) -> Figures:
    """Count what takes a pass over the trials."""
    total, _ = run_counts.board(db, run_id)
    cut = {
        column: how[Ending.CUT]
        for column, how in trial_figures.endings(db, run_id).items()
        if how[Ending.CUT]
    }
    times = trial_figures.call_times(db, run_id)
    return Figures(
        cut=cut,
        p50={column: of.p50 for column, of in times.items()},
        failing=tuple(trial_figures.failing(db, run_id)),
        errors=tuple(trial_queries.error_kinds(db, run_id)),
        tags=tuple(trial_figures.tags(db, run_id, _MOST_TAGS)),
        noted=notes.count(db, run_id),
        backing_off=trial_figures.backing_off(db, run_id) if total.running else 0,
        judges=tuple(judge_figures(db, run_id)) if has_judges(db, run_id) else (),
        people=_people(db, run_id),
    )


def _people(db: sqlite3.Connection, run_id: int) -> "PeoplesWord | None":
    """Return what people's grades say of a run; None: nobody graded anything."""
    if not grade_queries.any_grades(db, run_id):
        return None
    # imported late: the suite's format is slow to load, and few runs are graded by people
    from tui_eval.reports.agreement.run_agreement import peoples_word

    with report_queries.moment(db):
        return peoples_word(db, run_id)


def count_differences(db: sqlite3.Connection, run_id: int) -> ColumnDifferences:
    """Compare the run's columns with what they are held against."""
    # imported late: the suite's format is slow to load, and the first picture needs none of it
    from tui_eval.reports.comparison.baseline.versus import versus
    from tui_eval.reports.comparison.comparison import Word

    found = versus(db, run_id)
    if found is None:
        return ColumnDifferences()
    tones: dict[Word, Tone] = {Word.BETTER: "pass", Word.WORSE: "fail"}
    by_column = {}
    for column, row in found.rows.items():
        difference = row.difference
        if difference is None:
            continue
        if found.settled:
            words = f"{points(difference.diff)} {row.word}"
        elif difference.n < SMALL_GROUP:  # a single pair may be worth 50 points, and soon none
            words = f"{many(difference.n, 'pair')} so far"
        else:
            words = f"{points(difference.diff)} so far"
        tone = tones.get(row.word, "plain") if found.settled else "dim"
        by_column[column] = ColumnDifference(words, tone)
    return ColumnDifferences(found.base, by_column)
