"""The log-probabilities of an answer's first tokens, as the chat and responses APIs give them."""

from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.providers.finite import finite

FIRST: Final = 8
"""Tokens of an answer whose log-probabilities are kept: what decides among options comes first."""
_TOP: Final = 100
"""The likeliest tokens that are kept of each place."""


def first_logprobs(tokens: Json) -> list[Json]:
    """Return the first tokens with those that were likeliest in their place; none: none is given.

    Each is `{"token", "logprob", "top_logprobs": [{"token", "logprob"}]}`. What is in another form
    is left out; so is a token whose log-probability is no finite number. One that could not come
    may have −9999.

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
        case {"token": str(token), "logprob": float() | int() as logprob} if finite(logprob):
            return {"token": token, "logprob": logprob}
    return None
