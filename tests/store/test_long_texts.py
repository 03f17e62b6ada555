"""Long texts of messages are kept once, cut where they stand, and come back to the letter."""

import sqlite3
from typing import Any

import pytest

from tests.support import ODD_TEXTS, do, key, output, staged
from tui_eval.store.long_texts import INLINE
from tui_eval.store.read import report_queries
from tui_eval.store.read.trials import output_queries
from tui_eval.store.read.trials.reusable_outputs import usable_outputs
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, deletion

LONG = "0123456789" * (INLINE // 10 + 1)


def answered(db: sqlite3.Connection, trial: int, messages: list[Any]) -> int:
    """Let a trial have an output with these messages; give the output's id."""
    made = output(messages=tuple(messages))

    def unit(tx: Tx) -> int:
        attempt = attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
        assert attempt is not None
        attempt_writes.answer(tx, attempt, trial, key("long", trial), made, 1.0)
        found = tx.db.execute("SELECT output FROM trials WHERE id = ?", (trial,)).fetchone()
        return int(found[0])

    return do(db, unit)


def count(db: sqlite3.Connection, table: str) -> int:
    return int(db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])


MESSAGES = [
    {"role": "assistant", "content": "short", "tool_calls": [{"function": {"arguments": LONG}}]},
    {"role": "tool", "content": [{"type": "text", "text": LONG}, {"type": "text", "text": "x"}]},
    {"role": "tool", "content": LONG + "another"},
]


def test_messages_come_back_whole_wherever_they_are_read(db: sqlite3.Connection) -> None:
    run = staged(db, 1)
    made = answered(db, run.trials[0], MESSAGES)
    assert count(db, "long_texts") == 2
    assert list(output_queries.output(db, made).messages) == MESSAGES
    [line] = report_queries.lines(db, run.run)
    assert list(line.messages) == MESSAGES
    [(_, _, again)] = usable_outputs(db, [key("long", run.trials[0])])
    assert list(again.messages) == MESSAGES


@pytest.mark.parametrize("odd", ODD_TEXTS)
def test_texts_and_keys_of_every_kind_survive(db: sqlite3.Connection, odd: str) -> None:
    messages = [{"role": "tool", "content": {odd: LONG + odd}}]
    made = answered(db, staged(db, 1).trials[0], messages)
    assert list(output_queries.output(db, made).messages) == messages


def test_what_is_given_stays_as_it_is(db: sqlite3.Connection) -> None:
    messages: list[Any] = [{"role": "tool", "content": [{"text": LONG}]}]
    answered(db, staged(db, 1).trials[0], messages)
    assert messages == [{"role": "tool", "content": [{"text": LONG}]}]


def test_short_messages_cost_no_rows(db: sqlite3.Connection) -> None:
    answered(db, staged(db, 1).trials[0], [{"role": "tool", "content": "x" * INLINE}])
    assert count(db, "long_texts") == count(db, "output_texts") == 0


def test_a_text_goes_with_the_last_run_that_has_it(db: sqlite3.Connection) -> None:
    first, second = staged(db, 1), staged(db, 1, suite="other")
    answered(db, first.trials[0], MESSAGES)
    kept = answered(db, second.trials[0], MESSAGES[2:])
    assert deletion.deletion_extent(db, [first.run]).size > len(LONG)
    assert deletion.deletion_extent(db, [first.run]).size < 2 * len(LONG)
    deletion.delete(db, first.run)
    assert count(db, "long_texts") == count(db, "output_texts") == 1
    assert list(output_queries.output(db, kept).messages) == MESSAGES[2:]
    deletion.delete(db, second.run)
    assert count(db, "long_texts") == count(db, "output_texts") == 0
