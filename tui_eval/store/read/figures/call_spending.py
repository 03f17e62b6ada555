"""What the calls of a run took so far, by who makes them: what its caps are reckoned with."""

import sqlite3
from dataclasses import dataclass
from typing import Final

NO_LINE: Final = "missing"
"""The kind of failure of a request that a provider was sent in bulk and gave no result for: it may
have done it, and bill it."""
USER: Final = "[user]"
"""The simulated user, among those who make calls."""


def timed_out(of: str) -> str:
    """Return the condition (SQL) that a call timed out and nobody knows what it took.

    Args:
        of: What the rows of `attempts` or `judge_calls` are called.
    """
    unknown = f"coalesce({of}.input_tokens, {of}.output_tokens) IS NULL"
    return f"({of}.error_kind IS 'timeout' AND {unknown})"


def timed_out_attempt(of: str) -> str:
    """Return that of an attempt (SQL): its tokens may be those of calls before the one that did."""
    several = f"EXISTS (SELECT 1 FROM attempt_calls WHERE attempt = {of}.id AND calls > 0)"
    return f"({timed_out(of)} OR ({of}.error_kind IS 'timeout' AND {several}))"


def unanswered_attempt(of: str) -> str:
    """Return the condition (SQL) that an attempt left, or may have, and may have to be paid."""
    ended = f"{of}.state = 'cancelled' AND ifnull({of}.call_s, 0) > 0"
    no_line = f"{of}.error_kind IS '{NO_LINE}'"
    return f"({of}.state = 'lost' OR ({ended}) OR {no_line} OR {timed_out_attempt(of)})"


def unanswered_judge_call(of: str) -> str:
    """Return the condition (SQL) that a judge did not answer a call that may have to be paid."""
    no_line = f"{of}.error_kind IS '{NO_LINE}'"
    return f"({of}.state IN ('lost', 'cancelled') OR {no_line} OR {timed_out(of)})"


@dataclass(frozen=True, slots=True)
class CallSpending:
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
    answered: int
    """Calls of which it is known, or estimated, what they took."""


@dataclass(frozen=True, slots=True)
class UnansweredAttempts:
    """The attempts of one column of which no answer came."""

    lost: int
    """Their engine ended meanwhile: they may have been sent."""
    unsent: int
    """They were withdrawn before they left, or reached nobody, or came to nothing in bulk: they
    count as no request."""
    unpaid: int
    """Nobody knows what they cost: they are lost, were ended after they had left, timed out, or
    were sent in bulk and have no result."""
    retries: int
    """How many fewer further attempts there are without those that are lost or unsent."""


def unanswered(db: sqlite3.Connection, run: int, abandoned: bool) -> dict[int, UnansweredAttempts]:
    """Return the attempts of a run of which no answer came, by the column's index.

    Reads these only, by their index: trials of a run have ascending ids, unless it was merged.

    Args:
        db: The connection.
        run: The run.
        abandoned: Whether its engine has gone: then what it had in flight is among them, but for
            what is at a provider in bulk.
    """
    rows = db.execute(
        "WITH merged AS (SELECT EXISTS (SELECT 1 FROM merged_runs WHERE run = ?1) AS is_so), "
        "ends AS (SELECT min(place) AS low, (SELECT max(place) FROM trials WHERE run = ?1) AS high "
        "FROM trials WHERE run = ?1), "
        "bounds AS MATERIALIZED (SELECT "
        "(SELECT min(id) FROM trials WHERE run = ?1 AND place <= iif(is_so, high, low)) AS first, "
        "(SELECT max(id) FROM trials WHERE run = ?1 AND place >= iif(is_so, low, high)) AS last "
        "FROM merged, ends), "
        "found AS (SELECT trial, state, call_s FROM attempts, bounds "
        "WHERE state IN ('lost', 'cancelled') AND trial BETWEEN first AND last "
        "UNION ALL SELECT trial, 'timeout', NULL "
        "FROM bounds, attempts a INDEXED BY attempts_timed_out "
        f"WHERE error_kind = 'timeout' AND {timed_out_attempt('a')} "
        "AND trial BETWEEN first AND last "
        f"UNION ALL SELECT trial, iif(error_kind IS '{NO_LINE}', 'no line', 'unsent'), NULL "
        "FROM bounds, attempts INDEXED BY attempts_unsent "
        "WHERE unsent = 1 AND trial BETWEEN first AND last "
        "UNION ALL SELECT trial, 'lost', NULL FROM bounds, attempts INDEXED BY attempts_sent "
        "WHERE ?2 AND state = 'sent' AND trial BETWEEN first AND last "
        "AND NOT EXISTS (SELECT 1 FROM consigned WHERE attempt = attempts.id)), "
        "per_trial AS (SELECT trial, sum(state = 'lost') AS lost, "
        "sum(state IN ('unsent', 'no line') OR (state = 'cancelled' AND ifnull(call_s, 0) = 0)) "
        "AS unsent, sum(state IN ('lost', 'timeout', 'no line') OR call_s > 0) AS unpaid "
        "FROM found GROUP BY trial) "
        "SELECT t.col, sum(lost), sum(unsent), sum(unpaid), "
        "sum(max(attempts - 1, 0) - max(attempts - lost - unsent - 1, 0)) "
        "FROM per_trial JOIN trials t ON t.id = trial WHERE t.run = ?1 GROUP BY t.col",
        (run, abandoned),
    )
    return {col: UnansweredAttempts(*numbers) for col, *numbers in rows}


def spending(db: sqlite3.Connection, run: int) -> dict[int | str, CallSpending]:
    """Return what calls were like, by the column's index or the judge's name.

    The simulated user's are under `USER`. Reads all attempts and judge calls of the run.
    """
    columns = db.execute(
        "SELECT t.col, max(ifnull(a.cost_usd, a.about_usd)), "
        "max(ifnull(a.input_tokens, 0) + ifnull(a.output_tokens, 0) + ifnull(a.about_tokens, 0)), "
        f"sum({unanswered_attempt('a')}), "
        "sum(iif(a.cost_usd IS NULL, ifnull(a.about_usd, 0.0), 0.0)), "
        "sum(ifnull(a.about_tokens, 0)), "
        "count(coalesce(a.input_tokens, a.output_tokens, a.about_tokens)) "
        "FROM trials t JOIN attempts a ON a.trial = t.id WHERE t.run = ? GROUP BY t.col",
        (run,),
    )
    judges = db.execute(
        "SELECT judge, max(ifnull(cost_usd, about_usd)), "
        "max(ifnull(input_tokens, 0) + ifnull(output_tokens, 0) + ifnull(about_tokens, 0)), "
        f"sum({unanswered_judge_call('judge_calls')}), "
        "sum(iif(cost_usd IS NULL, ifnull(about_usd, 0.0), 0.0)), "
        "sum(ifnull(about_tokens, 0)), "
        "count(coalesce(input_tokens, output_tokens, about_tokens)) "
        "FROM judge_calls WHERE run = ? GROUP BY judge",
        (run,),
    )
    users = db.execute(
        "SELECT ?2, max(ifnull(c.user_usd, c.user_about_usd) / c.user_calls), "
        "max((c.user_input_tokens + c.user_output_tokens) / c.user_calls), 0, "
        "ifnull(sum(iif(c.user_usd IS NULL, ifnull(c.user_about_usd, 0.0), 0.0)), 0.0), 0, "
        "sum(c.user_calls) FROM trials t JOIN attempt_calls c ON c.trial = t.id "
        "WHERE t.run = ?1 AND c.user_calls > 0 HAVING count(*) > 0",
        (run, USER),
    )
    # 0 tokens are those of calls that came to nothing
    return {
        who: CallSpending(usd, tokens or None, *rest)
        for who, usd, tokens, *rest in (*columns, *judges, *users)
    }
