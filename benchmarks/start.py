"""How long it takes until something is there.

    python -m benchmarks.start [--rounds 9] [--trials 1000000]

In turns: `python -c pass` (the floor), `--help`, `--version`, and the app in a pseudo-terminal: on
a folder with one suite and no store, then with a store that holds a run of so many trials (made by
SQL, removed afterwards), on the folder and on that run. The app is timed twice, from the start of
its process: until the first letter is on the screen, and until what one came for is: the suite in
the list, the rows of the run. Printed are the medians, the least, and the CPU until then, which a
busy machine changes less.
"""

import argparse
import statistics
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import filled, processes, suites
from benchmarks.report import Figure, Report, Row, parser
from benchmarks.terminal import Terminal, anything

_NOBODY = "http://127.0.0.1:9/v1"


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("start", __doc__)
    made.add_argument("--rounds", type=int, default=9, help="their medians are told")
    made.add_argument("--trials", type=int, default=1_000_000, help="in the store that is full")
    made.add_argument("--size", default="80x24", help="columns and rows")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    with Report("start", args) as report, tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        suites.write(folder / "empty", _NOBODY, 10, 1)
        report.note(f"making a store of {args.trials} trials")
        made = filled.fill(folder / "full", _NOBODY, args.trials)
        columns, rows = (int(part) for part in args.size.split("x"))
        starts = _Starts(folder, made, (columns, rows))
        times: dict[str, list[_Took]] = {}
        for _ in range(args.rounds):
            for name, took in starts.all():
                times.setdefault(name, []).append(took)
        _tell(report, times)
    return 0


@dataclass(frozen=True)
class _Took:
    """What a process had taken when it had come so far."""

    wall_s: float
    cpu_s: float


def _tell(report: Report, times: dict[str, list[_Took]]) -> None:
    floor = statistics.median(took.wall_s for took in next(iter(times.values())))
    rows: list[Row] = []
    for name, taken in times.items():
        median = statistics.median(took.wall_s for took in taken)
        rows.append(
            {
                "start": name,
                "median_s": median,
                "least_s": min(took.wall_s for took in taken),
                "ratio": median / floor,
                "cpu_s": statistics.median(took.cpu_s for took in taken),
            }
        )
    figures = (
        Figure("start", ""),
        Figure("median_s", "median s", ".3f"),
        Figure("least_s", "least s", ".3f"),
        Figure("ratio", "of floor", ".1f"),
        Figure("cpu_s", "CPU s until then", ".3f"),
    )
    report.table("starts", "From the start of the process", figures, rows)


@dataclass(frozen=True)
class _Starts:
    """All that is started, once a round."""

    folder: Path
    full: filled.Filled
    size: tuple[int, int]

    def all(self) -> list[tuple[str, _Took]]:
        """Start everything in turn; give what was waited for, and what it took."""
        empty = str(self.folder / "empty" / "none.sqlite3")
        full = str(self.full.store)
        return [
            ("python -c pass", self._ended([sys.executable, "-c", "pass"])),
            ("tui-eval --help", self._ended(processes.program("--help"))),
            ("tui-eval --version", self._ended(processes.program("--version"))),
            *self._shown("no store", "empty", ["--store", empty], _has("bench")),
            *self._shown("full store", "full", ["--store", full], _has("bench")),
            *self._shown(
                "full store, its run",
                "full",
                ["watch", self.full.name, "--store", full],
                Terminal.place,
            ),
        ]

    def _ended(self, command: Sequence[str]) -> _Took:
        cost = processes.run(command, folder=self.folder, environment=self._around())
        assert cost.exit_code == 0, command
        return _Took(cost.wall_s, cost.cpu_s)

    def _shown(
        self, name: str, folder: str, arguments: list[str], wanted: Callable[[Terminal], object]
    ) -> list[tuple[str, _Took]]:
        words = arguments if arguments[0] == "watch" else [str(self.folder / folder), *arguments]
        terminal = Terminal(processes.program(*words), self._around(), self.size)
        try:
            return [
                (f"app, {name}: first paint", _until(terminal, anything)),
                (f"app, {name}: what one came for", _until(terminal, wanted)),
            ]
        finally:
            terminal.close()

    def _around(self) -> dict[str, str]:
        home = self.folder / "home"
        home.mkdir(exist_ok=True)
        return processes.surroundings(home, processes.OWN)


def _until(terminal: Terminal, wanted: Callable[[Terminal], object]) -> _Took:
    return _Took(terminal.until(wanted), terminal.cpu_s())


def _has(word: str) -> Callable[[Terminal], bool]:
    return lambda terminal: any(word in line for line in terminal.lines)


if __name__ == "__main__":
    sys.exit(main())
