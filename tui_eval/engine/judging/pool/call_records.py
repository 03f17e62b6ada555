"""What is written down of a judge's calls: sent, failed, ended early; and said in the log."""

import logging
from functools import partial

from tui_eval.engine.judging.pool.judge_interfaces import PooledJudge
from tui_eval.engine.judging.question import Batch
from tui_eval.engine.run_store import RunStore
from tui_eval.model.outputs.output import Failure
from tui_eval.scoring.judge.request import Request
from tui_eval.store.write.judges import judge_writes
from tui_eval.store.write.judges.judge_writes import SentCall, SentItem

log = logging.getLogger(__name__)


class CallRecords:
    """The calls of one judge in one run, as the store is to have them."""

    def __init__(self, asked: PooledJudge, store: RunStore) -> None:
        self._judge = asked.spec.name
        self._asked = asked
        self._run = store.run
        self._writer = store.writer

    async def sent(self, batch: Batch, asked: Request, attempt: int) -> int:
        """Write a call down before it leaves; return its id."""
        first = batch.questions[0]
        sent = SentCall(
            run=self._run,
            scorer=first.scorer,
            judge=self._judge,
            model=self._asked.judge.model,
            purpose=first.purpose,
            round=batch.round,
            attempt=attempt,
            request={"messages": [*asked.messages], "schema": asked.schema},
            items=tuple(SentItem(question.trial, question.repeat) for question in batch.questions),
        )
        call = await self._writer.write(partial(judge_writes.send, call=sent))
        log.debug(
            "judge call %d to %s: round %s, scorer %s, trials %s",
            call,
            self._judge,
            batch.round,
            first.scorer,
            [question.trial for question in batch.questions],
        )
        return call

    async def failed(self, call: int, failure: Failure, call_s: float) -> None:
        """Write down how a call failed, after so many seconds."""
        await self._writer.write(
            partial(judge_writes.failed, call=call, failure=failure, call_s=call_s)
        )

    def dropped(self, call: int, call_s: float) -> None:
        """Have it written down that nobody waits for a call any more; what it asked stays open."""
        self._writer.submit(partial(judge_writes.dropped, call=call, call_s=call_s))
