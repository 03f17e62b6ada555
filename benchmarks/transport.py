"""What one call costs through each HTTP transport the client could sit on.

    python -m benchmarks.transport [--calls 4000] [--rounds 3]

A server process on the loopback answers at once; for 50 and 200 calls in flight each transport
makes the same calls, in turns, and the best of the rounds is printed: CPU of this process for one
call, and calls a second. Loopback only, some seconds long, nothing is written.
"""

import argparse
import asyncio
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

import httpx2
import openai

from tui_eval.model.json import JsonObject
from tui_eval.model.output import Output
from tui_eval.providers.endpoint import Endpoint

BODY: JsonObject = {
    "model": "fake-model",
    "messages": [{"role": "user", "content": "What is 17 plus 25?"}],
    "temperature": 0,
    "max_tokens": 64,
}

Call = Callable[[], Awaitable[object]]


@asynccontextmanager
async def bare(http_client: httpx2.AsyncClient, base_url: str) -> AsyncIterator[Call]:
    """The `openai` client with a raw response, on the transport of `http_client`."""
    client = openai.AsyncOpenAI(
        api_key="none", base_url=base_url, max_retries=0, timeout=None, http_client=http_client
    )

    async def call() -> object:
        response = await client.post("/chat/completions", body=BODY, cast_to=httpx2.Response)
        return response.json()

    async with client:
        yield call


@asynccontextmanager
async def whole(base_url: str) -> AsyncIterator[Call]:
    """Everything an attempt does: the deadline, the size cap and the parsed output too."""
    async with Endpoint(base_url=base_url, api_key="none") as endpoint:

        async def call() -> object:
            output = await endpoint.chat(BODY, timeout_s=60)
            assert isinstance(output, Output), output
            return output

        yield call


async def measure(call: Call, calls: int, in_flight: int) -> tuple[float, float]:
    """Give CPU milliseconds of this process a call, and calls a second."""
    await asyncio.gather(*(call() for _ in range(in_flight)))  # open the connections
    waiting = iter(range(calls))

    async def worker() -> None:
        for _ in waiting:
            await call()

    cpu, wall = time.process_time(), time.monotonic()
    await asyncio.gather(*(worker() for _ in range(in_flight)))
    cpu, wall = time.process_time() - cpu, time.monotonic() - wall
    return cpu / calls * 1000, calls / wall


async def compare(base_url: str, calls: int, rounds: int) -> None:
    """Measure every transport at both loads, interleaved, and print a table."""
    print(f"{'in flight':>9}  {'transport':<34} {'CPU ms/call':>11} {'calls/s':>8}")
    for in_flight in (50, 200):
        limits = httpx2.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
        best: dict[str, tuple[float, float]] = {}
        for _ in range(rounds):
            ways = {
                "httpx2": bare(httpx2.AsyncClient(limits=limits, timeout=None), base_url),
                "the openai package's aiohttp": bare(
                    openai.DefaultAioHttpClient(limits=limits, timeout=None), base_url
                ),
                "ours, the whole attempt": whole(base_url),
            }
            for name, way in ways.items():
                async with way as call:
                    got = await measure(call, calls, in_flight)
                best[name] = min(best.get(name, got), got)
        for name, (cpu, rate) in best.items():
            print(f"{in_flight:>9}  {name:<34} {cpu:>11.2f} {rate:>8.0f}")


def main() -> None:
    """Start the server, compare, stop the server."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--calls", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    command = [sys.executable, "-m", "tests.servers.fake_model"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        base_url = server.stdout.readline().strip()
        asyncio.run(compare(base_url, given.calls, given.rounds))
    finally:
        server.terminate()
        server.wait()


if __name__ == "__main__":
    main()
