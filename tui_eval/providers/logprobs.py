"""The log-probabilities of an answer's first tokens, as the chat and responses APIs give them."""

import math
from typing import Final

from tui_eval.model.json import Json, JsonObject

FIRST: Final = 8
"""Tokens of an answer whose log-probabilities are kept: what decides among options comes first."""
_TOP: Final = 100
"""The likeliest tokens that are kept of each place."""


def first_logprobs(tokens: Json) -> list[Json]:
    """Return the first tokens with those that were likeliest in their place; none: none is given.

    Each is `{"token", "logprob", "top_logprobs": [{"token", "logprob"}]}`. What is in another form
    is left out; so is a token that could not come (a log-probability of −∞, written as −9999 by
    some and not as a number by others).

    Args:
        tokens: The list as the endpoint gives it.
    """
    found: list[Json] = []
    for one in tokens[:FIRST] if isinstance(tokens, list) else ():
        told = _token(one)
        if told is None:
            break  # what follows would stand in another place
        top = one.get("top_logprobs") if isinstance(one, dict) else None
        listed = (_token(other) for other in (top[:_TOP] if isinstance(top, list) else ()))
        found.append({**told, "top_logprobs": [other for other in listed if other is not None]})
    return found


def _token(one: Json) -> JsonObject | None:
    match one:
        case {"token": str(token), "logprob": float() | int() as logprob} if not isinstance(
            logprob, bool
        ) and math.isfinite(logprob):
            return {"token": token, "logprob": logprob}
    return None
