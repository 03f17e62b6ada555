"""From queued trials to a consignment: attempts written down, and their requests in a file."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from tui_eval.engine.bulk.request_file import RequestFile
from tui_eval.engine.bulk.request_size import most_bytes, new_token, sized
from tui_eval.engine.dispatch.work_queue import WorkQueue
from tui_eval.engine.journey.journey import Journey
from tui_eval.engine.journey.trial_in_flight import Phase, TrialInFlight
from tui_eval.engine.limits.spend_caps import BulkPayer, SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.providers.bulk.api import BulkApi
from tui_eval.store.read import consignment_queries
from tui_eval.store.read.consignment_queries import ConsignedTrial, ConsignmentRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, consignment_writes
from tui_eval.targets.bulk_access import BulkAccess, MostTaken, sum_of

_PORTION: Final = 64
"""Trials whose attempts are written down in one transaction."""
_NOTHING: Final = MostTaken(0.0, 0)


@dataclass(frozen=True, slots=True)
class PreparedRequest:
    """A trial with what is posted for it, or with why nothing is."""

    flight: TrialInFlight
    body: JsonObject | Failure
    size: int = 0
    """Bytes of the request as it is sent."""


@dataclass(slots=True)
class ConsignmentDraft:
    """What a consignment holds so far."""

    token: str
    consignment: int | None = None
    """Its id; None: none of its attempts is written down."""
    size: int = 0
    """Bytes of its requests."""
    most: MostTaken = _NOTHING
    """What they take at most."""
    refused: MostTaken | None = None
    """What one more takes that caps have no room for; None: there is none."""

    @property
    def payer(self) -> BulkPayer:
        """Who is asked about, where caps are."""
        return BulkPayer(draft=self.token)


class Forming:
    """Makes consignments of one target."""

    def __init__(
        self,
        target: str,
        endpoint: str,
        access: BulkAccess,
        queue: WorkQueue,
        journey: Journey,
        store: RunStore,
        spend_caps: SpendCaps,
    ) -> None:
        """Make what forms a target's consignments.

        Args:
            target: The target's name.
            endpoint: Where it is asked, as limiters know it.
            access: Makes bodies of its requests.
            queue: Its open trials.
            journey: Sees to what may keep a trial from being asked.
            store: Where facts go.
            spend_caps: Say whether there is room.
        """
        self._target = target
        self._endpoint = endpoint
        self._access = access
        self._queue = queue
        self._journey = journey
        self._store = store
        self._spend_caps = spend_caps

    async def form(self, api: BulkApi, most: int) -> tuple[ConsignmentRow, RequestFile] | None:
        """Write down the next consignment; None: there was nothing to ask, or no room for it.

        Whoever gets the file closes it.

        Args:
            api: Where it is to be sent.
            most: How many requests it may have.

        Raises:
            BulkError: there is no room for the requests on this machine.
        """
        draft = ConsignmentDraft(new_token())
        requests = RequestFile(draft.token)
        try:
            await self._fill(draft, requests, api, min(most, api.limits.requests))
            row = await self._complete(draft, requests.count)
        except BaseException:
            requests.close()
            self._spend_caps.settled(draft.token)
            raise
        if row is None:
            requests.close()
            self._spend_caps.settled(draft.token)
            return None
        return row, requests

    async def again(self, row: ConsignmentRow, api: BulkApi) -> RequestFile:
        """Return the requests of a consignment that was written down and perhaps never sent.

        Those whose trials wait for them no more are withdrawn. Whoever gets the file closes it.

        Raises:
            BulkError: there is no room for the requests on this machine.
        """
        requests = RequestFile(row.token)
        after = -1
        try:
            while portion := await self._portion_of(row, after):
                after = max(portion)
                await self._add_again(row, portion, requests, api)
            await self._store.writer.write(
                lambda tx: consignment_writes.complete(
                    tx, row.id, requests.count, row.most_usd, row.most_tokens
                )
            )
        except BaseException:
            requests.close()
            raise
        return requests

    async def _portion_of(self, row: ConsignmentRow, after: int) -> dict[int, ConsignedTrial]:
        return await self._store.reading.call(
            consignment_queries.nothing_came_for, row.id, after, _PORTION
        )

    async def _add_again(
        self,
        row: ConsignmentRow,
        portion: dict[int, ConsignedTrial],
        requests: RequestFile,
        api: BulkApi,
    ) -> None:
        withdrawn: list[int] = []
        for ordinal, trial in portion.items():
            flight = TrialInFlight(trial.work)
            if not trial.waits:
                withdrawn.append(trial.attempt)
                continue
            prepared = await self._prepared(flight, row.token, api)
            if isinstance(prepared.body, Failure):
                await self._fail(flight, trial.attempt, prepared.body)
            else:
                requests.add(ordinal, prepared.body)

        def withdraw(tx: Tx) -> None:
            for attempt in withdrawn:
                attempt_writes.drop_attempt(tx, attempt, "cancelled", None)

        if withdrawn:
            await self._store.writer.write(withdraw)

    async def _fill(
        self, draft: ConsignmentDraft, requests: RequestFile, api: BulkApi, size: int
    ) -> None:
        """Take trials until the consignment is full, nothing is queued, or there is no room.

        None is taken where caps have room for so few that they are not worth sending.
        """
        full = False
        while not full and requests.count < size:
            flights = await self._next(min(_PORTION, size - requests.count))
            if not flights:
                return
            if not requests.count and not self._spend_caps.may_consign(draft.payer):
                self._queue.put_back(flights)
                return
            taken: list[PreparedRequest] = []
            for place, flight in enumerate(flights):
                prepared = await self._prepared(flight, draft.token, api)
                if not self._fits(draft, prepared, api):
                    self._queue.put_back(flights[place:])
                    full = True
                    break
                taken.append(prepared)
            if draft.refused is not None and not requests.count and not self._worth(draft, taken):
                self._queue.put_back([one.flight for one in taken])
                return
            await self._write(draft, taken, requests)

    async def _next(self, most: int) -> list[TrialInFlight]:
        flights: list[TrialInFlight] = []
        while len(flights) < most:
            flight = self._queue.take(to_score=False)
            if flight is not None:
                if not flight.withdrawn:
                    flights.append(flight)
            elif self._queue.at_end:
                break
            else:
                await self._queue.refill(_PORTION)
        return flights

    async def _prepared(self, flight: TrialInFlight, token: str, api: BulkApi) -> PreparedRequest:
        flight.phase, flight.consigned = Phase.STARTING, True
        request = await self._journey.prepared(flight)
        if isinstance(request, Failure):
            return PreparedRequest(flight, request)
        made = await sized(request, token, self._access, api)
        if isinstance(made, Failure):
            return PreparedRequest(flight, made)
        return PreparedRequest(flight, made.body, made.size)

    def _fits(self, draft: ConsignmentDraft, prepared: PreparedRequest, api: BulkApi) -> bool:
        """Add a request to what a consignment takes, where it still has room for it."""
        if isinstance(prepared.body, Failure):
            return True
        size = draft.size + prepared.size
        if size > most_bytes(self._access, api):
            return False
        one = self._access.most(prepared.size)
        if not self._spend_caps.has_room(one.usd, one.tokens):  # beside the others, which hold it
            draft.refused = one
            return False
        draft.size, draft.most = size, sum_of(draft.most, one)
        self._hold(draft)
        return True

    def _hold(self, draft: ConsignmentDraft) -> None:
        self._spend_caps.consigned(draft.token, draft.most.usd, draft.most.tokens)

    def _worth(self, draft: ConsignmentDraft, taken: Sequence[PreparedRequest]) -> bool:
        """Return whether the first trials are to be sent of which caps take no more.

        Where they are not, what held room for them is free for others.
        """
        assert draft.refused is not None, "caps cut it short"
        fitting = sum(not _failed(one) for one in taken)
        with_them = sum_of(draft.most, draft.refused)
        self._spend_caps.settled(draft.token)  # first: others look again then, and this one not
        if not self._spend_caps.cut_short(draft.payer, fitting, with_them.usd, with_them.tokens):
            return False
        self._hold(draft)
        return True

    async def _write(
        self, draft: ConsignmentDraft, taken: Sequence[PreparedRequest], requests: RequestFile
    ) -> None:
        """Write the attempts of some trials down, and put their requests into the file."""
        first, asked = requests.count, any(not _failed(one) for one in taken)

        def unit(tx: Tx) -> tuple[int | None, list[int | None]]:
            made = draft.consignment
            if made is None and asked:
                made = consignment_writes.form(
                    tx, self._store.run, self._target, self._endpoint, draft.token
                )
            ordinals = itertools.count(first)
            started: list[int | None] = []
            for one in taken:
                attempt = self._journey.start(one.flight, tx)
                started.append(attempt)
                if attempt is not None and made is not None and not _failed(one):
                    consignment_writes.consign(tx, made, next(ordinals), attempt)
            return made, started

        draft.consignment, started = await self._store.writer.write(unit)
        for one, attempt in zip(taken, started, strict=True):
            if attempt is None:
                self._queue.rewind()  # it may be open anew
            elif isinstance(one.body, Failure):
                await self._fail(one.flight, attempt, one.body)
            else:
                requests.add(requests.count, one.body)
            if self._queue.flights.get(one.flight.work.trial) is one.flight:
                del self._queue.flights[one.flight.work.trial]  # the store knows it from now on

    async def _fail(self, flight: TrialInFlight, attempt: int, failure: Failure) -> None:
        """Write down why a request is not sent."""
        flight.tries.failures += 1
        step = self._journey.brought(flight, attempt, failure, None)
        await self._store.writer.write(step.write)

    async def _complete(self, draft: ConsignmentDraft, requests: int) -> ConsignmentRow | None:
        made = draft.consignment
        if made is None:
            return None

        def unit(tx: Tx) -> ConsignmentRow | None:
            if not requests:
                consignment_writes.taken(tx, made)  # all were cancelled meanwhile
                return None
            consignment_writes.complete(tx, made, requests, draft.most.usd, draft.most.tokens)
            return consignment_queries.consignment(tx.db, made)

        return await self._store.writer.write(unit)


def _failed(one: PreparedRequest) -> bool:
    return isinstance(one.body, Failure)
