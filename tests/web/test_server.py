"""The server's answers to requests as browsers, other pages and strangers send them."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import psutil
import pytest
from aiohttp import WSMsgType, web

from tui_eval.web import server as module
from tui_eval.web.access import Access, names_of
from tui_eval.web.assets import assets
from tui_eval.web.server import TabCommand, WebServer

pytest.importorskip("textual_serve")

ECHO = r"""
printf '__GANGLION__\nD\0\0\0\5begun'
cat
"""
"""An app that draws a word, then says again what it is told, packets and all."""


@dataclass
class Served:
    """A server, with what it said."""

    access: Access
    port: int
    said: list[str] = field(default_factory=list)

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def cookie(self) -> dict[str, str]:
        return {f"tui-eval-{self.port}": self.access.cookie}

    @property
    def origin(self) -> dict[str, str]:
        return {"Origin": self.base}


@asynccontextmanager
async def served(script: str = ECHO) -> AsyncIterator[Served]:
    listening = socket.create_server(("127.0.0.1", 0))
    found = Served(Access(names_of(["127.0.0.1"])), listening.getsockname()[1])
    command = TabCommand(["sh", "-c", script], {"PATH": "/usr/bin:/bin"})
    server = WebServer(found.access, command, assets(), found.port, found.said.append)
    runner = server.runner()
    await runner.setup()
    await web.SockSite(runner, listening).start()
    try:
        yield found
    finally:
        await runner.cleanup()


@asynccontextmanager
async def opened_tab(on: Served) -> AsyncIterator[aiohttp.ClientWebSocketResponse]:
    """Open a tab as the page does."""
    async with (
        aiohttp.ClientSession(cookies=on.cookie) as client,
        client.ws_connect(f"{on.base}/ws", headers=on.origin) as tab,
    ):
        yield tab


async def raw(port: int, request: str) -> str:
    """Send a request as it stands; give what comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    with closing(writer):
        writer.write(request.encode())
        head = await reader.readuntil(b"\r\n\r\n")
        return head.decode()


async def test_the_token_becomes_a_cookie_and_leaves_the_address() -> None:
    async with served() as on, aiohttp.ClientSession() as client:
        async with client.get(
            f"{on.base}/", params={"token": on.access.token}, allow_redirects=False
        ) as admitted:
            assert admitted.status == 303
            assert admitted.headers["Location"] == "/"
            cookie = admitted.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        assert on.access.token not in cookie
        async with client.get(f"{on.base}/", cookies=on.cookie) as page:
            assert page.status == 200
            text = await page.text()
            policy = page.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "//" not in policy  # no other host
        assert "://" not in text  # nothing is fetched from elsewhere
        assert on.access.token not in text


@pytest.mark.parametrize("path", ["/", "/ws", "/static/page.js", "/download/x", "/nothing"])
async def test_nothing_is_answered_without_the_cookie(path: str) -> None:
    wrong = [{}, {"token": "wrong"}, {"token": ""}]
    async with served() as on, aiohttp.ClientSession() as client:
        for params in wrong:
            async with client.get(on.base + path, params=params, headers=on.origin) as answer:
                assert answer.status == 403
        stale = dict.fromkeys(on.cookie, "x" * 43)
        async with client.get(on.base + path, cookies=stale, headers=on.origin) as answer:
            assert answer.status == 403
            assert "Set-Cookie" not in answer.headers


@pytest.mark.parametrize("path", ["/", "/ws", "/static/page.js", "/download/x"])
async def test_a_rebound_name_and_another_page_are_refused_though_they_bring_the_cookie(
    path: str,
) -> None:
    async with served() as on, aiohttp.ClientSession(cookies=on.cookie) as client:
        for headers in ({"Host": f"evil.example:{on.port}"}, {"Origin": "http://evil.example"}):
            async with client.get(on.base + path, headers=headers) as answer:
                assert answer.status == 403
                assert "evil" not in await answer.text()
        two = f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nHost: evil.example\r\n\r\n"
        assert (await raw(on.port, two)).split()[1] in ("400", "403")
        none = await raw(on.port, f"GET {path} HTTP/1.0\r\n\r\n")
        assert none.split()[1] in ("400", "403")


@pytest.mark.parametrize(
    "path",
    [
        "/static",
        "/static/",
        "/static/../server.py",
        "/static/..%2fserver.py",
        "/static/%2e%2e/%2e%2e/pyproject.toml",
        "/static//etc/passwd",
        "/static/%2fetc%2fpasswd",
        "/static/page.js%00.css",
        "/download/x",
        "//static/page.js",
    ],
)
async def test_no_file_but_those_of_the_page_is_given_and_none_is_listed(path: str) -> None:
    async with served() as on:
        (name, value), *_ = on.cookie.items()
        head = await raw(
            on.port, f"GET {path} HTTP/1.1\r\nHost: localhost\r\nCookie: {name}={value}\r\n\r\n"
        )
        assert head.split()[1] in ("400", "404")


async def test_every_file_that_the_page_names_is_given() -> None:
    async with served() as on, aiohttp.ClientSession(cookies=on.cookie) as client:
        for name in assets():
            async with client.get(f"{on.base}/static/{name}") as answer:
                assert answer.status == 200
                assert len(await answer.read()) > 100
                assert answer.headers["X-Content-Type-Options"] == "nosniff"
    page = (Path(module.__file__).parent / "page" / "index.html").read_text()
    sheet = (Path(module.__file__).parent / "page" / "page.css").read_text()
    named = {part.partition('"')[0] for part in (page + sheet).split('"/static/')[1:]}
    assert named == set(assets())


async def test_nothing_can_be_sent_but_questions() -> None:
    async with served() as on, aiohttp.ClientSession(cookies=on.cookie) as client:
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "TRACE"):
            async with client.request(method, f"{on.base}/", headers=on.origin) as answer:
                assert answer.status == 405


async def test_a_tab_hands_on_what_is_typed_and_ends_with_its_socket() -> None:
    async with served() as on, aiohttp.ClientSession(cookies=on.cookie) as client:
        async with client.ws_connect(f"{on.base}/ws?width=9&height=x", headers=on.origin) as tab:
            assert await tab.receive_bytes() == b"begun"
            (app,) = children()
            for odd in ("", "no json", "[]", '["stdin"]', '["stdin", 3]', "{}", '["resize", []]'):
                await tab.send_str(odd)
            await tab.send_json(["resize", {"width": 99999, "height": -1}])
            await tab.send_json(["focus"])
            await tab.send_json(["stdin", "typed é"])
            assert await tab.receive_bytes() == "typed é".encode()
        await asyncio.to_thread(app.wait, 10)
    assert on.said == []


async def test_an_app_that_leaves_closes_its_tab() -> None:
    leaves = ECHO.replace("cat", 'printf \'M\\0\\0\\0\\17{"type":"exit"}\'; cat >/dev/null')
    async with served(leaves) as on, opened_tab(on) as tab:
        assert await tab.receive_bytes() == b"begun"
        assert (await tab.receive()).type is WSMsgType.CLOSE


async def test_an_app_that_does_not_start_is_told_of() -> None:
    async with served("echo the store is newer") as on, opened_tab(on) as tab:
        assert (await tab.receive()).type is WSMsgType.CLOSE
    assert on.said == ["a tab's app ended before it drew anything: the store is newer"]


async def test_an_app_that_does_not_leave_is_killed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui_eval.web.tab_process.GRACE_S", 0.05)
    async with (
        served(ECHO.replace("cat", "exec sleep 60")) as on,
        aiohttp.ClientSession(cookies=on.cookie) as client,
    ):
        tab = await client.ws_connect(f"{on.base}/ws", headers=on.origin)
        assert await tab.receive_bytes() == b"begun"
        (app,) = children()
    assert not app.is_running()  # the server has ended meanwhile


async def test_there_are_so_many_tabs_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_TABS", 1)
    async with served() as on, opened_tab(on) as tab:
        assert await tab.receive_bytes() == b"begun"
        with pytest.raises(aiohttp.WSServerHandshakeError) as refused:
            async with opened_tab(on):
                pass
        assert refused.value.status == 503


def children() -> list[psutil.Process]:
    """Give the apps of tabs."""
    found = psutil.Process().children()
    return [one for one in found if one.is_running() and one.name() in ("sh", "sleep")]


@pytest.mark.parametrize(
    "request_line", [b"GET /" + b"a" * 20_000 + b" HTTP/1.1", b"\x16\x03\x01 no request at all"]
)
async def test_what_is_no_request_is_refused_and_not_logged(
    request_line: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    async with served() as found:
        reading, writing = await asyncio.open_connection("127.0.0.1", found.port)
        with closing(writing):
            writing.write(request_line + b"\r\nHost: 127.0.0.1\r\n\r\n")
            assert b" 400 " in await reading.readline()
    assert not caplog.records
