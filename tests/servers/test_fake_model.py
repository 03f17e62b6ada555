import asyncio
import json
import random
import sys
import urllib.request
from collections import Counter

import pytest

from tests.servers.fake_model import KINDS, FakeModel, Mix, Reply
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.endpoint import Endpoint
from tui_eval.providers.patience import Patience


def question(n: int) -> JsonObject:
    return {"model": "m", "messages": [{"role": "user", "content": f"question {n}"}]}


@pytest.mark.parametrize("seed", range(5))
def test_the_mix_holds_forty_faults_whatever_the_seed(seed: int) -> None:
    mix = Mix(seed)
    named = Counter(
        reply.status if reply.kind == "status" else reply.kind for reply in mix.by_place.values()
    )
    assert named == {429: 20, 500: 10, "reset": 4, "hang": 2, "invalid_json": 4}
    assert set(mix.by_place) <= set(range(1, 201))
    assert mix.by_place == Mix(seed).by_place


async def test_a_perfect_client_needs_forty_further_requests_for_the_passing_mix() -> None:
    patience, rng = Patience(retries=5), random.Random(0)
    waiting = iter(range(200))
    right: list[int] = []
    asked_to_wait = 0

    async def worker(endpoint: Endpoint) -> None:
        nonlocal asked_to_wait
        for n in waiting:
            failures = 0
            while isinstance(got := await endpoint.chat(question(n), 0.5), Failure):
                failures += 1
                asked_to_wait += got.retry_after_s == 1.0
                assert patience.pause_before_next(got, failures, rng) is not None, got
            assert got.text == f"question {n}"
            right.append(n)

    async with FakeModel(script=Mix(seed=1)) as server, Endpoint(server.base_url) as endpoint:
        await asyncio.gather(*(worker(endpoint) for _ in range(10)))
        assert sorted(right) == list(range(200))
        assert server.requests == 240
        assert server.in_flight_max <= 10
        assert asked_to_wait == 20
        assert set(server.counts.values()) == {1, 2}


async def test_the_lasting_mix_never_passes() -> None:
    mix = Mix(seed=1, of=3, lasting=True, faults=[(Reply("invalid_json"), 1)])
    async with FakeModel(script=mix) as server, Endpoint(server.base_url) as endpoint:
        for _ in range(3):
            got = [await endpoint.chat(question(n), 5) for n in range(3)]
            assert sum(isinstance(one, Failure) for one in got) == 1


def test_a_kind_it_does_not_know_is_refused() -> None:
    with pytest.raises(ValueError, match="there are answer, status"):
        Reply("nonsense")
    assert len(set(KINDS)) == len(KINDS)


def fetch(url: str) -> bytes:
    with urllib.request.urlopen(url) as answer:
        return bytes(answer.read())


async def test_as_a_process_it_prints_where_it_is_and_counts() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "tests.servers.fake_model", "--script", "first:503", "--model", "m-2"),
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        base_url = (await process.stdout.readline()).decode().strip()
        async with Endpoint(base_url) as endpoint:
            first = await endpoint.chat(question(1), 5)
            second = await endpoint.chat(question(1), 5)
        stats = json.loads(await asyncio.to_thread(fetch, f"{base_url}/stats"))
    finally:
        process.terminate()
        await process.wait()
    assert isinstance(first, Failure) and first.status == 503
    assert isinstance(second, Output) and second.model == "m-2"
    assert stats["counts"] == {"question 1": 2} and stats["statuses"] == {"503": 1, "200": 1}
    assert stats["last_at"] >= stats["first_at"]
