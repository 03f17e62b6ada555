"""Conversations: each call is made once, committed, and counted once, whatever happens."""

import asyncio
import json
from collections import Counter
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness, suite
from tests.engine.test_crash import start
from tests.servers.fake_app import AppCall, AppReply, FakeApp
from tests.servers.fake_model import Call, FakeModel, Reply, always, refuse
from tests.servers.tool_calls import calling, tool
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.providers.http.event_streams import ServerSentEvents
from tui_eval.reports.document import document
from tui_eval.store.connection import open_readable, open_writable
from tui_eval.store.read.trials import trial_queries
from tui_eval.store.requests import Verb
from tui_eval.store.write.deletion import delete

WEATHER = tool(
    "weather",
    [
        {"when": "{{ arguments.city == 'Paris' }}", "answer": "18 °C"},
        {"when": "{{ arguments.city == home }}", "answer": {"degrees": "{{ warmth }}"}},
    ],
)


def model(server: FakeModel, **more: Any) -> dict[str, Any]:
    return {
        "kind": "model",
        "name": "fake",
        "base_url": server.base_url,
        "model": "fake-model",
        "prices": {"input": 1.0, "output": 1.0},
        **more,
    }


def tools_said(call: Call) -> list[str]:
    return [one["content"] for one in call.body["messages"] if one["role"] == "tool"]


def output_of(harness: Harness, run: int, case: str) -> Any:
    (found,) = harness.sql(
        "SELECT o.text, o.messages, o.finish_reason, o.input_tokens, o.output_tokens, o.cost_usd, "
        "o.fields FROM trials t JOIN cases c ON c.run = t.run AND c.seq = t.seq "
        "JOIN outputs o ON o.id = t.output WHERE t.run = ? AND c.id = ?",
        run,
        case,
    )
    return found


async def test_tools_are_answered_and_the_model_asked_again(harness: Harness) -> None:
    def script(call: Call) -> Reply | None:
        match tools_said(call):
            case []:
                return calling(("weather", {"city": "Paris"}), ("weather", {"city": "Home"}))
            case [_, _]:
                return calling(("weather", '{"city": '))
        return Reply(text="warm: " + " | ".join(tools_said(call)))

    async with FakeModel(script=script) as server:
        run = await harness.run(
            suite(
                server.base_url,
                0,
                cases=[{"id": "a", "q": "how warm?", "home": "Home", "warmth": 21}],
                targets=[model(server, tools=[WEATHER])],
                scorers=[{"kind": "includes", "expected": "18 °C"}],
            )
        )
        assert [one.body["tools"] for one in server.calls] == [[tool("weather")]] * 3
        assert "conversation" not in server.calls[0].body
    text, messages, finish, read, produced, cost, _ = output_of(harness, run, "a")
    said = json.loads(messages)
    assert [one["role"] for one in said] == [
        "assistant", "tool", "tool", "assistant", "tool", "assistant",
    ]  # fmt: skip
    assert [one["content"] for one in said if one["role"] == "tool"][:2] == [
        "18 °C",
        '{"degrees": 21}',
    ]
    assert "no valid JSON" in said[4]["content"]
    assert text.startswith("warm: 18 °C") and finish == "stop"
    calls = harness.sql("SELECT input_tokens, output_tokens, cost_usd FROM attempts")
    assert calls == [(read, produced, pytest.approx(cost))]
    counts = harness.counts(run)
    assert (counts.passed, counts.input_tokens, counts.output_tokens) == (1, read, produced)
    assert counts.cost_usd == pytest.approx((read + produced) / 1e6) == pytest.approx(cost)
    assert harness.sql("SELECT count(*) FROM conversation_calls") == [(0,)]


@pytest.mark.parametrize(
    ("max_turns", "city", "finish", "calls"),
    [(3, "Paris", "limit:turns", 3), (3, "Rome", "tool_calls", 1)],
)
async def test_a_loop_ends_at_its_limit_and_at_a_call_that_nobody_answers(
    harness: Harness, max_turns: int, city: str, finish: str, calls: int
) -> None:
    async with FakeModel(script=lambda _: calling(("weather", {"city": city}))) as server:
        described = suite(
            server.base_url,
            0,
            cases=[{"id": "a", "q": "how warm?", "home": "Home", "warmth": 21}],
            targets=[model(server, tools=[WEATHER], max_turns=max_turns)],
            scorers=[],
        )
        run = await harness.run(described)
        assert server.requests == calls
    assert output_of(harness, run, "a")[2] == finish


TURNS = [{"turns": ["{{ q }} one", "{{ q }} two", "{{ q }} three"]}]


@pytest.mark.parametrize("api", ["chat", "responses"])
async def test_turns_are_sent_with_the_replies_so_far(harness: Harness, api: str) -> None:
    async with FakeModel() as server:
        described = suite(
            server.base_url,
            2,
            prompts=TURNS,
            targets=[model(server, api=api)],
            scorers=[{"kind": "exact", "expected": "{{ q }} three"}],
        )
        run = await harness.run(described)
        assert server.requests == 6
        last = server.calls[-1].body
        again = await harness.run(described)
        assert server.requests == 6, "the cache has the whole conversation"
    said = last["messages" if api == "chat" else "input"]
    name = said[0]["content"].split()[0]
    assert [(one["role"], one["content"]) for one in said] == [
        ("user", f"{name} one"),
        ("assistant", f"{name} one"),
        ("user", f"{name} two"),
        ("assistant", f"{name} two"),
        ("user", f"{name} three"),
    ]
    assert harness.counts(run).passed == harness.counts(again).passed == 2
    assert harness.counts(again).input_tokens == 0
    assert harness.counts(again).cost_usd == 0.0


@pytest.mark.parametrize("lasting", [False, True])
async def test_turns_by_faults_ask_each_once_but_for_what_failed(
    harness: Harness, lasting: bool
) -> None:
    """Each turn of each trial by a fault of its own: the ledger has no answered call twice."""
    faults = [None, refuse(429, retry_after="0"), Reply("no_reply"), Reply("reset"), refuse(503),
              Reply("invalid_json"), Reply("empty_text")]  # fmt: skip

    def fault_of(call: Call) -> Reply | None:
        case, turn = call.prompt.split()
        return faults[(int(case[1:]) + ["one", "two", "three"].index(turn)) % len(faults)]

    answered = Counter[str]()

    def script(call: Call) -> Reply | None:
        reply = fault_of(call) if lasting or call.attempt == 1 else None
        if reply is None:
            answered[call.prompt] += 1
        return reply

    async with FakeModel(script=script) as server:
        described = suite(
            server.base_url, 8, prompts=TURNS, targets=[model(server)], scorers=[],
            run={"timeout": 20.0, "retries": 3 - 2 * lasting, "patience": 1.0},
        )  # fmt: skip
        run = await harness.run(described)
        requests = server.requests
    assert set(answered.values()) == {1}
    counts = harness.counts(run)
    # an empty output is not tried again
    assert counts.done == (0 if lasting else 5)
    assert document_of(harness, run)["requests"]["target"] == requests
    kept = harness.sql("SELECT sum(input_tokens), sum(cost_usd) FROM attempts")
    of_trials = harness.sql("SELECT sum(input_tokens), sum(cost_usd) FROM trials")
    assert kept == [(of_trials[0][0], pytest.approx(of_trials[0][1]))] or of_trials[0][1] is None


async def test_turns_by_kills_ask_again_only_what_was_in_flight(harness: Harness) -> None:
    n = 6
    async with FakeModel(latency=0.03) as server:
        described = suite(
            server.base_url, n, prompts=TURNS, targets=[model(server)], scorers=[],
            run={"concurrency": 2},
        )  # fmt: skip
        run = harness.create(described)
        kills = (4,)
        for stop in kills:
            process = await start(harness, run)
            await until(lambda stop=stop: server.requests >= stop)  # type: ignore[misc]
            process.kill()
            await process.wait()
            await until(lambda: not server.in_flight)
        await Engine(harness.path, run).run()
        assert len(server.counts) == 3 * n
        # two at once: no more can have been in flight at each kill
        assert server.requests - 3 * n <= 2 * len(kills)
        assert max(server.counts.values()) <= 1 + len(kills)
        requests = server.requests
    assert harness.counts(run).done == n
    told = document_of(harness, run)["requests"]
    assert told["target"] <= requests <= told["target"] + told["target_lost"]


def document_of(harness: Harness, run: int) -> Any:
    with closing(open_readable(harness.path)) as db:
        return document(db, run)


async def test_a_cap_of_tokens_holds_between_two_calls(harness: Harness) -> None:
    async with FakeModel() as server:
        described = suite(
            server.base_url, 4, prompts=TURNS, targets=[model(server, params={"max_tokens": 4})],
            scorers=[], run={"max_tokens": 16, "concurrency": 2},
        )  # fmt: skip
        run = await harness.run(described)
        assert harness.row(run).stopped_by == "max_tokens"
        counts = harness.counts(run)
        assert counts.input_tokens + counts.output_tokens <= 16
        assert counts.done < 4
        before = server.requests
        await harness.again(run, Verb.RESUME, max_tokens=10_000)
        assert harness.counts(run).done == 4
        assert before < server.requests == 12 == len(server.counts)


async def test_a_reply_that_is_cut_short_ends_the_conversation(harness: Harness) -> None:
    def script(call: Call) -> Reply | None:
        return Reply("length") if call.prompt.endswith("two") else None

    async with FakeModel(script=script) as server:
        described = suite(server.base_url, 1, prompts=TURNS, targets=[model(server)], scorers=[])
        run = await harness.run(described)
        assert server.requests == 2
    _, messages, finish, *_ = output_of(harness, run, "c0")
    assert finish == "length" and len(json.loads(messages)) == 3


async def test_an_app_is_sent_the_conversation_so_far(harness: Harness) -> None:
    broken = Counter[str]()

    def app(call: AppCall) -> AppReply:
        said = [one["content"] for one in call.json["said"]]
        broken[said[-1]] += 1
        if said[-1] == "q1 two" and broken["q1 two"] == 1:
            return AppReply("", 503)
        return AppReply({"answer": f"{call.json['user']}: {said[-1]}", "seen": len(said)})

    async with FakeApp(app) as server:
        target = {
            "kind": "http",
            "name": "app",
            "url": f"{server.origin}/talk",
            "body": {"said": "{{ messages }}", "user": "{{ q }}"},
            "output": "$.answer",
            "fields": {"seen": "$.seen"},
        }
        described = suite(
            "", 2, prompts=TURNS, targets=[target],
            scorers=[{"kind": "exact", "expected": "{{ q }}: {{ q }} three"}],
        )  # fmt: skip
        run = await harness.run(described)
    assert harness.counts(run).passed == 2
    assert broken == {
        **{f"q{i} {turn}": 1 for i in (0, 1) for turn in ("one", "two", "three")},
        "q1 two": 2,
    }
    *_, fields = output_of(harness, run, "c1")
    assert json.loads(fields) == {"seen": 5}


async def test_a_simulated_target_answers_each_turn(harness: Harness) -> None:
    described = suite(
        "",
        2,
        prompts=TURNS,
        targets=[{"kind": "simulated", "name": "s", "answers": ["{{ turn }}: {{ prompt }}"]}],
        scorers=[{"kind": "exact", "expected": "3: {{ q }} three"}],
    )
    run = await harness.run(described)
    assert harness.counts(run).passed == 2
    said = json.loads(output_of(harness, run, "c1")[1])
    assert [one["content"] for one in said] == [
        "1: q1 one",
        "q1 two",
        "2: q1 two",
        "q1 three",
        "3: q1 three",
    ]


USER = {"instructions": "You are {{ name }}.", "stop": "DONE", "params": {"max_tokens": 50}}


def with_user(server: FakeModel, user: FakeModel, n: int, /, **more: Any) -> Any:
    asked = {
        "kind": "model",
        "base_url": user.base_url,
        "model": "fake-user",
        "prices": {"input": 2.0, "output": 2.0},
        **USER,
        **more.pop("user", {}),
    }
    return suite(
        server.base_url,
        0,
        cases=[{"id": f"c{i}", "q": f"q{i}", "name": f"name-{i}"} for i in range(n)],
        targets=[model(server)],
        user=asked,
        scorers=[],
        **more,
    )


def spoken(body: dict[str, Any], role: str) -> int:
    return sum(one["role"] == role for one in body["messages"])


def says(turns: int) -> Any:
    """Speak so many times, then end it."""

    def answer(body: dict[str, Any]) -> str:
        said = spoken(body, "assistant")  # what it said itself, the prompt's question included
        return f"turn {said}" if said <= turns else "Thanks! DONE"

    return answer


async def test_a_simulated_user_goes_on_until_it_says_so(harness: Harness) -> None:
    async with FakeModel(answers=says(2)) as user, FakeModel() as server:
        run = await harness.run(with_user(server, user, 1))
        first, last = user.calls[0].body, user.calls[-1].body
        assert user.requests == 3 and server.requests == 3
    system, begin, *rest = first["messages"]
    assert "You are name-0." in system["content"] and "DONE" in system["content"]
    assert begin["role"] == "user"
    assert rest == [{"role": "assistant", "content": "q0"}, {"role": "user", "content": "q0"}]
    assert first["max_tokens"] == 50
    assert [one["role"] for one in last["messages"]][1:] == [
        "user", "assistant", "user", "assistant", "user", "assistant", "user",
    ]  # fmt: skip
    text, messages, *_ = output_of(harness, run, "c0")
    assert [(one["role"], one["content"]) for one in json.loads(messages)] == [
        ("assistant", "q0"),
        ("user", "turn 1"),
        ("assistant", "turn 1"),
        ("user", "turn 2"),
        ("assistant", "turn 2"),
        ("user", "Thanks!"),
    ]
    assert text == "turn 2"
    ((calls, user_calls, usd),) = harness.sql(
        "SELECT calls, user_calls, user_usd FROM attempt_calls"
    )
    assert (calls, user_calls) == (3, 3) and usd > 0


async def test_a_users_failure_is_an_error_and_its_passing_fault_repeats_nothing(
    harness: Harness,
) -> None:
    faults = Counter[str]()

    def script(call: Call) -> Reply | None:
        faults[call.prompt] += 1
        if call.prompt == "q1":
            return refuse(400, message="no")
        return refuse(503) if faults[call.prompt] == 1 else None

    async with FakeModel(answers=says(2), script=script) as user, FakeModel() as server:
        run = await harness.run(with_user(server, user, 2, run={"retries": 3}))
        asked = Counter((spoken(one.body, "user"), one.body["messages"][0]["content"])
                        for one in server.calls)  # fmt: skip
        assert set(asked.values()) == {1}, "an answered call of a target is never made again"
    assert harness.trial(run, "c0").state == "done"
    failed = harness.trial(run, "c1")
    assert (failed.state, failed.error_kind) == ("error", "user")
    assert "the simulated user" in str(failed.error_message)


async def test_a_kill_between_turns_asks_again_only_what_was_in_flight(harness: Harness) -> None:
    """Six conversations of four calls each and their user, left three times as by kills."""
    n, turns = 6, 3
    async with FakeModel(answers=says(turns), latency=0.03) as user, FakeModel(latency=0.03) as to:
        run = harness.create(with_user(to, user, n, run={"concurrency": 3}))
        for stop in (4, 10, 18):
            task = asyncio.create_task(Engine(harness.path, run).run())
            await until(lambda stop=stop: to.requests >= stop)  # type: ignore[misc]
            task.cancel()
            await asyncio.wait([task])
            # its process goes on: that is all that tells it from a killed one
            harness.write("UPDATE runs SET lease_pid = NULL")
            await until(lambda: not to.in_flight and not user.in_flight)
        await Engine(harness.path, run).run()
        assert harness.counts(run).done == n
        target = Counter(json.dumps(one.body["messages"]) for one in to.calls)
        users = Counter(json.dumps(one.body["messages"]) for one in user.calls)
        again = sum(target.values()) - len(target) + sum(users.values()) - len(users)
        assert (len(target), len(users)) == (n * (turns + 1), n * (turns + 1))
        assert again <= 9
    for i in range(n):
        assert len(json.loads(output_of(harness, run, f"c{i}")[1])) == 2 * (turns + 1)
    # what was answered and committed is counted once
    ((read, usd, user_usd),) = harness.sql(
        "SELECT sum(t.input_tokens), sum(t.cost_usd), (SELECT sum(user_usd) FROM attempt_calls) "
        "FROM trials t"
    )
    ((kept, cost),) = harness.sql("SELECT sum(input_tokens), sum(cost_usd) FROM outputs")
    assert (read, usd) == (kept, pytest.approx(cost))
    assert user_usd > 0


async def test_a_resume_after_errors_goes_on_and_a_retry_begins_anew(harness: Harness) -> None:
    broken = True

    def script(call: Call) -> Reply | None:
        return refuse(500) if broken and spoken(call.body, "user") == 3 else None

    async with FakeModel(answers=says(3)) as user, FakeModel(script=script) as server:
        run = await harness.run(with_user(server, user, 1, run={"retries": 0}))
        assert harness.trial(run, "c0").state == "error"
        assert (server.requests, user.requests) == (3, 2)
        broken = False
        await harness.again(run, Verb.RESUME)
        assert harness.trial(run, "c0").state == "done"
        assert (server.requests, user.requests) == (5, 4)
        await harness.again(run, Verb.RETRY)
        assert (server.requests, user.requests) == (9, 8)
        assert (await harness.run(with_user(server, user, 1))) and server.requests == 9
    assert harness.sql("SELECT sum(calls) FROM attempt_calls") == [(8,)]


async def test_what_is_kept_of_conversations_goes_with_their_run(harness: Harness) -> None:
    async with FakeModel(answers=says(2)) as user:
        async with FakeModel(script=lambda call: refuse(400)) as server:
            run = await harness.run(with_user(server, user, 1))
        async with FakeModel(
            script=lambda call: refuse(400) if spoken(call.body, "user") == 2 else None
        ) as server:
            other = await harness.run(with_user(server, user, 1))
    assert harness.sql("SELECT count(*) FROM conversation_calls") == [(2,)]
    for one in (run, other):
        with closing(open_writable(harness.path)) as db:
            delete(db, one)
    for table in ("conversation_calls", "attempt_calls", "outputs"):
        assert harness.sql(f"SELECT count(*) FROM {table}") == [(0,)]


async def test_calls_of_conversations_take_their_starts_of_the_budget(harness: Harness) -> None:
    async with FakeModel(answers=says(2)) as user, FakeModel() as server:
        described = with_user(server, user, 2)
        described = described.model_copy(
            update={"targets": (described.targets[0].model_copy(update={"rpm": 600}),)}
        )
        run = await harness.run(described)
        assert harness.counts(run).done == 2
        times = [one.at for one in server.calls]
    # ten in a second may leave at once; none is made beside the budget
    assert len(times) == 6


def so_far(harness: Harness, run: int) -> list[int]:
    """Give how many messages are seen of each conversation that is not over."""
    with closing(open_readable(harness.path)) as db:
        found = [trial_queries.whole(db, run, one.id) for one in harness.trials(run)]
    return [len(one.broken_off) for one in found if one is not None]


async def test_a_pause_holds_between_two_calls_and_nothing_is_asked_again(
    harness: Harness,
) -> None:
    async with FakeModel(answers=says(3), latency=0.05) as user, FakeModel(latency=0.05) as server:
        async with harness.working(with_user(server, user, 2)) as (run, _):
            await until(lambda: server.requests >= 3)
            await harness.asked(run, Verb.PAUSE)
            await until(lambda: not server.in_flight and not user.in_flight)
            asked = server.requests + user.requests
            await until(lambda: max(so_far(harness, run)) >= 3)
            await asyncio.sleep(0.15)
            assert server.requests + user.requests <= asked + 1
            await harness.asked(run, Verb.CONTINUE)
        assert harness.counts(run).done == 2
        assert max(Counter(json.dumps(one.body["messages"]) for one in server.calls).values()) == 1
        assert (server.requests, user.requests) == (8, 8)


PROGRAM = """
import json, os, sys
kept = []
for line in sys.stdin:
    told = json.loads(line)
    if "end" in told:
        print(json.dumps({"fields": {"booked": kept, "case": sys.argv[1]}}), flush=True)
        break
    if told["name"] == "crash":
        sys.exit("out of seats")
    if told["arguments"].get("seat") == 0:
        answer = {"id": told["id"], "error": "no such seat"}
    else:
        kept.append(told["arguments"]["seat"])
        answer = {"id": told["id"], "result": {"left": 10 - len(kept)}}
    print(json.dumps(answer), flush=True)
"""


async def test_a_program_answers_tools_and_gives_fields(harness: Harness, tmp_path: Path) -> None:
    (tmp_path / "seats.py").write_text(PROGRAM)

    def script(call: Call) -> Reply | None:
        match tools_said(call):
            case []:
                return calling(("book", {"seat": 4}))
            case [_]:
                return calling(("book", {"seat": 0}))
        return calling(("crash", {})) if call.prompt == "q1" else None

    async with FakeModel(script=script) as server:
        described = suite(
            server.base_url,
            2,
            targets=[
                model(
                    server,
                    tools=[tool("book"), tool("crash")],
                    tools_by=["python3", "seats.py", "{{ q }}"],
                )
            ],
            scorers=[],
            file=str(tmp_path / "suite.toml"),
        )
        run = await harness.run(described)
    _, messages, *_, fields = output_of(harness, run, "c0")
    assert json.loads(fields) == {"booked": [4], "case": "q0"}
    assert [one["content"] for one in json.loads(messages) if one["role"] == "tool"] == [
        '{"left": 9}',
        "error: no such seat",
    ]
    failed = harness.trial(run, "c1")
    assert failed.error_kind == "tool" and "out of seats" in str(failed.error_message)
    attempts = harness.path.with_name(f"{harness.path.name}.attempts")
    assert not attempts.exists() or not list(attempts.iterdir())


@pytest.mark.parametrize("why", ["stop", "tool_calls", None])
async def test_an_app_that_tells_of_its_calls_is_asked_every_turn(
    harness: Harness, why: str | None
) -> None:
    def app(call: AppCall) -> AppReply:
        made = [{"name": "look_up", "arguments": {}}]
        said = call.json["said"][-1]["content"]
        return AppReply({"answer": said, "made": made, "why": why})

    async with FakeApp(app) as server:
        target = {
            "kind": "http",
            "name": "app",
            "url": f"{server.origin}/talk",
            "body": {"said": "{{ messages }}"},
            "output": "$.answer",
            "tool_calls": "$.made",
            "finish_reason": "$.why",
        }
        described = suite("", 1, prompts=TURNS, targets=[target], scorers=[])
        run = await harness.run(described)
        assert len(server.calls) == 3
    assert output_of(harness, run, "c0")[0] == "q0 three"


async def test_a_call_that_nobody_answers_ends_it_whatever_the_endpoint_says(
    harness: Harness,
) -> None:
    reply = calling(("weather", {"city": "Rome"}))
    told = json.loads(str(reply.body))
    told["choices"][0]["finish_reason"] = None
    silent = replace(reply, body=json.dumps(told))
    async with FakeModel(script=lambda _: silent) as server:
        target = model(server, tools=[tool("weather")])
        run = await harness.run(
            suite(server.base_url, 1, prompts=TURNS, targets=[target], scorers=[])
        )
        assert server.requests == 1
    assert output_of(harness, run, "c0")[2] == "tool_calls"


async def test_what_a_call_took_that_timed_out_is_unknown_after_answered_ones(
    harness: Harness,
) -> None:
    def script(call: Call) -> Reply | None:
        return Reply("hang") if call.prompt.endswith("two") and call.attempt == 1 else None

    async with FakeModel(script=script) as server:
        described = suite(
            server.base_url, 1, prompts=TURNS, targets=[model(server)], scorers=[],
            run={"timeout": 0.3, "retries": 2},
        )  # fmt: skip
        run = await harness.run(described)
        told = document_of(harness, run)
        assert told["requests"]["target"] == server.requests == 4
    assert harness.counts(run).done == 1
    assert told["cost_usd"]["target"] is None
    assert told["cost_usd"]["target_known"] == pytest.approx(
        harness.sql("SELECT sum(cost_usd) FROM attempts")[0][0]
    )


@pytest.mark.parametrize(("status", "known"), [(429, True), (503, True), (None, False)])
async def test_a_refusal_of_the_user_leaves_its_money_known_and_silence_does_not(
    harness: Harness, status: int | None, known: bool
) -> None:
    def script(call: Call) -> Reply | None:
        if call.n > 1:
            return None
        return Reply("hang") if status is None else refuse(status, retry_after="0")

    async with FakeModel(answers=says(1), script=script) as user, FakeModel() as server:
        described = with_user(server, user, 1, run={"retries": 2}, user={"timeout": 0.3})
        run = await harness.run(described)
        told = document_of(harness, run)
        assert told["requests"]["user"] == user.requests == 3
        assert told["requests"]["target"] == server.requests == 2
    assert harness.counts(run).done == 1
    kept = harness.sql("SELECT sum(user_usd) FROM attempt_calls")[0][0]
    assert kept > 0 and told["cost_usd"]["user"] == (pytest.approx(kept) if known else None)


async def test_a_mistake_between_two_calls_is_no_request(harness: Harness) -> None:
    reads = tool("weather", [{"answer": "{{ arguments.city.district.name }}"}])
    async with FakeModel(script=lambda _: calling(("weather", {"city": "Rome"}))) as server:
        described = suite(server.base_url, 1, targets=[model(server, tools=[reads])], scorers=[])
        run = await harness.run(described)
        assert document_of(harness, run)["requests"]["target"] == server.requests == 1
    assert harness.trial(run, "c0").error_kind == "template"


async def test_no_user_is_asked_in_a_run_that_paused_while_they_waited_for_it(
    harness: Harness,
) -> None:
    begins = [{"system": "You are the help desk."}]
    async with FakeModel(answers=says(2), latency=0.1) as user, FakeModel() as server:
        described = with_user(server, user, 2, prompts=begins, user={"concurrency": 1})
        async with harness.working(described) as (run, _):
            await until(lambda: user.in_flight and all(o.attempts for o in harness.trials(run)))
            await harness.asked(run, Verb.PAUSE)
            await until(lambda: all("pauses" in str(o.waiting) for o in harness.trials(run)))
            assert (user.requests, server.requests) == (1, 0)
            await harness.asked(run, Verb.STOP)


async def test_a_user_that_ends_it_before_it_began_is_no_fail_of_the_target(
    harness: Harness,
) -> None:
    begins = [{"system": "You are the help desk."}]
    async with FakeModel(answers=lambda _: "DONE") as user, FakeModel() as server:
        run = await harness.run(with_user(server, user, 1, prompts=begins))
        told = document_of(harness, run)["requests"]
        assert (told["target"], told["user"]) == (server.requests, user.requests) == (0, 1)
    failed = harness.trial(run, "c0")
    assert (failed.state, failed.error_kind) == ("error", "user")
    assert harness.sql("SELECT count(*) FROM outputs") == [(0,)]


async def test_a_stop_word_that_is_spoken_of_ends_nothing(harness: Harness) -> None:
    said = ["I am not DONE yet, tell me more", "DONENESS?", "Well.\nDONE.\n"]
    async with (
        FakeModel(answers=lambda body: said[spoken(body, "assistant") - 1]) as user,
        FakeModel() as server,
    ):
        run = await harness.run(with_user(server, user, 1))
        assert (user.requests, server.requests) == (3, 3)
    (messages,) = harness.sql("SELECT messages FROM outputs")[0]
    assert "I am not DONE yet, tell me more" in messages
    assert harness.trial(run, "c0").state == "done"


async def test_a_turn_of_the_user_that_is_not_whole_is_an_error(harness: Harness) -> None:
    cut = always(Reply("length"))
    async with FakeModel(script=cut) as user, FakeModel() as server:
        run = await harness.run(with_user(server, user, 1))
        assert (user.requests, server.requests) == (1, 1)
    failed = harness.trial(run, "c0")
    assert (failed.state, failed.error_kind) == ("error", "user")
    assert "it ended with length" in str(failed.error_message)


async def test_a_cancelled_app_leaves_what_it_said_of_the_turn_it_was_at(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    read, feed = list[bytes](), ServerSentEvents.feed

    def fed(self: ServerSentEvents, part: bytes) -> None:
        feed(self, part)
        read.append(part)

    monkeypatch.setattr(ServerSentEvents, "feed", fed)

    def app(call: AppCall) -> AppReply:
        said = call.json["said"][-1]["content"]
        event = f'data: {{"text": "to {said}"}}\n\n'.encode()
        streamed = {"Content-Type": "text/event-stream"}
        return AppReply(headers=streamed, pieces=[event], hang=said.endswith("two"))

    async with FakeApp(app) as server:
        target = {
            "kind": "http",
            "name": "app",
            "url": f"{server.origin}/talk",
            "body": {"said": "{{ messages }}"},
            "output": "$.text",
            "stream": "sse",
        }
        described = suite("", 1, prompts=TURNS, targets=[target], scorers=[])
        async with harness.working(described) as (run, _):
            await until(lambda: b"to q0 two" in b"".join(read))
            await harness.asked(run, Verb.CANCEL)
    ((partial,),) = harness.sql("SELECT partial FROM attempts")
    assert partial == "to q0 two"
