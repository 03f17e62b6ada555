"""Scales of charts: round numbers that have all of it."""

from collections.abc import Callable
from math import ceil, floor, log10
from typing import Final

_STEPS: Final = 4
"""Of the scale at the left, at most."""


def scale(most: float, label: Callable[[float], str]) -> tuple[float, list[tuple[float, str]]]:
    """Return where a scale from 0 ends that has all of it, and its labels: round numbers."""
    if most <= 0:
        most = 1.0
    size = 10.0 ** floor(log10(most / _STEPS))
    step = next(size * one for one in (1, 2, 5, 10) if size * one * _STEPS >= most)
    steps = ceil(most / step - 1e-9)
    return step * steps, [(step * at, label(round(step * at, 12))) for at in range(steps + 1)]
