"""Many rows in one question: one each costs far more than what it finds."""

import sqlite3
from collections.abc import Generator, Iterator, Sequence
from contextlib import closing
from typing import TypeAlias, TypeVar

from tui_eval.model.output import Output
from tui_eval.store import reader
from tui_eval.store.text import pack, unpack_text

T = TypeVar("T")

_MANY = 500


def batched(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut values into as many as one question may name."""
    for begin in range(0, len(values), _MANY):
        yield values[begin : begin + _MANY]


def question_marks(values: Sequence[object]) -> str:
    """Give the question marks of an SQL list of these values."""
    return ",".join("?" * len(values))


def usable_outputs(db: sqlite3.Connection, keys: Sequence[bytes]) -> dict[bytes, int]:
    """Give for each generation key the newest output that may be used again, by id."""
    found: dict[bytes, int] = {}
    for few in batched(keys):
        found.update(
            db.execute(
                "SELECT generation_key, max(id) FROM outputs WHERE superseded = 0 "
                f"AND generation_key IN ({question_marks(few)}) GROUP BY generation_key",
                few,
            )
        )
    return found


def still_usable(db: sqlite3.Connection, output_ids: Sequence[int]) -> set[int]:
    """Give those of some outputs that are there and may be used again."""
    return {
        row[0]
        for few in batched(output_ids)
        for row in db.execute(
            f"SELECT id FROM outputs WHERE superseded = 0 AND id IN ({question_marks(few)})", few
        )
    }


def outputs(
    db: sqlite3.Connection, output_ids: Sequence[int]
) -> Generator[tuple[int, Output], None, None]:
    """Give outputs with their ids, one in memory at a time; to be closed if it is left early."""
    for few in batched(output_ids):
        rows = db.execute(
            f"SELECT id, {reader.OUTPUT} FROM outputs WHERE id IN ({question_marks(few)})", few
        )
        with closing(rows):
            for row in rows:
                yield row[0], reader.output_of(row[1:])


TrialName: TypeAlias = tuple[str, str, int]
"""Case, column and epoch: what a trial is called in every run of its suite."""


def trials_of_cases(db: sqlite3.Connection, run: int, case_ids: Sequence[str]) -> set[TrialName]:
    """Give the trials that a run has of some cases."""
    return {
        (unpack_text(row[0]), row[1], row[2])
        for few in batched([pack(case_id) for case_id in dict.fromkeys(case_ids)])
        for row in db.execute(
            "SELECT c.id, k.name, t.epoch FROM cases c "
            "JOIN trials t ON t.run = c.run AND t.seq = c.seq "
            "JOIN columns k ON k.run = c.run AND k.idx = t.col "
            f"WHERE c.run = ? AND c.id IN ({question_marks(few)})",
            (run, *few),
        )
    }
