"""Attempts made by workers of a real Ray, whose nodes are processes of this machine."""

import asyncio
import importlib.util
import logging
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.engine.executors.ray.cluster import Node, cluster, joined
from tests.engine.harness import Harness, suite
from tests.servers.fake_model import Call, FakeModel, Reply
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch import create_run
from tui_eval.engine.settings import Settings
from tui_eval.model.runs.executor_choice import ExecutorChoice
from tui_eval.model.states import RunState
from tui_eval.store.requests import Verb
from tui_eval.suites.spec import Suite

pytestmark = [
    pytest.mark.whole,
    pytest.mark.skipif(
        importlib.util.find_spec("ray") is None,
        reason="Ray is not installed: pip install -r requirements/ray.txt",
    ),
]
THEIR_KEY = "sk-theirs-Yt5RkW8qLm2Z"
OUR_KEY = "sk-ours-Qh7NvB3xJc9D"


@pytest.fixture(scope="module")
def there() -> Iterator[tuple[str, list[Node]]]:
    # a path of its own: sockets' addresses have room for a hundred characters
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    try:
        with cluster(folder, WORKERS_KEY=THEIR_KEY) as found:
            yield found
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def on(address: str) -> Settings:
    return Settings(executor=ExecutorChoice("ray", address))


def with_key(url: str, n: int, **more: Any) -> Suite:
    described = suite(url, n, **more).model_dump(mode="json")
    described["targets"][0]["api_key_env"] = "WORKERS_KEY"
    return Suite.model_validate(described)


def states(harness: Harness, run: int) -> list[str]:
    found = harness.sql(
        "SELECT a.state FROM attempts a JOIN trials t ON t.id = a.trial WHERE t.run = ?", run
    )
    return [state for (state,) in found]


def environment(process: psutil.Process) -> bytes:
    return Path(f"/proc/{process.pid}/environ").read_bytes()


async def test_workers_have_the_keys_of_their_node_and_the_engine_s_go_nowhere(
    harness: Harness, there: tuple[str, list[Node]], monkeypatch: pytest.MonkeyPatch
) -> None:
    address, (head, *_) = there
    monkeypatch.setenv("WORKERS_KEY", OUR_KEY)
    async with FakeModel(latency=0.3) as server:
        run = harness.create(with_key(server.base_url, 40), on(address))
        task = asyncio.create_task(Engine(harness.path, run).run())
        await until(lambda: len(server.calls) >= 10)
        (worker,) = head.workers()
        seen = environment(worker)
        (bridge,) = [
            one
            for one in psutil.Process().children()
            if "tui_eval.engine.executors.ray.bridge" in one.cmdline()
        ]
        handed_on = environment(bridge)
        await asyncio.wait_for(task, 60)
        assert harness.counts(run).passed == 40
        assert all(f"Bearer {THEIR_KEY}" in call.head for call in server.calls)
    assert THEIR_KEY.encode() in seen
    assert OUR_KEY.encode() not in seen
    assert b"RAY_USAGE_STATS_ENABLED" in handed_on
    assert OUR_KEY.encode() not in handed_on
    await until(lambda: not head.workers())


async def test_a_lost_node_costs_only_what_was_in_flight_there(
    harness: Harness, there: tuple[str, list[Node]], caplog: pytest.LogCaptureFixture
) -> None:
    address, nodes = there
    second = joined(address, WORKERS_KEY=THEIR_KEY)
    nodes.append(second)
    held = asyncio.Event()
    hanging: list[Call] = []

    def script(call: Call) -> Reply:
        if not held.is_set():
            return Reply()
        hanging.append(call)
        return Reply("hang")

    def joins() -> int:
        return caplog.text.count("processors")

    limits = {"retries": 1, "timeout": 8}
    caplog.set_level(logging.INFO, "tui_eval.engine.executors.remote_attempts")
    async with FakeModel(script=script, latency=0.1) as server:
        run = harness.create(with_key(server.base_url, 3000, run=limits), on(address))
        task = asyncio.create_task(Engine(harness.path, run).run())
        await until(lambda: joins() == 2)
        before = len(server.calls)
        await until(lambda: len(server.calls) >= before + 20)  # both have work by then
        held.set()
        await until(lambda: len(hanging) == 10)  # all there can be: no other one begins
        held.clear()
        second.kill()
        await asyncio.wait_for(task, 90)
        counts = harness.counts(run)
        assert (counts.done, counts.passed, counts.error) == (3000, 3000, 0)
    found = Counter(states(harness, run))
    assert found["answered"] == 3000
    assert found["lost"] > 0
    # what hung at the other node was waited for until its time-out
    assert found["lost"] + found["failed"] == 10
    assert len(server.calls) == found.total()


async def test_with_its_engine_the_workers_end_and_resume_asks_what_was_in_flight(
    harness: Harness, there: tuple[str, list[Node]]
) -> None:
    address, (head, *_) = there

    def script(call: Call) -> Reply:
        return Reply("hang" if call.attempt == 1 and call.first > 10 else "answer")

    async with FakeModel(script=script) as server:
        run = harness.create(with_key(server.base_url, 30), on(address))
        engine = create_run.spawn(harness.path, harness.row(run).name)
        await until(lambda: len(server.calls) == 20 and harness.counts(run).done == 10, 60)
        engine.send_signal(signal.SIGKILL)
        await until(lambda: not head.workers(), 10)
        server.script = None
        await harness.again(run, Verb.RESUME)
        assert harness.counts(run).done == 30
        assert len(server.calls) == 40
    found = states(harness, run)
    assert (found.count("lost"), found.count("answered")) == (10, 30)


async def test_a_cancelled_program_ends_at_its_worker_and_another_brings_its_changes(
    harness: Harness, there: tuple[str, list[Node]], tmp_path: Path
) -> None:
    address, _ = there
    fixture = tmp_path / "fixture"
    fixture.mkdir()
    (fixture / "given.txt").write_text("given")
    script = tmp_path / "agent.py"
    script.write_text(
        "import os, pathlib, subprocess, sys, time\n"
        "given = pathlib.Path('given.txt').read_text()\n"
        "if sys.argv[1] == 'q0':\n"
        "    child = subprocess.Popen(['sleep', '100'], start_new_session=True)\n"
        f"    with open({str(tmp_path / 'pids')!r}, 'w') as file:\n"
        "        file.write(f'{os.getpid()} {child.pid}\\n')\n"
        "    time.sleep(100)\n"
        "pathlib.Path('made.txt').write_text(given)\n"
        "print(sys.argv[1])\n"
    )
    described = suite("http://x.invalid", 3).model_dump(mode="json")
    command = [sys.executable, str(script), "{{ q }}"]
    agent = {"kind": "command", "name": "agent", "command": command, "isolation": "none"}
    described["targets"] = [{**agent, "workspace": str(fixture)}]
    run = harness.create(Suite.model_validate(described), on(address))
    task = asyncio.create_task(Engine(harness.path, run).run())
    pids = tmp_path / "pids"
    await until(lambda: pids.exists() and pids.read_text().endswith("\n"), 60)
    running = [int(pid) for pid in pids.read_text().split()]
    assert all(map(psutil.pid_exists, running))
    await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c0").id])
    await asyncio.wait_for(task, 60)
    assert not any(map(psutil.pid_exists, running))
    counts = harness.counts(run)
    assert (counts.done, counts.passed, counts.cancelled) == (2, 2, 1)
    added = harness.sql("SELECT added FROM attempt_records WHERE added IS NOT NULL")
    assert added == [(1,), (1,)]


async def test_another_version_of_ray_is_refused_by_name(
    harness: Harness, there: tuple[str, list[Node]]
) -> None:
    address, _ = there
    ours = say_version(address, "2.40.0")
    try:
        run = await harness.run(suite("http://x.invalid", 2), on(address))
    finally:
        say_version(address, ours)
    row = harness.row(run)
    assert (row.state, row.stopped_by) == (RunState.INTERRUPTED, "unready")
    assert "Version mismatch" in (row.reason or "")
    assert f"Ray: {ours}" in (row.reason or "")


def say_version(address: str, version: str) -> str:
    """Have a cluster say that it is of another version; return what it said before."""
    code = (
        "import json, sys\n"
        "from ray._raylet import GcsClient\n"
        "client, key, space = GcsClient(address=sys.argv[1]), b'CLUSTER_METADATA', b'cluster'\n"
        "told = json.loads(client.internal_kv_get(key, space))\n"
        "print(told['ray_version'])\n"
        "told['ray_version'] = sys.argv[2]\n"
        "client.internal_kv_put(key, json.dumps(told).encode(), True, space)\n"
    )
    words = [sys.executable, "-c", code, address, version]
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()


async def test_code_is_tested_on_the_nodes(harness: Harness, there: tuple[str, list[Node]]) -> None:
    address, (head, *_) = there
    described = suite("http://x.invalid", 0).model_dump(mode="json")
    waits = "import time; time.sleep(1.5)"
    described["cases"] = [
        {"id": "right", "q": f"{waits}\ndef double(n): return 2 * n"},
        {"id": "wrong", "q": "def double(n): return n"},
    ]
    described["targets"] = [{"kind": "simulated", "name": "s", "answers": ["{{ q }}"]}]
    tests = "def check(double):\n    assert double(4) == 8\n"
    described["scorers"] = [{"kind": "code", "tests": tests, "entry_point": "double"}]
    run = harness.create(Suite.model_validate(described), on(address))
    task = asyncio.create_task(Engine(harness.path, run).run())
    # the tester's process is one of the node's
    await until(lambda: any("tester.py" in " ".join(line) for line in command_lines(head)))
    await asyncio.wait_for(task, 60)
    counts = harness.counts(run)
    assert (counts.passed, counts.failed) == (1, 1)


def command_lines(node: Node) -> list[list[str]]:
    found = []
    for one in node.processes():
        with suppress(psutil.NoSuchProcess):
            found.append(one.cmdline())
    return found


async def test_a_head_that_goes_pauses_the_run(harness: Harness, tmp_path: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    try:
        with cluster(folder, WORKERS_KEY=THEIR_KEY) as (address, (head, *_)):
            async with FakeModel(latency=0.5) as server:
                run = harness.create(with_key(server.base_url, 200), on(address))
                task = asyncio.create_task(Engine(harness.path, run).run())
                await until(lambda: len(server.calls) >= 20, 60)
                head.kill()
                await asyncio.wait_for(task, 60)
        row = harness.row(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "executor")
        assert "Ray's head has gone" in (row.reason or "")
        counts = harness.counts(run)
        assert counts.done + counts.queued == 200
        assert counts.error == 0
    finally:
        shutil.rmtree(folder, ignore_errors=True)


async def test_where_there_is_no_cluster_nothing_starts(harness: Harness) -> None:
    run = await harness.run(suite("http://x.invalid", 2), on("127.0.0.1:9"))
    row = harness.row(run)
    assert (row.state, row.stopped_by) == (RunState.INTERRUPTED, "unready")
    assert (row.reason or "").startswith("no Ray cluster answers at 127.0.0.1:9")
    client = await harness.run(suite("http://x.invalid", 2), on("ray://127.0.0.1:10001"))
    assert "is not supported: start the run on a machine of the cluster" in (
        harness.row(client).reason or ""
    )
    assert os.environ.get("RAY_ADDRESS") is None


async def test_a_worker_of_another_tui_eval_is_refused_by_name(
    harness: Harness, tmp_path: Path
) -> None:
    # workers import what the engine does, as they are on its machine: theirs says another version
    (tmp_path / "sitecustomize.py").write_text("import tui_eval\ntui_eval.__version__ = '0.0.9'\n")
    folder = Path(tempfile.mkdtemp(prefix="ray-", dir="/tmp"))
    try:
        with cluster(folder, PYTHONPATH=str(tmp_path)) as (address, _):
            run = await harness.run(suite("http://x.invalid", 2), on(address))
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    row = harness.row(run)
    assert (row.state, row.stopped_by) == (RunState.INTERRUPTED, "unready")
    assert "has tui-eval 0.0.9, and here it is" in (row.reason or "")
    assert "install the same there" in (row.reason or "")
    assert not harness.sql("SELECT id FROM attempts")
