"""What the store knows of questions that are asked in bulk, when their trials are taken anew."""

from collections.abc import Mapping, Sequence
from typing import Final

from tui_eval.engine.bulk.result_lines import ASKED_AGAIN
from tui_eval.engine.judging.pool.judge_pool import JudgePool
from tui_eval.engine.judging.question import Question
from tui_eval.engine.run_store import RunStore
from tui_eval.scoring.judge.reading import Finding
from tui_eval.store.read.judges import consigned_call_queries
from tui_eval.store.read.judges.consigned_call_queries import AskedInBulk, BulkHistory

_GIVEN_UP: Final = (
    f"the provider did not do it, or lost it, in {ASKED_AGAIN + 1} consignments: scoring the case "
    "again asks it live"
)
_UNGRADED: Final = "the judge did not grade it"


class BulkAnswers:
    """Answers questions with what consignments brought for them; gives up what was asked enough."""

    def __init__(self, store: RunStore, *, reuse: bool) -> None:
        """Look answers up in a run's store.

        Args:
            store: The run.
            reuse: Whether the answer to an equal question of another trial may be awaited.
        """
        self._store = store
        self._reuse = reuse
        self._consigned: set[bytes] = set()
        """Keys of what was consigned since the present look-up has begun."""

    def consigned(self, question: Question) -> None:
        """Learn that a question is asked in a consignment from now on."""
        self._consigned.add(question.key)

    def missed(self, question: Question) -> bool:
        """Return whether an equal question was consigned since the last look-up has begun."""
        return question.key in self._consigned

    async def answer(
        self, questions: Sequence[Question], pools: Mapping[str, JudgePool]
    ) -> list[Question]:
        """Close what is answered, or given up; what waits in a consignment is `consigned`.

        Returns:
            Those that were closed.
        """
        self._consigned.clear()
        asked: dict[AskedInBulk, Question] = {}
        for one in questions:
            if one.in_bulk and not one.closed and pools[one.judge].bulk is not None:
                assert one.trial is not None and one.opening is not None, "it is of a trial"
                asked[one.key, one.trial, one.opening, one.scorer] = one
        if not asked:
            return []
        found = await self._store.reading.call(
            consigned_call_queries.histories, self._store.run, [*asked], self._reuse
        )
        for key, history in found.items():
            question = asked[key]
            bulk = pools[question.judge].bulk
            if history.equal is not None and bulk is not None and not question.parts:
                await bulk.join(question, history.equal)
            else:
                _apply(question, history)
        return [question for question in asked.values() if question.closed]


def _apply(question: Question, history: BulkHistory) -> None:
    question.consigned = history.awaited
    for made in history.made:
        question.take(Finding.from_json(made))
    if history.last is not None:
        question.call, question.position = history.last.call, history.last.position
    if history.asks:
        question.failed_before = question.failed_before or not history.never_done
        question.asked_before = True
    if question.missing and history.asks > ASKED_AGAIN:
        question.problem = _GIVEN_UP if history.never_done else history.problem or _UNGRADED
    question.own = history.told and question.closed
