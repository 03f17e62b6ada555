"""What is written of scores: they are added to a trial's history, and one of a scorer counts."""

from collections.abc import Iterable, Sequence

from tui_eval.model.score import Score
from tui_eval.store.read import many_rows
from tui_eval.store.text import dump, pack
from tui_eval.store.tx import Tx


def add_scores(tx: Tx, trial: int, scores: Sequence[Score], *, fresh: bool) -> None:
    """Append scores to a trial's history; each becomes the current one of its scorer.

    A person's grade that is not withdrawn stays the current one.

    Args:
        tx: The transaction.
        trial: The trial; its present output is what was scored.
        scores: One for each scorer.
        fresh: Whether the trial is known to have no scores yet, which saves looking.
    """
    for score in scores:
        current = 1
        if not fresh:
            by_hand = tx.db.execute(
                "SELECT 1 FROM scores WHERE trial = ? AND scorer = ? AND source = 'human' "
                "AND withdrawn_at IS NULL AND superseded = 0",
                (trial, score.scorer),
            ).fetchone()
            current = 1 if by_hand is None or score.source == "human" else 0
            if current:
                tx.db.execute(
                    "UPDATE scores SET current = 0 WHERE trial = ? AND scorer = ? AND current = 1",
                    (trial, score.scorer),
                )
        tx.db.execute(
            f"INSERT INTO scores ({', '.join(_SCORE)}, current, at, trial, output) "
            f"SELECT {many_rows.question_marks(_SCORE)}, ?, ?, id, output FROM trials WHERE id = ?",
            (*_score_values(score), current, tx.now, trial),
        )


def add_first_scores(tx: Tx, scores: Iterable[tuple[int, int, Score]]) -> None:
    """Keep scores of trials that have none yet, each with its trial and output."""
    many_rows.insert(
        tx.db,
        "scores",
        (*_SCORE, "at", "trial", "output"),
        ((*_score_values(score), tx.now, trial, output) for trial, output, score in scores),
    )


_SCORE = (
    "scorer",
    "verdict",
    "value",
    "raw",
    "reason",
    "source",
    "weight",
    "required",
    "cached",
    "score_key",
)


def _score_values(score: Score) -> tuple[object, ...]:
    grade = score.grade
    return (
        score.scorer,
        grade.verdict.value,
        grade.value,
        None if grade.raw is None else dump(grade.raw),
        pack(grade.reason),
        score.source,
        score.weight,
        int(score.required),
        int(score.cached),
        score.key,
    )
