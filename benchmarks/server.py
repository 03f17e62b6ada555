"""The server process that benchmarks ask."""

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

_ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Heard:
    """What a server has heard so far."""

    requests: int
    distinct: int
    """Different questions."""
    in_flight_max: int
    first_at: float | None
    """When the first request came, in seconds of the monotonic clock; None: none has."""


@contextmanager
def serving(latency_s: float = 0.0, *script: str) -> Iterator[str]:
    """Give the base URL of a model server on the loopback that answers after a latency.

    Args:
        latency_s: Seconds before each answer.
        script: Further arguments of the server: `--script mix --seed 7`.
    """
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.fake_model", "--latency", str(latency_s), *script],
        stdout=subprocess.PIPE,
        text=True,
        cwd=_ROOT,
    )
    assert process.stdout is not None
    try:
        with process.stdout:
            yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def heard(base_url: str) -> Heard:
    """Ask a server what it has heard."""
    with urllib.request.urlopen(f"{base_url}/stats", timeout=30) as reply:
        stats = json.load(reply)
    return Heard(stats["requests"], stats["distinct"], stats["in_flight_max"], stats["first_at"])
