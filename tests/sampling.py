"""Which of many values the normal run of the tests tries."""

from collections.abc import Iterable
from typing import Any

import pytest


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
