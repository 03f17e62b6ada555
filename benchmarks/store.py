"""What a store with a million trials answers, and how fast.

    python -m benchmarks.store [--trials 1000000] [--rounds 5]

The store is made by SQL through the schema, a file of some hundred megabytes in a folder that is
removed afterwards. Then the questions of the screens are asked, each so many times and in turns,
each round on a connection of its own, and the medians printed. The floor is SQLite counting the
same trials row by row, without an index, in the same rounds; ratios are of CPU, so they hold on a
busy machine. The file is in the system's cache: it has just been written.
"""

import argparse
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from benchmarks import filled
from benchmarks.report import Figure, Report, Row, parser
from tui_eval.reports.document import document
from tui_eval.store import board, browse, figures, reader
from tui_eval.store.browse import Order, View, Which
from tui_eval.store.connection import open_readable
from tui_eval.ui.run.feed import count_figures, snapshot

_PAGE = 100
_FLOOR = "floor: count row by row"

T = TypeVar("T")
Question = Callable[[sqlite3.Connection], object]


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("store", __doc__)
    made.add_argument("--trials", type=int, default=1_000_000)
    made.add_argument("--rounds", type=int, default=5, help="their medians are told")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    with Report("store", args) as report, tempfile.TemporaryDirectory() as scratch:
        report.note(f"making a store of {args.trials} trials")
        made = filled.fill(Path(scratch), "http://127.0.0.1:9/v1", args.trials)
        size = made.store.stat().st_size
        report.say(f"a file of {size / (1 << 20):.0f} MB, made in {made.took_s:.1f} s")
        _compare(report, made, size, args)
    return 0


@dataclass(frozen=True)
class _Took:
    """What a question took."""

    wall_ms: float
    cpu_ms: float


def _took(question: Callable[[], T]) -> tuple[T, _Took]:
    wall, cpu = time.perf_counter(), time.thread_time()
    answer = question()
    cpu, wall = time.thread_time() - cpu, time.perf_counter() - wall
    return answer, _Took(wall * 1000, cpu * 1000)


def _compare(report: Report, made: filled.Filled, size: int, args: argparse.Namespace) -> None:
    times: dict[str, list[_Took]] = {}
    for _ in range(args.rounds):
        db, took = _took(lambda: open_readable(made.store))
        times.setdefault("open", []).append(took)
        for name, question in _questions(made.run, args.trials).items():
            _, took = _took(partial(question, db))
            times.setdefault(name, []).append(took)
        db.close()
    floor = statistics.median(took.cpu_ms for took in times[_FLOOR])
    rows: list[Row] = [
        {
            "question": name,
            "median_ms": statistics.median(took.wall_ms for took in taken),
            "cpu_ms": statistics.median(took.cpu_ms for took in taken),
            "ratio": statistics.median(took.cpu_ms for took in taken) / floor,
        }
        for name, taken in times.items()
    ]
    told = (
        Figure("question", ""),
        Figure("median_ms", "median ms", ".2f"),
        Figure("cpu_ms", "CPU ms", ".2f"),
        Figure("ratio", "of floor", ".4f"),
    )
    title = f"{args.trials} trials, {size / args.trials:.0f} bytes each"
    report.table("questions", title, told, rows)


def _questions(run: int, trials: int) -> dict[str, Question]:
    """Give what is asked, by what a person does."""
    return {
        _FLOOR: lambda db: db.execute("SELECT count(*) FROM trials NOT INDEXED").fetchone(),
        "runs listed": reader.runs,
        "first page": partial(reader.trials_from, run_id=run, place=0, limit=_PAGE),
        "last page": partial(reader.trials_from, run_id=run, place=trials - _PAGE, limit=_PAGE),
        "a page of a filter": partial(
            reader.trials_at, run_id=run, places=range(0, min(trials, 100 * _PAGE), 100)
        ),
        "one trial, whole": lambda db: browse.whole(
            db, run, reader.trials_from(db, run, trials // 2, 1)[0].id
        ),
        "counts (the head)": partial(board.board, run=run),
        "a snapshot of the Run screen": partial(snapshot, run_id=run, since=-1, awaited=()),
        "figures of the Run screen": partial(count_figures, run_id=run),
        "filter: failed": partial(browse.places, run=run, view=View(which=Which.FAILED)),
        "filter: errors": partial(browse.places, run=run, view=View(which=Which.ERRORS)),
        "filter: cut short": partial(browse.places, run=run, view=View(which=Which.CUT)),
        "filter: a scorer fails": partial(browse.places, run=run, view=View(scorer="exact")),
        "sort: latency": partial(browse.places, run=run, view=View(order=Order.LATENCY)),
        "sort: verdict": partial(browse.places, run=run, view=View(order=Order.VERDICT)),
        "sort: last changed": partial(browse.places, run=run, view=View(order=Order.CHANGED)),
        "find: a case": partial(browse.places, run=run, view=View(text=f"c{trials - 7}")),
        "find: a word of every answer": partial(browse.places, run=run, view=View(text="question")),
        "next failure": partial(
            browse.next_place, run=run, view=View(which=Which.UNMET), after=trials // 2
        ),
        "median latency": partial(browse.median_latency, run=run, column=0),
        "errors by message": partial(figures.errors, run_id=run),
        "the document of `show --json`": partial(document, run_id=run),
    }


if __name__ == "__main__":
    sys.exit(main())
