"""The server process that benchmarks ask."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def serving(latency_s: float) -> Iterator[str]:
    """Give the base URL of a model server on the loopback that answers after a latency."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.servers.fake_model", "--latency", str(latency_s)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()
