"""Outputs that people graded, each beside what the scorer said of it."""

import json
import sqlite3
from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from tui_eval.model.case import cluster_of
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import Verdict
from tui_eval.scoring.judge.verdict import verdict_of_value
from tui_eval.statistics.corrected import independence_of_verdicts
from tui_eval.store.read import grade_queries
from tui_eval.store.read.comparing import comparison_queries
from tui_eval.store.read.grade_queries import GivenGradeRow
from tui_eval.store.read.trials import trial_queries
from tui_eval.suites.scorers.judge.judge_settings import deciding
from tui_eval.suites.spec import Suite

_PLACES: Final = 12
_DECIDED: Final = (Verdict.PASS, Verdict.FAIL)


@dataclass(frozen=True, slots=True)
class GradedOutput:
    """One output with the scorer's word and that of people."""

    col: int
    judged: Verdict
    """The scorer's, pass or fail."""
    judged_value: float | None
    person: Verdict
    """What most people said who graded it; where they are split, who graded it first."""
    person_value: float | None
    """The mean of their values; None: they gave bare verdicts, or there is no scale."""
    unit: Hashable
    """Equal where outputs are not independent: of one case, or of one cluster of cases."""
    drawn: bool
    """Whether it was drawn by chance; else somebody chose it."""


@dataclass(frozen=True, slots=True)
class GradedOutputs:
    """All outputs of a run that people graded by one scorer's question."""

    outputs: Sequence[GradedOutput]
    """Those of which the scorer has said pass or fail too."""
    shares: Mapping[tuple[int, Verdict], int]
    """How many outputs of a column the scorer passed, and failed, in the whole run."""
    people: Mapping[str, Mapping[int, GivenGradeRow]]
    """What each person said, by trial; without what they could not tell."""
    cannot_tell: Counter[int]
    """By column: outputs that nobody who looked at them could grade."""
    otherwise: Counter[int]
    """By column: outputs of which the scorer said otherwise when they were graded. They were drawn
    by that, so `weights` make them the shares of the run no more."""
    independence: Mapping[int, float | None]
    """By column: see `corrected.independence_of_verdicts`; a column that is not in it: 1."""

    def verdicts_of(self, col: int | None) -> Sequence[GradedOutput]:
        """Return the outputs of one column; None: of all."""
        return [one for one in self.outputs if col is None or one.col == col]

    def weights(self, outputs: Sequence[GradedOutput]) -> list[float]:
        """Return how many outputs of the run each stands for, by column and the scorer's verdict.

        Half of what is drawn was passed and half failed, whatever their shares of the run: weighed
        so, the figures are those of the run.
        """
        there = Counter((one.col, one.judged) for one in outputs)
        keys = [(one.col, one.judged) for one in outputs]
        return [self.shares.get(key, there[key]) / there[key] for key in keys]


def graded_outputs(
    db: sqlite3.Connection, run: int, scorer: str, suite: Suite | None
) -> GradedOutputs:
    """Read what people and a scorer said of a run's outputs.

    Args:
        db: The connection.
        run: The run.
        scorer: The scorer.
        suite: The run's suite; verdicts are made of values as it says now. None: as it said when
            they were given.
    """
    settings, negate = _deciding(suite, scorer)
    rows = [
        _as_decided_now(row, settings, negate=negate)
        for row in grade_queries.given(db, run, scorer)
    ]
    by_trial: dict[int, list[GivenGradeRow]] = {}
    people: dict[str, dict[int, GivenGradeRow]] = {}
    unsure: Counter[int] = Counter()
    for row in rows:
        by_trial.setdefault(row.trial, [])
        if row.verdict is not None:
            by_trial[row.trial].append(row)
            people.setdefault(row.person, {})[row.trial] = row
    columns = {row.trial: row.col for row in rows}
    unsure.update(columns[trial] for trial, said in by_trial.items() if not said)
    scored = grade_queries.scored_trials(db, run, scorer, json.dumps(list(by_trial)))
    then = grade_queries.verdicts_when_graded(db, run, scorer)
    units = _Units(db, run, suite)
    otherwise: Counter[int] = Counter()
    outputs = []
    for trial, said in by_trial.items():
        judged = scored.get(trial)
        if said and judged is not None and judged.verdict in _DECIDED:
            verdict, value = _people_said(said)
            otherwise[judged.col] += then.get(trial, judged.verdict) is not judged.verdict
            outputs.append(
                GradedOutput(
                    judged.col,
                    judged.verdict,
                    judged.value,
                    verdict,
                    value,
                    units[said[0].seq],
                    any(one.seed is not None for one in said),
                )
            )
    shares = grade_queries.verdict_counts(db, run, scorer)
    alone = units.each_case and trial_queries.epochs(db, run) == 1
    counts = {} if alone else _independence(db, run, scorer, units)
    return GradedOutputs(outputs, shares, people, unsure, otherwise, counts)


class _Units:
    """What each case is a unit of: its cluster, else itself."""

    def __init__(self, db: sqlite3.Connection, run: int, suite: Suite | None) -> None:
        cluster = None if suite is None else suite.dataset.cluster
        self._clusters: list[str | None] = []
        if cluster is not None:
            copies = comparison_queries.case_copies(db, run)
            self._clusters = [cluster_of(json.loads(one)["fields"], cluster) for one in copies]

    @property
    def each_case(self) -> bool:
        """Whether each case is one for itself."""
        return not self._clusters

    def __getitem__(self, seq: int) -> Hashable:
        named = self._clusters[seq] if self._clusters else None
        return seq if named is None else named


def _independence(
    db: sqlite3.Connection, run: int, scorer: str, units: _Units
) -> dict[int, float | None]:
    """Return as how many independent outputs each of a scorer's verdicts counts, by column."""
    found: dict[int, dict[Hashable, tuple[int, int]]] = {}
    for col, seq, passed, n in grade_queries.verdicts_by_case(db, run, scorer):
        of_column = found.setdefault(col, {})
        before, there = of_column.get(units[seq], (0, 0))
        of_column[units[seq]] = before + passed, there + n
    return {col: independence_of_verdicts(of.values()) for col, of in found.items()}


def _people_said(said: Sequence[GivenGradeRow]) -> tuple[Verdict, float | None]:
    """Return the verdict of most, in a tie of the first, and the mean of the values of a scale."""
    n = Counter(row.verdict for row in said)
    most = max(n.values())
    verdict = next(row.verdict for row in said if n[row.verdict] == most)
    assert verdict is not None, "only those who could tell are asked here"
    values = [row.value for row in said if row.value is not None and _has_order(row.grade)]
    # rounded: equal means of different values are ties of ranks
    return verdict, round(sum(values) / len(values), _PLACES) if values else None


def _has_order(grade: Json) -> bool:
    """Whether a grade is of a scale, and no list of what is met."""
    first = grade[0] if isinstance(grade, list) and grade else grade
    return isinstance(first, int | float) and not isinstance(first, bool)


def _deciding(suite: Suite | None, scorer: str) -> tuple[JsonObject | None, bool]:
    """Return what makes a scorer's verdict of a value, and whether that is turned round."""
    for spec in suite.scorers if suite is not None else ():
        if spec.name == scorer and spec.asks(spec.__dict__) == "judge":
            return deciding(spec.own_settings()), spec.negate
    return None, False


def _as_decided_now(
    row: GivenGradeRow, settings: JsonObject | None, *, negate: bool
) -> GivenGradeRow:
    if settings is None or row.value is None:
        return row
    verdict = verdict_of_value(settings, 1.0 - row.value if negate else row.value)
    if negate:
        verdict = Verdict.FAIL if verdict is Verdict.PASS else Verdict.PASS
    return replace(row, verdict=verdict)
