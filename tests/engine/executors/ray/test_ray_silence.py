"""An engine whose process with Ray hangs goes on without it."""

import asyncio

import pytest

from tui_eval.engine.executors.ray import ray_executor
from tui_eval.engine.executors.ray.ray_executor import RayExecutor
from tui_eval.engine.executors.worker_setup import WorkerSetup
from tui_eval.providers.errors import UnavailableError


async def test_a_process_that_hangs_is_ended_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_executor, "_BRIDGE", "tests.engine.executors.ray.hanging")
    monkeypatch.setattr(ray_executor, "_LOOK_S", 0.02)
    monkeypatch.setattr(RayExecutor, "missing", staticmethod(lambda: None))
    executor = RayExecutor(None, lambda: WorkerSetup("{}", None))
    try:
        with pytest.raises(UnavailableError, match=r"has said nothing for 0\.18 s and is ended"):
            await asyncio.wait_for(executor.connect(), 20)
        assert executor.attempts.failure is not None
    finally:
        await executor.close()
    assert executor._process is not None
    assert executor._process.returncode == -9
