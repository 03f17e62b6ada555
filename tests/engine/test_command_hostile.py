"""Programs that do what none should: through a real engine, bounded in what they cost."""

import asyncio
import time
from pathlib import Path

import psutil
import pytest

from tests.engine.harness import Harness
from tests.engine.test_command import output, ran, suite
from tests.support import reading
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials import attempt_queries, trial_rows
from tui_eval.store.requests import Verb

STUBBORN = (
    "import os, signal, sys, time\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "    if os.fork() == 0:\n"
    "        open(sys.argv[1] + '/grandchild', 'w').write(str(os.getpid()))\n"
    "        time.sleep(600)\n"
    "    os._exit(0)\n"
    "open(sys.argv[1] + '/parent', 'w').write(str(os.getpid()))\n"
    "print('begun', flush=True)\n"
    "time.sleep(600)\n"
)
"""Ignores TERM, and has a child in a session of its own that its parent has left."""


def pids(folder: Path) -> list[int]:
    """Give the processes that the program has noted."""
    notes = [folder / "parent", folder / "grandchild"]
    return [int(note.read_text() or 0) for note in notes if note.exists()]


def largest(folder: Path) -> int:
    """Give the bytes of the largest file in a folder."""
    return max(one.stat().st_size for one in folder.rglob("*") if one.is_file())


async def test_nothing_outlives_a_limit(tmp_path: Path) -> None:
    began = time.monotonic()
    got = await output(tmp_path, STUBBORN, args=[str(tmp_path)], limits={"wall": 1.0})
    assert (got.finish_reason, got.text) == ("limit:wall", "begun")
    found = pids(tmp_path)
    assert len(found) == 2
    assert not any(map(psutil.pid_exists, found))
    assert time.monotonic() - began < 30


async def test_a_cancel_ends_the_tree_and_keeps_what_was_printed(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    made = suite(tmp_path, STUBBORN, args=[str(tmp_path)], scorers=[])
    async with harness.working(made) as (run, _):
        await until(lambda: len(pids(tmp_path)) == 2)
        await until(lambda: harness.sql("SELECT phase FROM trial_progress") == [("running",)])
        await harness.asked(run, Verb.CANCEL_RUN)
        assert harness.trials(run)[0].state is TrialState.CANCELLED
    assert not any(map(psutil.pid_exists, pids(tmp_path)))
    with reading(harness.path) as db:
        (attempt,) = trial_rows.attempts(db, harness.trials(run)[0].id)
    assert (attempt.state, attempt.partial) == ("cancelled", "begun\n")
    assert harness.sql("SELECT count(*) FROM trial_progress") == [(0,)]
    await until(lambda: not [*(tmp_path / "store.db.attempts").iterdir()])


async def test_an_engine_that_is_stopped_ends_its_programs(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    run = harness.create(suite(tmp_path, STUBBORN, args=[str(tmp_path)], scorers=[]))
    engine = Engine(harness.path, run)
    task = asyncio.create_task(engine.run())
    await until(lambda: len(pids(tmp_path)) == 2)
    engine.abort()
    await asyncio.wait_for(task, 30)
    assert not any(map(psutil.pid_exists, pids(tmp_path)))
    assert harness.trials(run)[0].state is TrialState.QUEUED


async def test_what_is_printed_is_bounded_and_counted(tmp_path: Path) -> None:
    code = (
        "import os\nfor n in range(200): os.write(1, b'x' * 1_000_000)\nos.write(1, b'the end')\n"
    )
    harness, _, whole = await ran(tmp_path, code, limits={"output": "100kB"})
    got = whole.output
    assert got is not None
    assert got.text is not None
    assert len(got.text) < 101_000
    assert got.text.endswith("the end")
    assert "bytes were left out" in got.text
    with reading(harness.path) as db:
        took = attempt_queries.of_trial(db, whole.trial.id).record.resources
    assert took is not None
    assert took.output_bytes == 200_000_007
    assert got.finish_reason == "stop"


async def test_odd_files_cost_nothing(tmp_path: Path) -> None:
    code = (
        "import os\n"
        "os.mkfifo('fifo'); os.symlink('.', 'loop'); os.symlink('/etc/shadow', 'shadow')\n"
        "os.truncate(os.open('sparse', os.O_CREAT | os.O_RDWR), 50_000_000_000)\n"
        "os.mkdir('closed'); open('closed/f', 'w').write('x'); os.chmod('closed', 0)\n"
        "open('odd\\udcff\\n', 'w').write('x'); print('done')\n"
    )
    harness, _, whole = await ran(tmp_path, code, output="stdout")
    assert whole.output is not None
    assert whole.output.text == "done"
    with reading(harness.path) as db:
        changes = attempt_queries.of_trial(db, whole.trial.id).record.changes
    assert changes is not None
    assert changes.added == 7
    assert largest(tmp_path) < 1_000_000
    assert not [*(tmp_path / "store.db.attempts").iterdir()]


@pytest.mark.parametrize("instead", ["", "open(own, 'w').close()", "os.symlink('/etc', own)"])
async def test_a_workspace_that_is_gone_is_an_empty_one(tmp_path: Path, instead: str) -> None:
    (tmp_path / "fixture").mkdir()
    (tmp_path / "fixture" / "passwd").write_text("old\n")
    code = f"import os, shutil; own = os.getcwd(); shutil.rmtree(own); print('done')\n{instead}"
    harness, _, whole = await ran(
        tmp_path, code, workspace=str(tmp_path / "fixture"), output="diff"
    )
    assert whole.output is not None
    assert whole.output.text is not None
    assert "-old" in whole.output.text
    with reading(harness.path) as db:
        changes = attempt_queries.of_trial(db, whole.trial.id).record.changes
    assert changes is not None
    assert (changes.added, changes.changed, changes.removed) == (0, 0, 1)


async def test_a_program_whose_whole_folder_is_gone_is_run_once(tmp_path: Path) -> None:
    code = "import os, shutil; shutil.rmtree(os.path.dirname(os.getcwd()))"
    _, _, whole = await ran(tmp_path, code)
    assert (whole.trial.error_kind, whole.trial.attempts) == ("collect", 1)
    assert "what it left cannot be kept" in (whole.trial.error_message or "")
