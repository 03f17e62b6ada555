"""kill -9 at random and at named moments: what was told is kept, nothing is asked for twice."""

import asyncio
import json
import random
import sqlite3
import sys
from functools import partial
from pathlib import Path

import pytest

from tests.engine.harness import Harness, suite
from tests.faults.guards import failing, guarded, without
from tests.faults.processes import Command, assert_whole, attempts, names, resume
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tests.waiting import until
from tui_eval.engine.control.submit import ask
from tui_eval.engine.engine import Engine
from tui_eval.engine.settings import Settings
from tui_eval.model.states import RunState
from tui_eval.store import schema
from tui_eval.store.requests import Verb

IN_FLIGHT = 16


def told(command: Command, goal: int) -> bool:
    return len(command.out) > goal or command.process.returncode is not None


@guarded("resume that remembers", slow=True)
async def test_what_was_told_survives_kills_and_is_not_asked_again(
    harness: Harness, seed: int, guard: str | None
) -> None:
    draw, n, kills = random.Random(seed), 250, 3
    acknowledged: set[str] = set()
    async with FakeModel(latency=0.02) as server:
        run = harness.create(suite(server.base_url, n, run={"concurrency": IN_FLIGHT}))
        with failing(guard):
            for _ in range(kills):
                command = await resume(harness, run, "--events", guard=guard)
                await until(partial(told, command, draw.randrange(5, 50)))
                await command.killed()
                new = names(command.events())
                assert not acknowledged & new, "a trial was finished twice"
                acknowledged |= new
                stored = {t.case_id for t in harness.trials(run) if t.state == "done"}
                assert acknowledged <= stored, "what was told is not stored"
                acknowledged = stored
            await until(lambda: server.in_flight == 0)
            await Engine(harness.path, run).run()
            counts = harness.counts(run)
            assert counts.passed == n
            assert server.requests <= n + kills * IN_FLIGHT
            # written before it is sent: a kill in between leaves a record without a request
            assert counts.attempts <= server.requests <= counts.attempts + counts.lost
            # beside those in flight some starts are written ahead, for half as many slots at most
            assert counts.lost <= kills * (IN_FLIGHT + IN_FLIGHT // 2)
            for case, ends in attempts(harness, run).items():
                assert ends["answered"] == 1
                assert server.counts[f"q{case[1:]}"] <= 1 + ends.get("lost", 0)
            assert_whole(harness, run)


@pytest.mark.whole
@guarded("resume that remembers")
async def test_a_second_kill_while_errors_are_tried_again_loses_nothing(
    harness: Harness, seed: int, guard: str | None
) -> None:
    draw, n = random.Random(seed), 300
    broken = {f"q{i}" for i in draw.sample(range(n), 60)}

    def script(call: Call) -> Reply | None:
        return refuse(400, "bad") if call.prompt in broken else None

    async with FakeModel(script=script, latency=0.02) as server:
        run = harness.create(suite(server.base_url, n, run={"concurrency": IN_FLIGHT}))
        with failing(guard):
            first = await resume(harness, run, "--events", guard=guard)
            await until(partial(told, first, n // 2))
            await first.killed()
            kept = {t.case_id: t.output for t in harness.trials(run) if t.state == "done"}
            errored = harness.counts(run).error
            assert errored
            broken.clear()
            second = await resume(harness, run, "--events", guard=guard)
            await until(partial(told, second, errored // 2))
            await second.killed()
            now = {t.case_id: t.output for t in harness.trials(run) if t.state == "done"}
            assert kept.items() <= now.items()
            third = await resume(harness, run, "--json", guard=guard)
            assert await third.ended() == 0
            end = {t.case_id: t.output for t in harness.trials(run)}
            assert now.items() <= end.items()
            assert harness.counts(run).passed == n
            assert_whole(harness, run)


@pytest.mark.parametrize("moment", ["before send", "after reply", "before commit", "after commit"])
async def test_a_kill_at_a_named_moment_costs_what_was_in_flight_at_most(
    harness: Harness, seed: int, moment: str
) -> None:
    n, at_once = 40, 4
    # what is in flight at once may share a commit: there are no more than n / at_once for certain
    nth = random.Random(seed).randrange(2, n // at_once)
    async with FakeModel(latency=0.01) as server:
        run = harness.create(suite(server.base_url, n, run={"concurrency": at_once}))
        command = await resume(harness, run, "--events", kill=f"{moment}:{nth}")
        assert await command.ended() == -9, "it was not killed: this test tests nothing"
        stored = {t.case_id for t in harness.trials(run) if t.state == "done"}
        assert names(command.events()) <= stored
        await until(lambda: server.in_flight == 0)
        asked = dict(server.counts)
        await Engine(harness.path, run).run()
        again = {prompt for prompt, count in asked.items() if server.counts[prompt] > count}
        assert not {f"q{case[1:]}" for case in stored} & again
        assert server.requests <= n + at_once
    assert harness.counts(run).passed == n
    assert_whole(harness, run)


@pytest.mark.whole
@guarded("one transaction a migration")
async def test_a_kill_in_a_migration_leaves_the_store_before_or_after_it(
    harness: Harness, seed: int, guard: str | None
) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 5))
    before = harness.sql("SELECT name FROM sqlite_master ORDER BY 1")
    nth = random.Random(seed).randrange(2, 10)
    with failing(guard):
        command = await resume(harness, run, kill=f"in a migration:{nth}", guard=guard)
        assert await command.ended() == -9, command.err
        assert harness.sql("PRAGMA user_version") == [(len(schema.MIGRATIONS),)]
        assert harness.sql("SELECT name FROM sqlite_master ORDER BY 1") == before
        assert harness.counts(run).passed == 5
    if guard is None:
        finished = await resume(harness, run, kill="in a migration:1000")
        assert await finished.ended() == 0, finished.err
        assert harness.sql("PRAGMA user_version") == [(len(schema.MIGRATIONS) + 1,)]


@pytest.mark.whole
async def test_a_kill_while_a_store_is_made_leaves_none(tmp_path: Path, seed: int) -> None:
    nth = random.Random(seed).randrange(1, 12)
    (tmp_path / "s.toml").write_text(
        '[[cases]]\nid = "a"\n[prompt]\nuser = "?"\n[[targets]]\nkind = "simulated"\n'
        'answers = ["x"]\n[[scorers]]\nkind = "exact"\nexpected = "x"\n'
    )
    killed = await Command.start("run", "s.toml", kill=f"in the first schema:{nth}")
    assert await killed.ended() == -9
    assert not (tmp_path / "store.sqlite3").exists()
    again = await Command.start("run", "s.toml", "--json")
    assert await again.ended() == 0, again.err


@pytest.mark.whole
@guarded("whole files")
async def test_a_kill_in_an_export_leaves_the_old_file_or_the_new_one(
    harness: Harness, tmp_path: Path, guard: str | None
) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 50))
    name, file = harness.row(run).name, tmp_path / "out.jsonl"
    words = ("export", name, "--format", "jsonl", "-o", str(file), "--store", str(harness.path))
    file.write_text("the old one\n")
    with failing(guard):
        killed = await Command.start(*words, kill="in an export:20", guard=guard)
        assert await killed.ended() == -9, killed.err
        assert file.read_text() == "the old one\n"
    assert await (await Command.start(*words)).ended() == 0
    assert len([json.loads(line) for line in file.read_text().splitlines()]) == 50


@guarded("keys by content")
async def test_edits_between_runs_cost_what_they_changed(
    harness: Harness, guard: str | None
) -> None:
    n = 12
    async with FakeModel() as server, FakeModel() as other:
        plain = suite(server.base_url, n)
        target = {"kind": "model", "name": "fake", "model": "fake-model"}
        here = {**target, "base_url": server.base_url}
        edited = [dict(case) for case in plain.cases]
        edited[3]["q"] = "something else"
        scorers = [{"kind": "includes", "expected": "{{ q }}"}]
        prompts = [{"user": "And: {{ q }}"}]
        with without(guard):
            for changed, calls in [
                (plain, n),
                (plain, 0),
                (plain.model_copy(update={"cases": tuple(edited)}), 1),
                (plain.model_copy(update={"cases": tuple(reversed(plain.cases))}), 0),
                (suite(server.base_url, n, scorers=scorers), 0),
                (suite(server.base_url, n, targets=[{**here, "params": {"temperature": 1}}]), n),
                (suite(server.base_url, n, prompts=prompts), n),
                (suite(other.base_url, n), n),
                (suite(server.base_url, n, targets=[{**here, "name": "else"}]), 0),
                (suite(server.base_url, n, run={"timeout": 7, "retries": 1}), 0),
            ]:
                before = server.requests + other.requests
                run = await harness.run(changed)
                assert server.requests + other.requests - before == calls
                assert harness.counts(run).done == n
            assert server.counts["something else"] == 1


@pytest.mark.whole
@guarded("resume of what is missing")
async def test_a_finished_run_that_is_resumed_asks_nobody_and_ends_the_same(
    harness: Harness, guard: str | None
) -> None:
    async with FakeModel(answers={f"q{i}": f"q{i}" for i in range(9)}) as server:
        run = await harness.run(suite(server.base_url, 10, gate={"pass_rate": 0.95}))
        first = await resume(harness, run, "--json", guard=guard)
        with failing(guard):
            assert await first.ended() == 1
            assert first.document()["exit_code"] == 1
            assert server.requests == 10


@pytest.mark.whole
@guarded("resume of what is missing")
async def test_resume_takes_up_errors_and_leaves_the_cancelled_and_the_cut_short(
    harness: Harness, guard: str | None
) -> None:
    replies = {"q1": refuse(400, "bad"), "q2": Reply("length"), "q3": Reply("hang")}
    script = replies.copy()
    async with FakeModel(script=lambda call: script.get(call.prompt)) as server:
        async with harness.working(suite(server.base_url, 6)) as (run, _):
            await until(lambda: harness.row(run).staged and harness.counts(run).settled == 5)
            await harness.asked(run, Verb.CANCEL, trials=[harness.trial(run, "c3").id])
        assert [t.state for t in harness.trials(run)][:4] == ["done", "error", "done", "cancelled"]
        script.clear()
        asked = dict(server.counts)
        with without(guard):
            await harness.again(run, Verb.RESUME)
            again = {prompt for prompt, n in server.counts.items() if n > asked[prompt]}
            assert again == {"q1"}
            assert harness.trial(run, "c1").verdict == "pass"
            assert harness.trial(run, "c2").verdict == "ungraded"
            assert harness.trial(run, "c3").state == "cancelled"


@pytest.mark.whole
@guarded("sums over attempts")
async def test_totals_after_a_resume_are_sums_over_attempts(
    harness: Harness, guard: str | None
) -> None:
    broken = {"q1", "q2"}

    def script(call: Call) -> Reply | None:
        return refuse(400, "bad") if call.prompt in broken else None

    async with FakeModel(script=script) as server:
        with without(guard):
            run = await harness.run(suite(server.base_url, 6))
            spent = harness.counts(run)
            broken.clear()
            await harness.again(run, Verb.RESUME)
            await harness.again(run, Verb.RETRY, cases=["c0"], which="all")
            counts = harness.counts(run)
            assert counts.attempts == server.requests == 9
            assert counts.retries == 3
            (tokens,) = harness.sql("SELECT sum(input_tokens), sum(output_tokens) FROM attempts")[
                0:1
            ]
            assert (counts.input_tokens, counts.output_tokens) == tokens
            assert counts.input_tokens > spent.input_tokens


@pytest.mark.whole
async def test_a_run_killed_before_it_was_staged_takes_no_edited_data(
    harness: Harness, tmp_path: Path
) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": "c0", "q": "q0"}\n')
    async with FakeModel() as server:
        dataset = {"path": str(data)}
        given = suite(server.base_url, 0, cases=[], dataset=dataset, file=str(tmp_path / "s.toml"))
        run = harness.create(given)
        command = await resume(harness, run, "--events", kill="before staged:1")
        assert await command.ended() == -9, "it was not killed: this test tests nothing"
        kept = data.read_text()
        data.write_text('{"id": "c0", "q": "another"}\n')
        edited = await resume(harness, run)
        assert await edited.ended() == 2
        assert "goes on from here" not in edited.err
        assert "tui-eval resume" not in "".join(edited.out)
        assert "data.jsonl was changed after this run was launched" in edited.err
        assert server.requests == 0
        data.write_text(kept)
        again = await resume(harness, run, "--json")
        assert await again.ended() == 0
        assert server.requests == 1
    assert_whole(harness, run)


@pytest.mark.whole
async def test_a_run_killed_while_it_is_staged_is_staged_anew(harness: Harness, seed: int) -> None:
    async with FakeModel() as server:
        run = harness.create(suite(server.base_url, 5000, run={"concurrency": 50}))
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.engine.worker", str(harness.path), str(run)
        )
        some = "SELECT count(*) FROM trials"
        await until(lambda: harness.sql(some) != [(0,)])
        process.kill()
        await process.wait()
        assert not harness.row(run).staged
        settings = Settings(limit=50)
        db = sqlite3.connect(harness.path, isolation_level=None)
        db.execute("UPDATE runs SET settings = ?", (json.dumps(settings.as_json()),))
        db.close()
        ask(harness.path, run, Verb.RESUME)
        await Engine(harness.path, run).run()
    assert harness.counts(run).passed == 50
    assert harness.row(run).state is RunState.DONE
    assert_whole(harness, run)
