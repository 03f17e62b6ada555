"""One call within its time, at one of the places that all calls of the process share."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tui_eval.model.outputs.output import NO_DESCRIPTOR
from tui_eval.providers.errors import WireError
from tui_eval.providers.http.descriptors import PLACES

T = TypeVar("T")


async def placed_call(send: Callable[[], Awaitable[T]], timeout_s: float) -> tuple[T, float]:
    """Make a call once there is a place for it; again where it found no descriptor.

    Args:
        send: Makes it.
        timeout_s: Seconds that it may take, from when it has its place.

    Returns:
        What came back, and when it began (monotonic seconds).

    Raises:
        TimeoutError: it took longer.
        WireError: no whole answer arrived.
    """
    give_up_at = time.monotonic() + timeout_s
    while True:
        async with PLACES:
            started = time.monotonic()
            try:
                async with asyncio.timeout(timeout_s):
                    answer = await send()
            except WireError as error:
                # nothing has left yet where there was no descriptor for a connection
                if error.kind != NO_DESCRIPTOR:
                    raise
                if not (await PLACES.short() or time.monotonic() < give_up_at):
                    raise
            else:
                PLACES.found()
                return answer, started
