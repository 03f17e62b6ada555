"""Runs whose target is asked in bulk, on a simulated provider."""

import asyncio
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

from tests.engine.harness import Harness, suite
from tests.servers.fake_bulk import FakeBulk
from tui_eval.engine.bulk.polling import BulkPolling
from tui_eval.engine.engine import Engine
from tui_eval.suites.spec import Suite


async def _soon(changed: asyncio.Event, seconds: float) -> None:
    """Let no time pass: others have a turn, and a server on this machine, too."""
    if not changed.is_set():
        await asyncio.sleep(0.002)


PRICED = {"prices": {"input": 10.0, "output": 10.0}, "params": {"max_tokens": 100}}
"""What has the target of a suite cost something, and bounds how much."""
SOON = BulkPolling(wait=_soon)
"""Pauses that are none."""


def bulk_suite(server: FakeBulk, n: int, /, **changes: Any) -> Suite:
    """Give a suite of n questions whose target is asked in bulk."""
    settings = {"size": changes.pop("size", 10_000)}
    target = {
        "kind": "model",
        "name": "fake",
        "base_url": server.base_url,
        "model": "fake-model",
        "bulk": settings,
        **changes.pop("target", {}),
    }
    return suite(server.base_url, n, targets=[target], **changes)


async def run_bulk(harness: Harness, of: Suite, **settings: Any) -> int:
    """Run a suite to its end, or to where its engine leaves it."""
    from tui_eval.engine.settings import Settings

    run = harness.create(of, Settings(**settings))
    await Engine(harness.path, run, polling=SOON).run()
    return run


@asynccontextmanager
async def working(harness: Harness, of: Suite) -> AsyncIterator[tuple[int, Engine]]:
    """Give a run that is being worked on; wait for its end on the way out."""
    run = harness.create(of)
    engine = Engine(harness.path, run, polling=SOON)
    task = asyncio.create_task(engine.run())
    try:
        yield run, engine
    finally:
        await asyncio.wait_for(task, 30)


@asynccontextmanager
async def killed(harness: Harness, run: int) -> AsyncIterator[None]:
    """Have an engine work on a run until the block ends, and kill it then."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "tests.engine.bulk.worker", str(harness.path), str(run)
    )
    try:
        yield
    finally:
        with suppress(ProcessLookupError):  # it has left before
            process.kill()
        await process.wait()


def states(harness: Harness, run: int) -> Counter[str]:
    return Counter(str(trial.state) for trial in harness.trials(run))


def executed(server: FakeBulk) -> Counter[str]:
    """Count how often each prompt was executed."""
    return Counter(server.ledger.prompts)
