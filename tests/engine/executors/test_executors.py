"""Attempts that workers make: the journey is what it is without them."""

import asyncio
import json
import math
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.engine.executors.nearby import NEARBY, NearbyExecutor, register
from tests.engine.harness import Harness, suite
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.engine.executors import attempt_worker, remote_target, workspace_parcel
from tui_eval.engine.executors.attempt_worker import AttemptWorker
from tui_eval.engine.executors.handful import (
    AttemptReturn,
    CallAsked,
    CallMade,
    CheckOrder,
    CheckReturn,
    Return,
    orders,
)
from tui_eval.engine.executors.remote_attempts import LOST, REPLY
from tui_eval.engine.executors.worker_setup import WorkerSetup
from tui_eval.engine.preflight.permission import permitted, refusal
from tui_eval.engine.preflight.readiness import missing
from tui_eval.model.outputs.attempt_record import AttemptRecord, KeptFile
from tui_eval.model.outputs.output import Output, Usage
from tui_eval.model.runs.endpoint_event import EndpointEventKind
from tui_eval.model.runs.executor_choice import ExecutorChoice
from tui_eval.model.score import Grade
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.providers.errors import UnavailableError
from tui_eval.store.files import FileStore
from tui_eval.store.requests import Verb
from tui_eval.store.text import unpack
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.spec import Suite
from tui_eval.targets.base import Target
from tui_eval.targets.conversation.call_log import CallParty, DialogueCall


@pytest.fixture(autouse=True)
def made(monkeypatch: pytest.MonkeyPatch) -> list[NearbyExecutor]:
    return register(monkeypatch)


def attempts(harness: Harness, run: int) -> list[tuple[Any, ...]]:
    return harness.sql(
        "SELECT c.id, a.number, a.state FROM attempts a JOIN trials t ON t.id = a.trial "
        "JOIN cases c ON c.run = t.run AND c.seq = t.seq WHERE t.run = ? ORDER BY c.seq, a.number",
        run,
    )


async def test_a_run_is_what_it_is_without_workers(
    harness: Harness, made: list[NearbyExecutor]
) -> None:
    def script(call: Call) -> Reply:
        return refuse(503) if call.prompt == "q3" and call.attempt == 1 else Reply()

    async with FakeModel(script=script) as server:
        run = await harness.run(suite(server.base_url, 100), NEARBY)
        counts = harness.counts(run)
        assert (counts.done, counts.passed) == (100, 100)
        assert len(server.calls) == 101  # what was refused was asked again
    (executor,) = made
    assert harness.row(run).state is RunState.DONE
    assert executor.attempts.late == 0
    asked = [number for _, number, state in attempts(harness, run) if state == "failed"]
    assert asked == [1]
    # the second run finds all of it, and needs no worker
    again = await harness.run(suite(server.base_url, 100))
    assert harness.counts(again).done == 100


async def test_a_key_of_the_engine_goes_nowhere(
    harness: Harness, made: list[NearbyExecutor], monkeypatch: pytest.MonkeyPatch
) -> None:
    key = "sk-Vq8ZcN3tLwX7yRb2"
    monkeypatch.setenv("ELSEWHERE_KEY", key)
    async with FakeModel() as server:
        described = suite(server.base_url, 3).model_dump(mode="json")
        described["targets"][0]["api_key_env"] = "ELSEWHERE_KEY"
        run = await harness.run(Suite.model_validate(described), NEARBY)
        assert harness.counts(run).done == 3
        # the worker has it from its own environment, which here is the same
        assert all(f"Bearer {key}" in call.head for call in server.calls)
    (executor,) = made
    crossed = b"".join([executor.setup.suite.encode(), *executor.sent, *executor.shared.values()])
    assert b"q2" in crossed
    assert key.encode() not in crossed


async def test_a_worker_without_the_key_says_where(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ELSEWHERE_KEY", raising=False)
    async with FakeModel() as server:
        described = suite(server.base_url, 3).model_dump(mode="json")
        described["targets"][0]["api_key_env"] = "ELSEWHERE_KEY"
        run = await harness.run(Suite.model_validate(described), NEARBY)
        assert not server.calls
    row = harness.row(run)
    assert row.state is RunState.PAUSED
    assert "ELSEWHERE_KEY is not set" in (row.reason or "")
    assert (row.reason or "").startswith("on node of w")


async def test_attempts_of_a_lost_worker_are_made_again_and_use_up_no_retry(
    harness: Harness, made: list[NearbyExecutor]
) -> None:
    async with FakeModel(
        script=lambda call: Reply("hang" if call.attempt == 1 else "answer")
    ) as server:
        run = harness.create(suite(server.base_url, 8, run={"retries": 0}), NEARBY)
        task = asyncio.create_task(Engine(harness.path, run).run())
        await until(lambda: len(server.calls) == 8)
        (executor,) = made
        at = {name: len(one._tasks) for name, one in executor.workers.items()}
        assert sum(at.values()) == 8 and min(at.values()) > 0
        executor.lose("w0")
        await until(lambda: harness.counts(run).done == at["w0"])
        assert len(server.calls) == 8 + at["w0"]  # only what was in flight there
        await executor.join("w2")
        executor.lose("w1")
        await asyncio.wait_for(task, 20)
    assert harness.counts(run).done == 8
    states = [state for _, _, state in attempts(harness, run)]
    assert states.count("lost") == 8
    assert states.count("answered") == 8
    said = "SELECT DISTINCT error_kind, error_message FROM attempts WHERE state = 'lost'"
    assert {(kind, unpack(why)) for kind, why in harness.sql(said)} == {
        (LOST, f"its worker on node of w{number} was lost: it was taken away") for number in (0, 1)
    }


async def test_a_trial_whose_attempts_are_lost_twice_in_a_row_is_an_error(
    harness: Harness, made: list[NearbyExecutor]
) -> None:
    async with FakeModel(
        script=lambda call: Reply("hang" if call.prompt == "q0" else "answer")
    ) as server:
        run = harness.create(suite(server.base_url, 2, run={"retries": 5}), NEARBY)
        task = asyncio.create_task(Engine(harness.path, run).run())
        for asked in (1, 2):
            await until(lambda: [one.prompt for one in server.calls].count("q0") == asked)  # noqa: B023
            (executor,) = made
            await until(lambda: sum(len(one._tasks) for one in executor.workers.values()) == 1)  # noqa: B023
            (name,) = [name for name, one in executor.workers.items() if one._tasks]
            executor.lose(name)
        await asyncio.wait_for(task, 20)
    trial = harness.trial(run, "c0")
    assert trial.state is TrialState.ERROR
    assert trial.error_kind == LOST
    assert [one for one in attempts(harness, run) if one[0] == "c0"] == [
        ("c0", 1, "lost"),
        ("c0", 2, "lost"),
    ]
    assert harness.trial(run, "c1").state is TrialState.DONE


async def test_what_comes_of_a_lost_attempt_is_counted_and_not_written(
    harness: Harness, made: list[NearbyExecutor]
) -> None:
    async with FakeModel(latency=0.3) as server:
        run = harness.create(suite(server.base_url, 1), NEARBY)
        task = asyncio.create_task(Engine(harness.path, run).run())
        await until(lambda: len(server.calls) == 1)
        (executor,) = made
        (name,) = [name for name, one in executor.workers.items() if one._tasks]
        attempts_of, (attempt,) = executor.attempts, executor.workers[name]._tasks
        # told as lost, though it still works, and joins again under its name
        attempts_of.lost(name, "nobody heard of it")
        attempts_of.joined(name, "the same node", 2.0)
        await asyncio.wait_for(task, 20)
    assert attempts_of.late == 1
    assert attempts(harness, run) == [("c0", 1, "lost"), ("c0", 2, "answered")]
    assert harness.sql("SELECT output FROM attempts WHERE id = ?", attempt) == [(None,)]


async def test_without_any_worker_left_a_run_pauses_and_goes_on_later(
    harness: Harness, made: list[NearbyExecutor]
) -> None:
    async with FakeModel(
        script=lambda call: Reply("hang" if call.attempt == 1 else "answer")
    ) as server:
        run = harness.create(suite(server.base_url, 4, run={"concurrency": 2}), NEARBY)
        task = asyncio.create_task(Engine(harness.path, run).run())
        await until(lambda: len(server.calls) == 2)
        (executor,) = made
        executor.attempts.failed("the head has gone")
        await asyncio.wait_for(task, 20)
        row = harness.row(run)
        assert (row.state, row.reason, row.stopped_by) == (
            RunState.PAUSED,
            "the head has gone",
            "executor",
        )
        assert harness.counts(run).queued == 4
        assert {state for _, _, state in attempts(harness, run)} <= {"lost", "cancelled"}
        server.script = lambda call: Reply()
        await harness.again(run, Verb.RESUME)
        assert len(made) == 2
    assert harness.counts(run).done == 4


async def test_a_cancelled_trial_ends_at_its_worker(
    harness: Harness, made: list[NearbyExecutor]
) -> None:
    async with FakeModel(
        script=lambda call: Reply("hang" if call.prompt == "q0" else "answer")
    ) as server:
        run = harness.create(suite(server.base_url, 1), NEARBY)
        task = asyncio.create_task(Engine(harness.path, run).run())
        await until(lambda: len(server.calls) == 1)
        await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c0").id])
        await asyncio.wait_for(task, 20)
        (executor,) = made
    assert not any(one._tasks for one in executor.workers.values())
    assert attempts(harness, run) == [("c0", 1, "cancelled")]


async def test_code_is_tested_at_workers(
    harness: Harness, tmp_path: Path, made: list[NearbyExecutor]
) -> None:
    run = await harness.run(coded("def double(n): return 2 * n", "def double(n): return n"), NEARBY)
    assert len(checks(made[0])) == 2
    found = harness.sql(
        "SELECT c.id, s.verdict, s.reason FROM scores s JOIN trials t ON t.id = s.trial "
        "JOIN cases c ON c.run = t.run AND c.seq = t.seq WHERE t.run = ? ORDER BY c.seq",
        run,
    )
    assert [verdict for _, verdict, _ in found] == ["pass", "fail"], found
    assert found[0][2] == "passes the tests"
    await harness.again(run, Verb.RESCORE, which="all")
    assert len(made) == 2
    assert not made[1].workers  # what is scored again is scored here …
    await harness.again(run, Verb.RESCORE, which="all", at_workers=True)
    assert len(made) == 3
    assert made[2].workers  # … but where it is said
    assert harness.counts(run).done == 2


def coded(*solutions: str) -> Suite:
    """Return a suite whose outputs are these, of which a program decides."""
    described = suite("http://x.invalid", 0).model_dump(mode="json")
    described["cases"] = [{"id": f"c{n}", "q": one} for n, one in enumerate(solutions)]
    described["targets"] = [{"kind": "simulated", "name": "s", "answers": ["{{ q }}"]}]
    tests = "def check(double):\n    assert double(4) == 8\n"
    described["scorers"] = [{"kind": "code", "tests": tests, "entry_point": "double"}]
    return Suite.model_validate(described)


def checks(executor: NearbyExecutor) -> list[CheckOrder]:
    found = [one for data in executor.given for one in orders(data)]
    return [one for one in found if isinstance(one, CheckOrder)]


async def test_a_check_waits_for_a_worker_where_one_may_come(
    harness: Harness, made: list[NearbyExecutor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NearbyExecutor, "workers_wanted", 1)
    run = harness.create(coded("import time\ntime.sleep(60)\ndef double(n): return 2 * n"), NEARBY)
    task = asyncio.create_task(Engine(harness.path, run).run())
    await until(lambda: bool(made) and len(checks(made[0])) == 1)
    (executor,) = made
    executor.lose("w0")
    await harness.asked(run, Verb.PAUSE)
    assert len(checks(executor)) == 1
    assert harness.counts(run).scoring == 1
    await executor.join("w1")
    await until(lambda: len(checks(executor)) == 2)
    executor.lose("w1")  # the second in a row: perhaps it is the check that ends them
    await until(lambda: harness.counts(run).ungraded == 1)
    await harness.asked(run, Verb.CONTINUE)
    await asyncio.wait_for(task, 20)
    ((reason,),) = harness.sql("SELECT reason FROM scores")
    assert reason == "the workers were lost that were to decide it"


async def test_checks_are_decided_here_once_there_will_be_no_worker(
    harness: Harness, made: list[NearbyExecutor], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(self: NearbyExecutor, worker: str, handful: bytes) -> None:
        if any(isinstance(one, CheckOrder) for one in orders(handful)):
            self.attempts.failed("the head has gone")
        else:
            given(self, worker, handful)

    given = NearbyExecutor.give
    monkeypatch.setattr(NearbyExecutor, "give", failing)
    run = await harness.run(coded("def double(n): return 2 * n"), NEARBY)
    assert harness.counts(run).passed == 1


async def test_programs_are_as_many_as_the_workers_that_have_joined_by_now_have_processors(
    harness: Harness, tmp_path: Path, made: list[NearbyExecutor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(NearbyExecutor, "workers_wanted", 1)
    waits = (
        f"import os, pathlib, time\np = pathlib.Path({str(tmp_path)!r})\n"
        "(p / f'at-{os.getpid()}').touch()\n"
        "while not (p / 'go').exists(): time.sleep(0.02)\nprint('q0')\n"
    )
    described = suite("http://x.invalid", 5, run={"concurrency": None}).model_dump(mode="json")
    described["targets"] = [program(tmp_path, waits)]
    run = harness.create(Suite.model_validate(described), NEARBY)
    task = asyncio.create_task(Engine(harness.path, run).run())
    await until(lambda: len([*tmp_path.glob("at-*")]) == 2)
    assert harness.counts(run).running == 2
    await made[0].join("w1")
    await until(lambda: len([*tmp_path.glob("at-*")]) == 4)
    assert harness.counts(run).running == 4
    (tmp_path / "go").touch()
    await asyncio.wait_for(task, 20)
    limits = harness.sql(
        "SELECT concurrency, kind FROM limits WHERE endpoint <> 'workers' ORDER BY rowid"
    )
    assert limits == [(2, "start"), (4, "workers")]


async def test_a_workspace_is_packed_once_and_one_that_cannot_be_made_is_made_anew(
    harness: Harness, tmp_path: Path, made: list[NearbyExecutor], monkeypatch: pytest.MonkeyPatch
) -> None:
    packs: list[object] = []
    unpacks: list[Path] = []

    def counted(source: Any) -> bytes:
        packs.append(source)
        return workspace_parcel.parcel(source)

    def full(data: bytes, folder: Path) -> None:
        unpacks.append(folder)
        workspace_parcel.unpacked(data, folder)
        if len(unpacks) == 1:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(remote_target, "parcel", counted)
    monkeypatch.setattr(attempt_worker, "unpacked", full)
    monkeypatch.setattr(NearbyExecutor, "workers_wanted", 1)
    fixture = tmp_path / "fixture"
    fixture.mkdir()
    described = suite("http://x.invalid", 3, run={"retries": 0}).model_dump(mode="json")
    code = "import sys\nprint(sys.argv[1])\n"
    described["targets"] = [program(tmp_path, code, workspace=str(fixture), concurrency=2)]
    run = await harness.run(Suite.model_validate(described), NEARBY)
    counts = harness.counts(run)
    failed = {trial.error_kind for trial in harness.trials(run) if trial.error_kind}
    assert failed == {"setup"}
    assert counts.passed == 3 - counts.error >= 1
    assert len(packs) == 1
    assert len(unpacks) == 2


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"targets": [{"kind": "function", "name": "f", "function": "f"}]},
            "target 'f': --executor nearby cannot make its attempts: its function is called",
        ),
        (
            {
                "targets": [
                    {
                        "kind": "model",
                        "name": "later",
                        "base_url": "http://127.0.0.1:9/v1",
                        "model": "m",
                        "bulk": True,
                    }
                ]
            },
            "target 'later' is asked in bulk, which no worker does",
        ),
        ({"run": {"orphans": "finish"}}, 'orphans = "finish" cannot be with --executor nearby'),
    ],
)
def test_what_workers_cannot_do_is_refused_by_name(changes: dict[str, Any], told: str) -> None:
    (found,) = missing(suite("http://127.0.0.1:9/v1", 1, **changes), NEARBY)
    assert told in found


def test_a_run_that_was_not_made_here_is_not_taken_to_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TUI_EVAL_CONFIG", str(tmp_path / "config"))
    plain = suite("http://127.0.0.1:9/v1", 1)
    made_here = permitted(plain, NEARBY)
    assert refusal(plain, made_here, staged=True) is None
    theirs = replace(made_here, executor=ExecutorChoice("nearby", "evil.example:6379"))
    assert refusal(plain, theirs, staged=True) == (
        "the run is not trusted to have attempts made by nearby at evil.example:6379, for a run "
        "that was not made here"
    )


def program(folder: Path, code: str, **more: Any) -> dict[str, Any]:
    script = folder / "agent.py"
    script.write_text(code)
    return {
        "kind": "command",
        "name": "agent",
        "command": [sys.executable, str(script), "{{ q }}"],
        "isolation": "none",
        **more,
    }


async def test_a_program_gets_its_workspace_and_what_it_changed_comes_back(
    harness: Harness, tmp_path: Path, made: list[NearbyExecutor]
) -> None:
    fixture = tmp_path / "fixture"
    fixture.mkdir()
    (fixture / "given.txt").write_text("given\n")
    (fixture / "link").symlink_to("given.txt")
    code = (
        "import pathlib, sys\n"
        "assert pathlib.Path('link').readlink() == pathlib.Path('given.txt')\n"
        "pathlib.Path('made.txt').write_text(pathlib.Path('given.txt').read_text() + sys.argv[1])\n"
        "print(sys.argv[1])\n"
    )
    described = suite("http://x.invalid", 3).model_dump(mode="json")
    described["targets"] = [program(tmp_path, code, workspace=str(fixture))]
    run = await harness.run(Suite.model_validate(described), NEARBY)
    assert harness.counts(run).passed == 3
    (executor,) = made
    assert len(executor.shared) == 1  # for all trials once
    files = FileStore.beside(harness.path)
    found = set()
    for (workspace,) in harness.sql("SELECT workspace FROM attempt_records"):
        changes = files.changes(workspace)
        ((path, entry),) = changes.added
        assert path == b"made.txt" and entry.digest is not None
        found.add(files.get(entry.digest).decode())
    assert found == {f"given\nq{n}" for n in range(3)}
    ((samples, phases),) = harness.sql(
        "SELECT count(*), min(phases) FROM attempt_records WHERE cpu_s IS NOT NULL"
    )
    assert samples == 3
    assert [name for name, _ in json.loads(phases)] == ["preparing", "running", "collecting"]


@pytest.mark.parametrize("kind", ["command", "python", "scorer"])
async def test_a_machine_without_the_suite_s_folder_is_sent_what_is_run(
    harness: Harness,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    made: list[NearbyExecutor],
    kind: str,
) -> None:
    def without(setup: WorkerSetup) -> WorkerSetup:
        sent = WorkerSetup.unpacked(setup.packed())
        here, there = str(tmp_path / "suite.toml"), "/nonexistent/suite.toml"
        return replace(sent, suite=sent.suite.replace(here, there))

    monkeypatch.setattr(NearbyExecutor, "seen", staticmethod(without))
    (tmp_path / "agent.sh").write_text('#!/bin/sh\necho "$1"\n')
    (tmp_path / "agent.sh").chmod(0o755)
    (tmp_path / "helper.py").write_text("def same(q): return q\n")
    (tmp_path / "functions.py").write_text(
        "from helper import same\ndef answer(q): return same(q)\n"
    )
    (tmp_path / "decide.py").write_text("print('{\"score\": 1}')\n")
    targets = {
        "command": 'kind = "command"\ncommand = ["./agent.sh", "{{ q }}"]\nisolation = "none"',
        "python": 'kind = "python"\ncallable = "functions:answer"\nargs = { q = "{{ q }}" }',
        "scorer": 'kind = "simulated"\nanswers = ["{{ q }}"]',
    }
    decided = f'kind = "command"\ncommand = ["{sys.executable}", "decide.py"]\nisolation = "none"'
    scorer = decided if kind == "scorer" else 'kind = "exact"\nexpected = "{{ q }}"'
    (tmp_path / "suite.toml").write_text(
        f'name = "s"\ncases = [{{ id = "a", q = "alpha" }}]\n[prompt]\nuser = "{{{{ q }}}}"\n'
        f'[[targets]]\nname = "t"\n{targets[kind]}\n[[scorers]]\n{scorer}\n'
    )
    run = await harness.run(load(tmp_path / "suite.toml", trusted=True), NEARBY)
    assert harness.row(run).reason is None
    assert harness.counts(run).passed == 1
    (executor,) = made
    assert "/nonexistent/suite.toml" in executor.setup.suite
    assert executor.setup.files


async def test_the_processes_of_a_cancelled_trial_end_there(
    harness: Harness, tmp_path: Path, made: list[NearbyExecutor]
) -> None:
    code = (
        "import os, pathlib, subprocess, time\n"
        "child = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        f"pathlib.Path({str(tmp_path)!r}, 'pids').write_text(f'{{os.getpid()}} {{child.pid}}\\n')\n"
        "print('begun', flush=True)\n"
        "time.sleep(60)\n"
    )
    described = suite("http://x.invalid", 1).model_dump(mode="json")
    described["targets"] = [program(tmp_path, code)]
    run = harness.create(Suite.model_validate(described), NEARBY)
    task = asyncio.create_task(Engine(harness.path, run).run())
    pids = tmp_path / "pids"
    await until(lambda: pids.exists() and pids.read_text().endswith("\n"))
    # what it takes is seen while it runs
    await until(lambda: harness.sql("SELECT count(*) FROM trial_progress")[0][0] == 1)
    await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c0").id])
    await asyncio.wait_for(task, 20)
    assert not [pid for pid in pids.read_text().split() if psutil.pid_exists(int(pid))]
    ((partial,),) = harness.sql("SELECT partial FROM attempts")
    assert partial is not None  # what it had printed


async def test_a_conversation_is_counted_call_by_call(harness: Harness) -> None:
    async with FakeModel() as server:
        described = suite(server.base_url, 5).model_dump(mode="json")
        described["prompts"] = [{"user": "{{ q }}", "turns": ["and {{ q }}", "{{ q }}"]}]
        described["targets"][0]["prices"] = {"input": 1.0, "output": 1.0}
        here = await harness.run(Suite.model_validate(described))
        calls = len(server.calls)
        described["name"] = "elsewhere"
        described["run"]["cache"] = False
        there = await harness.run(Suite.model_validate(described), NEARBY)
        assert len(server.calls) == 2 * calls > 2 * 5
    figures = (
        "SELECT c.id, t.state, t.verdict, o.text, o.messages, o.input_tokens, o.cost_usd "
        "FROM trials t JOIN cases c ON c.run = t.run AND c.seq = t.seq "
        "JOIN outputs o ON o.id = t.output WHERE t.run = ? ORDER BY c.seq"
    )
    assert harness.sql(figures, here) == harness.sql(figures, there)


async def test_a_target_that_is_another_one_there_is_refused(
    harness: Harness, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    described = suite("http://x.invalid", 1).model_dump(mode="json")
    described["targets"] = [program(tmp_path, "print('q0')\n")]
    joined = NearbyExecutor.join

    async def later(self: NearbyExecutor, name: str) -> None:
        await joined(self, name)
        # what the engine has staged by then is not what the worker finds
        worker = self.workers[name]
        target = worker._targets["agent"]
        target.identity = lambda: {"other": True}  # type: ignore[method-assign]

    monkeypatch.setattr(NearbyExecutor, "join", later)
    run = await harness.run(Suite.model_validate(described), NEARBY)
    row = harness.row(run)
    assert row.state is RunState.PAUSED
    assert "target 'agent' is not what it is where the run was started" in (row.reason or "")


def at_fault(name: str, reply: Output) -> dict[str, Any]:
    """Return what a worker may tell of an attempt that cannot be taken."""
    kept = KeptFile(sha256(b"kept").digest(), 4)
    record = AttemptRecord(files=(kept,))
    changes: dict[str, dict[str, Any]] = {
        "type": {"reply": replace(reply, text=3)},  # type: ignore[arg-type]
        "usage": {"reply": replace(reply, usage=Usage(-5, 2))},
        "words": {"reply": replace(reply, usage=Usage("5", 2))},  # type: ignore[arg-type]
        "cost": {"reply": replace(reply, cost_usd=math.nan)},
        "counted": {"reply": replace(reply, counted=True)},
        "missing": {"reply": replace(reply, record=record)},
        "size": {"reply": replace(reply, record=record), "files": (b"kept, and more",)},
        "digest": {"reply": replace(reply, record=record), "files": (b"ktep",)},
        "workspace": {"reply": replace(reply, workspace=b"w" * 32)},
        "list": {
            "reply": replace(reply, record=record, workspace=kept.digest),
            "files": (b"kept",),
        },
        "more": {"files": (b"nobody asked for it",)},
    }
    return changes[name]


FAULTS = ("type", "usage", "words", "cost", "counted", "missing", "size", "digest", "workspace",
          "list", "more")  # fmt: skip


async def test_what_a_worker_says_that_cannot_be_is_its_attempt_s_failure(
    harness: Harness, made: list[NearbyExecutor], monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(number: int, one: Return) -> Return:
        if not isinstance(one, AttemptReturn) or not isinstance(one.reply, Output):
            return one
        name = one.reply.text
        return replace(one, **at_fault(name, one.reply)) if name in FAULTS else one

    monkeypatch.setattr(NearbyExecutor, "told", staticmethod(told))
    described = suite("http://x.invalid", 0).model_dump(mode="json")
    described["cases"] = [{"id": name, "q": name} for name in (*FAULTS, "sound")]
    described["targets"] = [{"kind": "simulated", "name": "s", "answers": ["{{ q }}"]}]
    run = await harness.run(Suite.model_validate(described), NEARBY)
    counts = harness.counts(run)
    assert (counts.passed, counts.error) == (1, len(FAULTS))
    found = harness.sql(
        "SELECT c.id, a.state, a.error_kind, a.output FROM attempts a "
        "JOIN trials t ON t.id = a.trial JOIN cases c ON c.run = t.run AND c.seq = t.seq "
        "WHERE t.run = ? AND c.id <> 'sound'",
        run,
    )
    assert {(state, kind, output) for _, state, kind, output in found} == {("failed", REPLY, None)}
    assert len(found) == len(FAULTS)
    assert harness.row(run).state is RunState.DONE
    assert harness.sql("SELECT count(*) FROM attempt_records") == [(0,)]
    (executor,) = made
    assert not executor.attempts.late


@pytest.mark.parametrize(
    "message",
    [
        CallMade(0, Output("nobody asked")),
        CheckReturn(0, Grade.of(True, "right")),
        CallAsked(0, DialogueCall(CallParty.USER, {})),
    ],
    ids=lambda one: type(one).__name__,
)
async def test_a_message_out_of_turn_harms_no_other_attempt(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, message: Return
) -> None:
    def told(number: int, one: Return) -> Return:
        return replace(message, attempt=one.attempt) if number == 0 else one

    monkeypatch.setattr(NearbyExecutor, "told", staticmethod(told))
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 5, run={"timeout": 3}), NEARBY)
    counts = harness.counts(run)
    assert (counts.passed, counts.error) == (4, 1)


async def test_a_grade_that_cannot_be_is_none(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told(number: int, one: Return) -> Return:
        if not isinstance(one, CheckReturn):
            return one
        return replace(one, grade=Grade(Verdict.PASS, (None, 7.0, -1.0)[-one.attempt % 3], "right"))

    monkeypatch.setattr(NearbyExecutor, "told", staticmethod(told))
    described = suite("http://x.invalid", 3).model_dump(mode="json")
    described["targets"] = [{"kind": "simulated", "name": "s", "answers": ["def double(n): pass"]}]
    tests = "def check(double):\n    assert double(4) == 8\n"
    described["scorers"] = [{"kind": "code", "tests": tests, "entry_point": "double"}]
    run = await harness.run(Suite.model_validate(described), NEARBY)
    assert harness.counts(run).ungraded == 3
    reasons = harness.sql("SELECT reason FROM scores WHERE value IS NULL")
    assert len(reasons) == 3, reasons


async def test_an_attempt_whose_files_cannot_be_read_at_its_worker_fails(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone(*_: object) -> tuple[bytes, ...]:
        raise OSError("no such file")

    monkeypatch.setattr(attempt_worker, "_files", gone)
    async with FakeModel() as server:
        run = await asyncio.wait_for(
            harness.run(suite(server.base_url, 1, run={"retries": 0}), NEARBY), 20
        )
    (trial,) = harness.trials(run)
    assert (trial.state, trial.error_kind) == (TrialState.ERROR, "bug")
    assert "an error in tui-eval, on node of w" in (trial.error_message or "")


async def test_a_node_that_lacks_a_key_is_left_out_and_people_are_told_of_workers(
    harness: Harness, made: list[NearbyExecutor], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = AttemptWorker._as_ordered

    @asynccontextmanager
    async def opened(worker: AttemptWorker, target: Target, identity: str) -> AsyncIterator[None]:
        if worker._where == "node of w0":
            raise UnavailableError("THE_KEY is not set")
        async with whole(worker, target, identity):
            yield

    monkeypatch.setattr(AttemptWorker, "_as_ordered", opened)
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 20), NEARBY)
        assert len(server.calls) == 20
    assert harness.counts(run).passed == 20
    found = harness.sql(
        "SELECT concurrency, kind, what FROM limits WHERE run = ? AND endpoint = 'workers' "
        "ORDER BY id",
        run,
    )
    assert [(there, EndpointEventKind(kind)) for there, kind, _ in found] == [
        (0, EndpointEventKind.PLACING),
        (1, EndpointEventKind.PLACED),
        (2, EndpointEventKind.PLACED),
        (2, EndpointEventKind.WITHOUT),
    ]
    said = str(unpack(found[-1][2]))
    assert "node of w0 makes no attempts" in said
    assert "THE_KEY is not set" in said
