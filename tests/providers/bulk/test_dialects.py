"""Every dialect holds to what the engine relies on."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.providers.bulk.asking import replies, requests_of, sought, texts
from tests.servers.fake_bulk import FakeBulk
from tests.servers.run_batch import run_batch
from tui_eval.model.outputs.output import Failure
from tui_eval.providers.bulk.anthropic_batches import AnthropicBatches
from tui_eval.providers.bulk.api import BulkApi, BulkState
from tui_eval.providers.bulk.connection import BulkPlace
from tui_eval.providers.bulk.openai_batches import OpenAiBatches
from tui_eval.providers.bulk.request_files import RequestFiles

DIALECTS: dict[str, Callable[[BulkPlace, Path], BulkApi]] = {
    "openai": lambda place, _: OpenAiBatches(place),
    "anthropic": lambda place, _: AnthropicBatches(place),
    "files": lambda _, folder: RequestFiles(folder),
}


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_a_consignment_is_sent_found_looked_at_and_taken(
    dialect: str, tmp_path: Path
) -> None:
    async with FakeBulk(looks=0) as server:
        place = BulkPlace(server.base_url, settle_s=0.0)
        requests = requests_of("abc", 5, max_tokens=9)
        async with DIALECTS[dialect](place, tmp_path) as api:
            assert await api.find(sought("abc", 5)) is None
            sizes = [api.encoded(request) for request in requests]
            assert not any(isinstance(size, Failure) for size in sizes)
            sent = await api.send("abc", requests)
            assert sent.state is BulkState.UNDER_WAY
            assert await replies(api, sent.id) == {}
            await _done(dialect, server, tmp_path / sent.id)
        # another engine, which knows the token alone
        async with DIALECTS[dialect](place, tmp_path) as api:
            found = await api.find(sought("abc", 5))
            assert found is not None
            assert (found.id, found.state) == (sent.id, BulkState.ENDED)
            assert (found.requests, found.done) == (5, 5)
            answers = texts(await replies(api, found.id))
            assert answers == {n: f"question {n}" for n in range(5)}
            # what is sent again is what it was measured as
            assert [api.encoded(request) for request in requests] == sizes
    assert set(server.ledger.prompts.values()) == {1}


async def _done(dialect: str, server: FakeBulk, requests: Path) -> None:
    """Have the consignment done, by the provider or by who does files."""
    if dialect == "files":
        results = requests.with_name("results-1.jsonl")
        await asyncio.to_thread(run_batch, requests, results, server.base_url)
    server.finish()
