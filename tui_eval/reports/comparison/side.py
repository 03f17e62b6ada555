"""One side of a comparison: what each case came to in each of its columns."""

import hashlib
import json
import sqlite3
from collections.abc import Mapping
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, Protocol

from tui_eval.model.json import digest, dotted
from tui_eval.reports.rates.case_results import case_score, case_verdict, fate, graded_scores
from tui_eval.store.read import comparison_queries, run_queries
from tui_eval.store.read.comparison_queries import ComparedRow
from tui_eval.store.rows import RunRow
from tui_eval.suites.frozen_suite import frozen_suite


class ComparedCase(NamedTuple):
    """What a case came to in one column."""

    value: float | None
    """In 0..1: its epochs reduced; None: it has no result."""
    outputs: tuple[int, ...]
    """Its outputs in the store; none: they are not there."""
    row: bytes
    """A digest of its row as it is written: equal ones are of equal rows."""
    score: float | None = None
    """Its epochs' scores reduced; None: it has none."""
    weight: float = 1.0
    tags: tuple[str, ...] = ()
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
        self._known_rows: dict[int, tuple[str, ComparedCase]] | None = None
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

    def row_digest(self, case_id: str) -> bytes:
        """Return a digest of a case's row whatever the order of its columns."""
        return digest(json.loads(comparison_queries.row_of(self._db, self.run.id, case_id)))

    def _results(self, scorer: str | None) -> dict[str, dict[str, ComparedCase]]:
        rules = self._suite.run
        errors, reduction = rules.errors, rules.reduction
        of_column: dict[int, dict[str, ComparedCase]] = {col: {} for col in self._indices.values()}
        rows = self._rows()
        trials = comparison_queries.trials(self._db, self.run.id, scorer)
        for (seq, col), of_case in groupby(trials, itemgetter(0, 1)):
            if col not in of_column:
                continue
            epochs = list(of_case)
            case_id, blank = rows[seq]
            fates = tuple(map(fate, epochs))
            verdict = case_verdict(fates, errors, reduction)
            of_column[col][case_id] = ComparedCase(
                verdict.value,
                tuple(one.output for one in epochs if one.output is not None),
                blank.row,
                case_score(graded_scores(epochs, fates), verdict, reduction),
                blank.weight,
                blank.tags,
                blank.cluster,
            )
        return {name: of_column[col] for name, col in self._indices.items()}

    def _rows(self) -> dict[int, tuple[str, ComparedCase]]:
        """Return each case's id, and what is known of it in every column, by its place."""
        if self._known_rows is None:
            self._known_rows = {
                row.seq: (row.id, self._blank(row))
                for row in comparison_queries.rows(self._db, self.run.id)
            }
        return self._known_rows

    def _blank(self, row: ComparedRow) -> ComparedCase:
        written = hashlib.sha256(row.fields.encode("utf-8", "surrogatepass")).digest()
        cluster = self._cluster(row.fields)
        return ComparedCase(None, (), written, None, row.weight, row.tags, cluster)

    def _cluster(self, fields: str) -> str | None:
        column = self._suite.dataset.cluster
        if column is None:
            return None
        try:
            return json.dumps(dotted(json.loads(fields), column), sort_keys=True)
        except KeyError:
            return None
