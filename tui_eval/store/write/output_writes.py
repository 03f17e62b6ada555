"""What is written of outputs, and of conversations that came to none."""

from collections.abc import Sequence

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.store import long_texts
from tui_eval.store.text import dump, pack
from tui_eval.store.tx import Tx

NO_KEY = b""
"""The generation key of what is never used again: no answer, or one of a sweep."""


def add_output(tx: Tx, key: bytes, output: Output) -> int:
    """Keep an output; return its id. One that is no whole answer satisfies no key."""
    usage = output.usage
    messages, texts = long_texts.cut(output.messages)
    cursor = tx.db.execute(
        "INSERT INTO outputs (generation_key, text, reasoning, messages, fields, finish_reason, "
        "model, input_tokens, output_tokens, reasoning_tokens, cached_tokens, cost_usd, latency_s, "
        "digest, at, superseded, workspace, self_reported) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            key,
            pack(output.text),
            pack(output.reasoning),
            dump(messages) if messages else None,
            dump(output.fields) if output.fields else None,
            pack(output.finish_reason),
            pack(output.model),
            usage.input,
            usage.output,
            usage.reasoning,
            usage.cached,
            output.cost_usd,
            output.latency_s,
            output.digest(),
            tx.now,
            key == NO_KEY or output.broken_off,
            output.workspace,
            output.self_reported,
        ),
    )
    assert cursor.lastrowid is not None
    if texts:
        long_texts.add(tx.db, cursor.lastrowid, texts)
    return cursor.lastrowid


def add_conversation(tx: Tx, attempt: int, messages: Sequence[JsonObject]) -> None:
    """Keep the conversation of an attempt that came to no output; nothing, where there is none.

    It is kept as an output of that attempt alone: no trial takes it, and it satisfies no key.
    """
    if messages:
        output = add_output(tx, NO_KEY, Output(None, messages=tuple(messages)))
        tx.db.execute("UPDATE attempts SET output = ? WHERE id = ?", (output, attempt))
