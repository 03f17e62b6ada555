"""What is asked again after a reply that did not answer everything."""

from collections.abc import Sequence

from tui_eval.engine.judging.question import Batch, Question, Round


def again(batch: Batch, missing: Sequence[Question]) -> list[Batch]:
    """Give the batches that ask for what a reply left open; none: it is given up.

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
