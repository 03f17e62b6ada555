"""What a store with a million trials answers, and how fast.

    python -m benchmarks.store [--trials 1000000] [--rounds 5] [--targets 4 --tags 10 --judged]

The store is made by SQL through the schema, a file of some hundred megabytes in a folder that is
removed afterwards. Then the questions of the screens are asked, each so many times and in turns,
each round on a connection of its own. Told are the first time, when nothing of the run is kept
yet, and the medians of the other rounds, which take what is kept. The floor is SQLite counting the
same trials row by row, without an index, in the same rounds; ratios are of CPU, so they hold on a
busy machine. The file is in the system's cache: it has just been written. Searches come last: the
first one gathers the texts that the others find.
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
from benchmarks.suites import Shape
from tui_eval.reports.document import document
from tui_eval.store.connection import open_readable
from tui_eval.store.read import (
    report_queries,
    run_counts,
    run_queries,
)
from tui_eval.store.read.trials import trial_queries, trial_rows
from tui_eval.store.search import views
from tui_eval.store.search.groups import Grouping, Groups
from tui_eval.store.search.text_search import SearchLibrary, TextSearch
from tui_eval.store.search.views import UNMET, Condition, FilterKind, Order, TrialOutcome, View
from tui_eval.ui.run.figures import count_figures
from tui_eval.ui.run.snapshot import snapshot

_PAGE = 100
_FLOOR = "floor: count row by row"
_FILTERS = (
    Condition(FilterKind.STANDS, TrialOutcome.FAILED),
    Condition(FilterKind.STANDS, TrialOutcome.ERRORS),
    Condition(FilterKind.CUT),
    Condition(FilterKind.SCORER, "exact"),
)

T = TypeVar("T")
Question = Callable[[sqlite3.Connection], object]


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("store", __doc__)
    made.add_argument("--trials", type=int, default=1_000_000)
    made.add_argument("--chars", type=int, default=300, help="of each answer, at least")
    made.add_argument("--targets", type=int, default=1)
    made.add_argument("--epochs", type=int, default=1)
    made.add_argument("--tags", type=int, default=0, help="each case has one of so many")
    made.add_argument("--judged", action="store_true", help="a judge grades each output, too")
    made.add_argument(
        "--rounds", type=int, default=5, help="the medians of all but the first are told"
    )
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    with Report("store", args) as report, tempfile.TemporaryDirectory() as scratch:
        report.note(f"making a store of {args.trials} trials")
        base_url = "http://127.0.0.1:9/v1"
        shape = Shape(args.targets, args.epochs, args.tags, args.judged)
        made = filled.fill(Path(scratch), base_url, args.trials, chars=args.chars, shape=shape)
        size = made.store.stat().st_size
        report.say(f"a file of {size / (1 << 20):.0f} MB, made in {made.took_s:.1f} s")
        _compare(report, made, size, args)
        _compare_searches(report, made, args)
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
        for name, question in questions(made.run, args.trials).items():
            _, took = _took(partial(question, db))
            times.setdefault(name, []).append(took)
        db.close()
    # of a single round the first is all there is
    later = {name: taken[1:] or taken for name, taken in times.items()}
    floor = statistics.median(took.cpu_ms for took in later[_FLOOR])
    rows: list[Row] = [
        {
            "question": name,
            "first_cpu_ms": times[name][0].cpu_ms,
            "median_ms": statistics.median(took.wall_ms for took in taken),
            "cpu_ms": statistics.median(took.cpu_ms for took in taken),
            "ratio": statistics.median(took.cpu_ms for took in taken) / floor,
        }
        for name, taken in later.items()
    ]
    told = (
        Figure("question", ""),
        Figure("first_cpu_ms", "first, CPU ms", ".1f"),
        Figure("median_ms", "median ms", ".2f"),
        Figure("cpu_ms", "CPU ms", ".2f"),
        Figure("ratio", "of floor", ".4f"),
    )
    title = f"{args.trials} trials, {size / args.trials:.0f} bytes each"
    report.table("questions", title, told, rows)


def questions(run: int, trials: int) -> dict[str, Question]:
    """Give what is asked, by what a person does."""
    return {
        _FLOOR: lambda db: db.execute("SELECT count(*) FROM trials NOT INDEXED").fetchone(),
        "runs listed": run_queries.runs,
        "first page": partial(trial_rows.trials_from, run_id=run, place=0, limit=_PAGE),
        "last page": partial(trial_rows.trials_from, run_id=run, place=trials - _PAGE, limit=_PAGE),
        "a page of a filter": partial(
            trial_rows.trials_at, run_id=run, places=range(0, min(trials, 100 * _PAGE), 100)
        ),
        "one trial, whole": lambda db: trial_queries.whole(
            db, run, trial_rows.trials_from(db, run, trials // 2, 1)[0].id
        ),
        "counts (the head)": partial(run_counts.board, run=run),
        "a snapshot of the Run screen": partial(snapshot, run_id=run, since=-1, awaited=()),
        "figures of the Run screen": partial(count_figures, run_id=run),
        **{f"filter: {part.value or part.kind}": _listed(run, part) for part in _FILTERS},
        **{
            f"sort: {order}": partial(views.places, run=run, view=View(order=order))
            for order in Order
        },
        **{
            f"groups: {by}": partial(_grouped, run=run, by=by, total=trials)
            for by in (Grouping.REASON, Grouping.TARGET)
        },
        "next failure": partial(views.next_place, run=run, parts=[UNMET], after=trials // 2),
        "errors by message": partial(report_queries.errors, run_id=run),
        "the document of `show --json`": partial(document, run_id=run),
    }


def _listed(run: int, part: Condition) -> Question:
    return partial(views.places, run=run, view=View(parts=(part,)))


def _grouped(db: sqlite3.Connection, run: int, by: Grouping, total: int) -> int:
    groups = Groups(run, by, None, total)
    while groups.step(db):
        pass
    return groups.grouped


# -- searches


def _compare_searches(report: Report, made: filled.Filled, args: argparse.Namespace) -> None:
    """Search the first time, when texts are gathered, and then again."""
    sought = ("nowhere at all", f"question {args.trials - 7}", "temperature", "question")
    rows: list[Row] = [searched(made, "first: nowhere at all", sought[0], args.trials)]
    rows += [searched(made, text, text, args.trials) for text in sought]
    told = (
        Figure("search", "search"),
        Figure("hits", "hits", ",d"),
        Figure("first_ms", "first hit, ms", ".0f"),
        Figure("all_ms", "all, ms", ".0f"),
        Figure("step_ms", "longest step, ms", ".0f"),
    )
    report.table("searches", f"Texts of {args.trials} trials, a step at a time", told, rows)


def searched(made: filled.Filled, name: str, text: str, trials: int) -> Row:
    db, library = open_readable(made.store), SearchLibrary(made.store, made.run)
    search = TextSearch(library, text)
    began = time.perf_counter()
    first: float | None = None
    longest, left = 0.0, True
    while left:
        step = time.perf_counter()
        left = search.step(db)
        longest = max(longest, time.perf_counter() - step)
        if first is None and 1 in search.hits:
            first = time.perf_counter() - began
    took = time.perf_counter() - began
    library.close()
    db.close()
    assert search.searched == trials, "everything is searched"
    return {
        "search": name,
        "hits": sum(search.hits),
        "first_ms": None if first is None else first * 1000,
        "all_ms": took * 1000,
        "step_ms": longest * 1000,
    }


if __name__ == "__main__":
    sys.exit(main())
