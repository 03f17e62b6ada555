"""When it is certain that a provider has not got a consignment."""

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import Final

from tui_eval.providers.bulk.api import BulkStatus, SoughtConsignment

_LONGEST_SENDING: Final = timedelta(hours=2)
"""How long after its sending began a consignment may still be on its way: an upload is given up
long before (`connection.py`)."""


async def found_for_certain(
    look: Callable[[], Awaitable[BulkStatus | None]], sought: SoughtConsignment, settle_s: float
) -> BulkStatus | None:
    """Return what a look finds; where it finds nothing, what a second one a while later does.

    What was sent the moment before its sender was killed is on its way for some seconds more, and
    lists may lag behind.

    Args:
        look: Looks for it once.
        sought: What is looked for.
        settle_s: Seconds after which a consignment that was taken is listed.
    """
    found = await look()
    if found is not None or datetime.now(UTC) - sought.since > _LONGEST_SENDING:
        return found
    await asyncio.sleep(settle_s)
    return await look()
