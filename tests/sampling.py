"""How much of what could be tried the normal run of the tests tries."""

from collections.abc import Iterable, Sequence
from typing import Any, Final, TypeVar

import pytest
from hypothesis import settings

T = TypeVar("T")

WHOLE: Final = "whole"
"""The profile of Hypothesis with which `make faults` runs."""


def one_in(n: int, values: Iterable[Any]) -> list[Any]:
    """Return what `parametrize` takes: of each `n` values the first is tried by every run.

    The others are marked `whole`, for `make faults`; a tuple is the values of several names.
    """
    return [
        pytest.param(
            *(value if isinstance(value, tuple) else (value,)),
            marks=() if place % n == 0 else pytest.mark.whole,
        )
        for place, value in enumerate(values)
    ]


def some(n: int, values: Sequence[T]) -> Sequence[T]:
    """Return each `n`th of values that one test goes through, and all of them in `make faults`."""
    return values if settings.get_current_profile_name() == WHOLE else values[::n]


def examples(most: int) -> int:
    """Return how many examples a property that takes long is tried with: `most` in `make faults`.

    In other runs it is the same share as of the properties that name no number.
    """
    whole = settings.get_profile(WHOLE).max_examples
    return max(1, most * settings().max_examples // whole)
