"""Waiting for something that happens elsewhere: bounded, and with words where it does not come."""

import asyncio
import inspect
from collections.abc import Callable


async def until(condition: Callable[[], object], seconds: float = 60.0) -> None:
    """Wait until something holds.

    Raises:
        AssertionError: it has not come; says what was waited for.
    """
    try:
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.01)
    except TimeoutError:
        try:
            what = inspect.getsource(condition).strip()
        except (OSError, TypeError):  # it has no source of its own
            what = repr(condition)
        raise AssertionError(f"it has not come in {seconds:g} s: {what}") from None
