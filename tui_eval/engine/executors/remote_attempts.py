"""Attempts that workers make: handed out, told of, come back, lost."""

import asyncio
import logging
import time
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from itertools import count
from typing import Final, Protocol

from tui_eval.engine.executors.handful import (
    AttemptNews,
    AttemptOrder,
    AttemptRecall,
    AttemptReturn,
    CallAnswer,
    CallAsked,
    CallMade,
    CallSend,
    CheckOrder,
    CheckReturn,
    HandfulError,
    Order,
    OversizedMessageError,
    Return,
    UnreadableMessage,
    returns,
)
from tui_eval.engine.executors.outbox import Outbox
from tui_eval.engine.executors.returned_files import damage
from tui_eval.engine.limits.started_call import LimitChange
from tui_eval.format import many
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.runs import endpoint_event
from tui_eval.model.runs.endpoint_event import EndpointEvent, EndpointEventKind
from tui_eval.model.visible import visible_line
from tui_eval.store.files import FileStore, Hold
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.conversation.call_log import HeldError

PAUSE_S: Final = 0.02
"""Seconds between two handfuls to one worker, for each worker that there is …"""
LONGEST_PAUSE_S: Final = 0.2
"""… and at most."""
RECALLED_S: Final = 10.0
"""Seconds that a recalled attempt has to end where it is: a program has a grace, and its end."""
LOST: Final = "lost_worker"
"""The kind of a failure because the worker was lost that made the attempt."""
REPLY: Final = "worker_reply"
"""The kind of a failure because what a worker sent of an attempt is not what it has to be."""
EXECUTOR: Final = "executor"
"""The kind of a failure because there are no workers any more."""

_AHEAD: Final = 4
"""What a worker may say of one attempt before the engine has looked at it: a call that was asked
for and what came of it, the attempt's end, and one to spare."""
_ENDED: Final = "its worker has ended"

log = logging.getLogger(__name__)


class WorkerEvents(Protocol):
    """Is told what becomes of workers, on the engine's loop."""

    def joined(self, worker: str, node: str, cpus: float) -> None:
        """A worker is ready, on a node with so many processors."""

    def unplaced(self, node: str, why: str) -> None:
        """No worker could begin on a node, which is tried again."""

    def came(self, worker: str, handful: bytes) -> None:
        """A worker has sent messages."""

    def lost(self, worker: str, why: str) -> None:
        """A worker has gone; nobody knows what became of its attempts."""

    def failed(self, why: str) -> None:
        """There are no workers any more, and there will be none."""


class Transport(Protocol):
    """Carries bytes between an engine and its workers; an executor kind brings its own."""

    def give(self, worker: str, handful: bytes) -> None:
        """Send messages to a worker; one that has gone gets nothing."""

    def share(self, name: str, data: bytes) -> None:
        """Have bytes at hand for every worker, by a name; before the first message that says it."""


@dataclass(slots=True, eq=False)
class _Worker:
    name: str
    node: str
    cpus: float
    outbox: Outbox[Order]
    attempts: set[int] = field(default_factory=set)
    without: dict[str, Failure] = field(default_factory=dict)
    """The targets that cannot be opened there, as a key is missing, and why."""

    @property
    def load(self) -> float:
        return len(self.attempts) / max(1.0, self.cpus)


@dataclass(slots=True, eq=False)
class _Made:
    """An attempt that a worker makes."""

    worker: _Worker
    context: AttemptContext | None
    """None: it is a check."""
    told: "asyncio.Queue[CallAsked | CallMade | AttemptReturn | CheckReturn | Failure]" = field(
        default_factory=asyncio.Queue
    )
    """What its worker tells of it, in order; a failure, the last, where nothing comes any more."""

    @property
    def awaited(self) -> tuple[type, ...]:
        """What of it may come from its worker, beside news."""
        ends = (AttemptReturn,)  # also of a check, where its worker ends
        if self.context is None:
            return (*ends, CheckReturn)
        return (*ends, CallAsked, CallMade)


class _OverError(Exception):
    """An attempt is over where a call of its conversation was waited for."""

    def __init__(self, returned: AttemptReturn | Failure) -> None:
        super().__init__()
        self.returned = returned


class RemoteAttempts:
    """The attempts of an engine that workers make, and the workers.

    Nothing is written here: who waits for an attempt writes what comes of it. For an attempt that
    nobody waits for any more (cancelled, or lost with its worker) nothing is taken: what comes all
    the same is counted (`late`).
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._workers: dict[str, _Worker] = {}
        self._made: dict[int, _Made] = {}
        self._changed = asyncio.Event()
        self._failed: str | None = None
        self._shared: dict[str, asyncio.Task[None]] = {}
        self._without: set[str] = set()
        """What nodes cannot make, and why, as was said."""
        self.changes: asyncio.Queue[LimitChange] = asyncio.Queue()
        """What a person is to be told of workers, as it happens."""
        self._numbers = count(-1, -1)
        """Of checks."""
        self.begun = False
        """Whether there has been a worker."""
        self.late = 0
        """Replies to attempts that nobody waited for any more."""

    @property
    def cpus(self) -> int:
        """Processors of the nodes that have a worker."""
        return int(sum(one.cpus for one in self._workers.values()))

    @property
    def failure(self) -> str | None:
        """Why there are no workers, and will be none; None: there may be."""
        return self._failed

    async def ready(self) -> None:
        """Wait until there is a worker, or will be none."""
        while not self._workers and self._failed is None:
            self._changed.clear()
            await self._changed.wait()

    async def share(self, name: str, data: Callable[[], bytes]) -> None:
        """Have bytes at hand for every worker; they are made once, in a thread."""
        task = self._shared.get(name)
        if task is None or (task.done() and (task.cancelled() or task.exception() is not None)):
            task = self._shared[name] = asyncio.create_task(self._share(name, data))
        await asyncio.shield(task)  # others wait for it too

    async def _share(self, name: str, data: Callable[[], bytes]) -> None:
        self._transport.share(name, await asyncio.to_thread(data))

    async def make(self, order: AttemptOrder, context: AttemptContext) -> Output | Failure:
        """Have a worker make an attempt; nothing of it runs any more when this returns.

        Whoever is cancelled here waits until the worker has ended what runs for it, or has had the
        time to.
        """
        while True:
            await self.ready()
            if self._failed is not None:
                return Failure(EXECUTOR, self._failed, fatal=True, unsent=True, lost=True)
            able = [one for one in self._workers.values() if order.target not in one.without]
            if not able:
                return next(iter(self._workers.values())).without[order.target]
            worker = _freest(able)
            returned = await self._returned(order, context, worker)
            if not isinstance(returned, AttemptReturn):
                assert isinstance(returned, Failure), "an attempt is no check"
                return returned
            if (lacking := _lacking(returned.reply)) is None:
                break
            self._leave_out(worker, order.target, lacking)
        context.partial, context.messages = returned.partial, returned.messages
        if returned.reply is None:
            if context.calls.held is None:  # nobody has recalled it, so its worker is ending
                return Failure(LOST, _ENDED, retryable=True, lost=True)
            raise HeldError(context.calls.held)
        reply = returned.reply
        why = (
            await asyncio.to_thread(damage, reply, returned.files) if _has_files(returned) else None
        )
        if isinstance(reply, Output) and reply.counted and not context.calls.counted:
            why = "reply.counted is true, and no call of it was counted here"
        if why is not None:
            return _refused(why)
        if returned.files:
            await _keep(returned, context)
        return reply

    async def decide(self, order: CheckOrder) -> CheckReturn | Failure:
        """Have a worker decide a check; as `make`. A failure: the worker was lost.

        To be called where there is a worker (`ready`), without a pause in between.
        """
        order.attempt = next(self._numbers)
        returned = await self._returned(order, None, _freest(self._workers.values()))
        if isinstance(returned, AttemptReturn):  # the worker is ending
            return Failure(LOST, _ENDED, lost=True)
        if isinstance(returned, Failure) and not returned.lost:
            return CheckReturn(order.attempt, None, returned.message)
        return returned

    async def _returned(
        self, order: AttemptOrder | CheckOrder, context: AttemptContext | None, worker: _Worker
    ) -> AttemptReturn | CheckReturn | Failure:
        made = _Made(worker, context)
        self._made[order.attempt] = made
        worker.attempts.add(order.attempt)
        try:
            worker.outbox.put(order)
            return await self._followed(made)
        except asyncio.CancelledError:
            worker.outbox.put(AttemptRecall(order.attempt))
            with suppress(TimeoutError):
                async with asyncio.timeout(RECALLED_S):
                    recalled = await _ended(made)
                if context is not None and isinstance(recalled, AttemptReturn):
                    context.partial, context.messages = recalled.partial, recalled.messages
            raise
        except OversizedMessageError as error:
            worker.outbox.put(AttemptRecall(order.attempt))
            return Failure("too_large", str(error))
        finally:
            worker.attempts.discard(order.attempt)
            del self._made[order.attempt]

    async def _followed(self, made: _Made) -> AttemptReturn | CheckReturn | Failure:
        """Return how an attempt ends; the calls of its conversation are counted here meanwhile."""
        try:
            while True:
                told = await made.told.get()
                if isinstance(told, AttemptReturn | CheckReturn | Failure):
                    return told
                if isinstance(told, CallMade):
                    self._refuse(made, told.attempt, "a call was made that nobody has let leave")
                else:
                    made.worker.outbox.put(await self._call_of(made, told))
        except _OverError as over:
            return over.returned

    async def _call_of(self, made: _Made, asked: CallAsked) -> CallAnswer:
        assert made.context is not None, "a check makes no calls"

        async def send() -> Output | Failure:
            made.worker.outbox.put(CallSend(asked.attempt))
            told = await made.told.get()
            if isinstance(told, AttemptReturn | Failure):
                raise _OverError(told)
            if not isinstance(told, CallMade):
                raise _OverError(self._refuse(made, asked.attempt, "one call is made at a time"))
            return told.reply

        try:
            return CallAnswer(asked.attempt, await made.context.calls.ask(asked.call, send))
        except HeldError as held:
            return CallAnswer(asked.attempt, None, str(held))

    def joined(self, worker: str, node: str, cpus: float) -> None:
        """A worker is ready."""
        node = visible_line(node, 100)
        log.info("worker %s on %s, %g processors", worker, node, cpus)
        self.begun = True
        send = partial(self._transport.give, worker)
        self._workers[worker] = _Worker(worker, node, cpus, Outbox(send, self._pause))
        self._say(EndpointEventKind.PLACED, node)
        self._changed.set()

    def unplaced(self, node: str, why: str) -> None:
        """No worker could begin on a node; each reason is said once."""
        self._say_without(f"none on {visible_line(node, 100)}: {visible_line(why, 300)}")

    def _leave_out(self, worker: _Worker, target: str, why: Failure) -> None:
        """Have a worker make no more attempts of a target that its node lacks something for."""
        worker.without[target] = why
        told = visible_line(f"of target {target!r} {worker.node} makes no attempts", 200)
        self._say_without(f"{told}: {visible_line(why.message, 300)}")

    def _say_without(self, told: str) -> None:
        if told not in self._without:
            self._without.add(told)
            log.warning("workers: %s", told)
            self._say(EndpointEventKind.WITHOUT, told)

    def _say(self, kind: EndpointEventKind, what: str) -> None:
        event = EndpointEvent(kind, what=what)
        there = len(self._workers)
        self.changes.put_nowait(LimitChange(endpoint_event.EXECUTOR, there, event))

    def came(self, worker: str, handful: bytes) -> None:
        """A worker has sent messages; one that sends anything else is taken as lost."""
        if worker not in self._workers:
            return  # given up already: what it made was told as lost
        try:
            messages = returns(handful)
        except HandfulError as error:
            self.lost(worker, str(error))
            return
        for message in messages:
            made = self._made.get(message.attempt)
            if made is None or made.worker.name != worker:
                self._late(message, worker)
            elif isinstance(message, UnreadableMessage):
                self._refuse(made, message.attempt, message.why)
            elif isinstance(message, AttemptNews):
                if made.context is not None:
                    made.context.relay(message.progress)
            elif made.told.qsize() >= _AHEAD:
                self.lost(worker, f"it says more of attempt {message.attempt} than can be")
                return
            elif isinstance(message, made.awaited):
                made.told.put_nowait(message)
            else:
                self._refuse(made, message.attempt, f"{type(message).__name__} is not for it")

    def _refuse(self, made: _Made, attempt: int, why: str) -> Failure:
        """End what a worker makes that tells of it what cannot be."""
        log.warning("worker %s, %d: %s", made.worker.name, attempt, visible_line(why, 300))
        made.worker.outbox.put(AttemptRecall(attempt))
        refused = _refused(why)
        check = CheckReturn(attempt, None, refused.message)
        made.told.put_nowait(check if made.context is None else refused)
        return refused

    def _late(self, message: Return | UnreadableMessage, worker: str) -> None:
        if isinstance(message, AttemptReturn) and message.reply is not None:
            self.late += 1
            log.info("worker %s: attempt %d came late, not written", worker, message.attempt)

    def lost(self, worker: str, why: str) -> None:
        """A worker has gone: what it made is lost."""
        gone = self._workers.pop(worker, None)
        if gone is None:
            return
        why = visible_line(why, 300)
        log.warning("worker %s on %s is lost (%s): %d attempts were there",
                    worker, gone.node, why, len(gone.attempts))  # fmt: skip
        gone.outbox.drop()
        self._say(EndpointEventKind.WORKER_LOST,
                  f"{gone.node} ({why}), with {many(len(gone.attempts), 'attempt')}")  # fmt: skip
        said = f"its worker on {gone.node} was lost: {why}"
        self._give_up(gone, Failure(LOST, said, retryable=True, lost=True))
        self._changed.set()

    def failed(self, why: str) -> None:
        """There are no workers any more, and there will be none."""
        if self._failed is not None:
            return
        self._failed = visible_line(why, 600)
        workers, self._workers = [*self._workers.values()], {}
        for one in workers:
            one.outbox.drop()
            self._give_up(one, Failure(EXECUTOR, self._failed, fatal=True, lost=True))
        self._changed.set()

    def _give_up(self, worker: _Worker, failure: Failure) -> None:
        for attempt in worker.attempts:
            self._made[attempt].told.put_nowait(failure)

    def _pause(self) -> float:
        return min(LONGEST_PAUSE_S, PAUSE_S * len(self._workers))


def _freest(workers: Collection[_Worker]) -> _Worker:
    return min(workers, key=lambda one: one.load)


def _lacking(reply: Output | Failure | None) -> Failure | None:
    """Return a reply that says that the worker's node lacks what the target needs."""
    if isinstance(reply, Failure) and reply.fatal and reply.kind == "unavailable":
        return reply
    return None


async def _ended(made: _Made) -> AttemptReturn | CheckReturn | Failure:
    """Return how an attempt ends of which nothing else is wanted."""
    while True:
        told = await made.told.get()
        if isinstance(told, AttemptReturn | CheckReturn | Failure):
            return told


def _has_files(returned: AttemptReturn) -> bool:
    reply = returned.reply
    named = reply is not None and (bool(reply.record.files) or reply.workspace is not None)
    return named or bool(returned.files)


def _refused(why: str) -> Failure:
    return Failure(REPLY, f"what its worker sent cannot be taken: {visible_line(why, 300)}")


async def _keep(returned: AttemptReturn, context: AttemptContext) -> None:
    """Keep the files of an attempt beside the store."""
    assert context.kept is not None, "an attempt of an engine has a store"
    files = FileStore(context.kept)

    def keep() -> Hold:
        hold = files.hold()
        try:
            for data in returned.files:
                files.put(data)
        except BaseException:
            hold.release()
            raise
        return hold

    began = time.monotonic()
    hold = await context.room.patiently(lambda: asyncio.to_thread(keep))
    context.when_written(hold.release)
    log.debug("kept %d files in %.3f s", len(returned.files), time.monotonic() - began)
