import asyncio
import socket
import ssl
import time
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from tests.servers.fake_model import Call, FakeModel, Reply, always, once, refuse
from tests.waiting import until
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers import keys
from tui_eval.providers.endpoint import Endpoint
from tui_eval.providers.http.strict_connection import StrictResponseHandler

BODY: JsonObject = {"model": "m", "messages": [{"role": "user", "content": "2 + 2?"}]}
INPUT: JsonObject = {"model": "m", "input": [{"role": "user", "content": "2 + 2?"}]}
ANSWERS = {"2 + 2?": "4"}


@asynccontextmanager
async def connected(
    server: FakeModel, api_key: str = "none", max_body: int = 1 << 20
) -> AsyncIterator[Endpoint]:
    async with Endpoint(server.base_url, api_key, key_env="MY_KEY", max_body=max_body) as endpoint:
        yield endpoint


async def ask(reply: Reply, timeout_s: float = 20, max_body: int = 1 << 20) -> Output | Failure:
    async with (
        FakeModel(ANSWERS, script=always(reply)) as server,
        connected(server, max_body=max_body) as endpoint,
    ):
        return await endpoint.chat(BODY, timeout_s)


def failed(got: Output | Failure) -> Failure:
    assert isinstance(got, Failure), got
    return got


async def test_a_chat_answer_becomes_an_output() -> None:
    async with FakeModel(ANSWERS, model="m-1") as server, connected(server) as endpoint:
        got = await endpoint.chat(BODY, 20)
        assert isinstance(got, Output), got
        assert (got.text, got.finish_reason, got.model) == ("4", "stop", "m-1")
        assert got.usage.input and got.usage.output
        assert got.latency_s is not None and 0 < got.latency_s < 20
        assert server.calls[0].path == "/v1/chat/completions"
        assert server.calls[0].body == BODY


async def test_a_response_becomes_an_output() -> None:
    async with FakeModel(ANSWERS) as server, connected(server) as endpoint:
        got = await endpoint.responses(INPUT, 20)
        assert isinstance(got, Output), got
        assert got.text == "4"
        assert server.calls[0].path == "/v1/responses"


async def test_only_what_is_meant_arrives(monkeypatch: pytest.MonkeyPatch) -> None:
    leaks = {
        "OPENAI_API_KEY": "leak-api-key",
        "OPENAI_ADMIN_KEY": "leak-admin-key",
        "OPENAI_ORG_ID": "leak-org",
        "OPENAI_PROJECT_ID": "leak-project",
        "OPENAI_CUSTOM_HEADERS": "X-Leak: leak-header\nAuthorization: Bearer leak-custom",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/leak",
        "OPENAI_WEBHOOK_SECRET": "leak-webhook",
        "HTTP_PROXY": "http://127.0.0.1:9",
        "http_proxy": "http://127.0.0.1:9",
        "ALL_PROXY": "http://127.0.0.1:9",
    }
    for name, value in leaks.items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    async with FakeModel(ANSWERS) as server, connected(server, "the-key") as endpoint:
        assert isinstance(await endpoint.chat(BODY, 20), Output)
        call = server.calls[0]
    assert "leak" not in call.head.lower()
    assert call.headers["authorization"] == "Bearer the-key"
    assert set(call.headers) <= {
        "host",
        "authorization",
        "accept",
        "accept-encoding",
        "connection",
        "content-type",
        "content-length",
        "user-agent",
        "x-stainless-retry-count",
    }


async def test_a_query_of_the_base_url_stays_behind_the_path() -> None:
    async with FakeModel(ANSWERS) as server:
        async with Endpoint(f"{server.base_url}/?api-version=2%2F1") as endpoint:
            await endpoint.chat(BODY, 20)
        assert server.calls[0].path == "/v1/chat/completions?api-version=2%2F1"


async def test_cookies_are_not_kept() -> None:
    reply = Reply(headers={"Set-Cookie": "who=you; Path=/"})
    async with FakeModel(ANSWERS, script=always(reply)) as server, connected(server) as endpoint:
        await endpoint.chat(BODY, 20)
        await endpoint.chat(BODY, 20)
        assert ["cookie" in call.headers for call in server.calls] == [False, False]


@pytest.mark.parametrize("status", [301, 302, 307, 308])
async def test_a_redirect_is_not_followed_and_takes_no_key_along(status: int) -> None:
    async with FakeModel(ANSWERS) as elsewhere:
        to = {"Location": f"{elsewhere.base_url}/chat/completions"}
        away = always(Reply("redirect", status=status, headers=to))
        async with FakeModel(script=away) as server, connected(server, "the-key") as endpoint:
            got = failed(await endpoint.chat(BODY, 20))
        assert (got.kind, got.status, got.retryable) == ("redirect", status, False)
        assert elsewhere.requests == 0


@pytest.mark.parametrize(
    ("reply", "kind", "retryable"),
    [
        (refuse(429, "rate_limit_exceeded", retry_after="3"), "rate_limit", True),
        (refuse(500), "server_error", True),
        (refuse(401, "invalid_api_key"), "auth", False),
        (refuse(404, "model_not_found"), "unknown_model", False),
        (refuse(400, "context_length_exceeded"), "context_length", False),
        (Reply("no_reply"), "connection", True),
        (Reply("reset"), "connection", True),
        (Reply("invalid_json"), "bad_answer", True),
        (Reply("not_an_object"), "bad_answer", True),
        (Reply("no_choices"), "bad_answer", True),
        (Reply("error_in_200"), "bad_answer", True),
        (Reply("null_text"), "empty_output", False),
        (Reply("empty_text"), "empty_output", False),
    ],
    ids=lambda value: value.kind + str(value.status) if isinstance(value, Reply) else None,
)
async def test_what_is_no_answer_is_a_failure(reply: Reply, kind: str, retryable: bool) -> None:
    got = failed(await ask(reply))
    assert (got.kind, got.retryable) == (kind, retryable)
    assert got.message and "\n" not in got.message


async def test_retry_after_arrives_with_the_failure() -> None:
    assert failed(await ask(refuse(429, retry_after="3"))).retry_after_s == 3.0


@pytest.mark.parametrize("kind", ["length", "null_length", "content_filter", "open_think"])
async def test_what_was_cut_or_filtered_is_an_output(kind: str) -> None:
    got = await ask(Reply(kind))
    assert isinstance(got, Output) and (got.cut_short or got.filtered)


@pytest.mark.parametrize("kind", ["reasoning", "think"])
async def test_reasoning_is_kept_apart(kind: str) -> None:
    got = await ask(Reply(kind))
    assert isinstance(got, Output)
    assert (got.text, got.reasoning) == ("4", "Let me see.")


@pytest.mark.parametrize("kind", ["hang", "drip", "endless"])
async def test_the_deadline_holds_for_what_never_ends(kind: str) -> None:
    async with (
        FakeModel(script=always(Reply(kind))) as server,
        connected(server, max_body=1 << 40) as endpoint,
    ):
        got = failed(await endpoint.chat(BODY, 0.2))
        assert (got.kind, got.retryable) == ("timeout", True)
        await until(lambda: server.connections_open == 0)


@pytest.mark.parametrize(
    "reply", [Reply("huge", size=3 << 20), Reply("endless")], ids=["with a length", "without end"]
)
async def test_a_body_is_read_up_to_its_cap(reply: Reply) -> None:
    got = failed(await ask(reply))
    assert got.kind == "bad_answer" and "larger than 1 MB" in got.message


async def test_a_bomb_is_given_up_before_it_is_unpacked() -> None:
    tracemalloc.start()
    try:
        got = failed(await ask(Reply("bomb", size=64 << 20)))
        # the server holds the 64 MB once while it packs them; unpacked they would be here again
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert got.kind == "bad_answer" and "larger" in got.message
    assert peak < 100 << 20


@pytest.mark.parametrize("chunked", [False, True], ids=["with a length", "in chunks"])
@pytest.mark.parametrize("bits", [15, -15, 31], ids=["zlib", "raw deflate", "gzip"])
async def test_a_bomb_of_any_packing_is_given_up(bits: int, chunked: bool) -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, bits)
    packed = b"".join(packer.compress(b" " * (1 << 20)) for _ in range(64)) + packer.flush()
    head = b"Content-Encoding: %s\r\n" % (b"gzip" if bits == 31 else b"deflate")
    if chunked:
        head += b"Transfer-Encoding: chunked\r\n"
        packed = b"%x\r\n%s\r\n0\r\n\r\n" % (len(packed), packed)
    else:
        head += b"Content-Length: %d\r\n" % len(packed)

    async with (
        raw_server(head, lambda: packed) as base_url,
        Endpoint(base_url, max_body=1 << 20) as endpoint,
    ):
        tracemalloc.start()
        try:
            got = failed(await endpoint.chat(BODY, 20))
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert got.kind == "bad_answer" and "larger" in got.message
    assert peak < 16 << 20


async def test_a_packed_body_without_end_is_given_up_at_its_cap() -> None:
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)

    def more() -> bytes:
        piece = packer.compress(b" " * (1 << 16)) + packer.flush(zlib.Z_SYNC_FLUSH)
        return b"%x\r\n%s\r\n" % (len(piece), piece)

    head = b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n"
    async with (
        raw_server(head, more, again=True) as base_url,
        Endpoint(base_url, max_body=1 << 20) as endpoint,
    ):
        got = failed(await endpoint.chat(BODY, 20))
    assert got.kind == "bad_answer" and "larger" in got.message


@asynccontextmanager
async def raw_server(
    head: bytes, body: Callable[[], bytes], *, again: bool = False, status: bytes = b"200 OK"
) -> AsyncIterator[str]:
    """Serve a body as it stands, once or again and again; give the base URL."""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 %s\r\n%s\r\n" % (status, head))
        with suppress(ConnectionError):
            while True:
                writer.write(body())
                await writer.drain()
                await asyncio.sleep(0)  # an empty buffer does not wait, and others have a turn
                if not again:
                    break
        writer.close()

    server = await asyncio.start_server(reply, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"


async def answered_raw(head: bytes, answer: bytes, status: bytes = b"200 OK") -> Output | Failure:
    """Ask a server that answers with this head and body."""
    head = b"%sContent-Length: %d\r\n" % (head, len(answer))
    async with (
        raw_server(head, lambda: answer, status=status) as base_url,
        Endpoint(base_url) as at,
    ):
        return await at.chat(BODY, 20)


@pytest.mark.parametrize(
    "head", [b"X-Proxy: caf\xe9 \x80\xff\r\n", b"X-Long: %s\r\n" % (b"y" * 40_000)]
)
async def test_headers_of_any_bytes_and_of_great_length_break_no_answer(head: bytes) -> None:
    got = await answered_raw(head, b'{"choices": [{"message": {"content": "4"}}]}')
    assert isinstance(got, Output), got
    assert got.text == "4"


@pytest.mark.parametrize("charset", [b"hex", b"idna", b"zlib", b"utf-7", b"no-such"])
async def test_no_charset_that_is_named_decides_how_a_refusal_is_read(charset: bytes) -> None:
    head = b"Content-Type: application/json; charset=%s\r\n" % charset
    said = b'{"error": {"message": "it broke"}}'
    got = failed(await answered_raw(head, said, status=b"500 X"))
    assert (got.kind, got.retryable) == ("server_error", True)
    assert "it broke" in got.message


async def test_no_packing_is_asked_for() -> None:
    async with FakeModel() as server, connected(server) as endpoint:
        await endpoint.chat(BODY, 20)
    assert server.calls[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize("packing", ["br", "zstd", "compress", "gzip, gzip"])
async def test_what_was_packed_unasked_in_another_way_is_no_answer(packing: str) -> None:
    reply = Reply("status", status=200, headers={"Content-Encoding": packing}, body="\x1b packed")
    got = failed(await ask(reply))
    assert got.kind in ("connection", "bad_answer")
    assert "install" not in got.message


async def test_a_packed_answer_of_ordinary_size_is_read() -> None:
    got = failed(await ask(Reply("bomb", size=1000)))
    assert got.message == "the answer is no valid JSON"  # a thousand spaces


async def test_a_key_that_the_server_echoes_is_taken_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keys, "_stand_ins", {})
    secret = keys.resolve("MY_KEY", "a test", {"MY_KEY": "sk-very-secret"})
    replies = once(
        Reply("headers"),
        refuse(500, message=f"bad key {secret}"),
        Reply("think", text=f"it is {secret}"),
    )
    async with FakeModel(script=replies) as server, connected(server, secret) as endpoint:
        seen = [await endpoint.chat(BODY, 20) for _ in range(3)]
        assert server.calls[0].headers["authorization"] == f"Bearer {secret}"
    for got in seen:
        assert secret not in repr(got)
        assert "[MY_KEY]" in repr(got)


async def test_cancelling_a_call_closes_its_connection_and_no_other() -> None:
    def script(call: Call) -> Reply:
        return Reply("hang") if call.prompt == "hang" else Reply(latency=0.1)

    hang: Json = [{"role": "user", "content": "hang"}]
    async with FakeModel(ANSWERS, script=script) as server, connected(server) as endpoint:
        doomed = asyncio.create_task(endpoint.chat({"model": "m", "messages": hang}, 20))
        await until(lambda: server.in_flight == 1)
        neighbour = asyncio.create_task(endpoint.chat(BODY, 20))
        await until(lambda: server.in_flight == 2)
        doomed.cancel()
        with pytest.raises(asyncio.CancelledError):
            await doomed
        await until(lambda: server.dropped == 1)
        assert isinstance(await neighbour, Output)


async def test_connections_are_kept_and_no_more_than_calls_in_flight() -> None:
    async with FakeModel(ANSWERS, latency=0.01) as server, connected(server) as endpoint:
        for _ in range(4):
            got = await asyncio.gather(*(endpoint.chat(BODY, 20) for _ in range(20)))
            assert all(isinstance(one, Output) for one in got)
        assert server.requests == 80
        assert server.in_flight_max == 20
        assert server.connections == 20
    assert server.connections_open == 0


async def test_more_calls_than_any_default_pool_are_in_flight_together() -> None:
    async with FakeModel(ANSWERS, latency=0.2) as server, connected(server) as endpoint:
        await asyncio.gather(*(endpoint.chat(BODY, 20) for _ in range(150)))
        assert server.in_flight_max == 150


async def test_an_unknown_host_is_a_failure_that_says_what_to_check() -> None:
    async with Endpoint("http://no-such-host.invalid/v1") as endpoint:
        got = failed(await endpoint.chat(BODY, 20))
    assert got.kind == "unknown_host" and got.fatal
    assert "no-such-host.invalid" in got.message


async def test_what_speaks_no_tls_is_not_talked_to_in_the_clear() -> None:
    arrived = b""

    async def in_the_clear(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal arrived
        arrived += await reader.read(65536)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
        writer.close()

    async with await asyncio.start_server(in_the_clear, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with Endpoint(f"https://127.0.0.1:{port}/v1", "the-key") as endpoint:
            got = failed(await endpoint.chat(BODY, 20))
    assert got.kind == "tls" and got.fatal
    assert arrived and b"the-key" not in arrived


@pytest.mark.parametrize("scheme", ["https", "HTTPS", "Https"])
async def test_a_certificate_that_nobody_vouches_for_gets_no_key(scheme: str) -> None:
    arrived = b""

    async def with_tls(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal arrived
        arrived += await reader.read(65536)
        writer.close()

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(Path(__file__).parents[1] / "data" / "self-signed.pem")
    async with await asyncio.start_server(with_tls, "127.0.0.1", 0, ssl=context) as server:
        port = server.sockets[0].getsockname()[1]
        async with Endpoint(f"{scheme}://127.0.0.1:{port}/v1", "the-key") as endpoint:
            got = failed(await endpoint.chat(BODY, 20))
    assert (got.kind, got.fatal, arrived) == ("tls", True, b"")


async def test_a_server_that_goes_and_comes_back_is_reached_again() -> None:
    server = FakeModel(ANSWERS)
    async with server, connected(server) as endpoint:
        assert isinstance(await endpoint.chat(BODY, 20), Output)
        await server.stop()
        down = failed(await endpoint.chat(BODY, 20))
        assert down.kind == "connection" and down.retryable and not down.fatal
        await server.start()
        assert isinstance(await endpoint.chat(BODY, 20), Output)


async def test_a_port_where_nobody_listens_is_a_failure_that_says_so() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        async with Endpoint(f"http://127.0.0.1:{taken.getsockname()[1]}/v1") as endpoint:
            got = failed(await endpoint.chat(BODY, 20))
    assert got.kind == "connection" and got.retryable and got.fatal
    assert "running" in got.message


async def test_text_of_every_kind_goes_there_and_back() -> None:
    strange = "a\x00b\x1b]52;c;eA==\x07 \u202e \ud83d \U0001f600 \u2028 \\u0041"
    body: JsonObject = {"model": "m", "messages": [{"role": "user", "content": strange}]}
    async with FakeModel() as server, connected(server) as endpoint:
        got = await endpoint.chat(body, 20)
        assert server.calls[0].prompt == strange
    assert isinstance(got, Output) and got.text == strange


async def test_latency_ends_as_the_last_byte_arrives_whenever_somebody_reads_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    received = StrictResponseHandler.data_received

    def received_by_a_busy_loop(handler: StrictResponseHandler, data: bytes) -> None:
        received(handler, data)
        time.sleep(1)  # the loop has other things to do before it gives anybody the answer

    monkeypatch.setattr(StrictResponseHandler, "data_received", received_by_a_busy_loop)
    began = time.monotonic()
    got = await ask(Reply("answer"))
    assert isinstance(got, Output)
    assert got.latency_s is not None
    assert got.latency_s < time.monotonic() - began - 0.9, "what came after it is part of it"


async def test_a_long_answer_is_read_beside_the_loop_and_whole() -> None:
    text = "é😀 " * 50_000
    async with FakeModel({"2 + 2?": text}) as server, connected(server, max_body=64 << 20) as one:
        got = await one.chat(BODY, 60)
    assert isinstance(got, Output)
    assert got.text == text


async def test_an_answer_that_takes_too_long_to_read_is_a_failed_attempt(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("tui_eval.providers.answer_reading._READING_S", 0.01)
    text = "é" * 5_000_000
    async with FakeModel({"2 + 2?": text}) as server, connected(server, max_body=64 << 20) as one:
        got = failed(await one.chat(BODY, 60))
    assert got.kind == "bad_answer"
    assert got.retryable
    assert got.message.endswith("bytes took longer than 0.01 s")
