"""Grades by programs that the store has, by their keys."""

import json
import sqlite3

from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.store.text import unpack_text


def find(db: sqlite3.Connection, key: bytes) -> Grade | None:
    """Return what was decided under a key, whatever became of its trial since; None: nothing."""
    row = db.execute(
        "SELECT verdict, value, reason, raw FROM scores WHERE score_key = ? "
        "AND value IS NOT NULL ORDER BY id DESC LIMIT 1",
        (key,),
    ).fetchone()
    if row is None:
        return None
    verdict, value, reason, raw = row
    seen = None if raw is None else json.loads(raw)
    return Grade(Verdict(verdict), value, unpack_text(reason), seen)
