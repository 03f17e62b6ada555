"""One side of a comparison: what each case came to in each of its columns."""

import json
import sqlite3
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, Protocol

from tui_eval.model.case import cluster_of
from tui_eval.model.json import digest
from tui_eval.model.reduction import CaseRules, FrozenRules
from tui_eval.model.states import RunState
from tui_eval.reports.comparison.compared_case import ComparedCase
from tui_eval.reports.rates.case_results import case_score, case_verdict, fate, graded_scores
from tui_eval.reports.rates.pass_rates import rests_on_judges
from tui_eval.store.read import run_queries, suite_queries
from tui_eval.store.read.comparing import comparison_queries, paired_queries
from tui_eval.store.read.comparing.comparison_queries import ComparedTrial, compared
from tui_eval.store.read.comparing.paired_queries import Fates, RunColumn
from tui_eval.store.rows import RunRow
from tui_eval.store.text import unpack_text


class Side(Protocol):
    """What is compared with another."""

    @property
    def name(self) -> str:
        """What a person calls it."""

    @property
    def is_baseline(self) -> bool:
        """Whether it is a file that says what a run came to."""

    @property
    def finished(self) -> bool:
        """Whether it came to its end; else its cases are no fair sample: quick ones end first."""

    @property
    def judged(self) -> bool:
        """Whether its verdicts rest on what judges say."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns, in their order."""

    @property
    def scorers(self) -> Mapping[str, bytes]:
        """Its scorers by name, each with a digest of all that decides its grades."""

    @property
    def frozen_scorers(self) -> str | None:
        """Its scorers as they are frozen: two sides that have the same have the same `scorers`.

        None: nobody has frozen them.
        """

    def cases(self, column: str, scorer: str | None = None) -> Iterator[tuple[str, ComparedCase]]:
        """Yield what each case came to, with its id, in dataset order.

        Args:
            column: One of `columns`.
            scorer: Of this scorer's verdicts; None: of the trials' own.
        """

    def by_hand(self, column: str, scorer: str | None = None) -> Set[str]:
        """Return the cases of whose verdict a person decides a part, see `cases`."""

    def tags(self, among: Collection[str] | None = None) -> Mapping[str, tuple[str, ...]]:
        """Return the tags of those cases that have any, by the case's id.

        Args:
            among: Only these tags, and cases that have one of them; None: all.
        """

    def row_digest(self, case_id: str) -> bytes:
        """Return a digest of a case's row whatever the order of its columns."""


def tags_among(
    tags: Mapping[str, tuple[str, ...]], among: Collection[str] | None
) -> Mapping[str, tuple[str, ...]]:
    """Return those of the tags of cases that are held, see `Side.tags`."""
    if among is None:
        return tags
    some = ((case_id, tuple(tag for tag in of if tag in among)) for case_id, of in tags.items())
    return {case_id: of for case_id, of in some if of}


class WrittenCase(NamedTuple):
    """What is written of a case of a column where it is kept outside the store."""

    case_id: str
    case: ComparedCase
    score: float | None
    """Its scores reduced; None: it has none."""
    tags: tuple[str, ...]


class RunSide:
    """A run of the store; its cases are read as they are asked for, and not held."""

    is_baseline = False

    def __init__(self, db: sqlite3.Connection, run: RunRow, column: str | None = None) -> None:
        """Read which columns it has.

        Args:
            db: The connection.
            run: The run.
            column: The only one of its columns that is looked at; None: all.
        """
        self.db = db
        self.run = run
        self.name = run.name
        self.finished = run.state is RunState.DONE
        self.judged = rests_on_judges(db, run.id)
        self._rules = _rules_of(db, run.id)
        self._indices = {
            one.name: one.index
            for one in run_queries.columns(db, run.id)
            if column is None or one.name == column
        }
        self._values: dict[int, float | None] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns, in their order."""
        return tuple(self._indices)

    @property
    def scorers(self) -> Mapping[str, bytes]:
        """Its scorers by name, each with a digest of all that decides its grades."""
        from tui_eval.suites.frozen_suite import frozen_suite

        return {
            scorer.name: digest(scorer.model_dump(mode="json"))
            for scorer in frozen_suite(self.db, self.run.id).scorers
        }

    @property
    def frozen_scorers(self) -> str | None:
        """Its scorers as they are frozen (see `Side.frozen_scorers`)."""
        return suite_queries.frozen_scorers(self.db, self.run.id)

    def cases(self, column: str, scorer: str | None = None) -> Iterator[tuple[str, ComparedCase]]:
        """Yield what each case came to (see `Side.cases`)."""
        cluster = self.cluster_column
        found = paired_queries.column_cases(self.db, self.column(column), scorer)
        for case_id, fates, outputs, data in found:
            yield unpack_text(case_id), self._case(fates, outputs, data, cluster)

    def _case(
        self, fates: int, outputs: str | None, data: str, cluster: str | None
    ) -> ComparedCase:
        weight, of = 1.0, None
        if cluster is not None or '"weight"' in data:  # the frozen copies take long to read
            kept = json.loads(data)
            weight = float(kept.get("weight", 1.0))
            of = None if cluster is None else cluster_of(kept["fields"], cluster)
        return ComparedCase(self.value(fates), outputs, hash(data), weight, of)

    def written_cases(self, column: str) -> Iterator[WrittenCase]:
        """Yield all that is written of the cases of a column, in the order of their ids.

        Nothing is held of them: there may be millions.
        """
        of, cluster = self.column(column), self.cluster_column
        trials = comparison_queries.column_trials_by_id(self.db, of.run, of.index)
        cases = paired_queries.column_cases(self.db, of, by_id=True)
        for (_, group), (case_id, fates, outputs, data) in zip(
            groupby(trials, itemgetter(0)), cases, strict=True
        ):
            score = self._score([compared(*one[1:4]) for one in group])
            tags = tuple(json.loads(data).get("tags") or ()) if '"tags"' in data else ()
            case = self._case(fates, outputs, data, cluster)
            yield WrittenCase(unpack_text(case_id), case, score, tags)

    def column(self, name: str) -> RunColumn:
        """Return where a column's cases are."""
        return paired_queries.run_column(self.db, self.run.id, self._indices[name])

    @property
    def cluster_column(self) -> str | None:
        """The column of the dataset that says which cases belong together; None: none does."""
        return suite_queries.cluster_column(self.db, self.run.id)

    @property
    def rules(self) -> CaseRules:
        """How its trials come to results."""
        return self._rules

    def value(self, fates: int) -> float | None:
        """Return what a case comes to.

        Args:
            fates: What its epochs came to, see `Fates.of_number`.

        Returns:
            None: it has no result, or not yet, as long as an epoch of it is open.
        """
        if fates not in self._values:
            self._values[fates] = self._value(Fates.of_number(fates))
        return self._values[fates]

    def _value(self, fates: Fates) -> float | None:
        if fates.open:
            return None
        told = ("passed",) * fates.passed + ("failed",) * fates.failed + ("error",) * fates.errors
        return case_verdict(told, self._rules.errors, self._rules.reductions[0]).value

    def by_hand(self, column: str, scorer: str | None = None) -> Set[str]:
        """Return the cases of whose verdict a person decides a part (see `Side.by_hand`)."""
        col = self._indices[column]
        return frozenset(comparison_queries.cases_by_hand(self.db, self.run.id, col, scorer))

    def tags(self, among: Collection[str] | None = None) -> Mapping[str, tuple[str, ...]]:
        """Return the tags of those cases that have any, by the case's id (see `Side.tags`)."""
        return comparison_queries.tags(self.db, self.run.id, among)

    def _score(self, epochs: Sequence[ComparedTrial]) -> float | None:
        """Return a case's scores reduced; None: it has none."""
        reduction = self._rules.reductions[0]
        fates = tuple(map(fate, epochs))
        verdict = case_verdict(fates, self._rules.errors, reduction)
        return case_score(graded_scores(epochs, fates), verdict, reduction)

    def row_digest(self, case_id: str) -> bytes:
        """Return a digest of a case's row whatever the order of its columns."""
        return digest(json.loads(comparison_queries.row_of(self.db, self.run.id, case_id)))


def _rules_of(db: sqlite3.Connection, run_id: int) -> CaseRules:
    """Return how a run's trials come to results; its suite is read no further.

    Raises:
        UnreadableSuiteError: this version does not know the rules.
    """
    try:
        return FrozenRules.of_table(suite_queries.run_table(db, run_id))
    except ValueError:
        from tui_eval.suites.frozen_suite import frozen_suite

        return frozen_suite(db, run_id).run  # which says what it cannot read
