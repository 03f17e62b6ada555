"""What everything simulated has in common: how long it takes, and how often it goes wrong."""

from typing import Annotated, TypeAlias, TypeVar

from pydantic import AfterValidator, BeforeValidator, WithJsonSchema

from tui_eval.suites.spec.table import Share

K = TypeVar("K", bound=str)


def _latency(value: object) -> float | tuple[float, float]:
    """One validator, so that a mistake is reported once and not once a type."""
    if _is_seconds(value):
        return float(str(value))
    if isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_seconds, value)):
        low, high = (float(str(bound)) for bound in value)
        if low <= high:
            return low, high
    raise ValueError("must be a number of seconds ≥ 0, or two: [least, most]")


def _is_seconds(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
    )


Latency: TypeAlias = Annotated[
    float | tuple[float, float],
    BeforeValidator(_latency),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "number", "minimum": 0},
                {
                    "type": "array",
                    "items": {"type": "number", "minimum": 0},
                    "minItems": 2,
                    "maxItems": 2,
                },
            ]
        }
    ),
]
"""Seconds: a number, or the least and the most of them."""


def _at_most_one(shares: dict[K, float]) -> dict[K, float]:
    total = sum(shares.values())
    if total > 1:
        raise ValueError(f"the shares add up to {total:g}, which is more than 1")
    return shares


Faults: TypeAlias = Annotated[dict[K, Share], AfterValidator(_at_most_one)]
"""The share of calls that go wrong, by kind; together at most 1."""
