"""What counts as this machine is reached on this machine, whatever a name server says."""

import asyncio
import socket
from typing import Any

import pytest

from tests.servers.fake_model import FakeModel
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.endpoint import Endpoint
from tui_eval.providers.http.resolver import PinnedResolver

BODY: JsonObject = {"model": "m", "messages": [{"role": "user", "content": "4"}]}


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Give the names that are looked up; none is known."""
    names: list[str] = []

    async def getaddrinfo(self: Any, host: str, *args: Any, **more: Any) -> Any:
        names.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "not known")

    monkeypatch.setattr(asyncio.BaseEventLoop, "getaddrinfo", getaddrinfo)
    return names


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "a.localhost", "a.b.localhost."])
async def test_a_name_that_counts_as_loopback_is_never_looked_up(
    host: str, asked: list[str]
) -> None:
    async with FakeModel() as server:
        async with Endpoint(f"http://{host}:{server.port}/v1", "the-key") as endpoint:
            got = await endpoint.chat(BODY, 20)
        assert isinstance(got, Output), got
        assert server.calls[0].headers["authorization"] == "Bearer the-key"
    assert asked == []


@pytest.mark.parametrize("host", ["elsewhere.example", "localhost.example", "notlocalhost"])
async def test_other_names_are_looked_up(host: str, asked: list[str]) -> None:
    async with Endpoint(f"http://{host}:9/v1", "the-key") as endpoint:
        got = await endpoint.chat(BODY, 20)
    assert isinstance(got, Failure) and got.kind == "unknown_host"
    assert asked == [host]


async def test_both_loopback_addresses_are_tried() -> None:
    found = await PinnedResolver().resolve("a.localhost", 80, socket.AF_UNSPEC)
    assert [one["host"] for one in found] == ["127.0.0.1", "::1"]
    [only] = await PinnedResolver().resolve("a.localhost", 80, socket.AF_INET6)
    assert only["host"] == "::1"


@pytest.mark.parametrize("host", ["localhost", "a.localhost"])
async def test_no_proxy_sees_what_stays_on_this_machine(
    host: str, asked: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://elsewhere.example:9")
    async with (
        FakeModel() as server,
        Endpoint(f"http://{host}:{server.port}/v1", "the-key") as endpoint,
    ):
        assert isinstance(await endpoint.chat(BODY, 20), Output)
    assert asked == []
