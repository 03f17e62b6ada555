"""What the calls of a run took so far, by who makes them: what its caps are reckoned with."""

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spending:
    """The calls of one column, or of one judge."""

    largest_usd: float | None
    """What the dearest call cost; None: no cost is known."""
    largest_tokens: int | None
    """What the longest call read and produced; None: no call said so."""
    unanswered: int
    """Calls that left, or may have, and were never answered: they may have to be paid."""


def spending(db: sqlite3.Connection, run: int) -> dict[int | str, Spending]:
    """Return what calls were like, by the column's index or the judge's name.

    Reads all attempts and judge calls of the run.
    """
    columns = db.execute(
        "SELECT t.col, max(a.cost_usd), max(a.input_tokens + a.output_tokens), "
        "sum(a.state = 'lost' OR (a.state = 'cancelled' AND a.call_s > 0)) "
        "FROM trials t JOIN attempts a ON a.trial = t.id WHERE t.run = ? GROUP BY t.col",
        (run,),
    )
    judges = db.execute(
        "SELECT judge, max(cost_usd), max(input_tokens + output_tokens), "
        "sum(state IN ('lost', 'cancelled')) FROM judge_calls WHERE run = ? GROUP BY judge",
        (run,),
    )
    return {row[0]: Spending(*row[1:]) for row in (*columns, *judges)}
