"""Programs on a full disk: nothing runs twice, nothing that one has done is lost."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.engine.harness import Harness
from tests.engine.test_command import suite
from tests.faults.conftest import fill
from tests.faults.guards import guarded, without
from tests.support import reading
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.model.states import RunState
from tui_eval.store.errors import StoreFullError
from tui_eval.store.files import FileStore
from tui_eval.store.read.trials import attempt_queries, trial_rows
from tui_eval.store.requests import Verb

SIZE = 2_000_000
SCRIPT = """
import os, sys
open(sys.argv[1], "ab").write(b"x")
if len(sys.argv) > 3: open("made", "wb").write(os.urandom(int(sys.argv[2])))
print(sys.argv[-1])
"""
"""A program that notes outside that it ran, and may leave a file."""


@guarded("room for the files of trials", slow=True)
@pytest.mark.parametrize("phase", ["prepare", "collect"])
async def test_a_full_disk_pauses_the_run_until_there_is_room_for_its_files(
    tmp_path: Path, small_disk: Path, phase: str, guard: str | None
) -> None:
    harness, ran = Harness(small_disk / "store.sqlite3"), tmp_path / "ran"
    ran.touch()
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "large").write_bytes(os.urandom(SIZE if phase == "prepare" else 1))
    leaves = [str(SIZE)] if phase == "collect" else []
    made = suite(
        tmp_path,
        SCRIPT,
        n=2,
        workspace=str(workspace),
        args=[str(ran), *leaves, "{{ q }}"],
        run={"retries": 0, "concurrency": 1},
    )
    run = harness.create(made)
    filler = fill(small_disk, SIZE // 2 if phase == "prepare" else 3 * SIZE // 2)
    with without(guard):
        task = asyncio.create_task(Engine(harness.path, run).run())
        try:
            await until(lambda: harness.row(run).state is RunState.PAUSED or task.done())
            row = harness.row(run)
            assert (row.state, row.stopped_by) == (RunState.PAUSED, "disk")
            assert "No space left" in (row.reason or "")
            assert len(ran.read_bytes()) == len(leaves), "what has ended is kept, not run again"
        finally:
            filler.unlink()
            await asyncio.wait_for(task, 60)
        assert harness.row(run).state is RunState.DONE
        assert harness.counts(run).passed == 2
        assert len(ran.read_bytes()) == 2
        trials = harness.trials(run)
        assert [trial.attempts for trial in trials] == [1, 1]
        with reading(harness.path) as db:
            stored = [attempt_queries.of_trial(db, trial.id) for trial in trials]
            assert all(trial_rows.attempts(db, trial.id) for trial in trials)
        files = FileStore.beside(harness.path)
        assert [len(files.changes(one.workspace).added) for one in stored if one.workspace] == [
            len(leaves)
        ] * 2
    assert not [*(small_disk / "store.sqlite3.attempts").iterdir()]


async def test_a_cancelled_run_stays_cancelled_when_there_is_room_again(
    tmp_path: Path, small_disk: Path
) -> None:
    harness = Harness(small_disk / "store.sqlite3")
    workspace = tmp_path / "workspace"
    workspace.mkdir()
    (workspace / "large").write_bytes(os.urandom(SIZE))
    made = suite(tmp_path, SCRIPT, workspace=str(workspace), args=["/dev/null", "{{ q }}"])
    run = harness.create(made)
    filler = fill(small_disk, SIZE // 2)
    task = asyncio.create_task(Engine(harness.path, run).run())
    try:
        await until(lambda: harness.row(run).state is RunState.PAUSED)
        await _asked_in_the_end(harness, run, Verb.CANCEL_RUN)
        await until(lambda: harness.row(run).state is RunState.CANCELLED)
    finally:
        filler.unlink()
        await asyncio.wait_for(task, 60)
    assert harness.row(run).state is RunState.CANCELLED
    assert harness.counts(run).cancelled == 1


async def _asked_in_the_end(harness: Harness, run: int, verb: Verb) -> None:
    """Ask something of a run, again where a workspace that is being made has taken all room."""
    while True:
        try:
            await harness.asked(run, verb)
        except StoreFullError:
            await asyncio.sleep(0.01)
        else:
            return
