"""The server of `tui-eval serve`: the page, its files, and a socket for each tab."""

import asyncio
import json
import logging
import signal
import socket
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.http_exceptions import HttpProcessingError

from tui_eval.web.access import TOKEN, Access, WebRequest
from tui_eval.web.assets import PAGE, Asset
from tui_eval.web.tab_process import GRACE_S, TabProcess

MOST_TABS: Final = 16
"""Tabs at once: each is a process of some 100 MB."""
_LARGEST: Final = 1 << 20
"""Bytes of one message of a page: what is pasted at once."""
_WIDEST: Final = 1000
"""Columns and rows that a page may ask for."""
_HEADERS: Final = {
    # scripts and styles of ours; the terminal puts its colours into style elements
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self' "
    "'unsafe-inline'; font-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
_Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


@dataclass(frozen=True, slots=True)
class TabCommand:
    """What runs for each tab."""

    words: Sequence[str]
    """The command line, without its arguments."""
    environ: dict[str, str]
    paths: Sequence[str] = ()
    """Its arguments."""

    def words_for(self, width: int, height: int) -> list[str]:
        """Return the command line for a tab of columns × rows."""
        return [*self.words, "--size", f"{width}x{height}", "--", *self.paths]


def _log() -> logging.Logger:
    """Return what the server logs by: all but requests that are none, which anybody can send."""

    def of_ours(record: logging.LogRecord) -> bool:
        return not (record.exc_info and isinstance(record.exc_info[1], HttpProcessingError))

    log = logging.getLogger(__name__)
    log.addFilter(of_ours)
    return log


class WebServer:
    """Answers browsers for as long as it runs."""

    def __init__(
        self,
        access: Access,
        command: TabCommand,
        files: dict[str, Asset],
        port: int,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Make a server, which listens nowhere yet.

        Args:
            access: Who is answered.
            command: What runs for each tab.
            files: The files of the page, by name.
            port: Where it listens: browsers keep one cookie of a name for all ports of a host.
            tell: Told what whoever started the server should know.
        """
        self._access = access
        self._command = command
        self._files = files
        self._cookie = f"tui-eval-{port}"
        self._tell = tell
        self._tabs: set[web.WebSocketResponse] = set()
        self._processes: set[TabProcess] = set()

    def application(self) -> web.Application:
        """Return what aiohttp serves."""

        @web.middleware
        async def check(request: web.Request, handler: _Handler) -> web.StreamResponse:
            return await self._check(request, handler)

        app = web.Application(middlewares=[check])
        app.router.add_get("/", self._page)
        app.router.add_get("/static/{name}", self._file)
        app.router.add_get("/ws", self._tab, allow_head=False)
        app.on_response_prepare.append(self._add_headers)
        app.on_shutdown.append(self._close_tabs)
        return app

    def runner(self) -> web.AppRunner:
        """Return what runs it."""
        return web.AppRunner(
            self.application(), access_log=None, logger=_log(), shutdown_timeout=GRACE_S * 2
        )

    async def run(self, listening: socket.socket, ready: Callable[[], None]) -> None:
        """Serve until a signal says to end; all tabs' processes are gone then.

        A second signal kills what has not left yet.

        Args:
            listening: Where.
            ready: Called once requests are answered.
        """
        loop = asyncio.get_running_loop()
        ended = asyncio.Event()

        def end() -> None:
            if ended.is_set():
                for process in self._processes:
                    process.kill()
            ended.set()

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(number, end)
        runner = self.runner()
        await runner.setup()
        await web.SockSite(runner, listening).start()
        ready()
        try:
            await ended.wait()
        finally:
            await runner.cleanup()

    # -- who asks

    async def _check(self, request: web.Request, handler: _Handler) -> web.StreamResponse:
        asked = WebRequest(
            hosts=request.headers.getall("Host", []),
            origins=request.headers.getall("Origin", []),
            cookie=request.cookies.get(self._cookie),
            token=request.query.get(TOKEN) if request.path == "/" else None,
            opens_socket=request.path == "/ws",
        )
        refusal = self._access.refusal(asked)
        if refusal is not None:
            return _refused(refusal)
        if self._access.admits(asked):
            return self._admitted()
        if not self._access.knows(asked):
            return _refused(
                "open the address that tui-eval serve has printed: it has the token; "
                "where you came by it from another page, reload"
            )
        return await handler(request)

    def _admitted(self) -> web.Response:
        """Have the browser keep the cookie, and come back without the token in the address."""
        response = web.Response(status=303, headers={"Location": "/"})
        response.set_cookie(
            self._cookie, self._access.cookie, path="/", httponly=True, samesite="Strict"
        )
        return response

    async def _add_headers(self, _: web.Request, response: web.StreamResponse) -> None:
        response.headers.update(_HEADERS)
        response.headers.pop("Server", None)

    # -- what is answered

    async def _page(self, _: web.Request) -> web.Response:
        return web.Response(body=PAGE.read_bytes(), content_type="text/html", charset="utf-8")

    async def _file(self, request: web.Request) -> web.StreamResponse:
        asset = self._files.get(request.match_info["name"])
        if asset is None:
            raise web.HTTPNotFound
        return web.FileResponse(asset.file, headers={"Content-Type": asset.content_type})

    async def _tab(self, request: web.Request) -> web.StreamResponse:
        if len(self._tabs) >= MOST_TABS:
            self._tell(f"{MOST_TABS} tabs are open, and there are no more: close one")
            return web.Response(status=503, text=f"{MOST_TABS} tabs are open: close one\n")
        tab = web.WebSocketResponse(heartbeat=15, max_msg_size=_LARGEST, compress=False)
        self._tabs.add(tab)
        try:
            await tab.prepare(request)
            await self._run_tab(tab, _size(request.query.get("width"), request.query.get("height")))
        finally:
            self._tabs.discard(tab)
        return tab

    async def _run_tab(self, tab: web.WebSocketResponse, size: tuple[int, int]) -> None:
        words = self._command.words_for(*size)
        try:
            process = await TabProcess.start(words, self._command.environ)
        except OSError as error:
            self._tell(f"a tab's app cannot be started: {error}")
            return
        self._processes.add(process)
        drawing = asyncio.create_task(self._draw(process, tab))
        try:
            async for message in tab:
                if message.type is WSMsgType.TEXT:
                    await _hand_on(message.data, process)
        finally:
            drawing.cancel()
            with suppress(asyncio.CancelledError):
                await drawing
            await process.end()
            self._processes.discard(process)

    async def _draw(self, process: TabProcess, tab: web.WebSocketResponse) -> None:
        with suppress(ConnectionError):
            async for drawn in process.drawn():
                await tab.send_bytes(drawn)
        if process.said:
            self._tell(f"a tab's app ended before it drew anything: {process.said.strip()}")
        await tab.close()

    async def _close_tabs(self, _: web.Application) -> None:
        await asyncio.gather(
            *(tab.close(code=WSCloseCode.GOING_AWAY, drain=False) for tab in [*self._tabs])
        )


async def _hand_on(text: str, process: TabProcess) -> None:
    """Hand a message of the page on to its app; what is none of the page's is dropped."""
    try:
        match json.loads(text):
            case ["stdin", str(typed)]:
                await process.type(typed)
            case ["resize", {"width": int(width), "height": int(height)}]:
                await process.resize(_bounded(width), _bounded(height))
            case ["focus" | "blur" as which, *_]:
                await process.focus(gained=which == "focus")
            case _:
                return
    except ValueError:
        return


def _size(width: str | None, height: str | None) -> tuple[int, int]:
    def read(text: str | None, usual: int) -> int:
        known = text is not None and text.isascii() and text.isdecimal() and len(text) < 6
        return _bounded(int(text)) if known and text is not None else usual

    return read(width, 80), read(height, 24)


def _bounded(cells: int) -> int:
    return min(max(cells, 1), _WIDEST)


def _refused(why: str) -> web.Response:
    return web.Response(status=403, text=f"tui-eval: not answered: {why}\n")
