"""Consignments of a run that was cancelled: ended at the provider, and what is done is kept."""

import asyncio
import logging
from collections.abc import Sequence
from functools import partial
from typing import Final

from tui_eval.engine.bulk.following import Following
from tui_eval.providers.bulk.api import BulkError, BulkState
from tui_eval.store.read.consignment_queries import ConsignmentRow
from tui_eval.store.write import consignment_writes

_LOOKS: Final = 8
"""How often a provider is asked whether it has ended one: it may take minutes, and nobody waits so
long."""
_PAUSE_S: Final = 4.0

log = logging.getLogger(__name__)


async def cancel(rows: Sequence[ConsignmentRow], following: Following) -> None:
    """Have consignments end at their provider, and take what it has done by then.

    One that it was asked before to end, or cannot be told now, is only looked at. What it has not
    ended after half a minute stays open: whichever engine works on the run next takes what came.
    """
    ending: list[ConsignmentRow] = []
    for row in rows:
        try:
            known = await following.sending.known(row)
        except BulkError as error:
            log.warning("%s cannot be looked for: %s", row.token, error.failure.message)
            continue
        if known.provider_id is None:  # it was never sent
            await following.finish(await following.sending.looked(known, "cancelled"))
            continue
        told = known.cancelled_at is None and await _told_to_end(known, following)
        if not await _taken(known, following) and told:
            ending.append(known)
    for _ in range(_LOOKS - 1):
        if not ending:
            return
        await following.sending.polling.wait(asyncio.Event(), _PAUSE_S)
        ending = [row for row in ending if not await _taken(row, following)]
    if ending:
        log.warning("%d consignments are still ending at the provider", len(ending))


async def _told_to_end(row: ConsignmentRow, following: Following) -> bool:
    """Ask a provider to end a consignment; return whether it has heard that."""
    assert row.provider_id is not None, "it was sent"
    try:
        await following.sending.api.cancel(row.provider_id)
    except BulkError as error:
        log.warning("%s cannot be cancelled: %s", row.token, error.failure.message)
        return False
    write = partial(consignment_writes.cancelled, consignment=row.id)
    await following.sending.store.writer.write(write)
    return True


async def _taken(row: ConsignmentRow, following: Following) -> bool:
    """Look at a consignment once, and take what there is of it where it has ended."""
    assert row.provider_id is not None, "it was sent"
    try:
        status = await following.sending.api.look(row.provider_id)
    except BulkError as error:
        log.warning("%s cannot be looked at: %s", row.token, error.failure.message)
        return False
    row = await following.told(row, status)
    if status.state is BulkState.UNDER_WAY:
        return False
    await following.finish(row)
    return True
