"""What a judge's pool needs of others: of the judge, of who takes its results, of bulk."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tui_eval.engine.journey.lazy_open import LazyOpen
from tui_eval.engine.judging.question import Question
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.store.read.judges.consigned_call_queries import CallItem
from tui_eval.store.tx import Fact
from tui_eval.suites.spec import JudgeSpec


class BatchJudge(Protocol):
    """What a pool needs of a judge."""

    @property
    def model(self) -> str | None:
        """The model it asks for."""

    async def ask(
        self, messages: Sequence[JsonObject], schema: JsonObject, *, timeout_s: float
    ) -> Output | Failure:
        """Make one request."""


class ResultSink(Protocol):
    """Where the questions of a judge's pool come from and its answers go."""

    @property
    def more_to_come(self) -> bool:
        """Whether further questions may come."""

    async def told(self, fact: Fact | None, closed: Sequence[Question]) -> None:
        """Write down a fact with the questions that it closed, as one transaction."""

    def judge_pool_idle(self) -> None:
        """Learn that a pool has nothing left to do."""


class BulkQuestions(Protocol):
    """Takes the questions that a judge is asked in bulk."""

    def put(self, question: Question) -> None:
        """Take a question up."""

    def look(self) -> None:
        """See whether what waits for company is to leave: perhaps nobody comes any more."""

    def grade_alone(self, scorer: str) -> bool:
        """Grade a scorer's outputs one at a time from now on; False where it does already."""

    def drop_withdrawn(self) -> None:
        """Forget questions nobody waits for."""

    def forget(self) -> None:
        """Forget questions that are in no call."""

    async def join(self, question: Question, equal: CallItem) -> bool:
        """Let a question wait for an item of a call that is written down, an equal one.

        Returns:
            False where nothing comes of that any more: it is to be asked.
        """


@dataclass(frozen=True, slots=True)
class PooledJudge:
    """A judge as a run asks it."""

    spec: JudgeSpec
    """What the suite says of it."""
    judge: BatchJudge
    opened: LazyOpen
    """Opens it, by its name."""
    patience_s: float
    """Seconds to wait for an endpoint that refuses everybody."""
    seed: int
    """Mixes batches."""
