"""How long two columns take to be compared, by the engine, the command and the app.

    python -m benchmarks.compare [--cases 100000] [--rounds 5] [--size 120x40]

The store is made by SQL: two runs of so many cases in which one case in six came to something else.
`compared`: both columns read and compared, beside SQLite giving the same rows and nothing else (the
floor), in turns in one process. `command`: `tui-eval compare A B` from start to end, beside
`tui-eval --version`. `app`: with a run open in a real terminal `=` is pressed; the time until the
rows are seen, until the texts of the first case are, and until those of the next one are after `n`.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks import filled, processes
from benchmarks.report import Figure, Report, Row, parser
from benchmarks.terminal import Terminal
from tui_eval.reports.comparison.comparison import ComparisonChoice, compare
from tui_eval.reports.comparison.side import RunSide
from tui_eval.store.connection import open_readable, open_writable
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing import comparison_queries
from tui_eval.store.write import baseline_writes
from tui_eval.store.writer import transact

_SHIFT = 10
"""Of a hundred cases ten get worse and five better by it."""


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("compare", __doc__)
    made.add_argument("--cases", type=int, default=100_000, help="of each run")
    made.add_argument("--chars", type=int, default=300, help="of each answer, at least")
    made.add_argument("--rounds", type=int, default=5, help="their medians are told")
    made.add_argument("--size", default="120x40", help="columns and rows of the terminal")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    with Report("compare", args) as report, tempfile.TemporaryDirectory() as scratch:
        report.note(f"making two runs of {args.cases} cases")
        a, b = (
            filled.fill(
                Path(scratch), "http://127.0.0.1:9/v1", args.cases, chars=args.chars, shift=shift
            )
            for shift in (0, _SHIFT)
        )
        with closing(open_writable(b.store)) as db:
            transact(db, lambda tx: baseline_writes.pin(tx, "bench", a.run))
        _report_compared(report, a, b, args)
        _report_command(report, a, b, args)
        _report_app(report, b, args)
    return 0


# -- compared


def _report_compared(
    report: Report, a: filled.Filled, b: filled.Filled, args: argparse.Namespace
) -> None:
    times: dict[str, list[float]] = {"floor: the rows alone": [], "compared": []}
    flips = 0
    for _ in range(args.rounds):
        with closing(open_readable(b.store)) as db:
            began = time.thread_time()
            for run in (a.run, b.run):
                for _ in comparison_queries.column_trials(db, run, 0):
                    pass
            times["floor: the rows alone"].append(time.thread_time() - began)
            began = time.thread_time()
            of_a, of_b = (RunSide(db, run_queries.run(db, run)) for run in (a.run, b.run))
            flips = len(compare(of_a, of_b, ComparisonChoice({})).flips)
            times["compared"].append(time.thread_time() - began)
    floor = statistics.median(times["floor: the rows alone"])
    rows: list[Row] = [
        {
            "what": name,
            "cpu_ms": statistics.median(taken) * 1000,
            "ratio": statistics.median(taken) / floor,
        }
        for name, taken in times.items()
    ]
    figures = (
        Figure("what", ""),
        Figure("cpu_ms", "CPU ms", ".0f"),
        Figure("ratio", "of floor", ".2f"),
    )
    title = f"Two columns of {args.cases} cases, {flips} flips"
    report.table("compared", title, figures, rows)


# -- command


def _report_command(
    report: Report, a: filled.Filled, b: filled.Filled, args: argparse.Namespace
) -> None:
    folder = a.store.parent
    around = processes.surroundings(folder, processes.OWN)
    commands = {
        "tui-eval --version": ["--version"],
        "tui-eval compare A B": ["compare", a.name, b.name, "--store", str(a.store)],
    }
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(args.rounds):
        for name, words in commands.items():
            cost = processes.run(processes.program(*words), folder=folder, environment=around)
            assert cost.exit_code == 0, words
            times[name].append(cost.wall_s)
    floor = statistics.median(times["tui-eval --version"])
    rows: list[Row] = [
        {
            "command": name,
            "median_s": statistics.median(taken),
            "ratio": statistics.median(taken) / floor,
        }
        for name, taken in times.items()
    ]
    figures = (
        Figure("command", ""),
        Figure("median_s", "median s", ".2f"),
        Figure("ratio", "of floor", ".1f"),
    )
    report.table("command", "From start to end", figures, rows)


# -- app


def _report_app(report: Report, b: filled.Filled, args: argparse.Namespace) -> None:
    columns, rows = (int(part) for part in args.size.split("x"))
    times: dict[str, list[tuple[float, float]]] = {}
    command = processes.program("watch", b.name, "--store", str(b.store))
    around = processes.surroundings(b.store.parent, processes.OWN)
    terminal = Terminal(command, around, (columns, rows))
    try:
        terminal.until(Terminal.place)
        for _ in range(args.rounds):
            for name, key, shown in (
                ("rows", b"=", lambda lines: "differ" in lines),
                ("texts", b"", lambda lines: " │ B bench" in lines),
                ("next", b"n", lambda lines: " 2/" in lines),
            ):
                times.setdefault(name, []).append(_seen(terminal, key, shown))
            terminal.rest(0.5)
            terminal.press(b"q")
            terminal.until(lambda there: "differ" not in "\n".join(there.lines))
            terminal.rest(0.5)
    finally:
        terminal.close()
    told: list[Row] = [
        {
            "until": name,
            "median_ms": statistics.median(wall for wall, _ in taken) * 1000,
            "max_ms": max(wall for wall, _ in taken) * 1000,
            "cpu_ms": statistics.median(cpu for _, cpu in taken) * 1000,
        }
        for name, taken in times.items()
    ]
    figures = (
        Figure("until", ""),
        Figure("median_ms", "median ms", ".0f"),
        Figure("max_ms", "max ms", ".0f"),
        Figure("cpu_ms", "app, CPU ms", ".0f"),
    )
    report.table("app", f"A key until it is seen, {args.size}", figures, told)


def _seen(terminal: Terminal, key: bytes, shown: Callable[[str], object]) -> tuple[float, float]:
    """Press a key; give the seconds until something is seen, and of CPU that the app took."""
    began, cpu = time.monotonic(), terminal.cpu_s()
    if key:
        terminal.press(key)
    terminal.until(lambda there: shown("\n".join(there.lines)))
    return time.monotonic() - began, terminal.cpu_s() - cpu


if __name__ == "__main__":
    sys.exit(main())
