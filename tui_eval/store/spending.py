"""What the calls of a run took so far, by who makes them: what its caps are reckoned with."""

import sqlite3
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Spending:
    """The calls of one column, or of one judge."""

    largest_usd: float | None
    """What the dearest call cost; None: no cost is known."""
    largest_tokens: int | None
    """What the longest call read and produced."""
    unanswered: int
    """Calls that left, or may have, and were never answered: they may have to be paid."""
    about_usd: float
    """About what those cost whose endpoint did not say what they took."""
    about_tokens: int


def spending(db: sqlite3.Connection, run: int) -> dict[int | str, Spending]:
    """Return what calls were like, by the column's index or the judge's name.

    Reads all attempts and judge calls of the run.
    """
    columns = db.execute(
        "SELECT t.col, max(ifnull(a.cost_usd, a.about_usd)), "
        "max(ifnull(a.input_tokens, 0) + ifnull(a.output_tokens, 0) + ifnull(a.about_tokens, 0)), "
        "sum(a.state = 'lost' OR (a.state = 'cancelled' AND a.call_s > 0)), "
        "sum(iif(a.cost_usd IS NULL, ifnull(a.about_usd, 0.0), 0.0)), "
        "sum(ifnull(a.about_tokens, 0)) "
        "FROM trials t JOIN attempts a ON a.trial = t.id WHERE t.run = ? GROUP BY t.col",
        (run,),
    )
    judges = db.execute(
        "SELECT judge, max(ifnull(cost_usd, about_usd)), "
        "max(ifnull(input_tokens, 0) + ifnull(output_tokens, 0) + ifnull(about_tokens, 0)), "
        "sum(state IN ('lost', 'cancelled')), "
        "sum(iif(cost_usd IS NULL, ifnull(about_usd, 0.0), 0.0)), "
        "sum(ifnull(about_tokens, 0)) FROM judge_calls WHERE run = ? GROUP BY judge",
        (run,),
    )
    # 0 tokens are those of calls that came to nothing
    return {
        who: Spending(usd, tokens or None, *rest) for who, usd, tokens, *rest in (*columns, *judges)
    }
