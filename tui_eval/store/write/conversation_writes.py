"""What is written of the calls of a conversation, each as it is answered."""

from tui_eval.model.outputs import stored_reply
from tui_eval.model.outputs.output import Output, Price, Usage
from tui_eval.store.text import dump
from tui_eval.store.tx import Tx
from tui_eval.store.write import spending_writes


def keep_reply(
    tx: Tx, trial: int, number: int, party: str, asked: bytes, said: object, reply: Output
) -> None:
    """Keep a reply, in place of any that the conversation had there.

    Args:
        tx: The transaction.
        trial: The trial.
        number: The call's, from 0.
        party: Who was asked.
        asked: The digest of what was asked.
        said: The messages since the reply before.
        reply: What came back.
    """
    tx.db.execute(
        "INSERT OR REPLACE INTO conversation_calls VALUES (?, ?, ?, ?, ?, ?)",
        (trial, number, party, asked, dump(said), dump(stored_reply.as_json(reply))),
    )
    tx.db.execute("DELETE FROM conversation_calls WHERE trial = ? AND number > ?", (trial, number))
    tx.db.execute("UPDATE trials SET change = ? WHERE id = ?", (tx.change, trial))


def forget_replies(tx: Tx, trial: int) -> None:
    """Forget the replies of a trial: its output has them, or it is to be asked afresh."""
    tx.db.execute("DELETE FROM conversation_calls WHERE trial = ?", (trial,))


def count_call(tx: Tx, attempt: int, reply: Output) -> None:
    """Add what a call to the target took to its attempt and trial."""
    tokens = None if reply.estimate is None else reply.estimate.tokens
    spending_writes.add(tx, attempt, reply.usage, reply.price, tokens)
    tx.db.execute(
        "INSERT INTO attempt_calls (attempt, trial, calls) "
        "SELECT id, trial, 1 FROM attempts WHERE id = ? "
        "ON CONFLICT DO UPDATE SET calls = calls + 1",
        (attempt,),
    )


def count_user_call(tx: Tx, attempt: int, usage: Usage, price: Price) -> None:
    """Add what a call to the simulated user took to what its attempt's did; not to the target's."""
    known, about = price.known_usd, price.about_usd
    tx.db.execute(
        "INSERT INTO attempt_calls (attempt, trial, user_calls, user_input_tokens, "
        "user_output_tokens, user_usd, user_about_usd) "
        "SELECT id, trial, 1, ?2, ?3, ?4, ?5 FROM attempts WHERE id = ?1 "
        "ON CONFLICT DO UPDATE SET user_calls = user_calls + 1, "
        "user_input_tokens = user_input_tokens + ?2, "
        "user_output_tokens = user_output_tokens + ?3, "
        "user_about_usd = iif(user_about_usd IS NULL AND ?5 IS NULL, NULL, "
        "ifnull(user_about_usd, user_usd) + ifnull(?5, ?4)), user_usd = user_usd + ?4",
        (attempt, usage.input or 0, usage.output or 0, known, about),
    )
