"""Outputs as they are stored, with the long texts of their messages."""

import json
import sqlite3
from collections.abc import Sequence
from typing import Any

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output, Usage
from tui_eval.store import long_texts
from tui_eval.store.text import unpack

OUTPUT = (
    "id, text, reasoning, messages, fields, finish_reason, model, input_tokens, output_tokens, "
    "reasoning_tokens, cached_tokens, cost_usd, latency_s, workspace, self_reported"
)
"""The columns `output_of` makes an output of."""


def output(db: sqlite3.Connection, output_id: int) -> Output:
    """Return an output by its id."""
    row = db.execute(f"SELECT {OUTPUT} FROM outputs WHERE id = ?", (output_id,)).fetchone()
    return output_of(db, row)


def output_of(db: sqlite3.Connection, row: Sequence[Any]) -> Output:
    """Make an output of its row, with the long texts of its messages."""
    return Output(
        text=unpack(row[1]),
        reasoning=unpack(row[2]),
        messages=messages_of(db, row[0], row[3]),
        fields=json.loads(row[4]) if row[4] else {},
        finish_reason=unpack(row[5]),
        model=unpack(row[6]),
        usage=Usage(*row[7:11]),
        cost_usd=row[11],
        latency_s=row[12],
        workspace=row[13],
        self_reported=bool(row[14]),
    )


def messages_of(
    db: sqlite3.Connection, output_id: int, stored: str | None
) -> tuple[JsonObject, ...]:
    """Return an output's messages from their column, with their long texts."""
    if not stored:
        return ()
    messages = json.loads(stored)
    long_texts.whole(db, output_id, messages)
    return tuple(messages)
