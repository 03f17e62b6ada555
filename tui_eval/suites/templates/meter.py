"""The limits of one rendering: a sandbox alone bounds neither loops nor repetition.

Work is counted, not timed, so that a template fails or passes the same on every machine; processor
time is only the backstop for a single costly step.
"""

import threading
import time
from collections.abc import Iterable
from typing import Final

from tui_eval.suites import loop_bounds
from tui_eval.suites.loop_bounds import NotAtOnceError

MAX_TEXT: Final = 4_000_000
"""The most characters a template may render to, or make on the way: a million tokens fit."""
ITEM: Final = 16
"""How many characters an item of a list or table weighs as much as."""
MAX_DIGITS: Final = 1_000
"""The most decimal digits of a whole number a template may make."""
MAX_WORK: Final = 250_000
"""The most units of work: one for each step, one more for every 128 characters made."""
MAX_SECONDS: Final = 2.0
"""The most processor seconds of one rendering."""
_LARGE: Final = 10_000
"""The time is looked at after every step that made so much, and after every 16th."""


class TooMuchError(Exception):
    """A template made something too large or worked for too long."""


class _Meter(threading.local):
    """The work of the current rendering in this thread."""

    def __init__(self) -> None:
        self.left = MAX_WORK
        self.until = float("inf")
        self.steps = 0


_METER: Final = _Meter()


def start() -> None:
    """Reset the count for a new rendering in this thread."""
    _METER.left = MAX_WORK
    _METER.steps = 0
    left = loop_bounds.left()
    _METER.until = time.thread_time() + (MAX_SECONDS if left is None else left)


def tick(size: int = 0) -> None:
    """Count one step that made `size` characters, or as much of something else.

    Raises:
        TooMuchError: when this rendering has used up its work or its time.
        NotAtOnceError: where it is to be done at once and takes longer.
    """
    _METER.left -= 1 + (size >> 7)
    _METER.steps += 1
    if _METER.left < 0:
        raise TooMuchError("it takes too many steps")
    if (size > _LARGE or not _METER.steps & 15) and time.thread_time() > _METER.until:
        if loop_bounds.asked():
            raise NotAtOnceError
        raise TooMuchError(f"it takes more than {MAX_SECONDS:g} seconds")


def count_made(size: int) -> None:
    """Count one step and check the size of what it is about to make.

    Raises:
        TooMuchError: as `tick` does, and for more than `MAX_TEXT`.
    """
    if size > MAX_TEXT:
        raise TooMuchError(f"it makes a text or list of more than {MAX_TEXT:,} characters")
    tick(size)


def count_result(value: object) -> object:
    """Count what a step made, with everything inside it, and return it.

    A value inside a list is counted each time it is reached: what is cheap to build by naming a
    list twice is not cheap to write out.
    """
    if isinstance(value, str):
        count_made(len(value))
    elif isinstance(value, int):
        if value.bit_length() > MAX_DIGITS * 4:
            raise TooMuchError(f"it makes a number of more than {MAX_DIGITS:,} digits")
        tick()
    elif isinstance(value, list | tuple | dict | set | frozenset):
        count_made(size_of(value))
    else:
        tick()
    return value


def size_of(value: object) -> int:
    """Return a value's size in characters, all levels together, up to just over the limit."""
    total = 0
    waiting: list[object] = [value]
    while waiting and total <= MAX_TEXT:
        item = waiting.pop()
        total += ITEM
        if isinstance(item, str | bytes):
            total += len(item)
        elif isinstance(item, int):
            total += item.bit_length() // 3
        elif isinstance(item, range):
            total += len(item) * ITEM
        elif isinstance(item, dict):
            waiting.extend(item.keys())
            waiting.extend(item.values())
        elif isinstance(item, list | tuple | set | frozenset):
            waiting.extend(item)
    return total


def listed(items: Iterable[object]) -> list[object]:
    """Return an iterator's items as a list, counted while it grows."""
    made_so_far: list[object] = []
    total = 0
    for item in items:
        size = size_of(item)
        total += size
        if total > MAX_TEXT:
            count_made(total)
        tick(size)
        made_so_far.append(item)
    return made_so_far
