"""`tui-eval serve`: what is refused before anything listens, and a whole life of it."""

import asyncio
import signal
import socket

import aiohttp
import psutil
import pytest
from aiohttp import WSMsgType

from tests.cli.conftest import Command, Place


@pytest.mark.parametrize("host", ["0.0.0.0", "192.0.2.1", "::"])
def test_what_other_machines_reach_is_refused_unless_that_is_meant(
    tui_eval: Command, host: str
) -> None:
    done = tui_eval("serve", "--host", host)
    assert done.code == 2
    assert "--read-only, or --expose" in done.err
    assert "put TLS before it" in done.err
    assert "token" not in done.out


def test_a_place_that_is_taken_is_told(tui_eval: Command) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = tui_eval("serve", "--port", str(port))
    assert done.code == 2
    assert f"cannot listen on 127.0.0.1, port {port}" in done.err


@pytest.mark.parametrize("name", ["", "evals.example.org:8443", "https://evals.example.org", "a/b"])
def test_a_name_to_allow_is_a_name(tui_eval: Command, name: str) -> None:
    done = tui_eval("serve", "--allow-host", name)
    assert done.code == 2
    assert "a host's name is wanted" in done.err


def test_read_only_makes_no_store(place: Place, tui_eval: Command) -> None:
    done = tui_eval("serve", "--read-only")
    assert done.code == 2
    assert "there is no store here yet" in done.err
    assert not place.store.exists()


def test_a_missing_extra_is_named(tui_eval: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tui_eval.web.assets.find_spec", lambda _: None)
    done = tui_eval("serve")
    assert done.code == 2
    assert "pip install 'tui-eval[web]'" in done.err


@pytest.mark.whole
@pytest.mark.parametrize("ends", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
async def test_tabs_end_with_the_server_however_it_ends(place: Place, ends: signal.Signals) -> None:
    pytest.importorskip("textual_serve")
    place.suite()
    running = await place.start("serve", ".")
    assert running.process.stdout is not None
    address = (await running.process.stdout.readline()).decode().strip()
    base = address.partition("/?")[0]
    jar = aiohttp.CookieJar(unsafe=True)  # of an IP address, too
    async with aiohttp.ClientSession(cookie_jar=jar) as client:
        assert (await client.get(address)).url.query_string == ""
        tab = await client.ws_connect(f"{base}/ws", headers={"Origin": base})
        assert (await tab.receive()).type is WSMsgType.BINARY
        (app,) = psutil.Process(running.process.pid).children()
        running.process.send_signal(ends)
        code = await running.process.wait()
        assert code == (-9 if ends is signal.SIGKILL else 0)
        await asyncio.to_thread(app.wait, 20)
