"""What one target, or one judge, is asked in bulk: into consignments, and home."""

import asyncio
import logging
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack, contextmanager
from dataclasses import dataclass

from tui_eval.engine.bulk import cancelling
from tui_eval.engine.bulk.following import Following
from tui_eval.engine.bulk.home import ConsignmentHome, RequestSource
from tui_eval.engine.bulk.polling import BulkPolling, Pauses
from tui_eval.engine.bulk.request_file import RequestFile
from tui_eval.engine.bulk.sending import Sending
from tui_eval.engine.coordination import Coordination
from tui_eval.engine.departure import Departure, halted
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.model.outputs.output import Failure
from tui_eval.providers.bulk.api import BulkApi, BulkError
from tui_eval.providers.errors import UnavailableError
from tui_eval.store.read import consignment_queries
from tui_eval.store.read.consignment_queries import ConsignmentRow
from tui_eval.store.write.consignment_writes import WhoIsAsked
from tui_eval.targets.bulk_access import BulkAccess

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class ConsignmentOwner:
    """Whose requests consignments hold."""

    name: str
    kind: WhoIsAsked
    endpoint: str
    """Where it is asked, as limiters know it."""


class BulkPool:
    """Sends what waits in consignments, and follows each in a task of its own.

    A further one is formed once all others rest: what one that has just ended leaves to be asked
    again goes out together.
    """

    def __init__(
        self,
        whose: ConsignmentOwner,
        access: BulkAccess,
        queue: RequestSource,
        home: ConsignmentHome,
        store: RunStore,
        spend_caps: SpendCaps,
        coordination: Coordination,
        to_score: Callable[[], None],
        polling: BulkPolling,
    ) -> None:
        """Make a pool that is closed.

        Args:
            whose: Who is asked.
            access: How requests go to the provider.
            queue: What is to be asked.
            home: Makes consignments of it, and takes what comes.
            store: Where facts go.
            spend_caps: Bound what consignments take.
            coordination: Told when nothing is left to do but wait.
            to_score: Told that outputs in the store can be scored, or settled with grades that are
                there.
            polling: How often a provider is asked.
        """
        self.queue = queue
        self._store = store
        self.whose = whose
        """Who is asked."""
        self._access = access
        self._coordination = coordination
        self._to_score = to_score
        self._polling = polling
        self._home = home
        self._spend_caps = spend_caps
        self._following: Following | None = None
        """None: the API is not open."""
        self._group = asyncio.TaskGroup()
        self._followed: dict[int, asyncio.Task[None]] = {}
        self._resting: set[int] = set()
        self._looked_up = False
        """Whether it is known which consignments are under way."""
        self._making: asyncio.Task[None] | None = None
        """Forms a consignment."""
        self._size = access.wanted.requests
        """Requests of the next consignment at most: fewer where a provider has had no room."""
        self._room = True
        """Whether the provider has room, as far as is known."""
        self._room_pauses = Pauses(polling)
        self._held = False
        """Whether caps hold back what is queued."""
        self._open = False
        self._ended = False
        self._changed = asyncio.Event()
        self._opened = asyncio.Event()
        self._left = asyncio.Event()
        """Whether what rests is to go on: the engine leaves."""

    # what the engine is told

    @property
    def busy(self) -> int:
        """Consignments that are formed, sent, looked at or taken at this moment."""
        return len(self._followed) - len(self._resting) + (self._making is not None)

    @property
    def idle(self) -> bool:
        """Whether nothing is left to do, as far as the store was read."""
        return self._looked_up and not self._followed and self._nothing_queued

    @property
    def waits(self) -> bool:
        """Whether all that is left to do is to wait for the provider."""
        return bool(self._followed) and self.rests

    @property
    def rests(self) -> bool:
        """Whether nothing is done here for now: for want of work or room, or all is sent."""
        sent = self._held or not self._room or self._nothing_queued
        return self._looked_up and not self.busy and sent

    @property
    def _nothing_queued(self) -> bool:
        return self._making is None and not len(self.queue) and self.queue.at_end

    # what a consignment needs

    @property
    def leaving(self) -> bool:
        """Whether nothing new is to begin."""
        return self._ended or self._coordination.leaving

    @property
    def has_room(self) -> bool:
        """Whether caps still have room for what is put together."""
        return not self._spend_caps.exceeded()

    async def rest(self, consignment: int, seconds: float) -> None:
        """Wait so long, or until the engine leaves."""
        with self._rests(consignment):
            await self._polling.wait(self._left, seconds)

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until the engine leaves, as part of work."""
        await self._polling.wait(self._left, seconds)

    async def until_open(self, consignment: int) -> None:
        """Rest until the run goes on, or until the engine leaves."""
        while not self._open and not self.leaving:
            with self._rests(consignment):
                await self._opened.wait()

    def had_room(self) -> None:
        """Send more at once, as long as there is room."""
        self._size = min(self._access.wanted.requests, self._size * 2)
        self._room_pauses = Pauses(self._polling)

    def no_room(self, requests: int, failure: Failure) -> None:
        """Send less at once, and nothing before there may be room.

        As long as others of this target are under way, or less can be tried, there may be some
        without anybody's doing. Else the run waits as long as its patience lasts.
        """
        self._size = max(1, requests // 2)
        pause_s: float | None = self._polling.first_s
        if len(self._followed) > 1:  # beside the one that there is no room for
            pause_s = self._room_pauses.after_answer()
        elif requests == 1:
            pause_s = self._room_pauses.after_failure(failure)
        if pause_s is None:
            self.leave(halted(self._room_pauses.given_up(failure)))
        elif self._room:
            self._room = False
            self._group.create_task(self._wait_for_room(pause_s))

    async def _wait_for_room(self, pause_s: float) -> None:
        """Try again some time later: others may have ended, here or elsewhere."""
        await self._polling.wait(self._left, pause_s)
        self._room = True
        self._tell()

    def to_score(self) -> None:
        """Have outputs in the store scored."""
        self._to_score()

    def leave(self, why: Departure) -> None:
        """Have the engine leave the run."""
        self._coordination.leave(why)

    # what the engine asks for

    async def run(self) -> None:
        """Work until `end`."""
        async with AsyncExitStack() as stack:
            rows = await self._open_consignments()
            if not rows:
                self._looked_up = True
                if not await self._something_queued():
                    return
            try:
                api = await stack.enter_async_context(self._access.open())
            except UnavailableError as error:
                self._looked_up = True
                self._coordination.leave(halted(Failure("unavailable", str(error), fatal=True)))
                return
            await self._work(api, rows)

    async def _open_consignments(self) -> list[ConsignmentRow]:
        return await self._store.reading.call(
            consignment_queries.open_consignments,
            self._store.run,
            self.whose.name,
            self.whose.kind,
        )

    async def cancel(self) -> None:
        """Have what is under way end at the provider, once the run is cancelled."""
        rows = await self._open_consignments()
        if not rows:
            return
        try:
            async with self._access.open() as api:
                await cancelling.cancel(rows, self._followed_by(api))
        except UnavailableError as error:
            log.warning("what is under way cannot be cancelled: %s", error)

    def _followed_by(self, api: BulkApi) -> Following:
        sending = Sending(api, self._store, self._home, self, self._polling)
        return Following(sending, self._home, self._spend_caps, self)

    async def _something_queued(self) -> bool:
        """Wait until there is a trial to ask; False: the engine ends first."""
        while not self._ended:
            self._changed.clear()
            if self._open and not self.leaving:
                await self.queue.refill(1)
                if len(self.queue):
                    return True
                if not self.queue.at_end:
                    continue
                self._say_idle()
            await self._changed.wait()
        return False

    async def _work(self, api: BulkApi, rows: list[ConsignmentRow]) -> None:
        self._following = self._followed_by(api)
        async with self._group:
            for row in rows:
                self._follow(row, None)
            self._looked_up = True
            while not self._ended:
                self._changed.clear()
                if self._may_form:
                    self._making = self._group.create_task(self._form(api))
                    await asyncio.wait([self._making])
                    continue
                self._say_idle()
                await self._changed.wait()

    @property
    def _may_form(self) -> bool:
        return (
            self._open
            and self._room
            and not self._held
            and not self.leaving
            and len(self._resting) == len(self._followed)
            and not self._nothing_queued
            and self._home.ready
        )

    async def _form(self, api: BulkApi) -> None:
        try:
            async with self._spend_caps.forming:
                if not self._open or self.leaving:
                    return
                made = await self._home.form(api, self._size)
        except BulkError as error:
            self.leave(halted(error.failure))
            return
        finally:
            self._making = None
        if made is not None:
            self._follow(*made)
        elif len(self.queue) and self._home.ready:
            self._held = self._spend_caps.holds_back  # else nobody would say when to look again

    def _follow(self, row: ConsignmentRow, requests: RequestFile | None) -> None:
        assert self._following is not None, "the API is open"
        task = self._group.create_task(self._following.follow(row, requests))
        self._followed[row.id] = task
        task.add_done_callback(lambda _: self._finished(row.id))

    def _finished(self, consignment: int) -> None:
        """Look what a consignment has left to be asked again."""
        del self._followed[consignment]
        self.queue.rewind()
        self._held = False
        self._tell()

    @contextmanager
    def _rests(self, consignment: int) -> Iterator[None]:
        self._resting.add(consignment)
        self._tell()
        try:
            yield
        finally:
            self._resting.discard(consignment)

    def _tell(self) -> None:
        """Look whether something is to be formed."""
        self._changed.set()
        self._say_idle()

    def _say_idle(self) -> None:
        """Say where nothing is left to do, or nothing but to wait."""
        if self.rests:
            self._coordination.pool_idle()

    def set_open(self, dispatching: bool) -> None:
        """Send what is queued, or nothing until told otherwise; what is sent is followed."""
        self._open = dispatching
        if dispatching:
            self._opened.set()
        else:
            self._opened.clear()
        if self.leaving:
            self._left.set()
            self._opened.set()
        self.tell()

    def tell(self) -> None:
        """Look whether what caps held back may be sent now."""
        self._held = False
        self._changed.set()

    def look(self) -> None:
        """See whether what waits for company is to leave: perhaps nobody comes any more."""
        if self._may_form:
            self._changed.set()

    def drop_withdrawn(self) -> None:
        """Forget what a person took away before it was consigned."""
        self.queue.drop_withdrawn()
        self._tell()

    def look_again(self) -> None:
        """Look for open trials from the beginning: a request has opened some."""
        self.queue.rewind()
        self.tell()

    def drop_calls(self) -> None:
        """Break off what is under way here: what is at the provider goes on there."""
        for task in [*self._followed.values(), *filter(None, [self._making])]:
            task.cancel()

    def give_up(self) -> None:
        """Forget what was read ahead, and is in no consignment."""
        self.queue.forget()

    def end(self) -> None:
        """Let everything end that rests or waits; whoever has something to do finishes it first."""
        self._ended = True
        self.set_open(False)
