"""Outputs that the store has and that may be used again, found by their generation keys."""

import sqlite3
from collections.abc import Iterator, Sequence

from tui_eval.model.outputs.output import Output
from tui_eval.store.read.many_rows import batched, question_marks
from tui_eval.store.read.trials.output_queries import OUTPUT, output_of


def usable_keys(db: sqlite3.Connection, keys: Sequence[bytes]) -> set[bytes]:
    """Return those of some generation keys that have an output which may be used again."""
    return {
        row[0]
        for few in batched(keys)
        for row in db.execute(
            "SELECT generation_key FROM outputs WHERE superseded = 0 "
            f"AND generation_key IN ({question_marks(few)})",
            few,
        )
    }


def usable_outputs(
    db: sqlite3.Connection, keys: Sequence[bytes]
) -> Iterator[tuple[bytes, int, Output]]:
    """Yield for generation keys the newest output that may be used again, where there is one.

    One is in memory at a time, with its key and its id.
    """
    for few in batched(keys):
        rows = db.execute(
            f"WITH wanted (key) AS (VALUES {','.join(['(?)'] * len(few))}) "
            f"SELECT key, {OUTPUT} FROM wanted CROSS JOIN outputs "
            "ON id = (SELECT id FROM outputs WHERE generation_key = key AND superseded = 0 "
            "ORDER BY id DESC LIMIT 1)",
            few,
        )
        for row in rows:
            yield row[0], row[1], output_of(db, row[1:])


def usable_no_more(db: sqlite3.Connection, output_ids: Sequence[int]) -> set[int]:
    """Return those of some outputs that are gone, or may not be used again."""
    return {
        row[0]
        for few in batched(output_ids)
        for row in db.execute(
            f"WITH used (id) AS (VALUES {','.join(['(?)'] * len(few))}) SELECT id FROM used "
            "WHERE NOT EXISTS (SELECT 1 FROM outputs o WHERE o.id = used.id AND superseded = 0)",
            few,
        )
    }
