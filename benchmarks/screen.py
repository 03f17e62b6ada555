"""How long a key takes to be seen, in a real terminal, and what an open app costs.

    python -m benchmarks.screen [--in-flight 200] [--latency 0.25] [--seconds 15] [--size 80x24]

`keys`: the app watches a run whose engine makes so many calls at once to a server on the loopback.
Keys of several kinds are pressed in turns, live, then idle (the run paused); the time until the
terminal shows what each is for is taken from outside, through a pseudo-terminal. What comes is
drawn afterwards, so that drawing takes no time of it. In turns with them, the least Textual app
there is moves a cursor, too: what it takes is the floor. How long threads of the app were ready to
go on and had no core is taken off in the columns beside (Linux): on a busy machine that is most.

`dialogs`: the run is stopped, and each dialog of its screen opened some times, the first time by
itself: the time from the key until the last of it is painted, and in how many bursts that came. One
burst is a dialog that is painted once; what is read for it first comes within that time, too.

`watching`: nobody presses anything while the calls answer at a steady 500 a second, each two
changes of a trial (sent, settled); the app's share of a core.

`open`: the same run of `--cases` cases in turns with the app open on it and without; wall time of
the engine, by what the store says of the run. What the app writes is read and not drawn, so that
the terminal costs nothing.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks import presses
from benchmarks.place import Place
from benchmarks.report import Figure, Report, Row, parser
from benchmarks.server import serving
from benchmarks.terminal import Terminal
from tui_eval.engine.control.submit import ask
from tui_eval.store.requests import Verb

_ROUND_S = 4.0
"""Seconds that a round of keys takes."""
_LOOKED_AT_S = 3.0
"""Seconds that a person looks at the run before opening anything."""
_ESCAPE = b"\x1b"
_TIMES = 7
"""How often each dialog is opened."""
_QUIET_S = 0.4
"""Seconds after which nothing more of a dialog comes."""
_BURST_S = 0.008
"""Seconds between two bursts of what is painted."""
_DIALOGS = (
    ("help", b"?"),
    ("palette", b"\x10"),
    ("filter", b"f"),
    ("sort", b"o"),
    ("groups", b"b"),
    ("note", b"t"),
    ("grade", b"g"),
    ("copy", b"y"),
    ("rescore", b"S"),
    ("export", b"E"),
    ("retry", b"r"),
)
_STEADY = (100, 0.2)
"""Calls in flight and their latency: 500 a second."""


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("screen", __doc__)
    made.add_argument("--in-flight", type=int, default=200)
    made.add_argument("--latency", type=float, default=0.25, help="seconds before each answer")
    made.add_argument("--seconds", type=float, default=15.0, help="of pressing keys, live")
    made.add_argument("--size", default="80x24", help="columns and rows")
    made.add_argument("--cases", type=int, default=5000, help="of the runs with and without app")
    made.add_argument("--rounds", type=int, default=2, help="of those; their medians are told")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    columns, rows = (int(part) for part in args.size.split("x"))
    with Report("screen", args) as report, tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _report_keys(report, folder / "keys", (columns, rows), args)
        _report_watching(report, folder / "watching", (columns, rows), args.seconds)
        _report_open(report, folder, (columns, rows), args)
    return 0


# -- keys


def _report_keys(
    report: Report, folder: Path, size: tuple[int, int], args: argparse.Namespace
) -> None:
    pressing = max(args.seconds, 2 * _ROUND_S)
    cases = int(args.in_flight / args.latency * (pressing * 3 + 10))
    rows: list[Row] = []
    with serving(args.latency) as base_url, Place(folder, size) as place:
        name = place.start(base_url, cases, args.in_flight)
        with place.app(name) as terminal, ExitStack() as least:
            terminal.until(Terminal.place)
            floor = least.enter_context(place.floor())
            floor.until(Terminal.place)
            rows += _pressed("live", terminal, floor, args.seconds)
            ask(place.store, place.run, Verb.PAUSE)
            terminal.rest(2 * args.latency + 1)
            rows += _pressed("idle", terminal, floor, args.seconds)
            ask(place.store, place.run, Verb.STOP)
            place.wait(60, terminal)
            terminal.rest(_LOOKED_AT_S)
            dialogs = [_opened(name, key, terminal) for name, key in _DIALOGS]
    title = f"A key until it is seen: {args.in_flight} in flight, {args.size}"
    report.table("keys", title, presses.FIGURES, rows)
    of_dialogs = (
        Figure("dialog", ""),
        Figure("first_ms", "first ms", ".1f"),
        Figure("p50_ms", "then p50", ".1f"),
        Figure("max_ms", "max", ".1f"),
        Figure("first_cpu_ms", "app's CPU: first ms", ".0f"),
        Figure("cpu_ms", "then", ".0f"),
        Figure("bursts", "bursts, at most", ".0f"),
    )
    report.table(
        "dialogs", f"A dialog until all of it is painted, {args.size}", of_dialogs, dialogs
    )


def _pressed(name: str, terminal: Terminal, floor: Terminal, seconds: float) -> list[Row]:
    rounds = max(round(seconds / _ROUND_S), 2)
    return [kind.row(name) for kind in presses.pressed(terminal, floor, rounds)]


def _opened(name: str, key: bytes, terminal: Terminal) -> Row:
    """Open a dialog some times, and close it again."""
    taken: list[float] = []
    used: list[float] = []
    bursts = 0
    for _ in range(_TIMES):
        cpu = terminal.cpu_s()
        ends = terminal.bursts_after(key, _QUIET_S, _BURST_S)
        taken.append(ends[-1])
        used.append(terminal.cpu_s() - cpu)
        bursts = max(bursts, len(ends))
        terminal.press(_ESCAPE)
        terminal.rest(_QUIET_S)
    return {
        "dialog": name,
        "first_ms": taken[0] * 1000,
        "p50_ms": statistics.median(taken[1:]) * 1000,
        "max_ms": max(taken[1:]) * 1000,
        "first_cpu_ms": used[0] * 1000,
        "cpu_ms": statistics.median(used[1:]) * 1000,
        "bursts": bursts,
    }


# -- watching


def _report_watching(report: Report, folder: Path, size: tuple[int, int], seconds: float) -> None:
    in_flight, latency = _STEADY
    with serving(latency) as base_url, Place(folder, size) as place:
        name = place.start(base_url, int(in_flight / latency * (seconds * 1.5 + 10)), in_flight)
        with place.app(name, drawn=False) as terminal:
            while not place.counts().settled:  # the first pictures are another matter
                terminal.rest(0.2)
            terminal.rest(seconds / 3)
            first, cpu, began = place.counts().settled, terminal.cpu_s(), time.monotonic()
            terminal.rest(seconds)
            took = time.monotonic() - began
            settled, used = place.counts().settled - first, terminal.cpu_s() - cpu
            row: Row = {
                "settled_s": settled / took,
                "app_cpu": used / took,
                "app_mb": terminal.usage.memory_info().rss / (1 << 20),
            }
    figures = (
        Figure("settled_s", "trials settled a second", ".0f"),
        Figure("app_cpu", "app, of a core", ".1%"),
        Figure("app_mb", "app MB", ".0f"),
    )
    report.table("watching", "An app that is only looked at", figures, [row])


# -- open or not


def _report_open(
    report: Report, folder: Path, size: tuple[int, int], args: argparse.Namespace
) -> None:
    walls: dict[str, list[float]] = {"without": [], "with": []}
    with serving(args.latency) as base_url:
        for round_ in range(args.rounds):
            for name, several in walls.items():
                with Place(folder / f"{name} {round_}", size) as place:
                    run = place.start(base_url, args.cases, args.in_flight)
                    if name == "without":
                        row = place.wait(600)
                    else:
                        with place.app(run, drawn=False) as terminal:
                            row = place.wait(600, terminal)
                    several.append(row.wall_s)
    without = statistics.median(walls["without"])
    rows: list[Row] = [
        {
            "app": name,
            "wall_s": statistics.median(several),
            "ratio": statistics.median(several) / without,
        }
        for name, several in walls.items()
    ]
    figures = (
        Figure("app", "app"),
        Figure("wall_s", "wall s", ".2f"),
        Figure("ratio", "ratio", ".2f"),
    )
    title = (
        f"A run of {args.cases} cases, {args.in_flight} in flight, with the app open and without"
    )
    report.table("open", title, figures, rows)


if __name__ == "__main__":
    sys.exit(main())
