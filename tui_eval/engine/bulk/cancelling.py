"""Consignments of a run that was cancelled: ended at the provider, and what is done is kept."""

import asyncio
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

from tui_eval.engine.bulk.following import ASKED_FOR_GONE, GONE, Following
from tui_eval.providers.bulk.api import BulkError, BulkState
from tui_eval.store.read.consignment_queries import ConsignmentRow
from tui_eval.store.write import consignment_writes

_LOOKS: Final = 8
"""How often a provider is asked whether it has ended one: it may take minutes, and nobody waits so
long."""
_PAUSE_S: Final = 4.0
_LONGEST_S: Final = 60.0
"""Seconds after which no further look begins: calls that are not answered take long."""

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Ending:
    """A consignment that is to end."""

    row: ConsignmentRow
    gone: int = 0
    """How often in a row the provider has said that it has no such batch."""


async def cancel(rows: Sequence[ConsignmentRow], following: Following) -> None:
    """Have consignments end at their provider, and take what it has done by then.

    What it has not ended after half a minute stays open: whichever engine works on the run next
    takes what came. One that it says again and again it has not got is lost.
    """
    ending: list[_Ending] = []
    for row in rows:
        try:
            known = await following.sending.known(row)
        except BulkError as error:
            log.warning("%s cannot be looked for: %s", row.token, error.failure.message)
            continue
        if known.provider_id is None:  # it was never sent
            await following.finish(await following.sending.looked(known, "cancelled"))
        else:
            ending.append(_Ending(known))
    until = time.monotonic() + _LONGEST_S
    for left in reversed(range(_LOOKS)):
        last = not left or time.monotonic() >= until
        ending = [one for one in ending if not await _ended(one, following, last=last)]
        if last or not ending:
            break
        await following.sending.polling.wait(asyncio.Event(), _PAUSE_S)
    if ending:
        log.warning("%d consignments are not known to have ended at the provider", len(ending))


async def _ended(one: _Ending, following: Following, *, last: bool) -> bool:
    """Have a consignment end, and take what there is of it where it has; return whether it has.

    Args:
        one: The consignment.
        following: Takes it.
        last: Whether nobody looks again: then results count as they are.
    """
    if one.row.cancelled_at is None:
        one.row = await _told_to_end(one.row, following)
    assert one.row.provider_id is not None, "it was sent"
    try:
        status = await following.sending.api.look(one.row.provider_id)
    except BulkError as error:
        log.warning("%s cannot be looked at: %s", one.row.token, error.failure.message)
        one.gone = one.gone + 1 if error.failure.status == GONE else 0
        if one.gone < ASKED_FOR_GONE:
            return False
        lost = await following.sending.looked(one.row, "lost", error.failure.message)
        return await following.finish(lost)
    one.gone = 0
    one.row = await following.told(one.row, status)
    if status.state is BulkState.UNDER_WAY:
        return False
    return await following.finish(one.row, certain=not last)


async def _told_to_end(row: ConsignmentRow, following: Following) -> ConsignmentRow:
    """Ask a provider to end a consignment; return it as it stands then."""
    assert row.provider_id is not None, "it was sent"
    try:
        await following.sending.api.cancel(row.provider_id)
    except BulkError as error:
        log.warning("%s cannot be cancelled: %s", row.token, error.failure.message)
        return row
    write = partial(consignment_writes.cancelled, consignment=row.id)
    await following.sending.store.writer.write(write)
    return await following.sending.again(row)
