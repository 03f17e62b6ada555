"""What is written of what calls took: tokens and money, of attempts and of trials."""

from typing import Final

from tui_eval.model.outputs.output import Output, Price, Usage
from tui_eval.store.tx import Tx

SPENT: Final = (  # of all attempts; unknown money stays unknown
    "input_tokens = input_tokens + ?, output_tokens = output_tokens + ?, cost_usd = cost_usd + ?, "
    "about_usd = ifnull(about_usd, cost_usd) + ?"
)
"""Adds what an attempt took to its trial; the values are those of `of_output`."""
_TAKEN: Final = (
    "input_tokens = ?, output_tokens = ?, cost_usd = ?, about_tokens = ?, about_usd = ?, "
)


def of_output(output: Output) -> tuple[str, tuple[object, ...], tuple[object, ...]]:
    """Return what is to be written of what an attempt took that gave an output.

    Of an output whose calls were counted one by one that is nothing more.

    Returns:
        Assignments of the attempt's UPDATE, as SQL, with their values; and those of `SPENT`.
    """
    if output.counted:
        return "", (), (0, 0, 0.0, 0.0)
    usage, estimate, price = output.usage, output.estimate, output.price
    taken = (
        usage.input,
        usage.output,
        price.known_usd,
        None if estimate is None else estimate.tokens,
        price.about_usd,
    )
    return _TAKEN, taken, values(usage, price)


def add(tx: Tx, attempt: int, usage: Usage, price: Price, about_tokens: int | None) -> None:
    """Add what a call took to its attempt and its trial, whose output is not written with it.

    Args:
        tx: The transaction.
        attempt: The attempt.
        usage: The tokens.
        price: The money; what is unknown of one call is unknown of all together.
        about_tokens: Tokens beside, as an estimate; None: there is none.
    """
    tx.db.execute(
        "UPDATE attempts SET "
        "(input_tokens, output_tokens, cost_usd, about_tokens, about_usd) = ("
        "SELECT iif(n, input_tokens + ?2, ?2), iif(n, output_tokens + ?3, ?3), "
        "iif(n, cost_usd + ?4, ?4), "
        "iif(n AND about_tokens IS NOT NULL, about_tokens + ifnull(?5, 0), ?5), "
        "iif(n AND (about_usd IS NOT NULL OR ?6 IS NOT NULL), "
        "ifnull(about_usd, cost_usd) + ifnull(?6, ?4), ?6) "
        "FROM (SELECT EXISTS (SELECT 1 FROM attempt_calls WHERE attempt = ?1 AND calls > 0) AS n)) "
        "WHERE id = ?1",
        (attempt, usage.input, usage.output, price.known_usd, about_tokens, price.about_usd),
    )
    tx.db.execute(
        f"UPDATE trials SET {SPENT}, change = ? "
        "WHERE id = (SELECT trial FROM attempts WHERE id = ?)",
        (*values(usage, price), tx.change, attempt),
    )


def values(usage: Usage, price: Price) -> tuple[object, ...]:
    """Return the values of `SPENT` for one attempt; the last is its cost, known or not."""
    usd = price.known_usd
    return usage.input or 0, usage.output or 0, usd, price.about_usd if usd is None else usd
