"""A real browser on a real server: what it fetches, and that keys reach the app."""

import asyncio
import base64
import itertools
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.cli.conftest import Place, place
from tests.fresh_store import fresh_store

__all__ = ["place"]
pytestmark = pytest.mark.whole
_FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--remote-debugging-port=0",
)  # fmt: skip


@dataclass
class Page:
    """A page, spoken to by the DevTools protocol."""

    socket: aiohttp.ClientWebSocketResponse
    numbers: "itertools.count[int]" = field(default_factory=lambda: itertools.count(1))
    fetched: list[str] = field(default_factory=list)

    async def call(self, method: str, **params: object) -> dict[str, Any]:
        number = next(self.numbers)
        await self.socket.send_json({"id": number, "method": method, "params": params})
        while True:
            said = json.loads(await self.socket.receive_str())
            if said.get("method") == "Network.requestWillBeSent":
                self.fetched.append(said["params"]["request"]["url"])
            if said.get("id") == number:
                assert "error" not in said, said
                return dict(said["result"])

    async def value(self, script: str) -> Any:
        found = await self.call("Runtime.evaluate", expression=script, awaitPromise=True)
        return found["result"].get("value")

    async def until(self, script: str) -> None:
        for _ in range(300):
            if await self.value(script):
                return
            await asyncio.sleep(0.1)
        raise AssertionError(f"{script} has not come")

    async def press(self, key: str) -> None:
        await self.call("Input.dispatchKeyEvent", type="keyDown", key=key, text=key)
        await self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def picture(self) -> bytes:
        return base64.b64decode((await self.call("Page.captureScreenshot"))["data"])


@asynccontextmanager
async def opened(folder: Path) -> AsyncIterator[Page]:
    """Start a browser of its own with an empty page."""
    chromium = shutil.which("chromium")
    if chromium is None:
        pytest.skip("there is no chromium")
    process = await asyncio.create_subprocess_exec(
        *(chromium, *_FLAGS, f"--user-data-dir={folder}", "about:blank"),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        while b"DevTools listening on" not in (line := await process.stderr.readline()):
            assert line, "it does not start"
        base = line.decode().split("ws://")[1].partition("/")[0]
        async with aiohttp.ClientSession() as client:
            async with client.get(f"http://{base}/json") as answer:
                (target,) = [one for one in await answer.json() if one["type"] == "page"]
            address = target["webSocketDebuggerUrl"]
            async with client.ws_connect(address, max_msg_size=0) as socket:
                page = Page(socket)
                await page.call("Network.enable")
                yield page
    finally:
        process.terminate()
        await process.wait()


async def test_a_browser_shows_the_app_and_fetches_nothing_from_elsewhere(
    place: Place, tmp_path: Path
) -> None:
    pytest.importorskip("textual_serve")
    place.suite()
    fresh_store(place.store)
    running = await place.start("serve", ".", "--read-only")
    assert running.process.stdout is not None
    address = (await running.process.stdout.readline()).decode().strip()
    base = address.partition("/?")[0]
    async with opened(tmp_path / "browser") as page:
        await page.call("Page.navigate", url=address)
        await page.until("document.body.classList.contains('-first-byte')")
        await page.until("document.activeElement.className === 'xterm-helper-textarea'")
        assert await page.value("location.href") == f"{base}/"
        assert await page.value("document.cookie") == ""  # no script reads it
        assert await page.value("[...document.fonts].every(one => one.family === 'Roboto Mono')")
        before = await page.picture()
        await page.press("2")
        for _ in range(100):
            if await page.picture() != before:
                break
            await asyncio.sleep(0.1)
        assert await page.picture() != before
        await page.press("q")  # from a first screen: it leaves, and asks nobody
        await page.until("document.body.classList.contains('-closed')")
        assert {url.partition("/static")[0] for url in page.fetched} >= {base}
        assert all(url.startswith((f"{base}/", "data:", "about:")) for url in page.fetched)
    running.process.terminate()
    assert await running.process.wait() == 0
