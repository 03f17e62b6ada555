"""What one judge is asked in bulk: from questions to batches, calls and consignments."""

import random
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from math import inf
from typing import Protocol

from tui_eval.engine.bulk.request_file import RequestFile
from tui_eval.engine.bulk.request_size import most_bytes, new_token, sized
from tui_eval.engine.bulk.result_lines import LineCounts
from tui_eval.engine.judging.bulk.call_home import CallHome
from tui_eval.engine.judging.pool.batcher import Batcher
from tui_eval.engine.judging.question import Batch, Question
from tui_eval.engine.limits.spend_caps import BulkPayer
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.providers.bulk.api import BulkApi, BulkLine, StrayLine
from tui_eval.scoring.judge.request import Request, request
from tui_eval.store.read import consignment_queries
from tui_eval.store.read.consignment_queries import ConsignmentRow
from tui_eval.store.read.judges.consigned_call_queries import CallItem
from tui_eval.store.tx import Fact, Tx
from tui_eval.store.write import consignment_writes
from tui_eval.store.write.judges import consigned_calls, judge_writes
from tui_eval.store.write.judges.consigned_calls import ConsignedQuestion
from tui_eval.store.write.judges.judge_writes import SentCall, SentItem
from tui_eval.suites.spec import JudgeSpec
from tui_eval.targets.bulk_access import MostTaken, sum_of


class BulkResults(Protocol):
    """Where questions come from and go once they are in a consignment."""

    @property
    def more_to_come(self) -> bool:
        """Whether further questions may come before some that wait are answered."""

    @property
    def quiet(self) -> bool:
        """Whether no output comes for now: nothing is asked but of providers in bulk."""

    async def told(self, fact: Fact | None, closed: Sequence[Question]) -> None:
        """Write down a fact with the questions that it closed, as one transaction."""

    async def consigned(self, questions: Sequence[Question], call: int) -> None:
        """Let go of trials whose questions are written down in a consignment."""


@dataclass(slots=True)
class _Draft:
    """What a consignment holds so far."""

    token: str = field(default_factory=new_token)
    consignment: int | None = None
    """Its id; None: none of its calls is written down."""
    requests: int = 0
    size: int = 0
    """Bytes of its requests."""
    most: MostTaken = field(default_factory=lambda: MostTaken(0.0, 0))
    """What they take at most."""
    refused: MostTaken | None = None
    """What one more takes that caps have no room for; None: there is none."""


class BulkJudge:
    """Puts a judge's questions into consignments, a batch of them a request.

    Full batches are written down as they come, so that nothing of them is kept in memory; the rest
    once no output comes for now, and then the consignment is whole.
    """

    at_end = True
    """Questions are put here: there are none to read."""

    def __init__(self, calls: CallHome, spec: JudgeSpec, results: BulkResults, seed: int) -> None:
        """Begin without questions.

        Args:
            calls: Takes what comes of its calls.
            spec: What the suite says of the judge.
            results: Whose questions they are.
            seed: Mixes batches.
        """
        self.spec = spec
        self.calls = calls
        self._access, self._store, self._spend_caps = calls.access, calls.store, calls.spend_caps
        self._results = results
        self.endpoint = calls.access.sent_to(calls.judge.endpoint)
        """Where consignments go, as endpoints are named."""
        rng = random.Random(seed)  # noqa: S311 - it mixes, and hides nothing
        self._batcher = Batcher(spec.batch_size, spec.token_budget, inf, rng)
        self._secret = random.SystemRandom()  # ids and nonces that no output can know
        self._draft = _Draft()
        self._new = False
        """Whether questions were put since batches were made."""
        self._tell = self._look = _nobody

    def sent_by(self, tell: Callable[[], None], look: Callable[[], None]) -> None:
        """Tell whoever sends consignments of new questions, or to look at those there are."""
        self._tell, self._look = tell, look

    def look(self) -> None:
        """See whether what waits for company is to leave: perhaps nobody comes any more."""
        self._look()

    def __len__(self) -> int:
        """Questions that wait, and calls that are written down and not sent."""
        return len(self._batcher) + self._draft.requests

    @property
    def ready(self) -> bool:
        """Whether there may be a full batch, or all there is for now is to leave."""
        return self._new or (len(self) > 0 and self._results.quiet)

    def put(self, question: Question) -> None:
        """Take a question up."""
        self._batcher.add(question, time.monotonic())
        self._new = True
        self._tell()

    def grade_alone(self, scorer: str) -> bool:
        """Grade a scorer's outputs one at a time from now on; False where it does already."""
        return self._batcher.grade_alone(scorer)

    async def refill(self, size: int) -> None:
        """Read nothing: questions are put."""

    def rewind(self) -> None:
        """Read nothing anew."""

    def drop_withdrawn(self) -> None:
        """Forget questions nobody waits for."""
        self._batcher.drop_withdrawn()

    def forget(self) -> None:
        """Forget questions that are in no call: their trials wait in the store."""
        self._batcher.forget()

    async def form(self, api: BulkApi, most: int) -> tuple[ConsignmentRow, RequestFile] | None:
        """Write down what is to be asked; return the consignment once it is whole.

        Args:
            api: Where it is to be sent.
            most: How many requests it may have.

        Raises:
            BulkError: there is no room for the requests on this machine.
        """
        if not self._spend_caps.may_consign(self._payer):
            return None
        self._new = False
        full = self._new = await self._fill(api, min(most, api.limits.requests))
        draft = self._draft
        made, refused = draft.consignment, draft.refused
        if refused is not None and not self._spend_caps.cut_short(
            self._payer, draft.requests, refused.usd, refused.tokens
        ):
            return None
        if made is None or not (full or self._results.quiet):
            return None
        self._draft = _Draft()
        self._spend_caps.consigned(draft.token, draft.most.usd, draft.most.tokens)
        row = await self._row(made)
        requests = await self.calls.again(row, api)
        return await self._row(made), requests

    @property
    def _payer(self) -> BulkPayer:
        return BulkPayer(is_judge=True, draft=self._draft.token)

    async def _row(self, consignment: int) -> ConsignmentRow:
        return await self._store.reading.call(consignment_queries.consignment, consignment)

    async def again(self, row: ConsignmentRow, api: BulkApi) -> RequestFile:
        """Return the requests of one that was perhaps never sent, see `CallHome.again`."""
        return await self.calls.again(row, api)

    async def take(
        self, row: ConsignmentRow, lines: Sequence[BulkLine | StrayLine], seen: LineCounts
    ) -> bool:
        """Write down what some lines say, see `CallHome.take`."""
        return await self.calls.take(row, lines, seen)

    def settle(self, row: ConsignmentRow, tx: Tx) -> bool:
        """Keep answers that nobody waits for any more, see `CallHome.settle`."""
        return self.calls.settle(row, tx)

    async def never_came(self, row: ConsignmentRow) -> None:
        """Write down of calls without a line that the results have none for them."""
        await self.calls.never_came(row)

    async def give_back(self, row: ConsignmentRow) -> None:
        """Let what a consignment asks be asked again: nothing comes of it."""
        await self.calls.give_back(row)

    async def _fill(self, api: BulkApi, most: int) -> bool:
        """Write down batches that are to leave; return whether the consignment takes no more."""
        self._draft.refused = None
        while self._draft.requests < most:
            more = self._results.more_to_come and not self._results.quiet
            batch = self._batcher.take(time.monotonic(), more_to_come=more)
            if batch is None:
                return False
            if not await self._add(batch, api):
                self._batcher.ask_again([batch])
                return True
        return True

    async def _add(self, batch: Batch, api: BulkApi) -> bool:
        """Write down the call of a batch; False where there is no room for it."""
        items = [question.asked for question in batch.questions]
        asked = request(items, self.spec.instructions, self._secret)
        draft = self._draft
        made = await sized(_kept(asked), draft.token, self._access, api)
        if isinstance(made, Failure):
            await self._refuse(batch, made)
            return True
        if draft.size + made.size > most_bytes(self._access, api):
            return False
        one = self._access.most(made.size)
        if not self._spend_caps.has_room(one.usd, one.tokens):  # beside the others, which hold it
            draft.refused = one
            return False
        draft.size, draft.most = draft.size + made.size, sum_of(draft.most, one)
        self._spend_caps.drafted(draft.token, draft.most.usd, draft.most.tokens)
        unit = partial(self._write, draft=draft, batch=batch, asked=asked)
        draft.consignment, call = await self._store.writer.write(unit)
        draft.requests += 1
        await self._results.consigned(batch.questions, call)
        return True

    async def _refuse(self, batch: Batch, failure: Failure) -> None:
        """Ask each question of a batch alone that cannot be sent; give up one that cannot."""
        if len(batch.questions) > 1:
            self._batcher.ask_again([Batch((question,)) for question in batch.questions])
            return
        for question in batch.questions:
            question.problem = f"the judge could not be asked: {failure.message}"
        await self._results.told(None, batch.questions)

    def _write(self, tx: Tx, draft: _Draft, batch: Batch, asked: Request) -> tuple[int, int]:
        """Write down a call with who waits for it; return the consignment, and the call."""
        made = draft.consignment
        if made is None:
            judge = self.calls.judge
            made = consignment_writes.form(
                tx, self._store.run, judge.name, self.endpoint, draft.token, "judge"
            )
        call = judge_writes.send(tx, self._sent(batch, asked))
        waiting = [
            _waiting(question, place, asked.ids[place])
            for place, question in enumerate(batch.questions)
        ]
        consigned_calls.consign(tx, made, draft.requests, call, asked.nonce, waiting)
        return made, call

    def _sent(self, batch: Batch, asked: Request) -> SentCall:
        first = batch.questions[0]
        return SentCall(
            run=self._store.run,
            scorer=first.scorer,
            judge=self.calls.judge.name,
            model=self.calls.judge.model,
            purpose=first.purpose,
            round=first.bulk_round,
            attempt=1,
            request=_kept(asked),
            items=tuple(SentItem(one.trial, one.repeat) for one in batch.questions),
        )

    async def join(self, question: Question, equal: CallItem) -> bool:
        """Let a question wait for an item of a call that is written down, an equal one.

        Returns:
            False where nothing comes of that any more: it is to be asked.
        """
        waiting = _waiting(question, equal.position, None)
        question.consigned = await self._store.writer.write(
            partial(consigned_calls.join, call=equal.call, question=waiting)
        )
        return question.consigned


def _nobody() -> None:
    """Tell nobody: no pool sends consignments yet."""


def _kept(asked: Request) -> JsonObject:
    return {"messages": [*asked.messages], "schema": asked.schema}


def _waiting(question: Question, position: int, item: str | None) -> ConsignedQuestion:
    assert question.trial is not None, "gold is asked live"
    assert question.opening is not None, "a trial has one"
    form = question.asked.form
    return ConsignedQuestion(
        position,
        question.trial,
        question.opening,
        question.scorer,
        question.key,
        {
            "kind": form.kind,
            "low": form.low,
            "high": form.high,
            "numbers": [*form.numbers],
            "whole": not question.parts,
        },
        item,
    )
