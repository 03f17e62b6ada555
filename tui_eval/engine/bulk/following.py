"""A consignment from its writing down until nothing of it is left to take."""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Final

from tui_eval.engine.bulk.bulk_host import BulkHost
from tui_eval.engine.bulk.home import ConsignmentHome
from tui_eval.engine.bulk.polling import Pauses
from tui_eval.engine.bulk.request_file import RequestFile
from tui_eval.engine.bulk.result_lines import LineCounts
from tui_eval.engine.bulk.sending import Sending
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.bulk.api import BulkError, BulkLine, BulkState, BulkStatus, StrayLine
from tui_eval.store.read import consignment_queries
from tui_eval.store.read.consignment_queries import ConsignmentRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import consignment_writes

_PORTION: Final = 64
"""Lines of results that are written down in one transaction."""
_CHARACTERS: Final = 4_000_000
"""Characters of outputs that are held until they are written down: a line may have 32 MB."""
GONE: Final = 404
"""The status of a provider that has not got what it is asked for."""
ASKED_FOR_GONE: Final = 4
"""How often a provider has to say that it has no such batch: one answer may be a mistake."""
_READINGS: Final = 4
"""How often results are read until a line is missing for certain: files come late, and a stream may
end early without a word."""
_NO_REASON: Final = Failure("bulk_failed", "the provider refused the batch and did not say why")

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Following:
    """Follows consignments of one target or judge, each in a task of its own."""

    sending: Sending
    home: ConsignmentHome
    spend_caps: SpendCaps
    host: BulkHost

    async def follow(self, row: ConsignmentRow, requests: RequestFile | None = None) -> None:
        """Send a consignment where it is not, wait for it, and take what came of it.

        Where the engine is to leave first, the next one goes on from what is written down.

        Args:
            row: The consignment.
            requests: What it holds, where it was formed just now; None: an earlier engine did.
        """
        self._hold(row, await self._came(row))
        try:
            if row.state == "forming":
                row = await self.sending.sent(row, requests)
                self._hold(row, await self._came(row))  # some may have been withdrawn
        finally:
            if requests is not None:
                requests.close()
        if row.state == "sent":
            row = await self._until_ended(row)
        if row.state not in ("forming", "sent"):
            await self.finish(row)

    async def finish(self, row: ConsignmentRow, *, certain: bool = True) -> bool:
        """Take what there is of a consignment that is under way no more, and close it.

        It stays open (False) where its results cannot be had before the engine leaves.

        Args:
            row: The consignment.
            certain: Whether results that lack something are read again.
        """
        unknown = 0
        if row.provider_id is None or row.state == "lost":
            await self.home.give_back(row)
        else:
            failed = row.state == "failed"
            again = certain and not failed
            seen = await (self._take_for_certain(row) if again else self._take(row))
            if seen is None:
                return False
            unknown = seen.unknown
            # one that failed was not begun as a rule: what it has no line for was never asked
            await (self.home.give_back(row) if failed else self.home.never_came(row))

        def close(tx: Tx) -> bool:
            to_score = self.home.settle(row, tx)
            consignment_writes.taken(tx, row.id, unknown)
            return to_score

        if await self.sending.store.writer.write(close):
            self.host.to_score()
        self.spend_caps.settled(row.token)
        log.info("consignment %d of %s: %s, nothing is left", row.number, row.target, row.state)
        return True

    async def _until_ended(self, row: ConsignmentRow) -> ConsignmentRow:
        """Look at a consignment until it is under way no more, or the engine leaves."""
        assert row.provider_id is not None, "it was sent"
        pauses, gone = Pauses(self.sending.polling), 0
        while not self.host.leaving:
            try:
                status = await self.sending.api.look(row.provider_id)
            except BulkError as error:
                if error.failure.status == GONE:
                    gone += 1
                    log.warning("consignment %d of %s is gone", row.number, row.target)
                    if gone == ASKED_FOR_GONE:
                        return await self.sending.looked(row, "lost", error.failure.message)
                    await self.host.pause(self.sending.polling.first_s)
                    continue
                await self.sending.rest_unanswered(row, error.failure, pauses)
            else:
                gone = 0
                if status.state is BulkState.FAILED:
                    return await self.sending.failed(row, status.problem or _NO_REASON)
                row = await self.told(row, status)
                if status.state is not BulkState.UNDER_WAY:
                    self.host.had_room()
                    return row
                await self._take_news(row)
                await self.host.rest(row.id, pauses.after_answer())
        return row

    async def _take_for_certain(self, row: ConsignmentRow) -> LineCounts | None:
        """Take all results, and read them again where they lack what is done or waited for.

        What has no line is paid twice where it is asked again. None: the engine leaves first.
        """
        pause_s = self.sending.polling.first_s
        for _ in range(_READINGS - 1):
            seen = await self._take(row)
            if seen is None or not await self._lacks(row, seen):
                return seen
            log.warning("results of %s lack requests: they are read again", row.provider_id)
            await self.host.pause(pause_s)
            pause_s = self.sending.polling.next_s(pause_s)
            if self.host.leaving:
                return None
        return await self._take(row)

    async def _lacks(self, row: ConsignmentRow, seen: LineCounts) -> bool:
        """Return whether somebody waits for what has no line, or the provider has done more."""
        if row.done is not None and seen.came < row.done:
            return True
        reading = self.sending.store.reading
        return await reading.call(consignment_queries.is_waited_for, row.id)

    async def _came(self, row: ConsignmentRow) -> int:
        return await self.sending.store.reading.call(consignment_queries.came, row.id)

    async def _take(self, row: ConsignmentRow) -> LineCounts | None:
        """Take all results there are; None: the engine leaves first."""
        pauses = Pauses(self.sending.polling)
        while True:
            assert row.provider_id is not None, "it was sent"
            seen = LineCounts(await self._came(row))
            try:
                await self._take_lines(row, self.sending.api.results(row.provider_id), seen)
            except BulkError as error:
                log.warning("results of %s broke off: %s", row.provider_id, error.failure.message)
                if error.failure.status == GONE:
                    return seen  # what there is was taken: the rest is missing
                await self.sending.rest_unanswered(row, error.failure, pauses)
                if self.host.leaving:
                    return None
            else:
                return seen

    async def _take_news(self, row: ConsignmentRow) -> None:
        """Take what has come of a consignment that is under way, where that can be had."""
        assert row.provider_id is not None, "it was sent"
        try:
            news = self.sending.api.news(row.provider_id)
            await self._take_lines(row, news, LineCounts(await self._came(row)))
        except BulkError as error:
            # all results are read once it has ended
            log.warning("results of %s broke off: %s", row.provider_id, error.failure.message)

    async def _take_lines(
        self,
        row: ConsignmentRow,
        results: AsyncGenerator[BulkLine | StrayLine, None],
        seen: LineCounts,
    ) -> None:
        """Take results as they stream; those before the stream breaks off count.

        Raises:
            BulkError: it broke off.
        """
        waiting: list[BulkLine | StrayLine] = []
        characters = 0
        try:
            async with aclosing(results) as lines:
                async for line in lines:
                    waiting.append(line)
                    characters += _characters(line)
                    if len(waiting) >= _PORTION or characters >= _CHARACTERS:
                        portion, waiting, characters = waiting, [], 0
                        await self._settle(row, portion, seen)
        except BulkError:
            await self._settle(row, waiting, seen)
            raise
        await self._settle(row, waiting, seen)

    async def _settle(
        self, row: ConsignmentRow, lines: list[BulkLine | StrayLine], seen: LineCounts
    ) -> None:
        for line in lines:
            if isinstance(line, StrayLine):
                log.warning("results of %s, %s: %s", row.provider_id, line.where, line.problem)
        if await self.home.take(row, lines, seen):
            self.host.to_score()
        self._hold(row, seen.came)

    async def told(self, row: ConsignmentRow, status: BulkStatus) -> ConsignmentRow:
        """Write down what the provider says."""
        ends_by = None if status.ends_by is None else status.ends_by.timestamp()
        return await self.sending.looked(row, status.state.value, done=status.done, ends_by=ends_by)

    def _hold(self, row: ConsignmentRow, came: int) -> None:
        """Hold the room of what has not come yet, as far as caps are about it."""
        left = 1.0 if not row.requests else max(0.0, 1 - came / row.requests)
        usd = None if row.most_usd is None else row.most_usd * left
        tokens = None if row.most_tokens is None else round(row.most_tokens * left)
        self.spend_caps.consigned(row.token, usd, tokens)


def _characters(line: BulkLine | StrayLine) -> int:
    """Return how long the text of an answer is."""
    reply = line.reply if isinstance(line, BulkLine) else None
    return len(reply.text or "") if isinstance(reply, Output) else 0
