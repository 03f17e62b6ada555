"""A provider's list of batches, page by page, the newest first; and the end of one batch."""

from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import datetime
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.providers.bulk.api import BulkError, BulkState, BulkStatus
from tui_eval.providers.bulk.connection import BulkConnection

_PAGE: Final = 100
_MOST_PAGES: Final = 1000


async def newest_first(
    connection: BulkConnection,
    path: str,
    cursor: str,
    since: datetime,
    time: Callable[[Json], datetime | None],
) -> AsyncIterator[JsonObject]:
    """Yield the batches that were created after a time, in the order of the list.

    Args:
        connection: To the provider.
        path: Of the list.
        cursor: The field of the query that names the last batch of the page before.
        since: What is older is not asked for.
        time: Reads `created_at`.

    Raises:
        BulkError: the list cannot be had, or has no end.
    """
    query = {"limit": str(_PAGE)}
    for _ in range(_MOST_PAGES):
        page = await connection.get_in_a_row(path, **query)
        batches = page.get("data")
        if not isinstance(batches, list):
            raise connection.unexpected("the list of batches has no data")
        times: list[datetime] = []
        for batch in batches:
            if isinstance(batch, dict):
                created = time(batch.get("created_at"))
                times += [] if created is None else [created]
                if created is None or created >= since:
                    yield batch
        # in a list that has the oldest first, newer ones are on the pages that follow
        if times and times[0] > times[-1] and max(times) < since:
            return
        last = batches[-1] if batches else None
        if not page.get("has_more") or not isinstance(last, dict):
            return
        behind = connection.id_in(last)
        if behind == query.get(cursor):
            raise connection.unexpected("the list of batches does not go on")
        query[cursor] = behind
    raise connection.unexpected("the list of batches has no end")


async def cancelled(
    connection: BulkConnection, path: str, look: Callable[[], Awaitable[BulkStatus]]
) -> None:
    """Have a batch end; one that has ended stays as it is, whatever its provider says to that.

    Args:
        connection: To the provider.
        path: Of the batch.
        look: Asks for it.

    Raises:
        BulkError: it cannot be cancelled, and goes on.
    """
    try:
        await connection.post(f"{path}/cancel")
    except BulkError as error:
        if error.failure.status not in (400, 409):
            raise
        if (await look()).state is BulkState.UNDER_WAY:
            raise
