"""The engine is killed amid programs: nothing outlives it, nothing is lost, nothing runs twice."""

import asyncio
from collections import Counter
from pathlib import Path

import psutil
import pytest

from tests.engine.harness import Harness
from tests.engine.test_command import suite
from tests.engine.test_crash import start
from tests.support import reading
from tests.waiting import until
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials import trial_rows

LEDGER = (
    "import os, sys, time\n"
    "def note(what):\n"
    "    file = os.open(sys.argv[1], os.O_WRONLY | os.O_APPEND | os.O_CREAT)\n"
    "    os.write(file, f'{what} {sys.argv[-1]} {os.getpid()}\\n'.encode())\n"
    "note('start'); print('begun', sys.argv[-1], flush=True)\n"
    "time.sleep(float(sys.argv[2]))\n"
    "note('end'); print(sys.argv[-1])\n"
)
"""A program that notes outside when it starts and when it ends."""
N = 16


class Ledger:
    """What programs noted."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self, what: str) -> list[list[str]]:
        if not self.path.exists():
            return []
        noted = (line.split() for line in self.path.read_text("utf-8").splitlines())
        return [line for line in noted if line[0] == what]

    def count(self, what: str) -> Counter[str]:
        return Counter(question for _, question, _ in self.lines(what))

    def living(self) -> list[int]:
        """Give those that still run."""
        pids = [int(pid) for _, _, pid in self.lines("start")]
        return [pid for pid in pids if psutil.pid_exists(pid)]


@pytest.mark.parametrize("orphans", ["end", "finish"])
async def test_killed_twice_amid_programs(tmp_path: Path, orphans: str) -> None:
    harness, ledger = Harness(tmp_path / "store.db"), Ledger(tmp_path / "ledger")
    made = suite(
        tmp_path,
        LEDGER,
        n=N,
        args=[str(ledger.path), "0.6", "{{ q }}"],
        scorers=[{"kind": "includes", "expected": "{{ q }}"}],
        run={"concurrency": 5, "orphans": orphans},
    )
    run = harness.create(made)
    acknowledged: set[str] = set()
    for kill in (1, 2):
        process = await start(harness, run)
        try:
            await until(lambda: len(ledger.lines("end")) >= 6 * kill)  # noqa: B023 - waited for
        finally:
            process.kill()
            await process.wait()
        acknowledged |= {one.case_id for one in harness.trials(run) if one.state.settled}
    before = ledger.count("start")
    if orphans == "end":
        await until(lambda: not ledger.living())
    process = await start(harness, run)
    assert await asyncio.wait_for(process.wait(), 30) == 0
    trials = harness.trials(run)
    assert {trial.state for trial in trials} == {TrialState.DONE}
    assert harness.counts(run).passed == N
    starts = ledger.count("start")
    for case in acknowledged:
        question = case.replace("c", "q")
        assert starts[question] == before[question], "what was acknowledged runs no more"
    assert not ledger.living()
    assert not [*(tmp_path / "store.db.attempts").iterdir()]
    with reading(harness.path) as db:
        attempts = [one for trial in trials for one in trial_rows.attempts(db, trial.id)]
    lost = [one for one in attempts if one.state == "lost"]
    assert lost
    if orphans == "finish":
        assert set(starts.values()) == {1}, "no work is done twice"
    else:
        assert any("begun" in (one.partial or "") for one in lost)
