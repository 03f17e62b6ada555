"""What one call to a model costs, beside the `openai` package's client on its transports.

    python -m benchmarks.transport [--calls 4000] [--rounds 3]

A server process on the loopback answers at once; for each number of calls in flight each transport
makes the same calls, in turns, and the best of the rounds is printed: CPU of this process for one
call, its ratio to the client's aiohttp transport, and calls a second. Loopback only, some seconds
long, nothing is written.
"""

import asyncio
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

import httpx2
import openai

from benchmarks.report import Figure, Report, Row, parser
from benchmarks.server import serving
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
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


async def compare(base_url: str, calls: int, rounds: int, loads: Sequence[int]) -> list[Row]:
    """Measure every transport at every load, interleaved; give the best of the rounds."""
    rows: list[Row] = []
    for in_flight in loads:
        limits = httpx2.Limits(max_connections=in_flight, max_keepalive_connections=in_flight)
        best: dict[str, tuple[float, float]] = {}
        for _ in range(rounds):
            ways = {
                "the openai package's aiohttp": bare(
                    openai.DefaultAioHttpClient(limits=limits, timeout=None), base_url
                ),
                "httpx2": bare(httpx2.AsyncClient(limits=limits, timeout=None), base_url),
                "ours, the whole attempt": whole(base_url),
            }
            for name, way in ways.items():
                async with way as call:
                    got = await measure(call, calls, in_flight)
                best[name] = min(best.get(name, got), got)
        floor = next(iter(best.values()))[0]
        rows += [
            {
                "in_flight": in_flight,
                "transport": name,
                "cpu_ms": cpu,
                "ratio": cpu / floor,
                "calls_s": rate,
            }
            for name, (cpu, rate) in best.items()
        ]
    return rows


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    made = parser("transport", __doc__)
    made.add_argument("--calls", type=int, default=4000)
    made.add_argument("--in-flight", default="50,200", help="numbers of calls at once")
    made.add_argument("--rounds", type=int, default=3, help="the best of them is told")
    args = made.parse_args(arguments)
    figures = (
        Figure("in_flight", "in flight"),
        Figure("transport", "transport"),
        Figure("cpu_ms", "CPU ms a call", ".2f"),
        Figure("ratio", "ratio", ".2f"),
        Figure("calls_s", "calls/s", ".0f"),
    )
    with Report("transport", args) as report, serving() as base_url:
        loads = [int(load) for load in args.in_flight.split(",")]
        rows = asyncio.run(compare(base_url, args.calls, args.rounds, loads))
        report.table("transports", f"{args.calls} calls each", figures, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
