"""Servers that refuse, stall, lie and go away: right results, no request too many."""

import asyncio
import time
from collections import Counter
from email.utils import formatdate

import psutil
import pytest

from tests.engine.harness import Harness, suite
from tests.faults.guards import guarded, without
from tests.faults.processes import assert_whole, attempts, resume
from tests.servers.fake_model import Call, FakeModel, Mix, Reply, always, refuse
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.engine.settings import Settings
from tui_eval.model.states import RunState, Verdict
from tui_eval.store.requests import Verb

CASES = 200


def gaps(server: FakeModel, script: Mix, status: int) -> list[float]:
    """Give the seconds between the refusals of a status and the attempts that followed them."""
    places = {place for place, reply in script.by_place.items() if reply.status == status}
    first: dict[str, float] = {}
    found = []
    for call in server.calls:
        if call.first not in places:
            continue
        if call.attempt == 1:
            first[call.prompt] = call.at
        elif call.attempt == 2:
            found.append(call.at - first[call.prompt])
    return found


@guarded("retries", "Retry-After", slow=True)
async def test_passing_faults_cost_forty_further_requests_and_no_result(
    harness: Harness, seed: int, guard: str | None
) -> None:
    script = Mix(seed)
    async with FakeModel(script=script, latency=0.02) as server:
        with without(guard):
            run = await harness.run(suite(server.base_url, CASES, run={"timeout": 4}))
            counts = harness.counts(run)
            assert (counts.passed, counts.retries, server.requests) == (CASES, 40, CASES + 40)
            waits = gaps(server, script, 429)
            assert len(waits) == 20
            assert min(waits) >= 1.0, "a Retry-After was not kept"
            assert set(server.counts.values()) == {1, 2}
            assert_whole(harness, run)


@guarded("dropping what nobody asked for")
async def test_an_answer_that_nobody_asked_for_is_no_cases_output(
    harness: Harness, guard: str | None
) -> None:
    async with FakeModel(script=always(Reply("twice"))) as server:
        with without(guard):
            run = await harness.run(suite(server.base_url, 40, run={"concurrency": 2}))
            assert (harness.counts(run).passed, server.requests) == (40, 40)
            assert_whole(harness, run)


@pytest.mark.whole
@guarded("the deadline")
async def test_lasting_faults_are_forty_errors_with_their_reasons_in_bounded_time(
    harness: Harness, seed: int, guard: str | None
) -> None:
    retries, timeout = 1, 1.0
    async with FakeModel(script=Mix(seed, lasting=True), latency=0.02) as server:
        given = suite(server.base_url, CASES, run={"timeout": timeout, "retries": retries})
        with without(guard):
            started = time.monotonic()
            run_id = harness.create(given)
            engine = Engine(harness.path, run_id)
            task = asyncio.create_task(engine.run())
            try:
                async with asyncio.timeout((retries + 1) * timeout + 20):
                    await asyncio.shield(task)
            except TimeoutError:
                engine.abort()
                await task
            assert time.monotonic() - started < (retries + 1) * timeout + 20
            counts = harness.counts(run_id)
            assert (counts.passed, counts.error) == (160, 40)
            errored = [trial for trial in harness.trials(run_id) if trial.state == "error"]
            assert Counter(trial.error_kind for trial in errored) == {
                "rate_limit": 20,
                "server_error": 10,
                "connection": 4,
                "timeout": 2,
                "bad_answer": 4,
            }
            assert all(trial.error_message for trial in errored)
            assert_whole(harness, run_id)


SEMANTIC = (
    (Reply("null_text"), 10),
    (Reply("no_choices"), 10),
    (Reply("length", text="cut"), 10),
    (Reply("error_in_200"), 10),
    (refuse(400, "context_length_exceeded", "prompt is too long"), 10),
)


@guarded("no grade without an answer")
async def test_what_is_no_answer_is_never_graded_wrong(
    harness: Harness, seed: int, guard: str | None
) -> None:
    script = Mix(seed, faults=SEMANTIC, lasting=True)
    async with FakeModel(script=script) as server:
        with without(guard):
            run = await harness.run(suite(server.base_url, CASES, run={"retries": 0}))
            counts = harness.counts(run)
            assert (counts.passed, counts.failed) == (150, 0)
            assert (counts.ungraded, counts.error) == (10, 40)
            assert_whole(harness, run)


@pytest.mark.whole
@pytest.mark.timeout(180)
@guarded("the pause for all")
async def test_half_a_minute_of_refusals_is_probed_gently_and_no_herd_follows(
    harness: Harness, guard: str | None
) -> None:
    refusing = 10.0 if guard else 30.0
    begun: list[float] = []

    def script(call: Call) -> Reply | None:
        begun.append(call.at)
        return refuse(429, "rate_limit_exceeded") if call.at - begun[0] < refusing else None

    async with FakeModel(script=script, latency=0.1) as server:
        with without(guard):
            given = suite(server.base_url, 150, run={"concurrency": 50, "retries": 8})
            run = await harness.run(given)
            since = [call.at - begun[0] for call in server.calls]
            lasting = [at for at in since if 1.0 < at < refusing]
            assert len(lasting) <= 2 * refusing
            after = [at for at in since if at >= refusing]
            herd = [at for at in after if at < after[0] + 0.1]
            assert len(herd) <= 8, "everybody came back at once"
            assert harness.counts(run).passed == 150
            kinds = {row[0] for row in harness.sql("SELECT kind FROM limits")}
            assert {"refuses-all", "answers-again"} <= kinds


@pytest.mark.parametrize(
    ("said", "least", "most", "guard"),
    [
        ("3600", 100, 121, None),
        ("3600", 100, 121, "a ceiling on Retry-After"),
        ("an hour from now", 100, 121, None),
        ("-5", -1, 1, None),
        ("soon", -1, 1, None),
        ("1e999", -1, 1, None),
    ],
)
async def test_whatever_retry_after_says_the_wait_is_bounded_and_shown(
    harness: Harness, said: str, least: float, most: float, guard: str | None
) -> None:
    header = formatdate(time.time() + 3600, usegmt=True) if "hour" in said else said
    slow = refuse(429, "rate_limit_exceeded", retry_after=header)

    def script(call: Call) -> Reply | None:
        return slow if call.prompt == "q1" else None

    async with FakeModel(script=script) as server:
        with without(guard):
            async with harness.working(suite(server.base_url, 3, run={"retries": 1})) as (run, _):
                shown = "SELECT max(waiting_until - since) FROM trials WHERE waiting IS NOT NULL"
                failed = "SELECT count(*) FROM attempts WHERE state = 'failed'"
                await until(lambda: harness.row(run).staged and harness.sql(failed) != [(0,)])
                if least > 0:
                    await until(lambda: harness.sql(shown) != [(None,)])
                waits = harness.sql(shown)[0][0] or 0.0
                if least > 0:
                    await harness.asked(run, Verb.CANCEL, which="open")
            assert least <= waits <= most
            assert harness.counts(run).passed == 2


@guarded("the early stop", slow=True)
@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_stops_after_what_was_in_flight_with_one_message(
    harness: Harness, status: int, guard: str | None
) -> None:
    async with FakeModel(script=always(refuse(status, "invalid_api_key")), latency=0.02) as server:
        with without(guard):
            run = await harness.run(suite(server.base_url, CASES))
            row = harness.row(run)
            assert (row.state, row.stopped_by) == (RunState.PAUSED, "auth")
            assert server.requests <= 10
            assert "no key was sent" in (row.reason or "")
            assert harness.counts(run).queued == CASES - server.requests


@pytest.mark.whole
@guarded("retries")
async def test_a_server_that_goes_and_comes_back_costs_no_result(
    harness: Harness, guard: str | None
) -> None:
    async with FakeModel(latency=0.02) as server:
        with without(guard):
            given = suite(server.base_url, 150, run={"retries": 8})
            async with harness.working(given) as (run, _):
                await until(lambda: server.requests >= 40)
                await server.stop()
                await asyncio.sleep(2)
                await server.start()
            counts = harness.counts(run)
            assert (counts.passed, counts.error) == (150, 0)
            answered = {case: ends["answered"] for case, ends in attempts(harness, run).items()}
            assert set(answered.values()) == {1}
            assert_whole(harness, run)


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["hang", "drip"])
async def test_the_deadline_holds_for_what_hangs_and_what_drips(
    harness: Harness, kind: str
) -> None:
    async with FakeModel(script=always(Reply(kind))) as server:
        run = await harness.run(suite(server.base_url, 5, run={"timeout": 0.5, "retries": 1}))
        await until(lambda: server.in_flight == 0)
    assert {trial.error_kind for trial in harness.trials(run)} == {"timeout"}
    assert server.requests == 10
    slowest = harness.sql("SELECT max(call_s) FROM attempts")[0][0]
    assert 0.5 <= slowest < 5.0


@pytest.mark.whole
@pytest.mark.parametrize("kind", ["endless", "bomb"])
async def test_a_body_without_end_and_a_bomb_take_no_memory(harness: Harness, kind: str) -> None:
    reply = Reply(kind, size=1 << 30)
    if kind == "bomb":
        reply = Reply(kind, size=256 << 20)
    async with FakeModel(script=always(reply)) as server:
        given = suite(server.base_url, 2, run={"retries": 0, "concurrency": 2, "timeout": 30})
        command = await resume(harness, harness.create(given), "--json")
        largest = 0
        while command.process.returncode is None:
            try:
                largest = max(largest, psutil.Process(command.process.pid).memory_info().rss)
            except psutil.NoSuchProcess:
                break
            await asyncio.sleep(0.02)
        assert await command.ended() == 3
    assert {trial.error_kind for trial in harness.trials(1)} == {"bad_answer"}
    assert largest < 400 << 20


@pytest.mark.whole
@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_takes_no_request_and_no_key_to_another_origin(
    harness: Harness, status: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAKE_API_KEY", "sk-not-for-strangers")
    async with FakeModel() as stranger:
        away = Reply("redirect", status=status, headers={"Location": stranger.base_url})
        async with FakeModel(script=always(away)) as server:
            target = {"kind": "model", "base_url": server.base_url, "model": "m"}
            targets = [{**target, "name": "t", "api_key_env": "FAKE_API_KEY"}]
            run = await harness.run(suite(server.base_url, 2, targets=targets, run={"retries": 0}))
            assert server.requests == 2
            assert all("sk-not-for-strangers" in call.head for call in server.calls)
        assert (stranger.requests, stranger.connections) == (0, 0)
    assert {trial.error_kind for trial in harness.trials(run)} == {"redirect"}


@guarded("the target in the key")
async def test_models_parameters_and_addresses_never_share_an_answer(
    harness: Harness, guard: str | None
) -> None:
    n = 5
    async with FakeModel() as one, FakeModel() as two:
        target = {"kind": "model", "name": "t", "base_url": one.base_url, "model": "m"}
        tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
        variants = [
            target,
            {**target, "model": "other"},
            {**target, "params": {"temperature": 0.5}},
            {**target, "params": {"temperature": 0.6}},
            {**target, "base_url": two.base_url},
            {**target, "tools": [tool]},
            {**target, "api": "responses"},
        ]
        with without(guard):
            for variant in variants:
                before = one.requests + two.requests
                run = await harness.run(suite(one.base_url, n, targets=[variant]))
                assert harness.counts(run).cached == 0
                assert one.requests + two.requests == before + n
            for variant in variants:
                run = await harness.run(suite(one.base_url, n, targets=[variant]))
                assert harness.counts(run).cached == n


async def test_an_error_is_never_used_again(harness: Harness) -> None:
    broken = {"q0", "q1"}

    def script(call: Call) -> Reply | None:
        return refuse(400, "bad") if call.prompt in broken else None

    async with FakeModel(script=script) as server:
        first = await harness.run(suite(server.base_url, 5))
        assert harness.counts(first).error == 2
        second = await harness.run(suite(server.base_url, 5))
        assert (harness.counts(second).cached, harness.counts(second).error) == (3, 2)
        broken.clear()
        third = await harness.run(suite(server.base_url, 5))
        assert server.requests == 5 + 2 + 2
        assert {trial.verdict for trial in harness.trials(third)} == {Verdict.PASS}
        fresh = await harness.run(suite(server.base_url, 5), Settings(fresh=True))
        assert harness.counts(fresh).cached == 0
