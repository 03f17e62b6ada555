"""One side of a comparison: what each case came to in each of its columns."""

import json
import sqlite3
from collections.abc import Callable, Hashable, Iterator, Mapping
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, Protocol

from tui_eval.model.case import cluster_of
from tui_eval.model.json import digest
from tui_eval.reports.rates.case_results import case_score, case_verdict, fate, graded_scores
from tui_eval.store.read import comparison_queries, run_queries, trial_queries
from tui_eval.store.read.comparison_queries import StoredTrial, compared
from tui_eval.store.rows import RunRow
from tui_eval.suites.frozen_suite import frozen_suite


class ComparedCase(NamedTuple):
    """What a case came to in one column."""

    value: float | None
    """In 0..1: its epochs reduced; None: it has no result."""
    outputs: tuple[int | None, ...]
    """Its outputs in the store; none: they are not there."""
    row: Hashable
    """Equal where its row is as it is written there; where not, `Side.row_digest` tells."""
    weight: float = 1.0
    cluster: str | None = None
    """Which others it is not independent of; None: of none."""


class Side(Protocol):
    """What is compared with another."""

    @property
    def name(self) -> str:
        """What a person calls it."""

    @property
    def is_baseline(self) -> bool:
        """Whether it is a file that says what a run came to."""

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns, in their order."""

    @property
    def scorers(self) -> Mapping[str, bytes]:
        """Its scorers by name, each with a digest of all that decides its grades."""

    def cases(self, column: str, scorer: str | None = None) -> Mapping[str, ComparedCase]:
        """Return what each case came to, by its id, in dataset order.

        Args:
            column: One of `columns`.
            scorer: Of this scorer's verdicts; None: of the trials' own.
        """

    def tags(self) -> Mapping[str, tuple[str, ...]]:
        """Return the tags of those cases that have any, by the case's id."""

    def row_digest(self, case_id: str) -> bytes:
        """Return a digest of a case's row whatever the order of its columns."""


class RunSide:
    """A run of the store; what it holds is read once."""

    is_baseline = False

    def __init__(self, db: sqlite3.Connection, run: RunRow, column: str | None = None) -> None:
        """Read which columns it has.

        Args:
            db: The connection.
            run: The run.
            column: The only one of its columns that is looked at; None: all.
        """
        self._db = db
        self.run = run
        self.name = run.name
        self._suite = frozen_suite(db, run.id)
        self._indices = {
            one.name: one.index
            for one in run_queries.columns(db, run.id)
            if column is None or one.name == column
        }
        self._read: dict[str | None, dict[str, dict[str, ComparedCase]]] = {}

    @property
    def columns(self) -> tuple[str, ...]:
        """Its columns, in their order."""
        return tuple(self._indices)

    @property
    def scorers(self) -> Mapping[str, bytes]:
        """Its scorers by name, each with a digest of all that decides its grades."""
        return {
            scorer.name: digest(scorer.model_dump(mode="json")) for scorer in self._suite.scorers
        }

    def cases(self, column: str, scorer: str | None = None) -> Mapping[str, ComparedCase]:
        """Return what each case came to (see `Side.cases`)."""
        if scorer not in self._read:
            self._read[scorer] = self._results(scorer)
        return self._read[scorer][column]

    def tags(self) -> Mapping[str, tuple[str, ...]]:
        """Return the tags of those cases that have any, by the case's id."""
        return comparison_queries.tags(self._db, self.run.id)

    def scores(self) -> dict[tuple[str, str], float | None]:
        """Return each case's scores reduced, by column and case; None: it has none."""
        names = {index: name for name, index in self._indices.items()}
        rules = self._suite.run
        found = {}
        for col, case_id, of_case in self._by_case(None):
            epochs = [compared(*one[2:5]) for one in of_case]
            fates = tuple(map(fate, epochs))
            verdict = case_verdict(fates, rules.errors, rules.reduction)
            scores = graded_scores(epochs, fates)
            found[names[col], case_id] = case_score(scores, verdict, rules.reduction)
        return found

    def row_digest(self, case_id: str) -> bytes:
        """Return a digest of a case's row whatever the order of its columns."""
        return digest(json.loads(comparison_queries.row_of(self._db, self.run.id, case_id)))

    def _results(self, scorer: str | None) -> dict[str, dict[str, ComparedCase]]:
        value = self._value_of()
        of_column: dict[int, dict[str, ComparedCase]] = {col: {} for col in self._indices.values()}
        more = self._suite.dataset.cluster is not None or trial_queries.weighted(
            self._db, self.run.id
        )
        for col, case_id, of_case in self._by_case(scorer):
            data = of_case[0][6]
            of_column[col][case_id] = ComparedCase(
                value(tuple([one[2:4] for one in of_case])),
                tuple([one[5] for one in of_case]),
                hash(data),
                *(self._weight_and_cluster(data) if more else ()),
            )
        return {name: of_column[col] for name, col in self._indices.items()}

    def _by_case(self, scorer: str | None) -> Iterator[tuple[int, str, list[StoredTrial]]]:
        """Yield the epochs of each case in each column that is looked at."""
        wanted = frozenset(self._indices.values())
        trials = comparison_queries.trials(self._db, self.run.id, scorer)
        for (case_id, col), of_case in groupby(trials, itemgetter(0, 1)):
            if col in wanted:
                yield col, case_id, list(of_case)

    def _value_of(self) -> Callable[[tuple[tuple[str, str | None], ...]], float | None]:
        """Return what says what a case's epochs come to, by the state and verdict of each."""
        rules = self._suite.run
        errors, reduction = rules.errors, rules.reduction

        @lru_cache(maxsize=4096)
        def value(epochs: tuple[tuple[str, str | None], ...]) -> float | None:
            fates = tuple(fate(compared(state, verdict)) for state, verdict in epochs)
            return case_verdict(fates, errors, reduction).value

        return value

    def _weight_and_cluster(self, data: str) -> tuple[float, str | None]:
        frozen = json.loads(data)
        weight, column = float(frozen.get("weight", 1.0)), self._suite.dataset.cluster
        return weight, None if column is None else cluster_of(frozen["fields"], column)
