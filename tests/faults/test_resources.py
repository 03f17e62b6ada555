"""Large runs, few descriptors, a clock that jumps, and a soak with everything at once."""

import asyncio
import random
import resource
from collections import Counter
from pathlib import Path

import psutil
import pytest

from tests.engine.harness import Harness, suite
from tests.faults.guards import failing, guarded
from tests.faults.processes import Command, assert_whole, attempts, had, resume
from tests.faults.terminal import Screen, assert_restored
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import Call, FakeModel, Mix, Reply, refuse
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.model.states import RunState
from tui_eval.store.clock import elapsed
from tui_eval.store.connection import open_readable
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb


@pytest.mark.whole
@pytest.mark.timeout(400)
async def test_ten_thousand_cases_two_hundred_in_flight_and_the_app_open(harness: Harness) -> None:
    n = 10_000
    async with FakeModel(latency=0.2, record=False) as server:
        run = harness.create(suite(server.base_url, n, run={"concurrency": 200}))
        engine = await resume(harness, run)
        await until(had(server, 200))
        app = Screen("watch", "last", "--store", str(harness.path))

        def watch() -> None:
            app.until_shown("c0")
            app.press("jjjj\x1b[F")  # the end of the list
            app.until(lambda: "○ done" in app.text(), 300)
            app.press("q")
            app.until_shown("Runs")
            app.press("q")
            assert app.until_ended() == 0
            assert_restored(app)

        try:
            await asyncio.to_thread(watch)
        finally:
            app.close()
        assert await engine.ended() == 0
        assert server.in_flight_max == 200
        assert server.requests == n
        assert set(server.counts.values()) == {1}
    assert harness.counts(run).passed == n
    db = open_readable(harness.path)
    try:
        places = [trial.place for trial in trial_rows.trials_from(db, run, 0, n)]
    finally:
        db.close()
    assert places == list(range(n))


@pytest.mark.whole
@pytest.mark.timeout(1800)
async def test_the_log_stays_small_in_a_large_run_though_a_reader_stays(
    harness: Harness, tmp_path: Path
) -> None:
    n = 200_000
    with (tmp_path / "d.jsonl").open("w") as file:
        file.writelines(f'{{"id": "c{i}", "q": "{i}"}}\n' for i in range(n))
    (tmp_path / "s.toml").write_text(
        '[dataset]\npath = "d.jsonl"\n[prompt]\nuser = "{{ q }}"\n[[targets]]\n'
        'kind = "simulated"\nanswers = ["{{ q }}"]\n[[scorers]]\nkind = "exact"\n'
        'expected = "{{ q }}"\n[run]\nconcurrency = 64\n'
    )
    command = await Command.start("run", "s.toml", "--json")
    await until(lambda: harness.path.exists() and harness.sql("SELECT id FROM runs"))
    wal, largest, memory = harness.path.with_name(harness.path.name + "-wal"), 0, 0
    reading = open_readable(harness.path)
    while command.process.returncode is None:
        run_queries.run(reading, 1)  # it stays, and looks again and again
        largest = max(largest, wal.stat().st_size if wal.exists() else 0)
        try:
            memory = max(memory, psutil.Process(command.process.pid).memory_info().rss)
        except psutil.NoSuchProcess:
            break
        await asyncio.sleep(0.1)
    reading.close()
    assert await command.ended() == 0, command.err
    assert command.document()["counts"]["passed"] == n
    print(f"largest log: {largest >> 20} MiB, resident: {memory >> 20} MiB")
    assert largest < 128 << 20
    assert memory < 400 << 20


def starve() -> None:
    """Leave a process few descriptors."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))


async def test_sixty_four_descriptors_are_enough_for_any_limit_and_cost_no_retry(
    harness: Harness,
) -> None:
    async with FakeModel(latency=0.05) as server:
        run = harness.create(suite(server.base_url, 200, run={"concurrency": 100, "retries": 0}))
        command = await resume(harness, run, "--json", before=starve)
        assert await command.ended() == 0, command.err
        assert command.document()["counts"]["passed"] == 200
        assert server.requests == 200 and server.in_flight_max < 64
    reasons = harness.sql("SELECT DISTINCT kind FROM limits ORDER BY id")
    assert reasons == [("start",)], "nobody is at fault: no limit is lowered"
    assert harness.sql("SELECT count(*) FROM attempts") == [(200,)]
    assert_whole(harness, run)


@pytest.mark.whole
async def test_sixty_four_descriptors_are_enough_for_any_judge(harness: Harness) -> None:
    async with FakeModel() as server, FakeModel(answers(by_number), latency=0.3) as judge:
        called = {"kind": "model", "name": "j", "base_url": judge.base_url, "model": "fake-judge"}
        scorer = {
            "kind": "judge",
            "name": "right",
            "rubric": "Is it?",
            "scale": [0, 9],
            "judge": ["j"],
        }
        made = suite(
            server.base_url,
            150,
            scorers=[scorer],
            judges=[{**called, "concurrency": 100, "batch_size": 1, "retries": 0}],
            run={"concurrency": 4},
        )
        run = harness.create(made)
        command = await resume(harness, run, "--json", before=starve)
        await command.ended()
        counts = command.document()["counts"]
    assert (counts["ungraded"], counts["error"]) == (0, 0), command.err
    assert harness.sql("SELECT count(*) FROM judge_calls") == [(150,)]
    assert_whole(harness, run)


@pytest.mark.whole
async def test_all_endpoints_share_the_descriptors_of_their_process(harness: Harness) -> None:
    async with (
        FakeModel(latency=0.1) as one,
        FakeModel(latency=0.1) as two,
        FakeModel(latency=0.1) as three,
        FakeModel(answers(by_number), latency=0.1) as judge,
    ):
        servers = [one, two, three]
        scorer = {
            "kind": "judge",
            "name": "right",
            "rubric": "Is it?",
            "scale": [0, 9],
            "judge": ["j"],
        }
        called = {"kind": "model", "name": "j", "base_url": judge.base_url, "model": "fake-judge"}
        made = suite(
            "",
            60,
            targets=[
                {"kind": "model", "name": f"t{n}", "base_url": server.base_url, "model": "m"}
                for n, server in enumerate(servers)
            ],
            scorers=[scorer],
            judges=[{**called, "concurrency": 50, "batch_size": 1, "retries": 0}],
            run={"concurrency": 60, "retries": 0},
        )
        run = harness.create(made)
        command = await resume(harness, run, "--json", before=starve)
        await command.ended()
        counts = command.document()["counts"]
        assert (counts["done"], counts["ungraded"], counts["error"]) == (180, 0, 0), command.err
        assert [server.requests for server in servers] == [60, 60, 60]
    assert harness.sql("SELECT count(*) FROM attempts") == [(180,)]
    assert_whole(harness, run)


@pytest.mark.whole
@guarded("monotonic deadlines")
async def test_a_clock_that_jumps_changes_no_deadline_and_no_order(
    harness: Harness, seed: int, guard: str | None
) -> None:
    n = 100
    async with FakeModel(script=Mix(seed, of=n), latency=0.02) as server:
        given = suite(server.base_url, n, run={"timeout": 1.5, "concurrency": 8})
        run = harness.create(given)
        how = {"FAULTS_CLOCK": str(seed + 1)}
        command = await resume(harness, run, "--json", environment=how, guard=guard)
        with failing(guard):
            try:
                await until(lambda: command.process.returncode is not None, 25)
                assert await command.ended() == 0, command.err
                assert harness.counts(run).passed == n
                assert server.requests == n + 40
                numbers = harness.sql("SELECT trial, number FROM attempts ORDER BY trial, id")
                assert numbers == sorted(numbers)
                assert_whole(harness, run)
            finally:
                await command.killed()


class Troubles:
    """Every kind of trouble, drawn for each prompt by a seed; a third of the troubled have two."""

    KINDS = (
        *(refuse(429, "rate_limit_exceeded", retry_after="0.2"),) * 6,
        *(refuse(500), refuse(503)) * 4,
        *(Reply("reset"), Reply("no_reply"), Reply("invalid_json"), Reply("no_choices")) * 2,
        *(Reply("error_in_200"), Reply("not_an_object")),
        Reply("hang"),
    )
    LASTING = (refuse(400, "bad"), refuse(400, "context_length_exceeded"), Reply("null_text"))
    UNGRADED = (Reply("length"), Reply("content_filter"))

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def of(self, prompt: str) -> tuple[list[Reply], Reply | None]:
        """Give the passing troubles of a prompt, and how it ends if not well."""
        draw = random.Random(f"{self.seed} {prompt}")
        troubles = [draw.choice(self.KINDS) for _ in range(draw.choice([0] * 12 + [1, 1, 2]))]
        end = draw.random()
        if end < 0.01:
            return troubles, draw.choice(self.LASTING)
        return troubles, draw.choice(self.UNGRADED) if end < 0.02 else None

    def __call__(self, call: Call) -> Reply | None:
        troubles, end = self.of(call.prompt)
        return troubles[call.attempt - 1] if call.attempt <= len(troubles) else end


@pytest.mark.whole
@pytest.mark.timeout(900)
async def test_a_soak_loses_nothing_doubles_nothing_and_counts_as_the_server_does(
    harness: Harness, seed: int
) -> None:
    n, in_flight = 10_000, 50
    draw, troubles = random.Random(seed), Troubles(seed)
    async with FakeModel(script=troubles, latency=0.01, record=False) as server:
        settings = {"concurrency": in_flight, "timeout": 2, "retries": 8}
        run = harness.create(suite(server.base_url, n, run=settings))
        kills = 3
        for at in range(kills + 1):
            engine = await resume(harness, run, "--json")
            if at == kills:
                break
            goal = server.requests + draw.randrange(1000, 2500)
            await until(had(server, goal), 200)
            await engine.killed()
            await until(lambda: server.in_flight <= 2)  # but those that hang
        code = await engine.ended(600)
        ends = [troubles.of(f"q{i}")[1] for i in range(n)]
        errors = sum(end in Troubles.LASTING for end in ends)
        ungraded = sum(end in Troubles.UNGRADED for end in ends)
        counts = harness.counts(run)
        assert (counts.total, counts.settled) == (n, n), (harness.row(run), engine.err)
        assert (counts.error, counts.ungraded) == (errors, ungraded)
        assert counts.passed == n - errors - ungraded
        assert code == (3 if errors or ungraded else 0)
        further = 0
        for case, how in attempts(harness, run).items():
            asked = server.counts[f"q{case[1:]}"]
            known = how.get("answered", 0) + how.get("failed", 0)
            assert known <= asked <= known + how.get("lost", 0), (case, how, asked)
            assert how.get("answered", 0) <= 1, "doubled"
            further += how.get("lost", 0)
        starts = in_flight + in_flight // 2  # some are written before there is a slot for them
        assert further <= kills * starts
        assert counts.attempts <= server.requests <= counts.attempts + counts.lost
        assert counts.lost == further
    kinds = Counter(trial.error_kind for trial in harness.trials(run) if trial.state == "error")
    assert sum(kinds.values()) == errors
    assert harness.row(run).state is RunState.DONE
    assert_whole(harness, run)


@pytest.mark.whole
@pytest.mark.timeout(400)
async def test_a_calm_soak_counts_to_the_request_as_the_server_does(
    harness: Harness, seed: int
) -> None:
    n, troubles = 3000, Troubles(seed)
    async with FakeModel(script=troubles, latency=0.005, record=False) as server:
        settings = {"concurrency": 30, "timeout": 2, "retries": 8}
        async with harness.working(suite(server.base_url, n, run=settings)) as (run, engine):
            await until(had(server, 1000), 60)
            await harness.asked(run, Verb.PAUSE)
            await until(lambda: server.in_flight == 0)
            await harness.asked(run, Verb.CONTINUE)
        assert engine is not None
        sent = {case: sum(ends.values()) for case, ends in attempts(harness, run).items()}
        assert sent == {f"c{i}": server.counts[f"q{i}"] for i in range(n)}
        assert harness.counts(run).attempts == server.requests
    assert_whole(harness, run)


@pytest.mark.whole
async def test_a_clock_that_jumps_falsifies_no_duration_and_no_order(harness: Harness) -> None:
    began = elapsed()
    async with FakeModel(latency=0.02) as server:
        run = harness.create(suite(server.base_url, 40, run={"concurrency": 2}))
        command = await resume(harness, run, "--json", environment={"FAULTS_CLOCK": "7"})
        assert await command.ended() == 0, command.err
    took = elapsed() - began
    assert 20 * 0.02 <= harness.row(run).wall_s <= took
    assert 0 < command.document()["wall_s"] <= took
    attempts = harness.sql("SELECT sent_at, queue_s, call_s FROM attempts ORDER BY id")
    sent = [at for at, _, _ in attempts]
    assert sent == sorted(sent)
    assert sent[-1] - sent[0] <= took
    assert all(0 <= queued <= took and 0 < call <= took for _, queued, call in attempts)
    settled = [at for (at,) in harness.sql("SELECT since FROM trials ORDER BY change, place")]
    assert settled == sorted(settled)


async def test_what_waited_while_nobody_worked_on_its_run_was_in_no_queue(harness: Harness) -> None:
    async with FakeModel() as server:
        server.hold()
        run = harness.create(suite(server.base_url, 3, run={"concurrency": 1}))
        first = Engine(harness.path, run)
        task = asyncio.create_task(first.run())
        await until(lambda: server.in_flight == 1)
        first.stop()
        first.abort()
        await task
        harness.write("UPDATE trials SET since = since - 86400")
        server.let_go()
        await Engine(harness.path, run).run()
    assert harness.counts(run).passed == 3
    assert harness.sql("SELECT max(queue_s) FROM attempts")[0][0] < 3600
