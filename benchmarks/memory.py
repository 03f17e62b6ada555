"""The memory of an engine and of the app open on its run, by the run's size.

    python -m benchmarks.memory [--sizes 1000,10000] [--in-flight 50]

For each size a suite of so many cases is run by an engine of its own against a server on the
loopback that answers at once, with the app open on the run in a pseudo-terminal. Told are the peaks
of resident memory, looked at five times a second, from the start to a moment after the end, when
the app has read the whole run; pages that both processes share count for both. Growth is what a
case adds between the smallest and the largest size.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.place import Place
from benchmarks.processes import MB, resident
from benchmarks.report import Figure, Report, Row, parser
from benchmarks.server import serving
from tui_eval.model.json import Json

_LOOK_S = 0.2
_AFTERWARDS_S = 2.0
_BOUND_S = 1200.0


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("memory", __doc__)
    made.add_argument("--sizes", default="1000,10000", help="numbers of cases, ascending")
    made.add_argument("--in-flight", type=int, default=50)
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    rows: list[dict[str, Json]] = []
    with Report("memory", args) as report, tempfile.TemporaryDirectory() as scratch:
        with serving() as base_url:
            for size in (int(size) for size in args.sizes.split(",")):
                report.note(f"{size} cases")
                with Place(Path(scratch) / str(size)) as place:
                    engine, app, wall = _peaks(place, base_url, size, args.in_flight)
                rows.append(
                    {
                        "cases": size,
                        "engine_mb": engine / MB,
                        "app_mb": app / MB,
                        "both_mb": (engine + app) / MB,
                        "wall_s": wall,
                    }
                )
        sizes = (
            Figure("cases", "cases"),
            Figure("engine_mb", "engine MB", ".1f"),
            Figure("app_mb", "app MB", ".1f"),
            Figure("both_mb", "both MB", ".1f"),
            Figure("wall_s", "wall s", ".1f"),
        )
        report.table("peaks", "Peaks of resident memory", sizes, rows)
        if len(rows) > 1:
            added = (
                Figure("engine_kb", "engine KB", ".2f"),
                Figure("app_kb", "app KB", ".2f"),
                Figure("both_kb", "both KB", ".2f"),
            )
            report.table("growth", "What a case adds", added, [growth(rows[0], rows[-1])])
    return 0


def _peaks(place: Place, base_url: str, cases: int, in_flight: int) -> tuple[int, int, float]:
    """Give the peaks of engine and app in bytes, and the engine's seconds."""
    name = place.start(base_url, cases, in_flight)
    assert place.engine is not None
    engine = app = 0
    with place.app(name, drawn=False) as terminal:
        deadline = time.monotonic() + _BOUND_S
        while place.engine.poll() is None:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{cases} cases took longer than {_BOUND_S:g} s")
            engine = max(engine, resident(place.engine.pid))
            app = max(app, resident(terminal.process.pid))
            terminal.rest(_LOOK_S)
        terminal.rest(_AFTERWARDS_S)
        app = max(app, resident(terminal.process.pid))
    counts = place.counts()
    assert counts.passed == cases, counts
    return engine, app, place.row().wall_s


def growth(least: Row, most: Row) -> dict[str, Json]:
    """Give what a case adds in KB, from the peaks of two sizes."""

    def of(name: str) -> float:
        grown = _number(most[f"{name}_mb"]) - _number(least[f"{name}_mb"])
        return grown * 1024 / (_number(most["cases"]) - _number(least["cases"]))

    return {f"{name}_kb": of(name) for name in ("engine", "app", "both")}


def _number(value: Json) -> float:
    assert isinstance(value, int | float)
    return value


if __name__ == "__main__":
    sys.exit(main())
