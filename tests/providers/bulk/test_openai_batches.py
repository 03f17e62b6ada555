import asyncio
import contextlib
import json
import re
import tracemalloc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import pytest

from tests.providers.bulk.asking import asked, failures, replies, requests_of, sought, taken, texts
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_app import AppReply, FakeApp
from tests.servers.fake_bulk import Die, FakeBulk, Refuse, nth
from tests.servers.fake_model import FakeModel, Reply, always
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.providers import keys
from tui_eval.providers.bulk import connection
from tui_eval.providers.bulk.api import BulkError, BulkLine, BulkRequest, BulkState, StrayLine
from tui_eval.providers.bulk.connection import BulkPlace
from tui_eval.providers.bulk.openai_batches import OpenAiBatches
from tui_eval.providers.endpoint import Endpoint


@asynccontextmanager
async def opened(server: FakeBulk, **more: Any) -> AsyncIterator[OpenAiBatches]:
    form = more.pop("form", "chat")
    place = BulkPlace(server.base_url, settle_s=0.0, **more)
    async with OpenAiBatches(place, form) as api:
        yield api


async def test_a_consignment_is_sent_done_and_taken() -> None:
    async with FakeBulk({"question 1": "one"}, looks=3) as server, opened(server) as api:
        sent = await api.send("abc", requests_of("abc", 3))
        assert (sent.state, sent.requests, sent.done) == (BulkState.UNDER_WAY, None, None)
        assert await taken(api, sent.id) == []
        assert (await api.look(sent.id)).state is BulkState.UNDER_WAY
        ended = await api.look(sent.id)
        assert (ended.state, ended.requests, ended.done) == (BulkState.ENDED, 3, 3)
        assert ended.ends_by is not None
        assert ended.ends_by > datetime.now(UTC)
        found = await replies(api, sent.id)
        assert texts(found) == {0: "I do not know.", 1: "one", 2: "I do not know."}
        one = found[1]
        assert isinstance(one, Output)
        assert (one.usage.input, one.usage.output, one.finish_reason) == (3, 1, "stop")
        assert one.latency_s is None
    given = server.ledger.consignments[0]
    assert given.metadata == {"tui_eval": "abc"}
    assert given.requests[1] == ("abc-1", asked("question 1"))
    assert set(server.ledger.executed.values()) == {1}


async def test_variables_of_the_openai_package_go_along_with_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-mine")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-mine")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Mine: custom-mine")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/elsewhere")
    async with FakeBulk() as server, opened(server, api_key="k") as api:
        sent = await api.send("t", requests_of("t", 1))
        await api.look(sent.id)
        assert texts(await replies(api, sent.id))
    sent_along = [call.headers for call in server.calls]
    assert {one["authorization"] for one in sent_along} == {"Bearer k"}
    told = "\n".join(f"{name}: {value}" for one in sent_along for name, value in one.items())
    assert "mine" not in told
    assert "stainless" not in told.lower()


async def test_a_body_arrives_as_it_would_alone_whatever_it_holds() -> None:
    hostile = "\ud800 \n\r\n--boundary\x00 \u2028 é"
    async with FakeBulk() as server, opened(server) as api:
        sent = await api.send("t", [BulkRequest("t-0", asked(hostile, seed=7))])
        assert server.ledger.bodies["t-0"] == asked(hostile, seed=7)
        await api.look(sent.id)
        assert texts(await replies(api, sent.id)) == {0: hostile}


async def test_responses_have_a_path_and_a_form_of_their_own() -> None:
    async with FakeBulk() as server, opened(server, form="responses") as api:
        body: JsonObject = {"model": "m", "input": [{"role": "user", "content": "hi"}]}
        sent = await api.send("t", [BulkRequest("t-0", body)])
        await api.look(sent.id)
        assert server.ledger.consignments[0].url == "/v1/responses"
        assert texts(await replies(api, sent.id)) == {0: "hi"}


async def test_what_is_large_is_neither_sent_nor_read_all_in_memory() -> None:
    """40 MB go out, and 40 MB come back."""
    body = {"choices": [{"message": {"content": "x" * 50_000}, "finish_reason": "stop"}]}
    line = {"custom_id": "t-0", "response": {"status_code": 200, "body": body}}
    content = json.dumps(line).encode() + b"\n"
    arrived = 0

    answers = {
        "POST /v1/files": b'{"id": "f"}',
        "POST /v1/batches": b'{"id": "b", "status": "validating"}',
        "GET /v1/batches/b": b'{"id": "b", "status": "completed", "output_file_id": "o"}',
    }

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal arrived
        with contextlib.suppress(asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                length = re.search(r"content-length: (\d+)", head.lower())
                left = int(length[1]) if length else 0
                while left:
                    left -= (part := len(await reader.read(min(left, 65536))))
                    arrived += part
                method, path, _ = head.split(" ", 2)
                said = answers.get(f"{method} {path}")
                pieces, piece = (1, said) if said else (800, content)
                told = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
                writer.write(told % (pieces * len(piece)))
                for _ in range(pieces):
                    writer.write(piece)
                    await writer.drain()
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    place = BulkPlace(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    large = (BulkRequest(f"t-{n}", asked("x" * 50_000)) for n in range(800))
    async with server, OpenAiBatches(place) as api:
        tracemalloc.start()
        await api.send("t", large)
        sending = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        came = 0
        async for got in api.results("b"):
            came += isinstance(got, BulkLine)
        reading = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert arrived > 40_000_000
    assert came == 800
    assert sending < 20_000_000
    assert reading < 10_000_000


async def test_results_come_in_any_order_twice_unknown_or_unreadable() -> None:
    faults = BulkFaults(
        shuffle=3, drop=[0], double=[1], contradict=[2], unknown=2, malformed=1, statuses={3: 500}
    )
    async with FakeBulk(faults=faults) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 6))
        await api.look(sent.id)
        lines = await taken(api, sent.id)
    known = [line for line in lines if isinstance(line, BulkLine)]
    strays = [line for line in lines if isinstance(line, StrayLine)]
    by_id = {name: [one for one in known if one.custom_id == name] for name in _names(known)}
    assert sorted(by_id) == ["nobody-0", "nobody-1", "t-1", "t-2", "t-3", "t-4", "t-5"]
    assert len({one.digest for one in by_id["t-1"]}) == 1
    assert len(by_id["t-1"]) == 2
    assert len({one.digest for one in by_id["t-2"]}) == 2
    assert failures({0: by_id["t-3"][0].reply}) == {0: "server_error"}
    assert [stray.problem for stray in strays] == ["it is no valid JSON"]
    assert "1-output, line " in strays[0].where


def _names(lines: list[BulkLine]) -> set[str]:
    return {line.custom_id for line in lines}


@pytest.mark.parametrize("hide", [False, True])
async def test_a_lines_status_says_what_it_does_of_a_single_call(hide: bool) -> None:
    statuses = {0: 400, 1: 401, 2: 429, 3: 503}
    faults = BulkFaults(statuses=statuses, hide=hide)
    async with FakeBulk(faults=faults) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 5))
        status = await api.look(sent.id)
        assert status.done == 5
        found = await replies(api, sent.id)
    assert failures(found) == {0: "bad_request", 1: "auth", 2: "rate_limit", 3: "server_error"}
    assert [getattr(found[n], "status", None) for n in range(4)] == [400, 401, 429, 503]
    assert texts(found) == {4: "question 4"}


async def test_what_was_not_done_in_time_is_told_from_what_failed() -> None:
    async with FakeBulk(faults=BulkFaults(expire=[1])) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 3))
        assert (await api.look(sent.id)).state is BulkState.EXPIRED
        found = await replies(api, sent.id)
        assert failures(found) == {1: "expired"}
        assert sorted(texts(found)) == [0, 2]


async def test_finish_reasons_are_read_as_those_of_single_calls() -> None:
    reasons = {0: "length", 1: "content_filter", 2: "abort", 3: "tool_calls"}
    async with FakeBulk(faults=BulkFaults(finish=reasons)) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 4))
        await api.look(sent.id)
        found = await replies(api, sent.id)
    cut, filtered = found[0], found[1]
    assert isinstance(cut, Output)
    assert isinstance(filtered, Output)
    assert cut.cut_short
    assert filtered.filtered
    assert failures(found) == {2: "bad_answer"}


async def test_a_refusal_of_the_whole_says_why() -> None:
    faults = BulkFaults(fail="model_not_found")
    async with FakeBulk(faults=faults) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 2))
        assert sent.state is BulkState.UNDER_WAY  # it is validated afterwards
        status = await api.look(sent.id)
        assert status.state is BulkState.FAILED
        assert status.problem is not None
        assert (status.problem.kind, status.problem.fatal) == ("unknown_model", True)
        assert "127.0.0.1 refused the batch: model_not_found" in status.problem.message


async def test_a_provider_that_has_enough_waiting_is_told_from_one_that_refuses() -> None:
    async with FakeBulk(room=3, looks=0) as server, opened(server) as api:
        first = await api.send("a", requests_of("a", 2))
        second = await api.send("b", requests_of("b", 2))
        status = await api.look(second.id)
        assert status.problem is not None
        assert (status.problem.kind, status.problem.retryable) == ("no_room", True)
        server.finish(server.ledger.consignments[0])
        assert (await api.look(first.id)).state is BulkState.ENDED
        third = await api.send("b", requests_of("b", 2))
        assert (await api.look(third.id)).state is BulkState.UNDER_WAY
    script = nth("create", Refuse(400, "token_limit_exceeded", "Enqueued token limit reached"))
    async with FakeBulk(script=script) as server, opened(server) as api:
        with pytest.raises(BulkError) as refused:
            await api.send("a", requests_of("a", 2))
        assert refused.value.failure.kind == "no_room"
        assert not refused.value.unsettled


@pytest.mark.parametrize(
    ("kind", "fault", "failure", "unsettled", "there"),
    [
        ("upload", Die(), "connection", False, False),
        ("upload", Die(after=True), "connection", False, False),
        ("upload", Refuse(429), "rate_limit", False, False),
        ("upload", Refuse(404), "not_found", False, False),
        ("create", Die(), "connection", True, False),
        ("create", Die(after=True), "connection", True, True),
        ("create", Refuse(500), "server_error", True, False),
        ("create", Refuse(429), "rate_limit", False, False),
        ("create", Refuse(401), "auth", False, False),
    ],
)
async def test_what_was_met_while_sending_says_whether_it_may_have_been_taken(
    kind: str, fault: Refuse | Die, failure: str, unsettled: bool, there: bool
) -> None:
    async with FakeBulk(script=nth(kind, fault)) as server, opened(server) as api:
        with pytest.raises(BulkError) as met:
            await api.send("t", requests_of("t", 2))
        assert (met.value.failure.kind, met.value.unsettled) == (failure, unsettled)
        found = await api.find(sought("t", 2))
        assert (found is not None) is there
        if found is None:
            found = await api.send("t", requests_of("t", 2))
        await api.look(found.id)
        assert sorted(texts(await replies(api, found.id))) == [0, 1]
    assert set(server.ledger.executed.values()) == {1}


async def test_nobody_listens() -> None:
    async with FakeBulk() as server:
        pass
    async with opened(server) as api:
        with pytest.raises(BulkError) as met:
            await api.send("t", requests_of("t", 1))
        assert met.value.failure.unsent
        assert met.value.failure.fatal
        assert not met.value.unsettled


async def test_a_consignment_is_found_through_many_pages() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        wanted = await api.send("wanted", requests_of("wanted", 1))
        for n in range(205):
            other = server.ledger.consignments[0]
            server.ledger.consignments.append(
                type(other)(f"b_{n}", n + 2, "openai", other.requests, metadata={"tui_eval": "no"},
                            created_at=other.created_at)
            )  # fmt: skip
        found = await api.find(sought("wanted", 1))
        assert found is not None
        assert found.id == wanted.id
        assert server.counts["list"] == 3
        assert await api.find(sought("absent", 1)) is None
        # what is too old to be it is not looked through
        for age, one in enumerate(reversed(server.ledger.consignments)):
            one.created_at -= 3 * 86400 + age
        before = server.counts["list"]
        assert await api.find(sought("wanted", 1)) is None
        assert server.counts["list"] == before + 2


async def test_a_list_that_begins_with_the_oldest_is_looked_through() -> None:
    server = FakeBulk(looks=0, oldest_first=True)
    async with server, opened(server) as api:
        wanted = await api.send("wanted", requests_of("wanted", 1))
        mine = server.ledger.consignments.pop()
        for n in range(205):
            server.ledger.consignments.append(
                type(mine)(f"b_{n}", n + 2, "openai", mine.requests, metadata={"tui_eval": "no"},
                           created_at=mine.created_at - 3 * 86400 + n)
            )  # fmt: skip
        server.ledger.consignments.append(mine)
        found = await api.find(sought("wanted", 1))
        assert found is not None
        assert found.id == wanted.id


async def test_a_list_that_lags_is_looked_at_twice() -> None:
    async with FakeBulk(looks=0, list_lag=1) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 1))
        found = await api.find(sought("t", 1))
        assert found is not None
        assert found.id == sent.id
        assert server.counts["list"] == 2


async def test_where_metadata_is_not_kept_a_consignment_is_found_by_its_file() -> None:
    async with FakeBulk(looks=0, keeps_metadata=False) as server, opened(server) as api:
        await api.send("a", requests_of("a", 1))
        await api.send("c", requests_of("c", 2))
        sent = await api.send("b", requests_of("b", 1))
        await api.send("d", requests_of("d", 2))
        found = await api.find(sought("b", 7))
        assert server.counts["file"] == 4  # counts are not relied on
        assert found is not None
        assert found.id == sent.id
        assert await api.find(sought("b", 1, others=frozenset([sent.id]))) is None


async def test_a_connection_that_breaks_amid_results_tells_what_had_come() -> None:
    async with FakeBulk(faults=BulkFaults(cut=2)) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 4))
        await api.look(sent.id)
        came = []
        with pytest.raises(BulkError) as met:
            async for line in api.results(sent.id):
                came.append(line)
        assert met.value.failure.kind == "connection"
        assert met.value.failure.retryable
        assert [line.custom_id for line in came if isinstance(line, BulkLine)] == ["t-0", "t-1"]
        again = await taken(api, sent.id)
        assert again[:2] == came[:2]
        assert len(again) == 4


async def test_cancelling_keeps_what_was_done_and_leaves_what_has_ended() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 4))
        await api.cancel(sent.id)
        assert (await api.look(sent.id)).state is BulkState.CANCELLED
        found = await replies(api, sent.id)
        assert sorted(texts(found)) == [0, 1]
        assert failures(found) == {2: "cancelled", 3: "cancelled"}
        await api.cancel(sent.id)
        with pytest.raises(BulkError) as met:
            await api.cancel("nobody")
        assert met.value.failure.status == 404


async def test_a_key_goes_along_and_never_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    secret = "sk-8f2b9c1d7e6a5b4c3d2e1f0a"
    monkeypatch.setenv("SOME_KEY", secret)
    key = keys.resolve("SOME_KEY", "a test")
    echo = lambda prompt: f"the key is {secret}, is it?"  # noqa: E731
    server = FakeBulk(echo, api_key=secret)
    async with server, opened(server, api_key=key, key_env="SOME_KEY") as api:
        sent = await api.send("t", requests_of("t", 1))
        await api.look(sent.id)
        assert texts(await replies(api, sent.id)) == {0: "the key is [SOME_KEY], is it?"}
    assert {call.headers["authorization"] for call in server.calls} == {f"Bearer {secret}"}
    async with server, opened(server, api_key="none") as api:
        with pytest.raises(BulkError) as met:
            await api.look(sent.id)
        assert met.value.failure.kind == "auth"


async def test_a_key_is_taken_out_of_a_long_answer_too(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read in a process that knows no keys."""
    secret = "sk-9a8b7c6d5e4f3a2b1c0d9e8f"
    monkeypatch.setenv("LONG_KEY", secret)
    keys.resolve("LONG_KEY", "a test")
    async with FakeBulk(lambda _: f"{secret} " * 5000) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 1))
        await api.look(sent.id)
        assert texts(await replies(api, sent.id)) == {0: "[LONG_KEY] " * 5000}


@pytest.mark.parametrize("status", [400, 401, 402, 403, 404, 408, 409, 413, 422, 429, 500, 503])
async def test_a_line_and_a_single_call_fail_alike(status: int) -> None:
    told = json.dumps({"error": {"message": f"status {status}", "type": "server_error"}})
    if status < 500:
        told = json.dumps({"error": {"message": f"status {status}", "type": "invalid"}})
    single = FakeModel(script=always(Reply("status", status=status, body=told)))
    async with single, Endpoint(single.base_url) as endpoint:
        live = await endpoint.chat(asked("x"), 10.0)
    faults = BulkFaults(statuses={0: status})
    async with FakeBulk(faults=faults) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 1))
        await api.look(sent.id)
        assert (await replies(api, sent.id))[0] == live


async def test_a_host_without_a_batch_api_is_named() -> None:
    server = FakeApp(lambda _: AppReply("Not Found", status=404))
    async with server, OpenAiBatches(BulkPlace(f"{server.origin}/v1")) as api:
        with pytest.raises(BulkError, match="has no batch API") as met:
            await api.send("t", requests_of("t", 1))
    assert met.value.failure.fatal
    assert not met.value.unsettled


async def test_what_stands_still_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connection, "_TIMEOUT_S", 0.05)

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                if b"/batches/b " in head:
                    body = b'{"id": "b", "status": "completed", "output_file_id": "o"}'
                    told = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
                    writer.write(told % len(body) + body)
                elif b"/content " in head:
                    line = b'{"custom_id": "t-0", "response": null, "error": {"message": "m"}}\n'
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 9999\r\n\r\n" + line)
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    place = BulkPlace(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1")
    came = 0
    async with server, OpenAiBatches(place) as api:
        with pytest.raises(BulkError) as met:
            await api.look("hangs")
        assert met.value.failure.kind == "timeout"
        with pytest.raises(BulkError) as met:
            async for _ in api.results("b"):
                came += 1
        assert (met.value.failure.kind, came) == ("timeout", 1)


async def test_an_answer_that_leads_elsewhere_is_not_followed() -> None:
    script = nth("look", Refuse(302, headers={"Location": "http://127.0.0.1:9/"}))
    async with FakeBulk(script=script) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 1))
        with pytest.raises(BulkError) as met:
            await api.look(sent.id)
        assert met.value.failure.kind == "redirect"
        for none in ("..", ".", "", "b\n", "b" * 501, "\ud800"):
            server.ledger.consignments[0].id = none
            with pytest.raises(BulkError, match="the answer's id is none"):
                await api.find(sought("t", 1))


@pytest.mark.parametrize("odd", ["../../v1/files?", "b/1=+~", "b%2F1 é#x", "bGl0ZQ=="])
async def test_an_id_is_one_part_of_a_path_whatever_letters_it_has(odd: str) -> None:
    async with FakeBulk() as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 1))
        server.ledger.consignments[0].id = odd
        found = await api.find(sought("t", 1))
        assert found is not None
        assert found.id == odd
        assert (await api.look(odd)).state is BulkState.ENDED
        assert texts(await replies(api, odd)) == {0: "question 0"}
        await api.cancel(odd)
        assert sent.id not in server.calls[-1].path


async def test_states_are_known_in_capitals_too() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 1))
        server.word = "COMPLETED"
        assert (await api.look(sent.id)).state is BulkState.ENDED


async def test_answers_of_a_megabyte_are_read_beside_the_loop() -> None:
    async with FakeBulk(lambda prompt: prompt * 100_000) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 1))
        await api.look(sent.id)
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                turns += 1
                await asyncio.sleep(0)

        counting = asyncio.create_task(count())
        found = texts(await replies(api, sent.id))
        counting.cancel()
        assert found == {0: "question 0" * 100_000}
        assert turns > 10


async def test_more_than_a_consignment_holds_is_refused_before_it_leaves() -> None:
    async with FakeBulk() as server, opened(server) as api:
        with pytest.raises(BulkError, match="at most 50,000 requests and 200 MB"):
            await api.send("t", (BulkRequest(f"t-{n}", {}) for n in range(50_001)))
        with pytest.raises(BulkError, match="at least one"):
            await api.send("t", [])
    assert server.counts["upload"] == 0


def test_a_requests_line_is_as_long_as_it_is_said() -> None:
    api = OpenAiBatches(BulkPlace("http://127.0.0.1:9/v1"))
    line = api.encoded(BulkRequest("t-0", asked("é")))
    assert isinstance(line, bytes)
    assert json.loads(line) == {
        "custom_id": "t-0",
        "method": "POST",
        "url": "/v1/chat/completions",
        "body": asked("é"),
    }


async def test_a_state_that_is_not_known_goes_on_until_all_is_there() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        sent = await api.send("t", requests_of("t", 2))
        server.word = "succeeded"
        assert (await api.look(sent.id)).state is BulkState.UNDER_WAY
        server.ledger.consignments[0].created_at -= 90_000
        with pytest.raises(BulkError, match="'succeeded', which is unknown"):
            await api.look(sent.id)
        server.finish()
        assert (await api.look(sent.id)).state is BulkState.ENDED


async def test_a_list_is_read_to_its_end_though_calls_fail_in_passing() -> None:
    slow_down = Refuse(429, headers={"Retry-After": "0"})
    script = nth("list", Refuse(500), Die(), None, slow_down, None, *[Refuse(503)] * 3)
    async with FakeBulk(script=script, looks=0) as server, opened(server) as api:
        for n in range(120):
            await api.send(f"t{n}", requests_of(f"t{n}", 1))
        found = await api.find(sought("t3", 1))
        assert found is not None
        assert found.id == server.ledger.consignments[3].id
        assert server.counts["list"] == 5
        with pytest.raises(BulkError) as met:
            await api.find(sought("t3", 1))
        assert met.value.failure.status == 503
        assert server.counts["list"] == 8
