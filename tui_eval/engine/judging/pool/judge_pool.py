"""One judge at work: takes batches, asks, reads, has repaired what was not answered."""

import asyncio
import logging
import random
import sqlite3
import time
from dataclasses import dataclass, replace
from functools import partial

from tui_eval.engine.dispatch.worker_pool import WorkerPool
from tui_eval.engine.internal_error import bug
from tui_eval.engine.journey.off_loop import OffLoop
from tui_eval.engine.judging.pool.batcher import Batcher
from tui_eval.engine.judging.pool.call_records import CallRecords
from tui_eval.engine.judging.pool.judge_interfaces import BulkQuestions, PooledJudge, ResultSink
from tui_eval.engine.judging.pool.repair import RefusedBatches, batches_to_repeat, halves
from tui_eval.engine.judging.question import Batch, Question
from tui_eval.engine.limits.limiter import Limiter
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.isolated.calls import AbandonedError
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.runs.endpoint_event import note
from tui_eval.providers.patience import Patience
from tui_eval.scoring.judge.request import Request, request
from tui_eval.store.errors import StoreError
from tui_eval.store.write.judges import judge_writes

_LONG_S = 5.0
"""Seconds for which a judge that rests is not waited for by targets."""
_WENT_WRONG = "the judge could not be asked"

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Reply:
    """What a batch's request came back with."""

    call: int
    got: Output | Failure
    call_s: float
    everybodys: bool = False
    """Whether it is a failure that everybody has met for as long as anybody waits."""


class JudgePool(WorkerPool):
    """Has the questions that are put to one judge asked in batches.

    A batch that fails on the wire is tried again as patience has it. What is refused for good, or
    times out, is asked again in parts, unless the judge refuses everybody (`RefusedBatches`).
    A reply that leaves questions open has them asked again (`repair.batches_to_repeat`). A judge
    that can answer nobody (a refused key) is closed: what waits or comes is given up with its
    reason.
    """

    def __init__(
        self,
        asked: PooledJudge,
        limiter: Limiter,
        store: RunStore,
        spend_caps: SpendCaps,
        off_loop: OffLoop,
        results: ResultSink,
    ) -> None:
        """Make a pool that is closed.

        Args:
            asked: The judge.
            limiter: Bounds its calls.
            store: The run, where calls are written down.
            spend_caps: Bound what its calls take.
            off_loop: Reads replies.
            results: Where questions come from and answers go.
        """
        super().__init__(limiter, spend_caps)
        spec = self.spec = asked.spec
        self._asked = asked
        self._records = CallRecords(asked, store)
        self._off_loop = off_loop
        self._results = results
        self._batcher = Batcher(
            spec.batch_size,
            spec.token_budget,
            spec.linger,
            random.Random(asked.seed),  # noqa: S311
        )
        self._refused = RefusedBatches()
        self._secret = random.SystemRandom()  # ids and nonces that no output can know
        self._jitter = random.Random()  # noqa: S311 - jitter, not a secret
        self._calls: dict[asyncio.Task[_Reply | None], Batch] = {}
        self.bulk: BulkQuestions | None = None
        """Takes what may be asked in bulk; None: everything is asked live."""
        self._closed = ""
        """Why this judge can answer nobody; empty: it can."""
        self._long_rests = 0
        """Batches that are asked again after a long while."""

    @property
    def idle(self) -> bool:
        """Whether nothing waits and nothing is under way."""
        return not (self._busy or len(self._batcher) or len(self._refused))

    @property
    def rests(self) -> bool:
        """Whether no call is in flight, nor will be for some seconds."""
        now = time.monotonic()
        again_at = self.limiter.again_at(now)
        later = again_at is not None and again_at - now > _LONG_S
        return not self.limiter.in_flight and (later or self._long_rests > 0)

    def put(self, question: Question) -> None:
        """Take a question up, or pass it on to be asked in bulk."""
        if self.bulk is not None and question.in_bulk:
            self.bulk.put(question)
            return
        self._batcher.add(question, time.monotonic())
        self.tell()

    def grade_alone(self, scorer: str) -> bool:
        """Grade a scorer's outputs one at a time from now on; False where it does already."""
        changed = self._batcher.grade_alone(scorer)
        if self.bulk is not None:
            changed = self.bulk.grade_alone(scorer) or changed
        self.tell()
        return changed

    def look(self) -> None:
        """See whether batches that wait for company are to leave: perhaps nobody comes any more."""
        if self.bulk is not None:
            self.bulk.look()
        if not self.idle:
            self.tell()

    def reopen(self) -> None:
        """Ask again, although nobody could be answered before: somebody has put it right."""
        self._closed = ""
        self._asked.opened.forget_failures()
        self.tell()

    def drop_withdrawn(self) -> None:
        """Forget questions nobody waits for; a call that is about nothing else ends at once."""
        self._batcher.drop_withdrawn()
        self._refused.drop_withdrawn()
        if self.bulk is not None:
            self.bulk.drop_withdrawn()
        for call, batch in self._calls.items():
            if batch.live is None:
                call.cancel()

    def drop_calls(self) -> None:
        """End every call in flight; what it asked stays open in the store."""
        for call in self._calls:
            call.cancel()

    def give_up(self) -> None:
        """Let go of everything that waits; it stays open in the store."""
        self._batcher.forget()
        self._refused.forget()
        if self.bulk is not None:
            self.bulk.forget()

    async def _work(self) -> None:
        with self._employed():
            while not self._may_leave():
                batch = self._take()
                if batch is None:
                    await self._wait_for_change(self._batcher.due() if self._open else None)
                    continue
                self._busy += 1
                try:
                    await self._judge_batch(batch)
                except (StoreError, sqlite3.Error):
                    raise
                except Exception:  # noqa: BLE001 - the edge of a batch: a bug ends it, not the run
                    await self._give_up(batch, bug().message)
                finally:
                    self._busy -= 1
                    self.tell()  # others may start now
                self._called()
                if self.idle:
                    self._results.judge_pool_idle()

    def _take(self) -> Batch | None:
        if not self._open:
            return None
        more_to_come = self._results.more_to_come and not self._closed
        batch = self._batcher.take(time.monotonic(), more_to_come=more_to_come)
        return self._refused.take(in_flight=bool(self._calls)) if batch is None else batch

    async def _judge_batch(self, batch: Batch) -> None:
        if batch.refused is not None and self._refused.by_all:
            await self._give_up(batch, batch.refused)
            return
        asked = request(
            [question.asked for question in batch.questions], self.spec.instructions, self._secret
        )
        task = asyncio.ensure_future(self._ask(batch, asked))
        self._calls[task] = batch
        try:
            reply = await task
        except asyncio.CancelledError:
            this = asyncio.current_task()
            if this is not None and this.cancelling():
                raise  # the worker itself is being ended
            return
        finally:
            del self._calls[task]
        if reply is None and self._closed:
            await self._give_up(batch, self._closed)
        elif reply is None and batch.tries.attempts:
            self._refused.add(batch)
        elif reply is None:
            self._batcher.ask_again([batch])
        elif isinstance(reply.got, Failure):
            await self._failed(batch, reply, reply.got)
        else:
            self._ask_refused_again()
            await self._read(batch, asked, reply, reply.got)

    async def _ask(self, batch: Batch, asked: Request) -> _Reply | None:
        """Ask until there is a reply or patience ends; None: nobody is to be asked, or others."""
        unready = None if self._closed else await self._asked.opened.ready(self.spec.name)
        if unready is not None:
            self._close(unready)
        tries, several = batch.tries, len(batch.questions) > 1
        if not tries.attempts:
            tries.begun_after = self.limiter.successes
        while await self._turn():
            tries.attempts += 1
            with self._call(self.spec.name) as permit:
                call = await self._records.sent(batch, asked, tries.attempts)
                started = time.monotonic()
                try:
                    got = await self._asked.judge.ask(
                        asked.messages,
                        asked.schema,
                        timeout_s=self.spec.timeout_of(len(batch.questions)),
                    )
                except asyncio.CancelledError:
                    self._records.dropped(call, time.monotonic() - started)
                    self._spend_caps.unanswered(self.spec.name)
                    raise
                self._spend_caps.paid(self.spec.name, got, len(batch.questions))
                seconds = time.monotonic() - started
                refuses_all = permit.heard(got, tries, self._asked.patience_s, seconds)
            if isinstance(got, Output):
                return _Reply(call, got, seconds)
            await self._records.failed(call, got, seconds)
            if refuses_all and permit.waited_out(got, self._asked.patience_s):
                return _Reply(call, got, seconds, everybodys=True)
            pause = self._patience(batch, got).pause_before_next(
                got, tries.failures, self._jitter, tries.spared
            )
            log.debug(
                "judge call %d: %s, try %d of batch, %s",
                call,
                got.status or got.kind,
                tries.attempts,
                "no further try" if pause is None else f"again in {pause:.3f} s",
            )
            # the same batch would take as long again; a part of it finds out as much as the whole
            enough = got.kind == "timeout" or (refuses_all and tries.attempts > self.spec.retries)
            if pause is None or (several and enough):
                return _Reply(call, got, seconds)
            self.tell()
            await self._rest(time.monotonic() + pause)
            if refuses_all:
                return None  # the next probe may be another batch: this one may be to blame
        return None

    def _patience(self, batch: Batch, failure: Failure) -> Patience:
        """Return how often a batch is tried; being asked to wait is nothing of its own."""
        if batch.retries is None or failure.kind == "rate_limit":
            return Patience(self.spec.retries)
        return Patience(min(batch.retries, self.spec.retries))

    def _nothing_untried(self) -> bool:
        return (
            not len(self._batcher)
            and not self._results.more_to_come
            and all(batch.tried for batch in self._calls.values())
        )

    async def _turn(self) -> bool:
        """Wait until a call may leave; False: none may until the pool is opened again."""
        while self._open and not self._closed:
            now = time.monotonic()
            if self._may_call(self.spec.name, now):
                return True
            if self._open:  # if not: the run has just come to its cap
                await self._wait_for_change(self._again_at(now))
        return False

    async def _rest(self, until: float) -> None:
        """Sleep until a moment (monotonic seconds), or until nothing is to leave any more."""
        long = until - time.monotonic() > _LONG_S
        self._long_rests += long
        self._spend_caps.look_again()
        try:
            while self._open and not self._closed and time.monotonic() < until:
                await self._wait_for_change(until)
        finally:
            self._long_rests -= long

    async def _failed(self, batch: Batch, reply: _Reply, failure: Failure) -> None:
        """Have what a failed batch held asked again in parts, or give it up."""
        several = len(batch.questions) > 1
        why = f"{_WENT_WRONG}: {failure.message}"
        if several and failure.kind == "context_length":
            self._batcher.ask_again(halves(batch.questions, batch.round))
            self.tell()
        elif failure.fatal:
            self._close(failure)
            await self._give_up(batch, why)
        elif reply.everybodys:
            await self._give_up(batch, why)
        elif several:
            self._refused.add(replace(batch, refused=why))
            if self.limiter.successes > batch.tries.begun_after:
                self._ask_refused_again()
            self.tell()
        else:
            if batch.refused is not None:
                self._refused.asked_in_vain()
            (question,) = batch.questions
            question.call, question.position = reply.call, 0
            await self._give_up(batch, why)

    def _ask_refused_again(self) -> None:
        """Have what was refused asked again: the judge answers others."""
        self._batcher.ask_again(self._refused.answered())

    async def _read(self, batch: Batch, asked: Request, reply: _Reply, got: Output) -> None:
        """Take what the reply answers; have the rest asked again, or give it up."""
        forms = {id_: item.form for id_, item in zip(asked.ids, asked.items, strict=True)}
        try:
            reading = await self._off_loop.read(got.text, forms, asked.nonce, got.finish_reason)
        except AbandonedError:  # what it asked stays open in the store
            self._records.dropped(reply.call, reply.call_s)
            return
        open_: list[Question] = []
        for position, (id_, question) in enumerate(zip(asked.ids, batch.questions, strict=True)):
            question.call, question.position = reply.call, position
            if id_ in reading.findings:
                question.take(reading.findings[id_])
            if question.missing:
                open_.append(question)
        problems = [reading.missing.get(id_) for id_ in asked.ids]
        next_ = batches_to_repeat(batch, open_)
        log.debug(
            "judge call %d: %d of %d answered whole; %d batches ask again",
            reply.call,
            len(batch.questions) - len(open_),
            len(batch.questions),
            len(next_),
        )
        if not next_:
            for question, problem in zip(batch.questions, problems, strict=True):
                if question.missing:
                    question.problem = problem or "the judge did not grade it"
        fact = partial(
            judge_writes.answered,
            call=reply.call,
            output=got,
            call_s=reply.call_s,
            problems=problems,
        )
        await self._results.told(
            fact, [question for question in batch.questions if question.closed]
        )
        self._batcher.ask_again(next_)
        self.tell()

    async def _give_up(self, batch: Batch, why: str) -> None:
        """Leave a batch ungraded; without a reason it stays open in the store: the run stops."""
        if why:
            for question in batch.questions:
                question.problem = why
            await self._results.told(None, batch.questions)

    def _close(self, failure: Failure) -> None:
        self._closed = f"judge {self.spec.name!r} stopped: {failure.message}"
        self.limiter.tell(note(self._closed))
