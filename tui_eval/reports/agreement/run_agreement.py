"""All that people's grades say of a run: of each scorer, in each column."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tui_eval.model.judge_quality import GoldAgreement
from tui_eval.reports.agreement.corrected_rates import CorrectedPassRate, corrected_rate
from tui_eval.reports.agreement.graded_outputs import graded_outputs
from tui_eval.reports.agreement.measures import (
    AgreementMeasures,
    PeopleAgreement,
    agreement_measures,
    people_agreement,
)
from tui_eval.store.read import (
    grade_queries,
    report_queries,
    run_queries,
)
from tui_eval.store.read.run_counts import board
from tui_eval.store.read.trials import trial_queries
from tui_eval.store.write.judges import measured_judges
from tui_eval.suites.frozen_suite import readable_suite
from tui_eval.suites.spec import Suite


@dataclass(frozen=True, slots=True)
class ScorerAgreement:
    """How far one scorer agrees with people, and what they would have said."""

    scorer: str
    judges: tuple[str, ...]
    """Who gives its scores; several are a jury, none: a rule or program does."""
    columns: Mapping[int, AgreementMeasures]
    """By the column's index."""
    pooled: AgreementMeasures
    people: PeopleAgreement
    corrected: Mapping[int, CorrectedPassRate]
    """By the column's index: the scorer's own rate, corrected."""
    gold: Mapping[str, GoldAgreement] = field(default_factory=dict)
    """How each of its judges agrees with people about gold, of those that were measured."""


@dataclass(frozen=True, slots=True)
class PeoplesWord:
    """What people's grades say of a run."""

    scorers: tuple[ScorerAgreement, ...] = ()
    """Those that anybody measured, by grades or gold."""
    corrected: Mapping[int, CorrectedPassRate] = field(default_factory=dict)
    """The pass rates of columns as people would have given them, by the column's index."""
    by_hand: Mapping[int, int] = field(default_factory=dict)
    """Verdicts that a person gave, by the column's index; columns without are not in it."""


def peoples_word(db: sqlite3.Connection, run: int) -> PeoplesWord:
    """Return what people's grades say of a run; cheap where there are none.

    A few reads in a row: put them in a `report_queries.moment`.

    Raises:
        UnknownRunError: there is no such run.
    """
    golds = measured_judges.measured(db, run)[1]
    by_hand = grade_queries.by_hand(db, run)
    measured = dict.fromkeys(
        [*grade_queries.graded_scorers(db, run), *(scorer for scorer, _ in golds)]
    )
    if not measured:
        return PeoplesWord(by_hand=by_hand)
    suite = readable_suite(db, run)
    scorers = tuple(scorer_agreement(db, run, name, suite, golds) for name in measured)
    return PeoplesWord(scorers, _corrected(db, run, scorers, suite), by_hand)


def scorer_agreement(
    db: sqlite3.Connection,
    run: int,
    scorer: str,
    suite: Suite | None,
    golds: Mapping[tuple[str, str], GoldAgreement],
) -> ScorerAgreement:
    """Return what people's grades say of one scorer.

    Args:
        db: The connection.
        run: The run.
        scorer: The scorer's name.
        suite: The run's suite; None: this version cannot read it.
        golds: The run's agreements with gold, by scorer and judge.
    """
    found = graded_outputs(db, run, scorer, suite)
    columns = [column.index for column in run_queries.columns(db, run)]
    gold = {judge: one for (name, judge), one in golds.items() if name == scorer}
    only = next(iter(gold.values())) if len(gold) == 1 else None
    return ScorerAgreement(
        scorer=scorer,
        judges=judges_of_scorer(suite, scorer),
        columns={col: agreement_measures(found, col) for col in columns},
        pooled=agreement_measures(found, None),
        people=people_agreement(found),
        corrected={col: corrected_rate(found, col, only) for col in columns},
        gold=gold,
    )


def judges_of_scorer(suite: Suite | None, scorer: str) -> tuple[str, ...]:
    """Return the judges that a scorer of a suite asks; none: it asks nobody."""
    for spec in suite.scorers if suite is not None else ():
        if spec.name == scorer and spec.asks_judge:
            return spec.judges_named()
    return ()


def _corrected(
    db: sqlite3.Connection, run: int, scorers: Sequence[ScorerAgreement], suite: Suite | None
) -> dict[int, CorrectedPassRate]:
    """Return the corrected rates of columns: of the one scorer that decides their verdicts."""
    found: dict[int, CorrectedPassRate] = {}
    known = {one.scorer: one for one in scorers}
    whole = _why_not_of_run(db, run, suite)
    errors = {col for col, counts in board(db, run)[1].items() if counts.error}
    for column in run_queries.columns(db, run):
        col = column.index
        deciding = report_queries.deciding_scorers(db, run, col)
        measured = [known[name] for name in deciding if name in known]
        if not measured:
            continue
        one = measured[0].corrected[col]
        why = whole
        if len(deciding) > 1:
            why = f"its verdicts rest on several scorers ({', '.join(deciding)})"
        elif col in errors and suite is not None and suite.run.errors == "fail":
            why = "errors count as failed, and nobody grades those"
        found[col] = one if why is None else CorrectedPassRate(n=one.n, why=why)
    return found


def _why_not_of_run(db: sqlite3.Connection, run: int, suite: Suite | None) -> str | None:
    """Say why no column of a run has a corrected rate; None: they may."""
    total = board(db, run)[0]
    if suite is None:
        return "this version cannot read the run's suite"
    if total.settled < total.total or not run_queries.run(db, run).staged:
        return "the run goes on"
    if trial_queries.weighted(db, run):
        return "its cases weigh differently"
    if trial_queries.epochs(db, run) > 1 and suite.run.reductions[0].kind != "mean":
        return f"its epochs are reduced by {suite.run.reductions[0].name}"
    return None
