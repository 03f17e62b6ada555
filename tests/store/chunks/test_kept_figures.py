import logging
import sqlite3
from collections import Counter
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

import pytest

from tests.store.fates import finish
from tests.support import Staged, do, reading, score, staged, writing
from tui_eval.engine import run_deletion
from tui_eval.model.outputs.output import Failure
from tui_eval.model.states import RunState
from tui_eval.store.chunks import division, kept_figures
from tui_eval.store.chunks.kept_figures import KeptFigures, figures_of
from tui_eval.store.location import figures_file
from tui_eval.store.read import run_queries
from tui_eval.store.write import attempt_writes, run_writes, trial_moves, trial_verbs
from tui_eval.store.write.people import notes

counted: list[range] = []
"""The chunks that were counted, in order."""


def _states(db: sqlite3.Connection, run: int, cases: range) -> Counter[str]:
    counted.append(cases)
    rows = db.execute(
        "SELECT state, count(*) FROM trials WHERE run = ? AND seq >= ? AND seq < ? GROUP BY 1",
        (run, cases.start, cases.stop),
    )
    return Counter(dict(rows.fetchall()))


STATES: KeptFigures[Counter[str], Counter[str]] = KeptFigures(
    "states", _states, lambda chunks: sum(chunks, Counter()), of_json=Counter
)


@pytest.fixture
def made(db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch) -> Staged:
    """Eight trials of two columns, in chunks of two cases, each worth keeping."""
    monkeypatch.setattr(division, "TRIALS", 4)
    monkeypatch.setattr(kept_figures, "KEPT_FROM", 1)
    made = staged(db, 8, columns=2)
    do(db, lambda tx: run_writes.move(tx, made.run, RunState.CANCELLED))
    return made


def states(path: Path, run: int) -> tuple[Counter[str], int]:
    """Give trials by state as a new process does, and how many chunks it counted."""
    counted.clear()
    with reading(path) as db:
        return figures_of(db, run, STATES), len(counted)


def file_of(path: Path, db: sqlite3.Connection, run: int) -> Path:
    return figures_file(path, run_queries.run(db, run).name)


def test_a_part_is_counted_again_only_where_a_trial_has_changed(
    path: Path, db: sqlite3.Connection, made: Staged
) -> None:
    counted.clear()
    with reading(path) as other:
        assert figures_of(other, made.run, STATES) == {"queued": 16}
        assert counted == [range(2), range(2, 4), range(4, 6), range(6, 8)]
        assert figures_of(other, made.run, STATES) == {"queued": 16}
        finish(db, made.trials[5], score())
        assert figures_of(other, made.run, STATES) == {"queued": 15, "done": 1}
        assert counted[4:] == [range(2, 4)]
    do(db, lambda tx: notes.write(tx, {made.trials[-1]: "odd"}))
    assert states(path, made.run) == ({"queued": 15, "done": 1}, 1)  # the rest is in the file
    assert states(path, made.run) == ({"queued": 15, "done": 1}, 0)


def test_chunks_that_memory_has_as_text_come_to_the_same(
    path: Path, db: sqlite3.Connection, made: Staged
) -> None:
    read: list[Counter[str]] = []

    def merged(chunks: Iterable[Counter[str]]) -> Counter[str]:
        read[:] = chunks
        return sum(read, Counter())

    as_text: KeptFigures[Counter[str], Counter[str]] = KeptFigures(
        "states as text", _states, merged, of_json=Counter, as_text=True
    )
    with reading(path) as other:
        assert figures_of(other, made.run, as_text) == {"queued": 16}
        kept = kept_figures._known_of(other, made.run)["states as text"].chunks
        assert kept == ['{"queued":4}'] * 4
        finish(db, made.trials[5], score())
        assert figures_of(other, made.run, as_text) == {"queued": 15, "done": 1}
    assert read == [{"queued": 4}, {"queued": 3, "done": 1}, {"queued": 4}, {"queued": 4}]
    counted.clear()
    with reading(path) as other:
        assert figures_of(other, made.run, as_text) == {"queued": 15, "done": 1}
    assert not counted  # the file has it


def test_a_part_with_a_trial_that_is_scored_is_counted_each_time(
    path: Path, db: sqlite3.Connection, made: Staged
) -> None:
    finish(db, made.trials[0], score())
    do(db, lambda tx: trial_verbs.rescore(tx, made.trials[0]))
    assert states(path, made.run) == ({"queued": 15, "scoring": 1}, 4)
    finish(db, made.trials[15], score())
    assert states(path, made.run) == ({"queued": 14, "scoring": 1, "done": 1}, 2)
    with reading(path) as other:  # also where nothing has a newer change: scores come before it
        figures_of(other, made.run, STATES)
        counted.clear()
        figures_of(other, made.run, STATES)
    assert counted == [range(2)]


@pytest.mark.parametrize("damage", ["bytes", "content", "format", "other run", "a chunk"])
def test_a_file_that_is_damaged_or_of_another_run_is_made_anew(
    path: Path, db: sqlite3.Connection, made: Staged, damage: str
) -> None:
    states(path, made.run)
    file = file_of(path, db, made.run)
    if damage == "bytes":
        file.write_bytes(b"no database at all, but long enough to be taken for one" * 100)
    else:
        with closing(sqlite3.connect(file, isolation_level=None)) as kept:
            kept.execute(
                {
                    "content": "UPDATE chunks SET content = '{\"done\":16}' WHERE chunk = 1",
                    "format": "PRAGMA user_version = 77",
                    "other run": "UPDATE run SET created_at = 1.0",
                    "a chunk": "DELETE FROM chunks WHERE chunk = 3",
                }[damage]
            )
    assert states(path, made.run) == ({"queued": 16}, 4)
    assert states(path, made.run) == ({"queued": 16}, 0)


def test_what_was_under_way_when_it_was_counted_may_go_on(
    path: Path, db: sqlite3.Connection, made: Staged
) -> None:
    finish(db, made.trials[0], score())

    def begin(trial: int) -> None:
        do(db, lambda tx: attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None))

    for trial in made.trials[14:]:
        begin(trial)
    assert states(path, made.run) == ({"queued": 13, "running": 2, "done": 1}, 4)
    failure = Failure("timeout", "no answer")
    do(db, lambda tx: trial_moves.fail_trial(tx, made.trials[15], failure))
    assert states(path, made.run) == ({"queued": 13, "running": 1, "error": 1, "done": 1}, 1)


def test_a_copy_in_which_something_else_was_under_way_is_counted_anew(
    path: Path, db: sqlite3.Connection, made: Staged
) -> None:
    finish(db, made.trials[0], score())

    def begin(trial: int) -> None:
        do(db, lambda tx: attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None))

    with closing(sqlite3.connect(":memory:")) as copy:
        db.backup(copy)
        begin(made.trials[15])
        assert states(path, made.run) == ({"queued": 14, "running": 1, "done": 1}, 4)
        copy.backup(db)
    for trial in (made.trials[7], made.trials[15]):
        begin(trial)
    assert states(path, made.run) == ({"queued": 13, "running": 2, "done": 1}, 4)


def test_a_store_put_back_from_a_copy_is_not_told_what_came_after_it(
    path: Path, db: sqlite3.Connection, made: Staged
) -> None:
    with closing(sqlite3.connect(":memory:")) as copy:
        db.backup(copy)
        finish(db, made.trials[0], score())
        assert states(path, made.run) == ({"queued": 15, "done": 1}, 4)
        copy.backup(db)
    assert states(path, made.run) == ({"queued": 16}, 4)
    for trial in made.trials[3:5]:  # and goes on, past the change that the file knows
        finish(db, trial, score())
    assert states(path, made.run) == ({"queued": 14, "done": 2}, 2)


def test_what_another_process_has_kept_meanwhile_is_not_mixed_with_what_is_known_here(
    path: Path, db: sqlite3.Connection, made: Staged
) -> None:
    with reading(path) as slow:
        assert figures_of(slow, made.run, STATES) == {"queued": 16}
        finish(db, made.trials[0], score())
        assert states(path, made.run) == ({"queued": 15, "done": 1}, 1)
        finish(db, made.trials[15], score())
        assert figures_of(slow, made.run, STATES) == {"queued": 14, "done": 2}
    assert states(path, made.run)[0] == {"queued": 14, "done": 2}


def test_where_the_file_is_in_use_figures_are_counted_and_it_is_said_in_the_log(
    path: Path, db: sqlite3.Connection, made: Staged, caplog: pytest.LogCaptureFixture
) -> None:
    states(path, made.run)
    with closing(sqlite3.connect(file_of(path, db, made.run), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with caplog.at_level(logging.INFO):
            assert states(path, made.run) == ({"queued": 16}, 4)
    assert "are counted anew: database is locked" in caplog.text


def test_a_small_run_is_counted_each_time_and_leaves_no_file(
    path: Path, db: sqlite3.Connection, made: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(division, "TRIALS", 8192)
    assert states(path, made.run) == states(path, made.run) == ({"queued": 16}, 1)
    assert not file_of(path, db, made.run).exists()


def test_deleting_a_run_removes_what_was_kept_of_it(
    path: Path, db: sqlite3.Connection, made: Staged
) -> None:
    states(path, made.run)
    file = file_of(path, db, made.run)
    assert file.exists()
    run_deletion.delete(path, made.run)
    assert not [*file.parent.glob(f"{file.name}*")]


def test_a_connection_keeps_what_it_counted_of_few_runs(
    path: Path, db: sqlite3.Connection, made: Staged, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_figures, "KEPT_FROM", 1000)  # no files
    runs = [made.run, *(staged(db, 8, columns=2).run for _ in range(2))]
    counted.clear()
    with writing(path) as other:
        for run in (*runs, runs[-1], runs[0]):
            assert figures_of(other, run, STATES) == {"queued": 16}
    assert len(counted) == 4 * len([*runs, runs[0]])
