"""The calls of a judge in consignments: sent again where nobody knows, read as their lines come."""

import logging
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final

from tui_eval.engine.bulk.request_file import RequestFile
from tui_eval.engine.bulk.request_size import sized
from tui_eval.engine.bulk.result_lines import MISSING, TWO, LineCounts, by_ordinal, two_answers
from tui_eval.engine.departure import Departure, halted
from tui_eval.engine.journey.off_loop import OffLoop
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.isolated.calls import AbandonedError
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.bulk.api import BulkApi, BulkLine, StrayLine
from tui_eval.scoring.judge.item import ReplyForm
from tui_eval.store.read.consignment_queries import NEVER_DONE, ConsignmentRow
from tui_eval.store.read.judges import consigned_call_queries as reading
from tui_eval.store.read.judges.consigned_call_queries import ConsignedCall
from tui_eval.store.tx import Fact, Tx
from tui_eval.store.write import consignment_writes
from tui_eval.store.write.judges import consigned_calls, judge_writes
from tui_eval.targets.base import Judge
from tui_eval.targets.bulk_access import BulkAccess, MostTaken, sum_of

_PORTION: Final = 64
"""Calls that are read, or written down, at once."""

log = logging.getLogger(__name__)


class CallHome:
    """Takes what comes of a judge's calls, whichever engine wrote them down."""

    def __init__(
        self,
        judge: Judge,
        access: BulkAccess,
        store: RunStore,
        spend_caps: SpendCaps,
        off_loop: OffLoop,
        leave: Callable[[Departure], None],
    ) -> None:
        """Describe it.

        Args:
            judge: The judge.
            access: How its requests go to the provider.
            store: Where facts go.
            spend_caps: Bound what consignments take.
            off_loop: Reads replies.
            leave: Has the engine leave the run.
        """
        self.judge = judge
        self.access = access
        self.store = store
        self.spend_caps = spend_caps
        self.off_loop = off_loop
        self.leave = leave

    async def again(self, row: ConsignmentRow, api: BulkApi) -> RequestFile:
        """Return the requests of a consignment that is written down; the caller closes the file.

        Calls that nobody waits for are withdrawn. What the others take at most is written down.

        Raises:
            BulkError: there is no room for the requests on this machine.
        """
        requests = RequestFile(row.token)
        most, after = MostTaken(0.0, 0), -1
        try:
            while portion := await self._untold(row, after):
                after = max(portion)
                most = sum_of(most, await self._add(row.token, portion, requests, api))
            await self.store.writer.write(
                lambda tx: consignment_writes.complete(
                    tx, row.id, requests.count, most.usd, most.tokens
                )
            )
        except BaseException:
            requests.close()
            raise
        return requests

    async def _add(
        self, token: str, portion: Mapping[int, ConsignedCall], requests: RequestFile, api: BulkApi
    ) -> MostTaken:
        """Put the calls that somebody waits for into the file; return what they take at most."""
        most, unsent = MostTaken(0.0, 0), list[Fact]()
        for ordinal, call in portion.items():
            if not call.waits:
                unsent.append(partial(consigned_calls.dropped, call=call.call, lost=False))
                continue
            made = await sized(call.request, token, self.access, api)
            if isinstance(made, Failure):
                unsent.append(partial(_fail, call=call.call, why=made))
                continue
            requests.add(ordinal, made.body)
            most = sum_of(most, self.access.most(made.size))
        if unsent:
            await self.store.writer.write(partial(_all, facts=unsent))
        return most

    async def take(
        self, row: ConsignmentRow, lines: Sequence[BulkLine | StrayLine], seen: LineCounts
    ) -> bool:
        """Write down what some lines say; nothing is scored before all of them were taken."""
        named = by_ordinal(lines, row.token, seen)
        calls = await self.store.reading.call(reading.calls, row.id, [*named])
        seen.unknown += sum(len(same) for n, same in named.items() if n not in calls)
        facts: list[Fact] = []
        for ordinal, call in calls.items():
            seen.came += call.line is None
            if (fact := await self._of_one(call, named[ordinal])) is not None:
                facts.append(fact)
        if facts:
            await self.store.writer.write(partial(_all, facts=facts))
        return False

    async def _of_one(self, call: ConsignedCall, lines: list[BulkLine]) -> Fact | None:
        """Return what is to be written of the lines of one call; None: nothing."""
        if call.line == TWO:
            return None  # an earlier reading has said so
        first = call.line or lines[0].digest
        reply = self.access.priced(lines[0].reply)
        if call.line is None:
            self.spend_caps.paid(self.judge.name, reply, len(call.items))
        if any(line.digest != first for line in lines):
            return partial(_contradicted, call=call.call, reply=reply)
        if call.line is not None:
            return None  # it was taken before, perhaps by an engine that was killed
        if isinstance(reply, Failure):
            self.access.heard(reply)
            if reply.fatal:
                self.leave(halted(reply))
            return partial(_failed, call=call.call, line=first, why=reply)
        return await self._read(call, reply, first)

    async def _read(self, call: ConsignedCall, reply: Output, line: bytes) -> Fact | None:
        forms = {item.id: _form(item.form) for item in call.items}
        try:
            found = await self.off_loop.read(reply.text, forms, call.nonce, reply.finish_reason)
        except AbandonedError:
            return None  # the engine is ending: the next one reads it
        made = {
            place: found.findings[item.id].as_json()
            for place, item in enumerate(call.items)
            if item.id in found.findings
        }
        problems = [found.missing.get(item.id) for item in call.items]
        return partial(
            _answered, call=call.call, line=line, reply=reply, made=made, problems=problems
        )

    def settle(self, row: ConsignmentRow, tx: Tx) -> bool:
        """Keep, by their keys, answers that were paid and that nobody waits for any more.

        The trials that do wait find theirs in the store once the consignment is closed.
        """
        consigned_calls.keep_unawaited(tx, row.id)
        return True

    async def never_came(self, row: ConsignmentRow) -> None:
        """Write down of calls without a line that the results have none for them."""
        while portion := await self._untold(row, -1):
            log.warning("results of %s lack %d requests", row.provider_id, len(portion))
            facts: list[Fact] = [
                partial(_fail, call=call.call, why=MISSING) for call in portion.values()
            ]
            await self.store.writer.write(partial(_all, facts=facts))
            self._may_have_done(len(portion))

    async def give_back(self, row: ConsignmentRow) -> None:
        """Let what a consignment asks be asked again: nothing comes of it."""
        lost = row.state == "lost"
        while portion := await self._untold(row, -1):
            facts: list[Fact] = [
                partial(consigned_calls.dropped, call=call.call, lost=lost)
                for call in portion.values()
            ]
            await self.store.writer.write(partial(_all, facts=facts))
            if lost:
                self._may_have_done(len(portion))

    def _may_have_done(self, calls: int) -> None:
        for _ in range(calls):
            self.spend_caps.unanswered(self.judge.name)

    async def _untold(self, row: ConsignmentRow, after: int) -> dict[int, ConsignedCall]:
        return await self.store.reading.call(reading.nothing_came_for, row.id, after, _PORTION)


def _form(of: JsonObject) -> ReplyForm:
    given: dict[str, Any] = of
    return ReplyForm(given["kind"], given["low"], given["high"], tuple(given["numbers"]))


def _all(tx: Tx, facts: Sequence[Fact]) -> None:
    for fact in facts:
        fact(tx)


def _fail(tx: Tx, call: int, why: Failure) -> None:
    judge_writes.failed(tx, call, why, None)
    consigned_calls.unread(tx, call, _in_words(why))


def _failed(tx: Tx, call: int, line: bytes, why: Failure) -> None:
    if consigned_calls.arrived(tx, call, line):
        _fail(tx, call, why)


def _answered(
    tx: Tx,
    call: int,
    line: bytes,
    reply: Output,
    made: dict[int, JsonObject],
    problems: Sequence[str | None],
) -> None:
    if consigned_calls.arrived(tx, call, line):
        judge_writes.answered(tx, call, reply, None, problems)
        consigned_calls.read(tx, call, made, problems)


def _contradicted(tx: Tx, call: int, reply: Output | Failure) -> None:
    """Let nothing of a call count that has two answers: nobody knows which one it is."""
    consigned_calls.contradicted(tx, call, TWO)
    _fail(tx, call, two_answers(reply))


def _in_words(why: Failure) -> str:
    if why.kind in NEVER_DONE:
        return why.message
    return f"the judge could not be asked: {why.message}"
