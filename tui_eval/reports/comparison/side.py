"""One side of a comparison: what each case came to in each of its columns."""

import json
import sqlite3
from array import array
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Protocol

from tui_eval.model.case import cluster_of
from tui_eval.model.json import digest
from tui_eval.model.reduction import CaseRules, FrozenRules
from tui_eval.model.states import RunState
from tui_eval.reports.comparison.column_cases import ColumnCases
from tui_eval.reports.rates.case_results import case_score, case_verdict, fate, graded_scores
from tui_eval.reports.rates.pass_rates import rests_on_judges
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import comparison_queries
from tui_eval.store.read.comparing.comparison_queries import compared
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

    def cases(self, column: str, scorer: str | None = None) -> ColumnCases:
        """Return what each case came to.

        Args:
            column: One of `columns`.
            scorer: Of this scorer's verdicts; None: of the trials' own.
        """

    def by_hand(self, column: str, scorer: str | None = None) -> Set[str]:
        """Return the cases of whose verdict a person decides a part, see `cases`."""

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
        self.finished = run.state is RunState.DONE
        self.judged = rests_on_judges(db, run.id)
        self._rules = _rules_of(db, run.id)
        self._indices = {
            one.name: one.index
            for one in run_queries.columns(db, run.id)
            if column is None or one.name == column
        }
        self._read: dict[tuple[str, str | None], ColumnCases] = {}

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
            for scorer in frozen_suite(self._db, self.run.id).scorers
        }

    @property
    def frozen_scorers(self) -> str | None:
        """Its scorers as they are frozen (see `Side.frozen_scorers`)."""
        return run_queries.frozen_scorers(self._db, self.run.id)

    def cases(self, column: str, scorer: str | None = None) -> ColumnCases:
        """Return what each case came to (see `Side.cases`)."""
        asked = column, scorer
        if asked not in self._read:
            self._read[asked] = self._results(self._indices[column], scorer)
        return self._read[asked]

    def by_hand(self, column: str, scorer: str | None = None) -> Set[str]:
        """Return the cases of whose verdict a person decides a part (see `Side.by_hand`)."""
        col = self._indices[column]
        return frozenset(comparison_queries.cases_by_hand(self._db, self.run.id, col, scorer))

    def tags(self) -> Mapping[str, tuple[str, ...]]:
        """Return the tags of those cases that have any, by the case's id."""
        return comparison_queries.tags(self._db, self.run.id)

    def scores(self) -> dict[tuple[str, str], float | None]:
        """Return each case's scores reduced, by column and case; None: it has none."""
        rules = self._rules
        found = {}
        for name, col in self._indices.items():
            trials = comparison_queries.column_trials(self._db, self.run.id, col)
            for case_id, of_case in groupby(trials, itemgetter(0)):
                epochs = [compared(*one[1:4]) for one in of_case]
                fates = tuple(map(fate, epochs))
                verdict = case_verdict(fates, rules.errors, rules.reductions[0])
                scores = graded_scores(epochs, fates)
                found[name, unpack_text(case_id)] = case_score(scores, verdict, rules.reductions[0])
        return found

    def row_digest(self, case_id: str) -> bytes:
        """Return a digest of a case's row whatever the order of its columns."""
        return digest(json.loads(comparison_queries.row_of(self._db, self.run.id, case_id)))

    def _results(self, col: int, scorer: str | None) -> ColumnCases:
        ids: list[str | bytes] = []
        epochs: list[tuple[str | None, ...]] = []
        outputs: list[Hashable] = []
        rows = array("q")
        """Eight bytes each: as objects those of millions of cases take a tenth of a GB more."""
        known: dict[tuple[str, str | None], tuple[str, str | None]] = {}
        """Alike ones are one object: many that are new would have the collector look at all."""
        weighted, last = False, None
        trials = comparison_queries.column_trials(self._db, self.run.id, col, scorer)
        for case_id, state, verdict, _, output, data in trials:
            if case_id != last:
                last = case_id
                ids.append(case_id)
                epochs.append(known.setdefault((state, verdict), (state, verdict)))
                outputs.append(output)
                rows.append(hash(data))
                weighted = weighted or '"weight"' in data
            else:  # another epoch
                epochs[-1] = (*epochs[-1], state, verdict)
                if output is not None or outputs[-1] is not None:
                    outputs[-1] = (outputs[-1], output)
        values = list(map(self._value_of(), epochs))
        return ColumnCases(
            list(map(unpack_text, ids)),
            values,
            outputs,
            rows,
            *self._weights_and_clusters(weighted),
        )

    def _value_of(self) -> Callable[[tuple[str | None, ...]], float | None]:
        """Return what says what a case comes to, by state and verdict of each of its epochs."""
        rules = self._rules
        errors, reduction = rules.errors, rules.reductions[0]

        @lru_cache(maxsize=4096)
        def value(epochs: tuple[str | None, ...]) -> float | None:
            trials = zip(epochs[::2], epochs[1::2], strict=True)
            fates = tuple(fate(compared(str(state), verdict)) for state, verdict in trials)
            found = case_verdict(fates, errors, reduction)
            return None if found.fates["open"] else found.value  # no result yet, as in lists

        return value

    def _weights_and_clusters(
        self, weighted: bool
    ) -> tuple[Sequence[float] | None, Sequence[str | None] | None]:
        """Return the weights and clusters of all cases; None: there are none.

        Args:
            weighted: Whether any case may have a weight of its own.
        """
        cluster = run_queries.cluster_column(self._db, self.run.id)
        if cluster is None and not weighted:
            return None, None  # the frozen copies take long to read
        frozen = [json.loads(one) for one in comparison_queries.case_copies(self._db, self.run.id)]
        weights = [float(one.get("weight", 1.0)) for one in frozen]
        if cluster is None:
            return weights, None
        return weights, [cluster_of(one["fields"], cluster) for one in frozen]


def _rules_of(db: sqlite3.Connection, run_id: int) -> CaseRules:
    """Return how a run's trials come to results; its suite is read no further.

    Raises:
        UnreadableSuiteError: this version does not know the rules.
    """
    try:
        return FrozenRules.of_table(run_queries.run_table(db, run_id))
    except ValueError:
        from tui_eval.suites.frozen_suite import frozen_suite

        return frozen_suite(db, run_id).run  # which says what it cannot read
