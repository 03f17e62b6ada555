"""Answers about all trials of a large run, kept until any of them changes: lists and groups."""

import json
import logging
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from typing import TypeVar

from tui_eval.store.chunks import division as dividing
from tui_eval.store.chunks.kept_figures import in_one_moment, is_kept, opened_file
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read import run_queries
from tui_eval.store.rows import RunRow
from tui_eval.store.text import dump

log = logging.getLogger(__name__)

A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class AnswerPlace:
    """Where an answer is kept, and how the run stood when it was asked for."""

    run: RunRow
    name: str
    change: int
    newest: tuple[int, float | None] | None


def answer_of(db: sqlite3.Connection, run_id: int, name: str, find: Callable[[], A]) -> A:
    """Return an answer about a run as it was kept, else find it and keep it.

    Args:
        db: The connection.
        run_id: The run.
        name: All that the answer depends on beside the run's trials.
        find: Finds it; what it gives comes back from JSON as it was.
    """
    with in_one_moment(db):
        place = place_of_answer(db, run_id, name)
        known = None if place is None else known_answer(db, place)
        if known is not None:
            kept: A = json.loads(known)
            return kept
        found = find()
    if place is not None:
        keep_answer(db, place, dump(found).encode())
    return found


def place_of_answer(db: sqlite3.Connection, run_id: int, name: str) -> AnswerPlace | None:
    """Return where an answer may be kept; None: nowhere, it is soon found or may change.

    Args:
        db: The connection; what is answered must be read at the same moment.
        run_id: The run.
        name: All that the answer depends on beside the run's trials.
    """
    try:
        run = run_queries.run(db, run_id)
    except UnknownRunError:
        return None
    if not run.staged or not is_kept(db, run) or run.live:
        return None
    if dividing.any_scored(db, run_id):
        return None
    change = dividing.last_change(db, run_id)
    return AnswerPlace(run, name, change, dividing.newest(db, run_id, change))


def known_answer(db: sqlite3.Connection, place: AnswerPlace) -> bytes | None:
    """Return an answer as it was kept; None: it was not, or a trial has changed since."""
    try:
        with closing(opened_file(db, place.run)) as file:
            return file.answer(place.name, (place.run.total, place.change, place.newest))
    except (sqlite3.Error, OSError) as error:
        log.info("a list of %s is made anew: %s", place.run.name, error)
        return None


def keep_answer(db: sqlite3.Connection, place: AnswerPlace, answer: bytes) -> None:
    """Keep an answer; where that cannot be, it is found again the next time."""
    try:
        with closing(opened_file(db, place.run)) as file:
            file.keep_answer(place.name, (place.run.total, place.change, place.newest), answer)
    except (sqlite3.Error, OSError) as error:
        log.info("a list of %s is not kept: %s", place.run.name, error)
