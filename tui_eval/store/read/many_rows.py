"""Many rows in one question: one each costs far more than what it finds."""

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import TypeVar

T = TypeVar("T")

_MANY = 500
_AT_ONCE = 50
"""Rows of one INSERT; with more, little is gained."""


def batched(values: Sequence[T]) -> Iterator[Sequence[T]]:
    """Cut values into as many as one question may name."""
    for begin in range(0, len(values), _MANY):
        yield values[begin : begin + _MANY]


def question_marks(values: Sequence[object]) -> str:
    """Return the question marks of an SQL list of these values."""
    return ",".join("?" * len(values))


def insert(
    db: sqlite3.Connection, table: str, columns: Sequence[str], rows: Iterable[Sequence[object]]
) -> None:
    """Add rows, many with each statement.

    Args:
        db: A writable connection.
        table: The table.
        columns: The columns that are given; the others have their defaults.
        rows: A value for each of them, best of a type SQLite has: finding out that an enum is a
            text takes as long as writing it.

    Raises:
        sqlite3.IntegrityError: a row may not be there; some others may be.
    """
    into = f"INSERT INTO {table} ({', '.join(columns)}) VALUES "
    row = f"({question_marks(columns)})"
    left = iter(rows)
    while few := list(islice(left, _AT_ONCE)):
        db.execute(into + ",".join([row] * len(few)), list(chain.from_iterable(few)))
