import sqlite3
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support import do, output, score, staged, writing
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import tally
from tui_eval.model.states import RunState
from tui_eval.store import lease
from tui_eval.store.errors import LeaseLostError, UnknownRunError
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import output_queries, trial_rows
from tui_eval.store.tx import Tx
from tui_eval.store.write import (
    attempt_writes,
    deletion,
    run_writes,
    score_writes,
    trial_moves,
    trial_verbs,
)
from tui_eval.store.write.deletion import RunLiveError, delete, deletion_extent
from tui_eval.store.write.run_writes import NewTrial

OF_NO_RUN = {
    "meta",
    "migrations",
    "runs",
    "outputs",
    "kept_files",
    "workspace_files",
    "long_texts",
    "output_texts",
    "baseline_files",
}


def answered(db: sqlite3.Connection, run: int, trials: Sequence[int]) -> None:
    """Give each trial an output of its own and a score, and end the run."""

    def unit(tx: Tx) -> None:
        for trial in trials:
            key = tx.db.execute(
                "SELECT generation_key FROM trials WHERE id = ?", (trial,)
            ).fetchone()[0]
            attempt = attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
            assert attempt is not None
            attempt_writes.answer(tx, attempt, trial, key, output(f"answer {trial}"), 0.1)
            score_writes.add_scores(tx, trial, [score()], fresh=True)
            trial_moves.settle(tx, trial, tally([score()]))
        run_writes.move(tx, run, RunState.DONE)

    do(db, unit)


def reused(db: sqlite3.Connection, outputs: Sequence[int]) -> int:
    """Make a finished run whose trials show outputs that were there already."""

    def unit(tx: Tx) -> int:
        run = run_writes.create(
            tx,
            run_writes.NewRun(suite="again", spec="{}", settings={}),
        )
        keys = [
            tx.db.execute("SELECT generation_key FROM outputs WHERE id = ?", (one,)).fetchone()[0]
            for one in outputs
        ]
        run_writes.add_trials(
            tx,
            run,
            [
                NewTrial(n, n, 0, 0, key, one)
                for n, (key, one) in enumerate(zip(keys, outputs, strict=True))
            ],
        )
        run_writes.staged(tx, run)
        run_writes.move(tx, run, RunState.RUNNING)
        for (trial,) in tx.db.execute("SELECT id FROM trials WHERE run = ?", (run,)).fetchall():
            score_writes.add_scores(tx, trial, [score()], fresh=True)
            trial_moves.settle(tx, trial, tally([score()]))
        run_writes.move(tx, run, RunState.DONE)
        return run

    return do(db, unit)


def one(db: sqlite3.Connection, query: str, *values: object) -> int:
    return int(db.execute(query, values).fetchone()[0])


def dump(db: sqlite3.Connection, run: int) -> list[object]:
    """Give all that is shown of a run."""
    trials = trial_rows.trials_from(db, run, 0, 100)
    return [
        (
            trial,
            None if trial.output is None else output_queries.output(db, trial.output),
            trial_rows.attempts(db, trial.id),
            trial_rows.scores(db, trial.id),
        )
        for trial in trials
    ]


def test_all_of_a_run_goes_and_nothing_of_another(db: sqlite3.Connection) -> None:
    other = staged(db, 3, suite="other")
    answered(db, other.run, other.trials)
    before = dump(db, other.run)
    gone = staged(db, 4, columns=2)
    answered(db, gone.run, gone.trials)
    for table in ("limits", "requests", "judge_calls", "baselines"):
        _fill(db, table, gone.run)
    db.execute("INSERT INTO judge_items VALUES (1, 0, ?, 0, NULL)", (gone.trials[0],))
    db.execute("INSERT INTO judge_items VALUES (1, 1, NULL, 0, NULL)")
    for trial in (gone.trials[0], None):
        db.execute(
            "INSERT INTO findings (trial, scorer, judge, purpose, repeat, numbers, score_key, "
            "made, call, at) VALUES (?, 'polite', 'j', 'grade', 0, '[0]', x'00', '{}', 1, 0)",
            (trial,),
        )

    delete(db, gone.run)

    assert [run.id for run in run_queries.runs(db)] == [other.run]
    assert dump(db, other.run) == before
    assert _left(db, gone.run, gone.trials) == {}
    assert one(db, "SELECT count(*) FROM outputs") == 3
    assert one(db, "SELECT count(*) FROM findings") == 0


def _fill(db: sqlite3.Connection, table: str, run: int) -> None:
    """Write a row of a run into a table, with anything in the columns that must have something."""
    columns = db.execute(f"PRAGMA table_info({table})").fetchall()
    needed = [row[1] for row in columns if row[3] and row[4] is None and row[1] != "run"]
    marks = ", ".join("?" * (len(needed) + 1))
    db.execute(
        f"INSERT INTO {table} (run{''.join(f', {name}' for name in needed)}) VALUES ({marks})",
        (run, *("0" for _ in needed)),
    )


def _left(db: sqlite3.Connection, run: int, trials: Sequence[int]) -> dict[str, int]:
    """Count what is left of a run in every table there is, whatever was added since."""
    found = {}
    tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
    for (table,) in tables:
        columns = {row[1] for row in db.execute(f"PRAGMA table_info({table})")}
        rows = 0
        if "run" in columns:
            rows += one(db, f"SELECT count(*) FROM {table} WHERE run = ?", run)
        if "trial" in columns:
            marks = ",".join("?" * len(trials))
            rows += one(db, f"SELECT count(*) FROM {table} WHERE trial IN ({marks})", *trials)
        if "call" in columns:
            rows += one(db, f"SELECT count(*) FROM {table} WHERE call = 1")
        assert {"run", "trial", "call"} & columns or table in OF_NO_RUN, table
        if rows:
            found[table] = rows
    return found


def test_outputs_that_another_run_shows_stay(db: sqlite3.Connection) -> None:
    first = staged(db, 4)
    answered(db, first.run, first.trials)
    outputs = [row[0] for row in db.execute("SELECT id FROM outputs ORDER BY id")]
    second = reused(db, outputs[:3])
    before = dump(db, second)
    found = deletion_extent(db, [first.run])
    assert (found.trials, found.outputs, found.kept) == (4, 1, 3)
    both = deletion_extent(db, [first.run, second])
    assert (both.trials, both.outputs, both.kept) == (7, 4, 0)

    delete(db, first.run)

    assert dump(db, second) == before
    assert [row[0] for row in db.execute("SELECT id FROM outputs ORDER BY id")] == outputs[:3]
    # a run that is made now finds them, and the last that shows them takes them along
    assert one(db, "SELECT count(*) FROM outputs WHERE superseded = 0") == 3
    delete(db, second)
    assert one(db, "SELECT count(*) FROM outputs") == 0


def test_outputs_of_the_run_that_asked_stay_where_one_that_reused_them_goes(
    db: sqlite3.Connection,
) -> None:
    first = staged(db, 2)
    answered(db, first.run, first.trials)
    outputs = [row[0] for row in db.execute("SELECT id FROM outputs ORDER BY id")]
    second = reused(db, outputs)
    # the first run has asked again: it shows another output, its attempts still name the old one
    do(db, lambda tx: trial_verbs.retry(tx, first.trials[0]))
    delete(db, second)
    assert [row[0] for row in db.execute("SELECT id FROM outputs ORDER BY id")] == outputs
    assert [attempt.output for attempt in trial_rows.attempts(db, first.trials[0])] == [outputs[0]]


def test_the_conversations_of_failed_attempts_go_with_their_run(db: sqlite3.Connection) -> None:
    first = staged(db, 1)
    said: tuple[JsonObject, ...] = ({"role": "assistant", "content": "x" * 20_000},)

    def fail(tx: Tx) -> None:
        attempt = attempt_writes.start_attempt(tx, first.trials[0], queue_s=None, wait_s=None)
        assert attempt is not None
        attempt_writes.fail_attempt(tx, attempt, Failure("exit", "code 1", messages=said), 0.1)
        run_writes.move(tx, first.run, RunState.DONE)

    do(db, fail)
    [attempt] = trial_rows.attempts(db, first.trials[0])
    assert attempt.output is not None
    assert output_queries.output(db, attempt.output).messages == said
    extent = deletion_extent(db, [first.run])
    assert (extent.outputs, extent.size > 20_000) == (0, True)
    delete(db, first.run)
    for table in ("outputs", "long_texts", "output_texts"):
        assert one(db, f"SELECT count(*) FROM {table}") == 0


def test_a_live_run_is_refused_and_left_alone(db: sqlite3.Connection) -> None:
    live = staged(db, 2)
    do(db, lambda tx: lease.acquire(tx, live.run))
    before = dump(db, live.run)
    with pytest.raises(RunLiveError, match="live"):
        delete(db, live.run)
    assert dump(db, live.run) == before
    assert one(db, "SELECT sum(n) FROM tallies WHERE run = ?", live.run) == 2


def test_a_run_nobody_knows_is_an_error(db: sqlite3.Connection) -> None:
    with pytest.raises(UnknownRunError):
        delete(db, 12)


def test_one_that_died_half_way_is_finished_by_the_next(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "_PORTION", 2)
    run = staged(db, 5)
    answered(db, run.run, run.trials)

    def die(gone: int) -> None:
        if gone == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        delete(db, run.run, die)
    assert one(db, "SELECT count(*) FROM trials") == 1
    row = run_queries.run(db, run.run)
    assert (row.total, row.stopped_by) == (0, "deletion")
    do(db, lambda tx: lease.release(tx, run.run))  # as its process had ended
    told: list[int] = []
    delete(db, run.run, told.append)
    assert told == [1]
    assert one(db, "SELECT count(*) FROM outputs") == one(db, "SELECT count(*) FROM runs") == 0


def test_two_at_once_do_not_meet(db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deletion, "_PORTION", 1)
    run = staged(db, 3)

    def take_over(_: int) -> None:
        do(db, lambda tx: lease.release(tx, run.run))
        do(db, lambda tx: lease.acquire(tx, run.run))

    with pytest.raises(LeaseLostError):
        delete(db, run.run, take_over)


def test_an_id_is_never_given_twice(path: Path) -> None:
    with writing(path) as db:
        first = staged(db, 1).run
        second = staged(db, 1).run
        delete(db, second)
        assert staged(db, 1).run == second + 1
        delete(db, first)
        assert staged(db, 1).run == second + 2


def test_the_size_is_about_what_was_written(db: sqlite3.Connection) -> None:
    small = staged(db, 2)
    answered(db, small.run, small.trials)
    large = staged(db, 1, suite="large")
    key = b"k" * 32

    def unit(tx: Tx) -> None:
        attempt = attempt_writes.start_attempt(tx, large.trials[0], queue_s=None, wait_s=None)
        assert attempt is not None
        attempt_writes.answer(tx, attempt, large.trials[0], key, output("é" * 50_000), 0.1)

    do(db, unit)
    assert deletion_extent(db, [small.run]).size < 1000
    assert 100_000 <= deletion_extent(db, [large.run]).size < 101_000
