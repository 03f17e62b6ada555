"""What is asked again: what a reply left open, and what a batch held that was refused."""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace

from tui_eval.engine.judging.question import Batch, Question, Round
from tui_eval.engine.limits.call_permit import CallHistory
from tui_eval.engine.limits.limiter import GONE_AFTER


def batches_to_repeat(batch: Batch, missing: Sequence[Question]) -> list[Batch]:
    """Return the batches that ask for what a reply left open; none: it is given up.

    In halves first, then each alone, twice. For `m` questions that are never answered that makes
    at most `2 + 2m` further requests in three further rounds.
    """
    match batch.round:
        case Round.FIRST if len(missing) > 1:
            return halves(missing, Round.HALF)
        case Round.FIRST:
            return [Batch((question,), Round.ALONE) for question in missing]
        case Round.HALF:
            alone = Round.ALONE if len(batch.questions) > 1 else Round.AGAIN
            return [Batch((question,), alone) for question in missing]
        case Round.ALONE:
            return [Batch((question,), Round.AGAIN) for question in missing]
    return []


def halves(questions: Sequence[Question], as_: Round) -> list[Batch]:
    """Cut a batch in two."""
    middle = (len(questions) + 1) // 2
    return [Batch(tuple(half), as_) for half in (questions[:middle], questions[middle:]) if half]


def parts(refused: Batch) -> list[Batch]:
    """Return the batches that ask again for what a refused batch held.

    In halves once, then each question alone; a half has one attempt, a question alone two. So a
    batch of `n` questions that was refused after `1 + retries` attempts makes at most `2 + 2n`
    further requests, whichever of its questions are to blame.

    Args:
        refused: The batch; its judge has answered others since it was first asked.
    """
    questions = refused.questions
    halved = refused.round is Round.FIRST
    cut = [half.questions for half in halves(questions, Round.HALF)] if halved else [
        (question,) for question in questions
    ]  # fmt: skip
    return [
        Batch(
            part,
            Round.HALF if len(part) > 1 else Round.ALONE,
            CallHistory(own=True),
            retries=0 if len(part) > 1 else 1,
        )
        for part in cut
    ]


class RefusedBatches:
    """The batches that a judge refused, until it is known whether it refuses everybody.

    Once the judge answers anything, what it refused before was to blame itself, and is asked again
    in `parts`. Until then, and when nothing else is left to ask, single questions of the refused
    batches are asked, one at a time. When `GONE_AFTER` of these in a row have come to nothing, the
    judge refuses everybody: batches are given up whole, and only what comes anew is asked.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self._waiting: deque[Batch] = deque()
        self._in_vain = 0
        """Questions that were asked alone since the judge last answered, and got no answer."""

    def __len__(self) -> int:
        """Questions that wait."""
        return sum(len(batch.questions) for batch in self._waiting)

    @property
    def by_all(self) -> bool:
        """Whether the judge seems to refuse everybody."""
        return self._in_vain >= GONE_AFTER

    def add(self, batch: Batch) -> None:
        """Let a batch wait behind everything else."""
        self._waiting.append(batch)

    def take(self, *, in_flight: bool) -> Batch | None:
        """Return what is to be asked, or given up, when nothing else is left; None: nothing is.

        Args:
            in_flight: Whether a call is under way, which may tell whether the judge answers.
        """
        for _ in range(len(self._waiting)):
            batch = self._waiting.popleft().live
            if batch is None:
                continue
            if batch.refused is None or self.by_all:
                return batch
            if not in_flight:
                first, *others = batch.questions
                if others:
                    self._waiting.append(replace(batch, questions=tuple(others)))
                return Batch((first,), Round.ALONE, retries=0, refused=batch.refused)
            self._waiting.append(batch)
        return None

    def asked_in_vain(self) -> None:
        """Learn that a question of a refused batch, asked alone, got no answer either."""
        self._in_vain += 1

    def answered(self) -> list[Batch]:
        """Learn that the judge answers; give what it refused, to be asked again."""
        self._in_vain = 0
        refused = [batch for batch in self._waiting if batch.refused is not None]
        self._waiting = deque(batch for batch in self._waiting if batch.refused is None)
        return [part for batch in refused for part in parts(batch)]

    def drop_withdrawn(self) -> None:
        """Forget what nobody waits for any more."""
        self._waiting = deque(live for batch in self._waiting if (live := batch.live) is not None)

    def forget(self) -> None:
        """Forget everything."""
        self._waiting.clear()
