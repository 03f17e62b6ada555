"""Servers that say more than they were asked: no answer is ever another request's."""

import asyncio
import json
import select
import socket
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.endpoint import Endpoint
from tui_eval.providers.http.strict_connection import StrictResponseHandler


def question(text: str) -> JsonObject:
    return {"model": "m", "messages": [{"role": "user", "content": text}]}


def answer(text: str) -> bytes:
    """Give an answer to `/chat/completions` with its length in the head."""
    body = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


def chunked(text: str) -> bytes:
    """Give the same in two chunks."""
    body = json.dumps({"choices": [{"message": {"content": text}}]}).encode()
    chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (body[:9], body[9:]))
    return b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks + b"0\r\n\r\n"


UNASKED = answer("unasked")
EARLY = b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n"


@dataclass
class Server:
    """Answers each question with itself, and sends more than that with the first."""

    first: Callable[[str], Sequence[bytes]]
    """Gives what the first question is answered with, a segment each."""
    asked: list[str] = field(default_factory=list)
    """The questions in the order of their arrival."""
    writers: list[asyncio.StreamWriter] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set as the client closes a connection."""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = next(
                    int(line.split(b":")[1])
                    for line in head.lower().split(b"\r\n")
                    if line.startswith(b"content-length:")
                )
                said = json.loads(await reader.readexactly(length))["messages"][0]["content"]
                self.asked.append(said)
                for segment in self.first(said) if len(self.asked) == 1 else [answer(said)]:
                    writer.write(segment)
                    for _ in range(5):  # the client reads each by itself
                        await asyncio.sleep(0)
        except (asyncio.IncompleteReadError, ConnectionError):
            self.left.set()
        finally:
            writer.close()


@asynccontextmanager
async def asked_of(
    first: Callable[[str], Sequence[bytes]],
) -> AsyncIterator[tuple[Server, Endpoint]]:
    server = Server(first)
    async with await asyncio.start_server(server.serve, "127.0.0.1", 0) as listening:
        port = listening.sockets[0].getsockname()[1]
        async with Endpoint(f"http://127.0.0.1:{port}/v1") as endpoint:
            yield server, endpoint


def text(got: Output | Failure) -> str | None:
    assert isinstance(got, Output), got
    return got.text


AFTERWARDS = {
    "an answer": UNASKED,
    "an answer in chunks": chunked("unasked"),
    "the head of an answer": UNASKED.split(b"{")[0],
    "half a head": UNASKED[:25],
    "a time-out that proxies send": b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n",
    "an interim answer": EARLY,
    "an empty line": b"\r\n",
    "no HTTP": b"and another thing",
}


@pytest.mark.parametrize("more", AFTERWARDS.values(), ids=AFTERWARDS)
async def test_a_connection_that_received_bytes_while_idle_is_dropped(more: bytes) -> None:
    async with asked_of(lambda said: [answer(said)]) as (server, endpoint):
        assert text(await endpoint.chat(question("one"), 20)) == "one"
        server.writers[0].write(more)
        async with asyncio.timeout(10):
            await server.left.wait()
        assert text(await endpoint.chat(question("two"), 20)) == "two"
        assert (server.asked, len(server.writers)) == (["one", "two"], 2)


@pytest.mark.parametrize("more", AFTERWARDS.values(), ids=AFTERWARDS)
async def test_what_the_loop_has_not_read_yet_is_no_answer_either(more: bytes) -> None:
    async with asked_of(lambda said: [answer(said)]) as (server, endpoint):
        assert text(await endpoint.chat(question("one"), 20)) == "one"
        server.writers[0].write(more)  # sent at once; the loop has no turn before the next call
        assert text(await endpoint.chat(question("two"), 20)) == "two"
        assert (server.asked, len(server.writers)) == (["one", "two"], 2)


async def test_a_connection_that_ended_while_idle_costs_no_call() -> None:
    async with asked_of(lambda said: [answer(said)]) as (server, endpoint):
        assert text(await endpoint.chat(question("one"), 20)) == "one"
        server.writers[0].write_eof()
        assert text(await endpoint.chat(question("two"), 20)) == "two"


TOGETHER: dict[str, Callable[[str], Sequence[bytes]]] = {
    "in one segment": lambda said: [answer(said) + UNASKED],
    "half a head in the same segment": lambda said: [answer(said) + UNASKED[:25]],
    "behind the end of a body": lambda said: [answer(said)[:-9], answer(said)[-9:] + UNASKED],
    "half a head behind the end of a body": lambda said: [
        answer(said)[:-9],
        answer(said)[-9:] + UNASKED[:25],
    ],
    "behind chunks": lambda said: [chunked(said)[:-5], chunked(said)[-5:] + UNASKED],
    "in one segment with chunks": lambda said: [chunked(said) + chunked("unasked")],
    "after interim answers": lambda said: [EARLY, EARLY + answer(said) + UNASKED],
}


@pytest.mark.parametrize("first", TOGETHER.values(), ids=TOGETHER)
async def test_an_answer_behind_the_answer_is_nobodys(
    first: Callable[[str], Sequence[bytes]],
) -> None:
    async with asked_of(first) as (server, endpoint):
        assert text(await endpoint.chat(question("one"), 20)) == "one"
        assert text(await endpoint.chat(question("two"), 20)) == "two"
        assert (server.asked, len(server.writers)) == (["one", "two"], 2)


@pytest.mark.parametrize(
    ("more", "connections"),
    [(AFTERWARDS["an answer"], 4), (AFTERWARDS["a time-out that proxies send"], 2)],
    ids=["an answer", "a time-out that proxies send"],
)
async def test_a_server_that_sent_an_answer_too_many_is_asked_once_a_connection(
    more: bytes, connections: int
) -> None:
    async with asked_of(lambda said: [answer(said)]) as (server, endpoint):
        assert text(await endpoint.chat(question("one"), 20)) == "one"
        server.writers[0].write(more)
        async with asyncio.timeout(10):
            await server.left.wait()
        for said in ("two", "three", "four"):
            assert text(await endpoint.chat(question(said), 20)) == said
        assert len(server.writers) == connections


async def test_connections_kept_before_an_answer_too_many_are_not_used_again() -> None:
    async with asked_of(lambda said: [answer(said)]) as (server, endpoint):
        calls = (endpoint.chat(question(said), 20) for said in ("one", "two"))
        assert [text(got) for got in await asyncio.gather(*calls)] == ["one", "two"]
        server.writers[0].write(UNASKED)
        async with asyncio.timeout(10):
            await server.left.wait()
        assert text(await endpoint.chat(question("three"), 20)) == "three"
        assert len(server.writers) == 3


@pytest.mark.parametrize("behind", [b"}", b'{"choices": []}', b"\x00\x01"])
async def test_a_body_longer_than_its_head_says_is_no_answer_to_the_next(behind: bytes) -> None:
    async with asked_of(lambda said: [answer(said) + behind]) as (server, endpoint):
        got = await endpoint.chat(question("one"), 20)
        assert isinstance(got, Failure) and got.retryable
        assert text(await endpoint.chat(question("two"), 20)) == "two"
        assert len(server.writers) == 2


async def test_interim_answers_keep_the_connection() -> None:
    async with asked_of(lambda said: [EARLY, answer(said)]) as (server, endpoint):
        for said in ("one", "two", "three"):
            assert text(await endpoint.chat(question(said), 20)) == said
        assert len(server.writers) == 1


async def test_the_late_answer_to_a_call_that_timed_out_is_nobodys() -> None:
    async with asked_of(lambda said: []) as (server, endpoint):
        got = await endpoint.chat(question("one"), 0.05)
        assert isinstance(got, Failure) and got.kind == "timeout"
        server.writers[0].write(answer("late"))
        assert text(await endpoint.chat(question("two"), 20)) == "two"


async def test_what_is_sent_before_any_request_ends_the_connection() -> None:
    loop = asyncio.get_running_loop()
    left = asyncio.Event()

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(UNASKED)
        try:
            assert await reader.read() == b""
        except ConnectionError:
            pass
        finally:
            left.set()
            writer.close()

    async with await asyncio.start_server(talk, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        _, protocol = await loop.create_connection(
            lambda: StrictResponseHandler(loop, asyncio.Event()), "127.0.0.1", port
        )
        async with asyncio.timeout(10):
            await left.wait()
        assert not protocol.is_connected() and len(protocol) == 0


async def test_what_came_on_a_new_connection_before_its_first_request_ends_it() -> None:
    loop = asyncio.get_running_loop()
    with socket.create_server(("127.0.0.1", 0)) as listening:
        _, protocol = await loop.create_connection(
            lambda: StrictResponseHandler(loop, asyncio.Event()), *listening.getsockname()
        )
        transport = protocol.transport
        assert transport is not None
        with listening.accept()[0] as server:
            server.sendall(UNASKED)
            came = select.poll()
            came.register(transport.get_extra_info("socket"), select.POLLIN)
            assert came.poll(10_000)  # the loop has no turn to read it
            protocol.set_response_params()
            assert transport.is_closing()
