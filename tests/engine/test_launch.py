"""Engines in processes of their own: waited for, and missed when they end without a word."""

import asyncio
import gc
import os
import shutil
import signal
import sys
from pathlib import Path

import psutil
import pytest

from tests.engine.harness import Bench, suite, until
from tests.servers.fake_model import FakeModel
from tests.support import writing
from tui_eval.engine import launch
from tui_eval.engine.asking import ask
from tui_eval.engine.engine import Engine
from tui_eval.model.states import RunState
from tui_eval.store.requests import Outcome, Verb


def fallen(bench: Bench, run: int) -> bool:
    return bench.row(run).state is RunState.INTERRUPTED


async def test_an_engine_that_has_ended_leaves_no_zombie_and_no_warning(bench: Bench) -> None:
    async with FakeModel() as server:
        run = bench.create(suite(server.base_url, 3))
        process = launch.spawn(bench.path, bench.row(run).name)
        pid = process.pid
        assert process.poll() is None
        del process
        gc.collect()  # where ResourceWarnings are errors, a forgotten process would be one
        await until(lambda: not psutil.pid_exists(pid))
    assert bench.row(run).state is RunState.DONE
    assert bench.counts(run).passed == 3


async def test_an_engine_that_dies_at_its_start_is_told_of_by_its_run(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeModel() as server:
        run = bench.create(suite(server.base_url, 3))
        name = bench.row(run).name
        with monkeypatch.context() as patch:
            patch.setattr(sys, "executable", str(shutil.which("false")))
            process = launch.spawn(bench.path, name)
        await until(lambda: fallen(bench, run))
        assert process.poll() == 1
        row = bench.row(run)
        log = launch.log_file(bench.path, name)
        assert row.reason == f"its engine has ended (exit code 1); its log is {log}"
        assert (row.stopped_by, row.live, row.ended_at is None) == ("engine", False, False)
        await bench.again(run, Verb.RESUME)
    assert bench.counts(run).passed == 3


async def test_nobody_waits_for_the_answer_of_an_engine_that_died_at_its_start(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with FakeModel() as server:
        run = await bench.run(suite(server.base_url, 1))
    request = ask(bench.path, run, Verb.RETRY, {"which": "all"})
    monkeypatch.setattr(sys, "executable", str(shutil.which("false")))
    launch.spawn(bench.path, bench.row(run).name)
    await until(lambda: bench.request(request).outcome is not None)
    answer = bench.request(request)
    assert answer.outcome == Outcome.CLOSED
    assert "its engine has ended" in str(answer.detail)
    assert bench.row(run).state is RunState.DONE


async def test_an_engine_that_is_killed_leaves_its_run_interrupted_and_resumable(
    bench: Bench,
) -> None:
    async with FakeModel(latency=0.1) as server:
        run = bench.create(suite(server.base_url, 40, run={"concurrency": 4}))
        process = launch.spawn(bench.path, bench.row(run).name)
        await until(lambda: server.requests >= 8)
        process.kill()
        await until(lambda: fallen(bench, run))
        assert f"signal {signal.SIGKILL}" in str(bench.row(run).reason)
        assert bench.counts(run).running == 0
        await bench.again(run, Verb.RESUME)
        assert server.requests <= 44
    assert bench.counts(run).passed == 40


async def test_a_run_that_another_engine_has_taken_over_is_left_alone(bench: Bench) -> None:
    async with FakeModel(latency=0.2) as server:
        run = bench.create(suite(server.base_url, 8, run={"concurrency": 2}))
        process = launch.spawn(bench.path, bench.row(run).name)
        await until(lambda: server.requests >= 2)
        os.kill(process.pid, signal.SIGSTOP)
        with writing(bench.path) as db:
            db.execute("UPDATE runs SET lease_pid = NULL")
        working = asyncio.create_task(Engine(bench.path, run).run())
        await until(lambda: bench.row(run).lease.pid == os.getpid())
        process.kill()
        await asyncio.to_thread(process.wait)
        await asyncio.wait_for(working, 30)
    assert (bench.row(run).state, bench.row(run).reason) == (RunState.DONE, None)


def test_a_store_that_is_gone_is_not_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "store.sqlite3"
    monkeypatch.setattr(sys, "executable", str(shutil.which("false")))
    launch._see_off(launch.spawn(store, "nothing"), store, "nothing")
    assert not store.exists()
