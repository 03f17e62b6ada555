"""A store filled with one run, as an engine would have written it."""

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.fresh_store import fresh_store
from tests.support import reading
from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.case import Case
from tui_eval.model.json import digest
from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.model.score import Grade, Score, tally
from tui_eval.model.states import RunState
from tui_eval.store import lease
from tui_eval.store.connection import open_writable
from tui_eval.store.rows import ColumnRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, run_writes, score_writes, trial_moves, trial_verbs
from tui_eval.store.write.baseline_writes import BaseChoice
from tui_eval.store.write.run_writes import NewTrial
from tui_eval.store.writer import transact
from tui_eval.suites.spec import Suite

USAGE = Usage(10, 5)
PASS = Grade.of(True, "as expected")
FAIL = Grade.of(False, "expected 'Paris', got 'London'")
UNGRADED = Grade.ungraded("the output was cut short")


@dataclass(frozen=True)
class Told:
    """What becomes of one trial."""

    grade: Grade | None = PASS
    """None: it is not graded, see `failure` and `cancelled`."""
    text: str | None = "Paris"
    failure: Failure | None = None
    cancelled: bool = False
    latency_s: float | None = 0.5
    cost_usd: float | None = 0.001
    finish_reason: str = "stop"
    attempts: int = 1
    usage: Usage = USAGE
    scorer: str = "exact"
    required: bool = True


OPEN = Told(grade=None)
ERROR = Told(grade=None, failure=Failure("timeout", "no answer within 300 s"))
CANCELLED = Told(grade=None, cancelled=True)


@dataclass(frozen=True)
class Plan:
    """What a run is made of."""

    told: dict[str, list[Told]]
    """For each column, each case's epochs one after the other."""
    cases: Sequence[Case]
    epochs: int = 1
    run: dict[str, object] = field(default_factory=dict)
    gate: dict[str, object] | None = None
    state: RunState = RunState.DONE
    partial: bool = False
    cluster: str | None = None
    base: BaseChoice | None = None
    """What the run is launched to be compared with."""


def cases(n: int, **given: object) -> list[Case]:
    """Make n cases, `case-0` and so on."""
    return [Case(i, f"case-{i}", {"n": i}, **given) for i in range(n)]  # type: ignore[arg-type]


def fill(path: Path, plan: Plan) -> int:
    """Write a run down; give its id."""
    fresh_store(path)
    db = open_writable(path)
    try:
        return transact(db, lambda tx: _fill(tx, plan))
    finally:
        db.close()


@contextmanager
def filled(path: Path, plan: Plan) -> Iterator[tuple[sqlite3.Connection, int]]:
    """Write a run down; open its store to read, for a while, and give the run's id."""
    run = fill(path, plan)
    with reading(path) as db:
        yield db, run


def spec(plan: Plan) -> str:
    """Give the frozen suite of a plan."""
    suite = {
        "name": "capitals",
        "dataset": {"cluster": plan.cluster},
        "targets": [
            {"kind": "simulated", "name": name, "answers": "{{ n }}"}
            for name in dict.fromkeys(column.split("/")[0] for column in plan.told)
        ],
        "scorers": [{"kind": "exact", "expected": "{{ n }}"}],
        "run": {**plan.run, "epochs": plan.epochs},
        "gate": plan.gate,
    }
    return Suite.model_validate(suite).model_dump_json()


def _fill(tx: Tx, plan: Plan) -> int:
    run = run_writes.create(
        tx,
        run_writes.NewRun(
            suite="capitals", spec=spec(plan), settings={}, partial=plan.partial, base=plan.base
        ),
    )
    names = list(plan.told)
    run_writes.add_columns(
        tx,
        run,
        [
            ColumnRow(i, name, name.partition("/")[0], name.partition("/")[2] or None, "simulated",
                      f"model-{i}", f"endpoint-{i}", AnswerSource.SIMULATED)
            for i, name in enumerate(names)
        ],
    )  # fmt: skip
    run_writes.add_cases(tx, run, plan.cases)
    order = [
        (case, col, epoch)
        for case in plan.cases
        for col in range(len(names))
        for epoch in range(plan.epochs)
    ]
    run_writes.add_trials(
        tx,
        run,
        [
            NewTrial(place, case.seq, col, epoch, digest([run, place]))
            for place, (case, col, epoch) in enumerate(order)
        ],
    )
    run_writes.staged(tx, run)
    run_writes.move(tx, run, RunState.RUNNING)
    run_writes.begin(tx, run)
    told = {name: iter(of_column) for name, of_column in plan.told.items()}
    for place, (_, col, _) in enumerate(order):
        _live(tx, run, place, next(told[names[col]], OPEN))
    if plan.state is RunState.RUNNING:
        lease.acquire(tx, run)
    else:
        run_writes.move(tx, run, plan.state)
        run_writes.end(tx, run)
    return run


def _live(tx: Tx, run: int, place: int, told: Told) -> None:
    trial, key = tx.db.execute(
        "SELECT id, generation_key FROM trials WHERE run = ? AND place = ?", (run, place)
    ).fetchone()
    if told.cancelled:
        trial_verbs.cancel(tx, trial)
        return
    if told.grade is None and told.failure is None:
        return
    attempt = None
    for number in range(1, told.attempts + 1):
        attempt = attempt_writes.start_attempt(tx, trial, queue_s=0.0, wait_s=None)
        assert attempt is not None
        if number < told.attempts:
            attempt_writes.fail_attempt(tx, attempt, Failure("rate_limit", "slow down", True), 0.1)
    assert attempt is not None
    if told.failure is not None:
        attempt_writes.fail_attempt(tx, attempt, told.failure, 0.1)
        trial_moves.fail_trial(tx, trial, told.failure)
        return
    assert told.grade is not None
    output = Output(
        told.text,
        finish_reason=told.finish_reason,
        usage=told.usage,
        cost_usd=told.cost_usd,
        latency_s=told.latency_s,
    )
    attempt_writes.answer(tx, attempt, trial, key, output, told.latency_s or 0.0)
    score = Score(told.scorer, told.grade, required=told.required)
    score_writes.add_scores(tx, trial, [score], fresh=True)
    trial_moves.settle(tx, trial, tally([score]))
