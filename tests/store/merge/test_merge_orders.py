"""Whatever the order of the stores, and however often each is merged, reports say the same."""

import asyncio
import json
import os
import random
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tests.sampling import one_in
from tests.store.merge.test_merging import facts, suite, united
from tests.waiting import until
from tui_eval.engine.control.hand_grades import HandGrade, hand_score, request_args
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.engine.settings import Settings
from tui_eval.model.runs.run_part import RunPart
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.reports.document import document
from tui_eval.store.connection import open_readable
from tui_eval.store.requests import Verb
from tui_eval.suites.spec import Suite

_PARTS = [(1, 3), (2, 3), (3, 3), (2, 4), (4, 4)]
"""All of one division, and some of another, whose cases are in two stores."""
_KIND = Grade(Verdict.PASS, None, "a person's verdict")
_SEED = int(os.environ.get("TUI_EVAL_SEED", "0"))


def slow_suite() -> Suite:
    described = suite().model_dump(mode="json")
    for target in described["targets"]:
        target["latency_s"] = 0.1
    described["run"] |= {"concurrency": 2, "max_tokens": 1_000_003, "max_errors": 1003}
    return Suite.model_validate(described)


async def part(folder: Path, number: int, of: int) -> Path:
    """Run a part of which some trials are cancelled, asked again, scored again, graded by hand."""
    path = folder / f"part{number}of{of}.sqlite3"
    harness = Harness(path)
    run = harness.create(slow_suite(), Settings(part=RunPart(number, of)))
    task = asyncio.create_task(Engine(path, run).run())
    await until(lambda: harness.row(run).staged)
    left = [one.id for one in harness.trials(run) if one.state == "queued"]
    await harness.asked(run, Verb.CANCEL, trials=left[-2:])
    await task
    assert harness.counts(run).cancelled
    await harness.again(run, Verb.RETRY, which="failed")
    trial = next(one for one in harness.trials(run) if one.verdict is Verdict.FAIL)
    score = hand_score("kind", _KIND, by="anna", given="pass", note="", weight=1, required=True)
    ask(
        path,
        run,
        Verb.GRADE,
        request_args([HandGrade(trial.id, trial.output or 0, "kind", score)]),
    )
    await harness.again(run, Verb.RESCORE, which="failed")
    return path


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("parts")

    async def run() -> list[Path]:
        found = []
        for which in _PARTS:
            async with asyncio.timeout(50):  # less than a batch lingers that nothing comes to
                found.append(await part(folder, *which))
        return found

    return asyncio.run(run())


def told(path: Path) -> str:
    """Return what `show --json` says, but for what is drawn when a run is made."""
    with closing(open_readable(path)) as db:
        (run,) = db.execute("SELECT id FROM runs").fetchone()
        whole: dict[str, Any] = dict(document(db, run))
    for drawn in ("run", "created_at", "wall_s", "throughput"):
        del whole[drawn]
    return json.dumps(whole, indent=1)


@pytest.mark.parametrize("seed", one_in(12, range(_SEED, _SEED + 12)))
def test_reports_rest_on_no_order(parts: list[Path], tmp_path: Path, seed: int) -> None:
    drawn = random.Random(seed)
    print("TUI_EVAL_SEED", seed)
    once, often = parts[:], parts * 3
    drawn.shuffle(once)
    drawn.shuffle(often)
    found = []
    for name, order in (("once", once), ("often", often)):
        into = tmp_path / f"{name}.sqlite3"
        united(into, order)
        found.append((told(into), facts(into)))
    assert found[0] == found[1]
    assert {row[4] for row in found[0][1]} >= {"done", "cancelled"}
