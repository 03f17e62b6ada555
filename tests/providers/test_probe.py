import socket

from tests.servers.fake_model import FakeModel
from tui_eval.providers.presets import address
from tui_eval.providers.probe import probe


async def test_an_endpoint_that_answers_is_reachable() -> None:
    async with FakeModel() as server:
        found = await probe(address(base_url=server.base_url))
    assert found.reachable and "answers (200)" in found.message
    assert found.latency_s is not None and found.latency_s > 0


async def test_an_endpoint_that_is_not_there_is_told_with_its_host() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        found = await probe(address(base_url=f"http://127.0.0.1:{taken.getsockname()[1]}/v1"))
    assert not found.reachable and "127.0.0.1" in found.message and found.latency_s is None


async def test_an_embedded_server_needs_no_look() -> None:
    assert (await probe(address("local"))).reachable
