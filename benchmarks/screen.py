"""How long a key takes to be seen, in a real terminal, while a run is live.

    python -m benchmarks.screen [--in-flight 200] [--latency 0.25] [--seconds 20] [--size 80x24]

The app watches a run whose engine makes so many calls at once to a server on the loopback. Every
tenth of a second `j` or `k` is pressed; the time until the terminal shows the cursor on the next
row is taken, from outside, through a pseudo-terminal. Printed are the percentiles,
idle (the run paused) and live, and the share of a core the app took.
"""

import argparse
import os
import select
import statistics
import sys
import tempfile
import time
from pathlib import Path

import psutil
import pyte
from ptyprocess import PtyProcess

from benchmarks.server import serving
from tui_eval.engine.asking import ask
from tui_eval.engine.launch import create, spawn
from tui_eval.engine.settings import Settings
from tui_eval.store import reader
from tui_eval.store.connection import open_readable
from tui_eval.store.requests import Verb
from tui_eval.suites.spec import Suite

_HOME = b"\x1b[H"


class Terminal:
    """The app in a pseudo-terminal, and what it shows."""

    def __init__(self, arguments: list[str], columns: int, rows: int) -> None:
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self.process = PtyProcess.spawn(
            arguments, dimensions=(rows, columns), env={**os.environ, "TERM": "xterm-256color"}
        )

    def read(self, seconds: float) -> bool:
        """Take in what arrives within a time; False where nothing does."""
        ready, _, _ = select.select([self.process.fd], [], [], seconds)
        if ready:
            self._stream.feed(os.read(self.process.fd, 1 << 16))
        return bool(ready)

    def place(self) -> int | None:
        """Give the line of the terminal the table's cursor is on."""
        for number, line in enumerate(self.screen.display):
            if "▸" in line[:3]:
                return number
        return None

    def wait_for_place(self, seconds: float) -> int:
        """Wait until the table is there."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.read(0.1)
            place = self.place()
            if place:
                return place
        raise TimeoutError("\n".join(self.screen.display))


def presses(terminal: Terminal, seconds: float) -> list[float]:
    """Press keys for a while; give the seconds each took to be seen."""
    taken: list[float] = []
    deadline = time.monotonic() + seconds
    terminal.process.write(_HOME)
    while terminal.read(1.0) and time.monotonic() < deadline - seconds / 2:
        pass  # until the screen rests, or long enough
    place = top = terminal.wait_for_place(10)
    down = True
    while time.monotonic() < deadline:
        rest = time.monotonic() + 0.1
        while (left := rest - time.monotonic()) > 0:
            terminal.read(left)
        down = place <= top if not down else place < top + 8
        began = time.monotonic()
        terminal.process.write(b"j" if down else b"k")
        wanted = place + (1 if down else -1)
        while terminal.place() != wanted:
            if time.monotonic() - began > 5:
                raise TimeoutError("\n".join(terminal.screen.display))
            terminal.read(0.5)
        taken.append(time.monotonic() - began)
        place = wanted
    return taken


def told(name: str, taken: list[float], cpu: float) -> str:
    """Give a line of figures."""
    steps = statistics.quantiles(taken, n=100)
    return (
        f"{name:6}{len(taken):6} keys   p50 {steps[49] * 1000:6.1f} ms   "
        f"p95 {steps[94] * 1000:6.1f} ms   max {max(taken) * 1000:6.1f} ms   "
        f"app {cpu:5.1%} of a core"
    )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0] if __doc__ else None)
    parser.add_argument("--in-flight", type=int, default=200)
    parser.add_argument("--latency", type=float, default=0.25)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--size", default="80x24")
    args = parser.parse_args()
    columns, rows = (int(part) for part in args.size.split("x"))
    cases = int(args.in_flight / args.latency * args.seconds * 1.5)
    with tempfile.TemporaryDirectory() as folder, serving(args.latency) as base_url:
        store = Path(folder) / "store.sqlite3"
        suite = Suite.model_validate(
            {
                "name": "bench",
                "cases": [{"id": f"c{n}", "q": f"question {n}"} for n in range(cases)],
                "prompts": [{"user": "{{ q }}"}],
                "targets": [{"base_url": base_url, "model": "fake-model"}],
                "scorers": [{"kind": "exact", "expected": "{{ q }}"}],
                "run": {"concurrency": args.in_flight},
            }
        )
        run = create(store, suite, Settings())
        db = open_readable(store)
        name = reader.run(db, run).name
        db.close()
        spawn(store, name)
        terminal = Terminal(
            [sys.executable, "-m", "tui_eval", "watch", name, "--store", str(store)], columns, rows
        )
        app = psutil.Process(terminal.process.pid)
        terminal.wait_for_place(60)
        for name_, verb in (("live", None), ("idle", Verb.PAUSE)):
            if verb is not None:
                ask(store, run, verb)
                time.sleep(2 * args.latency + 1)
            cpu, began = sum(app.cpu_times()[:2]), time.monotonic()
            taken = presses(terminal, args.seconds if verb is None else args.seconds / 3)
            used = (sum(app.cpu_times()[:2]) - cpu) / (time.monotonic() - began)
            print(told(name_, taken, used), flush=True)
        ask(store, run, Verb.CANCEL_RUN)
        terminal.process.terminate(force=True)


if __name__ == "__main__":
    main()
