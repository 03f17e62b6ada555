"""An exchange with a server that dies: every failure in our words, and no connection left."""

import asyncio
import struct
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from socket import SO_LINGER, SOL_SOCKET

import pytest
from yarl import URL

from tests.waiting import until
from tui_eval.providers.errors import WireError
from tui_eval.providers.http.pool import HttpPool

HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n"
RESET = struct.pack("ii", 1, 0)


class Server:
    """Sends what it is told to after each request, then ends the connection or holds it."""

    def __init__(self, sent: bytes, ending: str) -> None:
        self.sent = sent
        self.ending = ending
        self.open = 0
        self.accepted = 0
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        self.accepted += 1
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(self.sent)
                await writer.drain()
                if self.ending == "reset":
                    writer.get_extra_info("socket").setsockopt(SOL_SOCKET, SO_LINGER, RESET)
                if self.ending != "held":
                    return
        except (asyncio.IncompleteReadError, OSError):
            return  # the other side has closed it
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def talking(sent: bytes, ending: str) -> AsyncIterator[tuple[Server, HttpPool]]:
    server = Server(sent, ending)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.port = listening.sockets[0].getsockname()[1]
    pool = HttpPool(f"http://127.0.0.1:{server.port}", 1_000)
    try:
        yield server, pool
    finally:
        await pool.close()
        listening.close()


async def get(server: Server, pool: HttpPool) -> bytes:
    async with pool.exchange("GET", URL(f"http://127.0.0.1:{server.port}/"), {}, None) as answer:
        return await answer.read()


@pytest.mark.parametrize("ending", ["closed", "reset"])
@pytest.mark.parametrize(
    "sent", [b"", b"HTTP/1.1 2", HEAD[:30], HEAD, HEAD + b"12345", b"no\r\n\r\n"]
)
async def test_a_server_that_dies_at_any_point_is_a_wire_error(sent: bytes, ending: str) -> None:
    async with talking(sent, ending) as (server, pool):
        with pytest.raises(WireError) as error:
            await get(server, pool)
        assert error.value.kind == "connection"
        await until(lambda: server.open == 0)


async def test_what_breaks_inside_an_exchange_is_told_in_our_words() -> None:
    async with talking(HEAD + b"1234567890", "held") as (server, pool):
        url = URL(f"http://127.0.0.1:{server.port}/")
        with pytest.raises(WireError, match="the connection broke: it is gone"):
            async with pool.exchange("GET", url, {}, None):
                raise ConnectionResetError("it is gone")
        with pytest.raises(ZeroDivisionError):
            async with pool.exchange("GET", url, {}, None):
                raise ZeroDivisionError


async def test_a_connection_is_used_again_where_its_answer_was_read() -> None:
    async with talking(HEAD + b"1234567890", "held") as (server, pool):
        for _ in range(3):
            assert await get(server, pool) == b"1234567890"
        assert server.accepted == 1


async def _left(server: Server, pool: HttpPool) -> None:
    url = URL(f"http://127.0.0.1:{server.port}/")
    async with pool.exchange("GET", url, {}, None):
        pass  # the rest of the body never comes


async def _timed_out(server: Server, pool: HttpPool) -> None:
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await get(server, pool)


@pytest.mark.parametrize("how", [_left, _timed_out])
@pytest.mark.parametrize("sent", [HEAD, HEAD + b"12345"])
async def test_a_connection_is_closed_whose_answer_is_not_waited_for(
    how: Callable[[Server, HttpPool], Awaitable[None]], sent: bytes
) -> None:
    async with talking(sent, "held") as (server, pool):
        await how(server, pool)
        await until(lambda: server.open == 0)
        assert server.accepted == 1


async def test_a_connection_is_closed_whose_call_is_cancelled_before_an_answer() -> None:
    async with talking(b"", "held") as (server, pool):
        call = asyncio.create_task(get(server, pool))
        await until(lambda: server.open == 1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await until(lambda: server.open == 0)
