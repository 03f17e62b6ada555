"""Killed at random moments: what was acknowledged is stored, and the store is whole."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.store.recounting import recount
from tests.support import do, reading, staged, writing
from tui_eval.store import lease
from tui_eval.store.read import run_queries
from tui_eval.store.write import run_writes

WRITE = """
import asyncio, sys
from pathlib import Path
from tui_eval.model.outputs.output import Output, Usage
from tui_eval.model.score import Grade, Score, tally
from tui_eval.model.states import TrialState
from tui_eval.store import lease
from tui_eval.store.write import run_writes, attempt_writes, score_writes, trial_moves
from tui_eval.store.connection import readable, writable
from tui_eval.store.read.trials.open_trials import open_work
from tui_eval.store.writer import Writer, transact

def take(tx):
    number = lease.acquire(tx, run)
    run_writes.recover(tx, run)
    run_writes.begin(tx, run)
    return number

async def live(writer, work):
    attempt = await writer.write(
        lambda tx: attempt_writes.start_attempt(tx, work.trial, queue_s=None, wait_s=None)
    )
    said = Output("x" * 500, usage=Usage(1, 1), cost_usd=0.001, latency_s=0.1)
    given = [Score("exact", Grade.of(True, "as expected"))]
    def close(tx):
        attempt_writes.answer(tx, attempt, work.trial, work.key, said, 0.1)
        score_writes.add_scores(tx, work.trial, given, fresh=False)
        trial_moves.settle(tx, work.trial, tally(given))
    await writer.write(close)
    print(work.trial, flush=True)

async def main():
    async with writable(path) as writing, readable(path) as reading:
        writer = Writer(writing, run, await writing.call(transact, take))
        async with asyncio.TaskGroup() as group:
            group.create_task(writer.run())
            todo = await reading.call(open_work, run, [0], TrialState.QUEUED, -1, 10_000)
            print("ready", flush=True)
            lines = iter(todo)
            async def worker():
                for work in lines:
                    await live(writer, work)
            async with asyncio.TaskGroup() as workers:
                for _ in range(8):
                    workers.create_task(worker())
            writer.close()

path, run = Path(sys.argv[1]), int(sys.argv[2])
asyncio.run(main())
"""


@pytest.mark.parametrize("seed", [int(os.environ.get("TUI_EVAL_SEED", "7"))])
def test_what_was_acknowledged_is_stored_whenever_the_writer_is_killed(
    path: Path, seed: int
) -> None:
    draw = random.Random(seed)
    with writing(path) as db:
        made = staged(db, 1500)
    acknowledged: set[int] = set()
    for _ in range(5):
        told = _killed_after(path, made.run, draw.randrange(1, 200))
        assert not acknowledged & set(told), "finished twice"
        acknowledged |= set(told)
        with reading(path) as db:
            stored = {row[0] for row in db.execute("SELECT id FROM trials WHERE state = 'done'")}
            assert acknowledged <= stored
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            recount(db)
            whole = db.execute(
                "SELECT count(*) FROM trials t JOIN outputs o ON o.id = t.output "
                "JOIN scores s ON s.trial = t.id WHERE t.state = 'done'"
            ).fetchone()
            assert whole == (len(stored),), "a result in parts"
            assert not run_queries.run(db, made.run).live
        acknowledged |= stored
    with writing(path) as db:
        assert do(db, lambda tx: lease.acquire(tx, made.run)) == 6
        do(db, lambda tx: run_writes.recover(tx, made.run))
        states = dict(db.execute("SELECT state, count(*) FROM trials GROUP BY 1"))
        assert states == {"done": len(acknowledged), "queued": 1500 - len(acknowledged)}


def _killed_after(path: Path, run: int, results: int) -> list[int]:
    """Let a process write results, kill it after some; give those it acknowledged."""
    process = subprocess.Popen(
        [sys.executable, "-c", WRITE, str(path), str(run)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process.stdout as lines:
        assert lines.readline() == "ready\n"
        told = [lines.readline() for _ in range(results)]
        process.send_signal(signal.SIGKILL)
        told += lines.readlines()
    process.wait()
    assert process.returncode == -signal.SIGKILL
    return [int(line) for line in told if line.endswith("\n")]
