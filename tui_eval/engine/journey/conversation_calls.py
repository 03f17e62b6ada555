"""The calls of a conversation as an engine makes them: each started, counted and committed once."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.limits.call_permit import CallHistory, CallPermit
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.limits.user_limit import UserLimit
from tui_eval.engine.run_store import RunStore
from tui_eval.model.json import digest
from tui_eval.model.outputs.output import Failure, Output, Price, Usage
from tui_eval.store.read.trials import conversation_queries
from tui_eval.store.read.trials.conversation_queries import StoredCall
from tui_eval.store.tx import Tx
from tui_eval.store.write import conversation_writes
from tui_eval.targets.conversation.call_log import (
    CallParty,
    DialogueCall,
    HeldError,
    Send,
)

PAUSED: Final = "the run pauses between two calls of the conversation"
NO_ROOM: Final = "a cap has no room for the next call of the conversation"
USER_FAILED: Final = "user"
"""The kind of failures of the simulated user: errors of the trial, and not its target's."""


@dataclass(frozen=True, slots=True)
class ConversationSurroundings:
    """What the conversations of a run share."""

    store: RunStore
    spend_caps: SpendCaps
    dispatching: Callable[[], bool]
    """Tells whether calls may begin: the run neither pauses nor ends."""
    user: UserLimit | None = None
    """Of the simulated user; None: there is none."""


class ConversationCalls:
    """The calls of one attempt; see `targets.conversation`.

    The first call that is made has its start by the pool's permit. Every other takes one of the
    endpoint's budgets, in the same slot, and begins only while the run goes on and the caps have
    room: else the conversation is left, to be gone on with after its last reply.
    """

    def __init__(
        self,
        shared: ConversationSurroundings,
        flight: TrialInFlight,
        attempt: int,
        permit: CallPermit,
    ) -> None:
        self._shared = shared
        self._flight = flight
        self._attempt = attempt
        self._permit = permit
        self._known: list[StoredCall] | None = None
        """The replies there are, from before this attempt; None: nobody looked."""
        self._number = 0
        self._began = False
        """Whether a call was made."""
        self._target_asked = False
        """Whether one was made to the target."""
        self.counted = False
        self.call_s = 0.0
        self.held: str | None = None

    async def ask(self, call: DialogueCall, send: Send) -> Output | Failure:
        """Return the reply that is known, or make the call and keep what comes.

        Raises:
            HeldError: the run pauses, or a cap has no room for the call.
        """
        self.counted = True
        self._flight.sent_at = None  # nothing is on its way
        asked = await asyncio.to_thread(digest, call.request)
        if (known := await self._known_reply(call.party, asked)) is not None:
            self._number += 1
            return known
        if call.party is CallParty.USER:
            return await self._ask_user(call, asked, send)
        await self._start()
        reply = await self._timed(send)
        if isinstance(reply, Failure):
            return reply  # counted as the attempt's
        column = self._flight.work.col
        self._shared.spend_caps.paid(column, reply, of_several=True)
        self._permit.answered(reply, self._flight.tries)
        self._flight.tries = CallHistory()  # the retries are those of each call
        await self._keep(call, asked, reply, partial(conversation_writes.count_call, reply=reply))
        return reply

    async def _known_reply(self, party: CallParty, asked: bytes) -> Output | None:
        if self._known is None:
            trial = self._flight.work.trial
            self._known = await self._shared.store.reading.call(conversation_queries.calls, trial)
        if self._number < len(self._known):
            known = self._known[self._number]
            if known.asked == asked and known.party == party:
                return known.reply
            del self._known[self._number :]  # it goes on otherwise than it did
        return None

    async def _start(self) -> None:
        """Wait until a call to the target may leave.

        Raises:
            HeldError: none may for now.
        """
        self._look_whether_held(self._flight.work.col)
        if self._target_asked:
            while (wait := self._permit.further_wait_s) > 0:
                await asyncio.sleep(wait)
                self._look_whether_held(self._flight.work.col)
            self._permit.begin_further()
        self._target_asked = self._began = True

    def _look_whether_held(self, payer: int | str) -> None:
        if not self._began:
            return  # the pool has looked
        if not self._shared.dispatching():
            self.held = PAUSED
        elif not self._shared.spend_caps.further_fits(payer):
            self.held = NO_ROOM
        if self.held is not None:
            raise HeldError(self.held)

    async def _ask_user(self, call: DialogueCall, asked: bytes, send: Send) -> Output | Failure:
        limit, caps = self._shared.user, self._shared.spend_caps
        assert limit is not None, "a run with a simulated user has its limit"
        self._look_whether_held(limit.name)
        async with limit.call() as permit:
            self._look_whether_held(limit.name)
            if not self._shared.dispatching():  # since the pool has looked
                self.held = PAUSED
                raise HeldError(PAUSED)
            self._began = True
            with caps.call(limit.name):
                reply = await self._timed(send)
            caps.paid(limit.name, reply)
            permit.answered(reply, CallHistory())
        count = partial(conversation_writes.count_user_call, usage=reply.usage)
        if isinstance(reply, Output):
            await self._keep(call, asked, reply, partial(count, price=reply.price))
            return reply
        if not reply.unsent:
            # as of a target's failure: one that says nothing took nothing, unless nobody knows
            took = reply.was_paid or reply.kind == "timeout"
            price = reply.price if took else Price(0.0, None)
            await self._shared.store.writer.write(
                partial(count, attempt=self._attempt, price=price)
            )
        return replace(
            reply,
            kind=USER_FAILED,
            message=f"the simulated user: {reply.message}",
            usage=Usage(),
            cost_usd=None,
            partial=None,
            exhausted=None,
        )

    async def _timed(self, send: Send) -> Output | Failure:
        self._flight.sent_at = began = time.monotonic()
        reply = await send()
        self.call_s += time.monotonic() - began
        if isinstance(reply, Output):
            self._flight.sent_at = None
        return reply

    async def _keep(
        self, call: DialogueCall, asked: bytes, reply: Output, count: Callable[..., None]
    ) -> None:
        """Commit a reply and what it took; whoever is cancelled here has it committed all the same.

        What it took is counted in any case; it is the conversation's only as long as the trial is
        open as it was taken.
        """
        number, trial = self._number, self._flight.work.trial
        self._number += 1

        def unit(tx: Tx) -> None:
            count(tx=tx, attempt=self._attempt)
            if self._flight.stands(tx):
                said = list(call.said)
                conversation_writes.keep_reply(tx, trial, number, call.party, asked, said, reply)

        await self._shared.store.writer.write(unit)
