"""What a launch would send and cost, as far as one can tell beforehand."""

import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from tui_eval.format import money, number
from tui_eval.model.answer_source import AnswerSource
from tui_eval.store.read import report_queries
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey.template_check import Survey

_REPLY_TOKENS = 200
"""Tokens of a reply in a conversation where no earlier run tells, or its limit, if less."""


@dataclass(frozen=True, slots=True)
class ColumnForecast:
    """What the calls of one column would send and cost."""

    column: str
    calls: int
    """One a turn of the user; those after tools' answers are not known beforehand."""
    input_tokens: int | None
    """None: what it is sent says nothing of what it reads."""
    output_tokens: int | None
    """None: neither an earlier run nor a limit tells."""
    at_most: bool
    """Whether the output is the request's own limit instead of what was seen before."""
    cost_usd: float | None
    """None: the price or the tokens are unknown."""
    asks_nobody: bool = False
    """Whether its answers are recorded or simulated."""


def column_forecasts(
    db: sqlite3.Connection | None, suite: Suite, survey: Survey, calls: Mapping[str, int]
) -> list[ColumnForecast]:
    """Say for each column what its calls would send and cost.

    Args:
        db: A connection to the store, for the answers seen before; None: there is no store.
        suite: The suite.
        survey: What all its trials would send; a call sends their mean.
        calls: How many calls are made, by column.
    """
    specs = {target.name: target for target in suite.targets}
    trials = survey.cases * survey.epochs
    found = []
    for column in survey.columns:
        if column.name not in calls:
            continue
        spec, made = specs[column.target], calls[column.name]
        turns = survey.calls.get(column.name, trials) / trials
        sends = round(made * turns)
        if spec.SOURCE is not AnswerSource.ASKED:
            found.append(ColumnForecast(column.name, sends, 0, 0, False, 0.0, True))
            continue
        asked = survey.input_tokens[column.name] * made / trials
        seen = (
            report_queries.mean_output_tokens(db, suite.name, column.name)
            if db is not None
            else None
        )
        limit = spec.output_limit()
        # what was seen is of whole conversations, a limit is of each reply
        each = seen / turns if seen is not None else limit
        produced = None if each is None else round(each * sends)
        # replies are sent again with each later turn; few use up a large limit
        reply = seen / turns if seen is not None else min(limit or _REPLY_TOKENS, _REPLY_TOKENS)
        sent = spec.input_tokens(round(asked + made * reply * turns * (turns - 1) / 2))
        prices = spec.expected_prices()
        cost = None if prices is None else prices.about(sent, produced)
        found.append(ColumnForecast(column.name, sends, sent, produced, seen is None, cost))
    return found


def tokens_and_cost(forecasts: Iterable[ColumnForecast]) -> str:
    """Say what calls send, get and cost: `about 12,300 tokens in, up to 3,000 out, about $0.02`."""
    asking = [one for one in forecasts if not one.asks_nobody]
    if not asking:
        return "no API calls (replay or simulated)"
    ins = [one.input_tokens for one in asking if one.input_tokens is not None]
    sent = f"about {number(sum(ins))}" if len(ins) == len(asking) else "an unknown number of"
    outs = [one.output_tokens for one in asking if one.output_tokens is not None]
    out = number(sum(outs)) if len(outs) == len(asking) else "an unknown number"
    up_to = "up to " if any(one.at_most and one.output_tokens for one in asking) else ""
    costs = [one.cost_usd for one in asking if one.cost_usd is not None]
    cost = f"about {money(sum(costs))}" if len(costs) == len(asking) else "cost unknown"
    return f"{sent} tokens in, {up_to}{out} out, {cost}"
