"""Figures that are kept, against those that are counted."""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.support import reading
from tui_eval.reports.comparison.comparison import ComparisonRow, columns_compared
from tui_eval.reports.comparison.side import RunSide
from tui_eval.reports.rates import trial_figures
from tui_eval.reports.rates.pass_rates import a_case_is_a_trial, rests_on_judges
from tui_eval.reports.rates.run_rates import rates
from tui_eval.reports.rates.scorer_rates import scorer_tallies
from tui_eval.store.chunks import division, kept_answers, kept_figures
from tui_eval.store.chunks.kept_figures import figures_of
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.judges.judge_figures import judge_figures
from tui_eval.store.search import views
from tui_eval.store.search.groups import Grouping, Groups
from tui_eval.store.search.views import Condition, FilterKind, Order, TrialOutcome, View
from tui_eval.suites.frozen_suite import frozen_suite


@contextmanager
def keeping(trials: int) -> Iterator[None]:
    """Have runs divided into chunks of so many trials, and all of them kept in files."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(division, "TRIALS", trials)
        patched.setattr(kept_figures, "KEPT_FROM", 1)
        patched.setattr(kept_figures, "WORTH_WRITING", 1)
        patched.setattr(views, "_WORTH_KEEPING_S", 0.0)
        yield


@contextmanager
def _knowing_nothing() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(kept_figures, "_known_of", lambda _db, _run: {})
        for module in (kept_figures, kept_answers):
            patched.setattr(module, "is_kept", lambda _db, _run: False)
        yield


def all_figures(db: sqlite3.Connection, run: int) -> dict[str, object]:
    """Give every figure of a run that is made of its chunks."""
    rules = frozen_suite(db, run).run
    return {
        "rates": rates(db, run, rules),
        "scorers": scorer_tallies(db, run, rules),
        "judged": rests_on_judges(db, run),
        "one each": a_case_is_a_trial(db, run),
        "times": trial_figures.call_times(db, run),
        "all times": {
            col: [*times] for col, times in figures_of(db, run, trial_figures._CALL_TIMES).items()
        },
        "endings": trial_figures.endings(db, run),
        "copied": trial_figures.copied_scores(db, run),
        "failing": trial_figures.failing(db, run),
        "tags": trial_figures.tags(db, run, 100),
        "backing off": trial_figures.backing_off(db, run),
        "judges": judge_figures(db, run),
        "pairs": _pairs(db, run),
        "groups": {by: _groups(db, run, by) for by in Grouping},
        "lists": {view: list(views.places(db, run, view)) for view in _VIEWS},
    }


_VIEWS = (
    *(View(order=order, reverse=back) for order in Order for back in (False, True)),
    *(View((Condition(FilterKind.STANDS, outcome),)) for outcome in TrialOutcome),
    *(View((Condition(kind),)) for kind in (FilterKind.CUT, FilterKind.FLAKY, FilterKind.NOTED)),
)


def _pairs(db: sqlite3.Connection, run: int) -> list[list[ComparisonRow]]:
    """Give how the first column differs from the last, in this run and from the run before it."""
    sides = [RunSide(db, one) for one in run_queries.runs(db) if one.id in (run - 1, run)]
    names = [(sides[0].columns[0], sides[0].columns[-1])]
    return [columns_compared(a, b, names) for a in sides for b in sides]


def _groups(db: sqlite3.Connection, run: int, by: Grouping) -> tuple[object, ...]:
    groups = Groups(run, by, None, run_queries.run(db, run).total)
    while groups.step(db):
        pass
    return groups.counts, groups.largest, groups.grouped, groups.looked


def see_that_kept_is_counted(db: sqlite3.Connection, path: Path, run: int) -> None:
    """See that what is kept is to the last digit what counting anew gives, at one moment.

    Args:
        db: A connection that has read figures before, or is new.
        path: Its store: what lies beside it must do for a new connection, too.
        run: The run.
    """
    with report_queries.moment(db):
        kept = all_figures(db, run)
        with _knowing_nothing():
            _same(kept, all_figures(db, run))
    with reading(path) as other, report_queries.moment(other):
        kept = all_figures(other, run)
        with _knowing_nothing():
            _same(kept, all_figures(other, run))


def _same(kept: Mapping[str, object], counted: Mapping[str, object]) -> None:
    for name, figure in counted.items():
        assert kept[name] == figure, name
