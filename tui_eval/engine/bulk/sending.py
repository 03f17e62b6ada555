"""A consignment is sent once: whoever is not sure looks for it at the provider first."""

import logging
from contextlib import closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from tui_eval.engine.bulk.bulk_host import BulkHost
from tui_eval.engine.bulk.home import ConsignmentHome
from tui_eval.engine.bulk.polling import BulkPolling, Pauses
from tui_eval.engine.bulk.request_file import RequestFile
from tui_eval.engine.departure import halted
from tui_eval.engine.run_store import RunStore
from tui_eval.model.outputs.output import Failure
from tui_eval.providers.bulk.api import BulkApi, BulkError, BulkStatus, SoughtConsignment
from tui_eval.store.read import consignment_queries
from tui_eval.store.read.consignment_queries import ConsignmentRow
from tui_eval.store.write import consignment_writes

NO_ROOM = "no_room"
"""The kind of failure of a provider that has as much waiting as it takes."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sending:
    """Sends consignments of one target or judge."""

    api: BulkApi
    store: RunStore
    home: ConsignmentHome
    host: BulkHost
    polling: BulkPolling

    async def sent(self, row: ConsignmentRow, requests: RequestFile | None) -> ConsignmentRow:
        """Have the provider take a consignment; return it as it stands then.

        It is still `forming` where the engine is to leave first, and `failed` where the provider
        refuses it.

        Args:
            row: The consignment.
            requests: What it holds, where it was formed just now; None: an earlier engine did.
        """
        if requests is not None:
            return await self._until_sent(row, requests)
        if not row.requests:  # it was not even complete: what it holds goes with the others
            return await self.looked(row, "cancelled")
        found = await self._until_known(row)
        if found is not None or self.host.leaving:
            return row if found is None else await self._now_sent(row, found)
        try:
            made = await self.home.again(row, self.api)
        except BulkError as error:
            self.host.leave(halted(error.failure))
            return row
        with closing(made):
            return await self._until_sent(await self.again(row), made)

    async def _until_sent(self, row: ConsignmentRow, requests: RequestFile) -> ConsignmentRow:
        """Send a consignment until the provider has answered, or the engine leaves."""
        if not requests.count:
            return await self.looked(row, "cancelled")  # nobody waits for any of it
        pauses, in_doubt = Pauses(self.polling), False
        while True:
            if in_doubt and (found := await self._until_known(row)) is not None:
                return await self._now_sent(row, found)
            await self.host.until_open(row.id)
            if self.host.leaving:
                return row
            if not self.host.has_room:
                return await self.looked(row, "cancelled")  # what still fits is put together anew
            try:
                return await self._now_sent(row, await self.api.send(row.token, requests))
            except BulkError as error:
                in_doubt, failure = error.unsettled, error.failure
            log.warning("consignment %d of %s: %s", row.number, row.target, failure.message)
            settled = not in_doubt and (failure.kind == NO_ROOM or not failure.retryable)
            if settled and not failure.fatal:
                return await self.failed(row, failure)
            await self.rest_unanswered(row, failure, pauses)

    async def _until_known(self, row: ConsignmentRow) -> BulkStatus | None:
        """Look for a consignment by its token until it is known whether the provider has it.

        None: it has not, or the engine leaves first.
        """
        pauses, until = Pauses(self.polling), datetime.now(UTC)
        while not self.host.leaving:
            try:
                return await self._found(row, until)
            except BulkError as error:
                log.warning("looking for %s: %s", row.token, error.failure.message)
                if error.unsettled and not error.failure.fatal:  # that is an answer
                    pause_s = pauses.after_answer()
                    await self.host.rest(row.id, error.failure.retry_after_s or pause_s)
                else:
                    await self.rest_unanswered(row, error.failure, pauses)
        return None

    async def rest_unanswered(self, row: ConsignmentRow, failure: Failure, pauses: Pauses) -> None:
        """Rest after a call that met a failure; have the run pause where calling again is no use.

        It is none after a failure that every further call would meet, and where the provider has
        not answered for as long as the run's patience lasts.
        """
        pause_s = pauses.after_failure(failure)
        if pause_s is not None:
            await self.host.rest(row.id, pause_s)
            return
        self.host.leave(halted(pauses.given_up(failure)))

    async def known(self, row: ConsignmentRow) -> ConsignmentRow:
        """Look once whether the provider has a consignment that may have been sent.

        Raises:
            BulkError: that cannot be known now.
        """
        if row.provider_id is not None or not row.requests:
            return row
        found = await self._found(row, datetime.now(UTC))
        return row if found is None else await self._now_sent(row, found)

    async def _found(self, row: ConsignmentRow, until: datetime) -> BulkStatus | None:
        others = await self.store.reading.call(consignment_queries.provider_ids, row.endpoint)
        since = datetime.fromtimestamp(row.formed_at, UTC)
        return await self.api.find(SoughtConsignment(row.token, row.requests, since, until, others))

    async def failed(self, row: ConsignmentRow, failure: Failure) -> ConsignmentRow:
        """Write down that nothing of a consignment is done; say what follows for others."""
        if failure.retryable or failure.kind == NO_ROOM:
            self.host.no_room(row.requests, failure)
        else:
            self.host.leave(halted(failure))
        return await self.looked(row, "failed", failure.message)

    async def _now_sent(self, row: ConsignmentRow, status: BulkStatus) -> ConsignmentRow:
        write = partial(
            consignment_writes.sent,
            consignment=row.id,
            provider_id=status.id,
            ends_by=None if status.ends_by is None else status.ends_by.timestamp(),
        )
        await self.store.writer.write(write)
        log.info("consignment %d of %s is %s at the provider", row.number, row.target, status.id)
        return await self.again(row)

    async def looked(
        self,
        row: ConsignmentRow,
        state: str,
        problem: str | None = None,
        *,
        done: int | None = None,
        ends_by: float | None = None,
    ) -> ConsignmentRow:
        """Write down how a consignment stands; return it."""
        write = partial(
            consignment_writes.looked,
            consignment=row.id,
            state=state,
            done=done,
            ends_by=ends_by,
            problem=problem,
        )
        await self.store.writer.write(write)
        return await self.again(row)

    async def again(self, row: ConsignmentRow) -> ConsignmentRow:
        """Return a consignment as it stands now."""
        return await self.store.reading.call(consignment_queries.consignment, row.id)
