"""Keeping the grades that people give to measure judges by: appended, never changed."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tui_eval.model.json import Json
from tui_eval.model.states import Verdict
from tui_eval.store.text import dump, pack
from tui_eval.store.tx import Tx

LONGEST_NAME: Final = 80
"""Characters of a person's name."""


class OutputReplacedError(Exception):
    """A trial has another output by now than the one that was graded."""

    def __init__(self, trial: int) -> None:
        super().__init__("the output was replaced meanwhile: the trial was asked again")
        self.trial = trial


@dataclass(frozen=True, slots=True)
class NewGrade:
    """One person's grade of one output by one scorer's question."""

    trial: int
    output: int
    scorer: str
    person: str
    grade: Json
    """As given: a verdict, a number of the scale, or a list; None: the person cannot tell."""
    verdict: Verdict | None
    """What it comes to; None: the person cannot tell."""
    value: float | None
    """In 0..1; None: a bare verdict, or the person cannot tell."""
    note: str = ""
    seed: int | None = None
    """By which the output was drawn; None: somebody chose it."""


def add(tx: Tx, run: int, grades: Iterable[NewGrade]) -> int:
    """Append grades; one that says what its person said last is left out.

    Args:
        tx: The transaction.
        run: The run of the trials.
        grades: The grades.

    Returns:
        How many were new.

    Raises:
        OutputReplacedError: a trial has another output by now; the transaction is to be given up.
    """
    new = 0
    for one in grades:
        if not _is_graded_output(tx.db, run, one):
            raise OutputReplacedError(one.trial)
        given = None if one.grade is None else dump(one.grade)
        if _last(tx.db, one) == (given, pack(one.note)):
            continue
        tx.db.execute(
            "INSERT INTO grades (run, trial, output, scorer, person, grade, verdict, value, note, "
            "seed, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                run,
                one.trial,
                one.output,
                one.scorer,
                pack(one.person),
                given,
                one.verdict,
                one.value,
                pack(one.note),
                one.seed,
                tx.now,
            ),
        )
        new += 1
    return new


def _is_graded_output(db: sqlite3.Connection, run: int, one: NewGrade) -> bool:
    row = db.execute(
        "SELECT 1 FROM trials WHERE id = ? AND run = ? AND output = ?", (one.trial, run, one.output)
    ).fetchone()
    return row is not None


def _last(db: sqlite3.Connection, one: NewGrade) -> tuple[object, object] | None:
    row = db.execute(
        "SELECT grade, note FROM grades WHERE trial = ? AND output = ? AND scorer = ? "
        "AND person = ? ORDER BY id DESC LIMIT 1",
        (one.trial, one.output, one.scorer, pack(one.person)),
    ).fetchone()
    return None if row is None else (row[0], row[1])
