import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from tests.providers.bulk.asking import asked, failures, replies, requests_of, sought, taken, texts
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_bulk import Die, FakeBulk, Refuse, nth
from tui_eval.model.outputs.output import Output
from tui_eval.providers.bulk.anthropic_batches import AnthropicBatches
from tui_eval.providers.bulk.api import BulkError, BulkRequest, BulkState
from tui_eval.providers.bulk.connection import BulkPlace


@asynccontextmanager
async def opened(server: FakeBulk, **more: Any) -> AsyncIterator[AnthropicBatches]:
    async with AnthropicBatches(BulkPlace(server.base_url, settle_s=0.0, **more)) as api:
        yield api


def requests(token: str, count: int) -> list[BulkRequest]:
    return requests_of(token, count, max_tokens=50)


async def test_a_consignment_is_sent_done_and_taken() -> None:
    server = FakeBulk({"question 1": "one"}, looks=3, api_key="sk-ant-0")
    async with server, opened(server, api_key="sk-ant-0") as api:
        sent = await api.send("abc", requests("abc", 3))
        assert (sent.state, sent.requests, sent.done) == (BulkState.UNDER_WAY, 3, None)
        assert await taken(api, sent.id) == []
        assert (await api.look(sent.id)).done is None
        ended = await api.look(sent.id)
        assert (ended.state, ended.requests, ended.done) == (BulkState.ENDED, 3, 3)
        assert isinstance(ended.ends_by, datetime)
        found = await replies(api, sent.id)
        assert texts(found)[1] == "one"
        one = found[1]
        assert isinstance(one, Output)
        assert (one.finish_reason, one.usage.input, one.usage.output) == ("stop", 3, 1)
    custom_id, params = server.ledger.consignments[0].requests[0]
    assert custom_id == "abc-0"
    assert params == {
        "model": "m",
        "max_tokens": 50,
        "messages": [{"role": "user", "content": "question 0"}],
    }
    assert {call.headers["anthropic-version"] for call in server.calls} == {"2023-06-01"}
    assert {call.headers["x-api-key"] for call in server.calls} == {"sk-ant-0"}
    assert not any("authorization" in call.headers for call in server.calls)


async def test_every_type_of_result_is_read() -> None:
    faults = BulkFaults(statuses={0: 400, 1: 529, 2: 500}, expire=[3], shuffle=5)
    async with FakeBulk(faults=faults) as server, opened(server) as api:
        sent = await api.send("t", requests("t", 5))
        status = await api.look(sent.id)
        assert (status.state, status.done) == (BulkState.EXPIRED, 4)
        found = await replies(api, sent.id)
    assert failures(found) == {
        0: "bad_request",
        1: "server_error",
        2: "server_error",
        3: "expired",
    }
    assert texts(found) == {4: "question 4"}


async def test_stop_reasons_are_those_of_single_calls() -> None:
    reasons = {
        0: "max_tokens",
        1: "refusal",
        2: "stop_sequence",
        3: "model_context_window_exceeded",
    }
    async with FakeBulk(faults=BulkFaults(finish=reasons)) as server, opened(server) as api:
        sent = await api.send("t", requests("t", 5))
        await api.look(sent.id)
        found = await replies(api, sent.id)
    ends = [got.finish_reason for _, got in sorted(found.items()) if isinstance(got, Output)]
    assert ends == ["length", "content_filter", "stop", "length", "stop"]


async def test_cancelling_keeps_what_was_done_and_leaves_what_has_ended() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        sent = await api.send("t", requests("t", 4))
        await api.cancel(sent.id)
        assert (await api.look(sent.id)).state is BulkState.CANCELLED
        found = await replies(api, sent.id)
        assert sorted(texts(found)) == [0, 1]
        assert failures(found) == {2: "cancelled", 3: "cancelled"}
        await api.cancel(sent.id)


async def test_a_request_that_cannot_be_said_is_refused_before_anything_leaves() -> None:
    async with FakeBulk() as server, opened(server) as api:
        with pytest.raises(BulkError, match="set `max_tokens` in the target's `params`") as met:
            await api.send("t", requests_of("t", 1))
        assert not met.value.unsettled
        assert not met.value.failure.retryable
        assert server.calls == []


@pytest.mark.parametrize(
    ("fault", "unsettled"),
    [
        (Die(), True),
        (Die(after=True), True),
        (Refuse(500), True),
        (Refuse(529), True),
        (Refuse(429), False),
        (Refuse(413, "request_too_large"), False),
    ],
)
async def test_what_was_met_while_sending_says_whether_it_may_have_been_taken(
    fault: Refuse | Die, unsettled: bool
) -> None:
    async with FakeBulk(script=nth("create", fault)) as server, opened(server) as api:
        with pytest.raises(BulkError) as met:
            await api.send("t", requests("t", 2))
        assert met.value.unsettled is unsettled


async def test_what_nobody_can_know_yet_is_not_sent_twice() -> None:
    """While it is under way a batch shows no token: who looks for one has to wait."""
    server = FakeBulk(script=nth("create", Die(after=True)), looks=0)
    async with server, opened(server) as api:
        with pytest.raises(BulkError):
            await api.send("t", requests("t", 2))
        with pytest.raises(BulkError) as met:
            await api.find(sought("t", 2))
        assert met.value.unsettled
        assert met.value.failure.kind == "not_yet_known"
        assert met.value.failure.retry_after_s == 60.0
        assert "has 1 under way" in met.value.failure.message
        server.finish()
        found = await api.find(sought("t", 2))
        assert found is not None
        assert sorted(texts(await replies(api, found.id))) == [0, 1]


async def test_only_what_may_be_it_is_waited_for() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        known = await api.send("known", requests("known", 2))
        larger = await api.send("larger", requests("larger", 3))
        old = await api.send("old", requests("old", 2))
        server.ledger.consignments[1].created_at -= 90
        server.ledger.consignments[2].created_at -= 7200
        server.ledger.consignments.reverse()
        server.ledger.consignments.sort(key=lambda one: one.created_at)
        others = frozenset([known.id])
        assert await api.find(sought("t", 2, others=others)) is None
        with pytest.raises(BulkError):
            await api.find(sought("t", 2))
        with pytest.raises(BulkError):
            await api.find(sought("t", 3, others=others))
        with pytest.raises(BulkError):
            since = sought("t", 2).since - timedelta(hours=2)
            await api.find(sought("t", 2, others=others, since=since))
        assert len({known.id, larger.id, old.id}) == 3


async def test_others_that_ended_are_told_by_their_first_line() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        await api.send("one", requests("one", 2))
        await api.send("two", requests("two", 2))
        server.finish()
        open_one = await api.send("three", requests("three", 2))
        found = await api.find(sought("one", 2))
        assert found is not None  # although another is under way
        assert found.id != open_one.id
        server.finish()
        assert await api.find(sought("four", 2)) is None
        # results that are not there may come, and later they were deleted
        server.script = lambda call: Refuse(404) if call.kind == "results" else None
        with pytest.raises(BulkError, match="has 3 under way"):
            await api.find(sought("one", 2))
        for one in server.ledger.consignments:
            one.ended_at -= 601
        assert await api.find(sought("one", 2)) is None
        server.script = lambda call: Refuse(500) if call.kind == "results" else None
        with pytest.raises(BulkError) as met:
            await api.find(sought("one", 2))
        assert met.value.failure.kind == "server_error"


@pytest.mark.parametrize("miscount", [-2, 1])
async def test_one_whose_counts_are_wrong_is_found_and_not_sent_twice(miscount: int) -> None:
    faults = BulkFaults(miscount=miscount)
    script = nth("create", Die(after=True))
    async with FakeBulk(faults=faults, script=script, looks=0) as server, opened(server) as api:
        with pytest.raises(BulkError):
            await api.send("t", requests("t", 2))
        with pytest.raises(BulkError, match="has 1 under way"):
            await api.find(sought("t", 2))
        server.finish()
        found = await api.find(sought("t", 2))
        assert found is not None
        assert sorted(texts(await replies(api, found.id))) == [0, 1]


async def test_what_others_send_later_is_not_waited_for() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        await api.send("other", requests("other", 2))
        await api.send("larger", requests("larger", 3))
        now = sought("t", 2).since
        hours = sought("t", 2, since=now - timedelta(hours=9), until=now - timedelta(hours=3))
        assert await api.find(hours) is None
        hour = sought("t", 9, since=now - timedelta(hours=9), until=now - timedelta(hours=1))
        assert await api.find(hour) is None


async def test_lines_that_are_nobodys_hide_no_batch() -> None:
    faults = BulkFaults(unknown=30, malformed=3, shuffle=4)
    async with FakeBulk(faults=faults, looks=0) as server, opened(server) as api:
        await api.send("t", requests("t", 2))
        server.finish()
        assert '"t-' not in server.ledger.consignments[0].lines[0][1]
        assert await api.find(sought("t", 2)) is not None


async def test_a_state_that_is_not_known_goes_on_until_it_has_to_end() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        sent = await api.send("t", requests("t", 1))
        server.word = "pondering"
        assert (await api.look(sent.id)).state is BulkState.UNDER_WAY
        server.ledger.consignments[0].created_at -= 90_000
        with pytest.raises(BulkError, match="'pondering', which is unknown"):
            await api.look(sent.id)
        server.finish()
        assert (await api.look(sent.id)).state is BulkState.ENDED


async def test_of_two_with_one_token_the_earlier_counts() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        first = await api.send("t", requests("t", 2))
        await api.send("t", requests("t", 2))
        server.finish()
        found = await api.find(sought("t", 2))
        assert found is not None
        assert found.id == first.id


async def test_a_consignment_is_found_through_many_pages() -> None:
    async with FakeBulk(looks=0) as server, opened(server) as api:
        wanted = await api.send("wanted", requests("wanted", 1))
        server.finish()
        first = server.ledger.consignments[0]
        server.ledger.consignments += [
            replace(first, id=f"b_{n}", number=n + 2, requests=first.requests * 2)
            for n in range(205)
        ]
        found = await api.find(sought("wanted", 1))
        assert found is not None
        assert found.id == wanted.id
        assert server.counts["list"] == 3


async def test_the_address_that_an_answer_gives_is_not_asked() -> None:
    async with FakeBulk() as server, opened(server, api_key="sk-ant-0") as api:
        elsewhere: list[bytes] = []

        async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            elsewhere.append(await reader.readline())
            writer.close()

        async with await asyncio.start_server(note, "127.0.0.1", 0) as other:
            port = other.sockets[0].getsockname()[1]
            server.results_url = f"http://127.0.0.1:{port}/results"
            sent = await api.send("t", requests("t", 1))
            await api.look(sent.id)
            assert texts(await replies(api, sent.id)) == {0: "question 0"}
        assert elsewhere == []


async def test_prompts_with_anything_in_them_arrive_as_they_are() -> None:
    hostile = '\ud800 \n"}]} é \x00'
    async with FakeBulk() as server, opened(server) as api:
        sent = await api.send("t", [BulkRequest("t-0", asked(hostile, max_tokens=5))])
        await api.look(sent.id)
        assert texts(await replies(api, sent.id)) == {0: hostile}
