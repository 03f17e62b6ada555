"""Runs that a judge has scored, with grades of people, written straight into a store."""

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from tests.support import Staged, do, output, stage
from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.json import Json
from tui_eval.model.score import Grade, Score, tally
from tui_eval.model.states import RunState, Verdict
from tui_eval.store.rows import ColumnRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, run_writes, score_writes, trial_moves
from tui_eval.store.write.people import grade_writes
from tui_eval.store.write.people.grade_writes import NewGrade
from tui_eval.store.write.run_writes import NewTrial
from tui_eval.suites.spec import Suite

SUITE: dict[str, object] = {
    "name": "summaries",
    "targets": [{"kind": "simulated", "name": "x", "answers": "y"}],
    "scorers": [
        {"kind": "judge", "name": "good", "rubric": "Is it?", "scale": [0, 100], "judge": ["j"]}
    ],
    "judges": [{"kind": "simulated", "name": "j"}],
}


@dataclass(frozen=True)
class Rated:
    """One output: what the judge said, and people by their names."""

    judge: float | None
    """0 to 100; None: ungraded."""
    people: dict[str, float | str | None]
    """A number of the scale, a verdict, or None: could not tell."""
    seed: int | None = 1
    """By which it was drawn for them; None: somebody chose it."""


def rated_run(
    db: sqlite3.Connection,
    columns: Mapping[str, Sequence[Rated]],
    *,
    epochs: int = 1,
    **changes: object,
) -> Staged:
    """Write a run of rated outputs: a column for each name, a case for each `epochs` of it."""
    spec = Suite.model_validate({**SUITE, **changes}).model_dump_json()
    names = list(columns)

    def begin(tx: Tx) -> int:
        run = run_writes.create(tx, run_writes.NewRun(suite="summaries", spec=spec, settings={}))
        rows = [
            ColumnRow(i, name, name, None, "simulated", None, "e", AnswerSource.SIMULATED)
            for i, name in enumerate(names)
        ]
        run_writes.add_columns(tx, run, rows)
        return run

    run = do(db, begin)
    n = max(len(rated) for rated in columns.values())
    places = [(seq, col) for seq in range(n) for col in range(len(names))]
    places = [(seq, col) for seq, col in places if seq < len(columns[names[col]])]
    trials = [
        NewTrial(i, seq // epochs, col, seq % epochs, b"%d" % i)
        for i, (seq, col) in enumerate(places)
    ]
    made = stage(db, run, trials, -(-n // epochs))
    for trial, (seq, col) in zip(made.trials, places, strict=True):
        rated = columns[names[col]][seq]
        do(db, partial(_finish, run=run, trial=trial, rated=rated))
    do(db, lambda tx: run_writes.move(tx, run, RunState.RUNNING))
    do(db, lambda tx: run_writes.move(tx, run, RunState.DONE))
    return made


def _finish(tx: Tx, run: int, trial: int, rated: Rated) -> None:
    attempt = attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
    assert attempt is not None
    attempt_writes.answer(tx, attempt, trial, b"%d" % trial, output(f"text {trial}"), 0.1)
    grade = (
        Grade.ungraded("the judge was silent")
        if rated.judge is None
        else Grade(_verdict(rated.judge), rated.judge / 100, "so it is")
    )
    scores = [Score("good", grade, source="judge")]
    score_writes.add_scores(tx, trial, scores, fresh=True)
    trial_moves.settle(tx, trial, tally(scores))
    made = tx.db.execute("SELECT output FROM trials WHERE id = ?", (trial,)).fetchone()[0]
    grade_writes.add(tx, run, [_new(trial, made, by, rated) for by in rated.people])


def _new(trial: int, made: int, by: str, rated: Rated) -> NewGrade:
    said = rated.people[by]
    verdict: Verdict | None = None
    value: float | None = None
    if isinstance(said, str):
        verdict = Verdict(said)
    elif said is not None:
        verdict, value = _verdict(said), said / 100
    given: Json = said
    return NewGrade(trial, made, "good", by, given, verdict, value, seed=rated.seed)


def _verdict(score: float) -> Verdict:
    return Verdict.PASS if score >= 50 else Verdict.FAIL
