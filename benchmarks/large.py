"""What a store of ten million trials takes: to open, look at, compare, export and go on with.

    python -m benchmarks.large [--trials 10000000] [--chars 500] [--folder FOLDER]

The store is made by SQL through the schema (see `benchmarks.filled`), all trials settled but ten;
its generation keys are the engine's. With a folder it is left there, and taken from there the next
time.

`questions`: what the screens ask, each in a process of its own: first, when nothing is kept of the
run, and again. `app`: the app in a pseudo-terminal, until the first letter is on the screen, until
the rows of the run are, and until the last and the next failing one is seen. `commands`: whole
processes from start to end; the last ones are `resume`, which asks for the ten, and `run`, which
makes a second run of the suite and asks nobody. Memory is the peak of the process with all that it
started. CPU holds better than wall time where the machine is busy.
"""

import argparse
import json
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from benchmarks import filled, processes
from benchmarks.processes import MB
from benchmarks.report import Figure, Report, Row, parser
from benchmarks.server import heard, serving
from benchmarks.store import Question, questions, searched
from benchmarks.suites import Shape
from benchmarks.terminal import Terminal, anything
from tui_eval.model.exit_code import ExitCode
from tui_eval.store.connection import open_readable
from tui_eval.store.location import figures_file, find_file
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.run_file import remove
from tui_eval.store.search import views

_QUEUED = 10
_MADE = "made.json"
_LONG_S = 7200.0
_ENDED = (ExitCode.PASSED, ExitCode.INCOMPLETE, ExitCode.INTERRUPTED)
"""Some trials are ungraded, and ten wait until the run is resumed."""
_COMMANDS = (
    *("show --json", "show --json again", "show", "compare", "export jsonl", "export csv"),
    *("export parquet", "resume", "second run"),
)
_PARTS = ("questions", "searches", "app", *_COMMANDS)


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("large", __doc__)
    made.add_argument("--trials", type=int, default=10_000_000)
    made.add_argument("--chars", type=int, default=500, help="of each answer, at least")
    made.add_argument("--targets", type=int, default=4)
    made.add_argument("--tags", type=int, default=10, help="each case has one of so many")
    made.add_argument("--folder", type=Path, help="keeps the store; without, it is removed")
    made.add_argument("--only", default=",".join(_PARTS), help="some of these, with commas between")
    made.add_argument("--size", default="120x40", help="columns and rows of the terminal")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    chosen = args.only.split(",")
    if unknown := sorted({*chosen} - {*_PARTS}):
        sys.exit(f"--only: there is no {', '.join(unknown)}; there are {', '.join(_PARTS)}")
    if args.trials % args.targets:
        sys.exit("--trials: as many for each target, or a second run would ask for what is missing")
    with Report("large", args) as report, _folder(args.folder) as folder:
        made = _made(report, folder, args)
        if "questions" in chosen:
            _report_questions(report, made, args.trials)
        if "searches" in chosen:
            _report_searches(report, made, args.trials)
        if "app" in chosen:
            _report_app(report, made, args.size)
        if commands := [name for name in _COMMANDS if name in chosen]:
            _report_commands(report, made, commands, args)
    return 0


@contextmanager
def _folder(kept: Path | None) -> Iterator[Path]:
    if kept is not None:
        kept.mkdir(parents=True, exist_ok=True)
        yield kept.resolve()
        return
    with tempfile.TemporaryDirectory() as scratch:
        yield Path(scratch)


def _made(report: Report, folder: Path, args: argparse.Namespace) -> filled.Filled:
    """Make the store, or take the one that was made with the same settings."""
    settings = [args.trials, args.chars, args.targets, args.tags]
    note = folder / _MADE
    if note.exists():
        kept, run, name, took_s = json.loads(note.read_text("utf-8"))
        if kept != settings:
            sys.exit(f"{folder} has a store of other settings: {kept}")
        made = filled.Filled(folder / "store.sqlite3", run, name, took_s)
    else:
        report.note(f"making a store of {args.trials} trials")
        with serving() as base_url:  # its address stays the suite's, see `_port`
            pass
        made = filled.fill(
            folder,
            base_url,
            args.trials,
            queued=_QUEUED,
            errored=0,  # what errored would be asked again
            chars=args.chars,
            shape=Shape(args.targets, 1, args.tags),
        )
        note.write_text(json.dumps([settings, made.run, made.name, made.took_s]), "utf-8")
    size = made.store.stat().st_size
    row: Row = {"trials": args.trials, "bytes": size, "each": size / args.trials, "s": made.took_s}
    figures = (
        Figure("trials", "trials", ",d"),
        Figure("bytes", "bytes", ",d"),
        Figure("each", "bytes a trial", ".0f"),
        Figure("s", "made in, s", ".0f"),
    )
    report.table("store", "The store", figures, [row])
    return made


def _forget(made: filled.Filled) -> None:
    """Remove what is kept of the run beside the store."""
    for place in (figures_file, find_file):
        remove(place(made.store, made.name))


# -- questions


def _report_questions(report: Report, made: filled.Filled, trials: int) -> None:
    _forget(made)
    rows = []
    for name, question in questions(made.run, trials).items():
        report.note(name)
        rows.append({"question": name, **_apart(partial(_asked, made.store, question))})
    figures = (
        Figure("question", ""),
        Figure("first_cpu_ms", "first, CPU ms", ".1f"),
        Figure("cpu_ms", "again, CPU ms", ".2f"),
        Figure("wall_ms", "again, ms", ".2f"),
        Figure("peak_mb", "peak MB", ".0f"),
    )
    report.table("questions", f"{trials} trials, each question a process", figures, rows)


def _asked(store: Path, question: Question) -> dict[str, float]:
    """Ask a question twice, each time on a connection of its own."""
    cpus, walls = [], []
    for _ in range(2):
        with closing(open_readable(store)) as db:
            cpu, wall = time.thread_time(), time.perf_counter()
            question(db)
            cpus.append((time.thread_time() - cpu) * 1000)
            walls.append((time.perf_counter() - wall) * 1000)
    return {"first_cpu_ms": cpus[0], "cpu_ms": cpus[1], "wall_ms": walls[1]}


def _report_searches(report: Report, made: filled.Filled, trials: int) -> None:
    sought = {"first: nowhere": "nowhere at all", "again": f"question {trials // 2}"}
    rows = []
    for name, text in sought.items():
        report.note(f"search, {name}")
        rows.append(_apart(partial(searched, made, name, text, trials)))
    figures = (
        Figure("search", "search"),
        Figure("hits", "hits", ",d"),
        Figure("first_ms", "first hit, ms", ".0f"),
        Figure("all_ms", "all, ms", ".0f"),
        Figure("step_ms", "longest step, ms", ".0f"),
        Figure("peak_mb", "peak MB", ".0f"),
    )
    report.table("searches", f"Texts of {trials} trials, a step at a time", figures, rows)


def _apart(work: Callable[[], Row]) -> Row:
    """Do something in a process of its own; give what it gives, and the peak of its memory."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        code = 1
        try:
            os.close(out)
            row = {**work()}
            row["peak_mb"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
            with os.fdopen(into, "w") as pipe:
                json.dump(row, pipe)
            code = 0
        finally:
            os._exit(code)
    os.close(into)
    with os.fdopen(out) as pipe:
        told = pipe.read()
    _, status = os.waitpid(child, 0)
    assert status == 0, "the question failed: see above"
    came: Row = json.loads(told)
    return came


# -- app


def _report_app(report: Report, made: filled.Filled, size: str) -> None:
    columns, lines = (int(part) for part in size.split("x"))
    command = processes.program("watch", made.name, "--store", str(made.store))
    terminal = Terminal(command, _around(made), (columns, lines))
    rows: list[Row] = []

    def until(name: str, keys: bytes, shown: Callable[[Terminal], object]) -> None:
        began, cpu = time.monotonic(), terminal.cpu_s()
        if keys:
            terminal.press(keys)
            terminal.until(shown, _LONG_S)
            wall = time.monotonic() - began
        else:
            wall = terminal.until(shown, _LONG_S)
        memory = processes.resident(terminal.usage.pid) / MB
        took = terminal.cpu_s() - (cpu if keys else 0.0)
        rows.append({"until": name, "wall_s": wall, "cpu_s": took, "rss_mb": memory})

    try:
        until("first letter", b"", anything)
        until("the rows", b"", Terminal.place)
        last, unmet = _sought(made)
        until("the last row", b"\x1b[F", partial(_at, case=last))
        until("the next failure", b"n", partial(_at, case=unmet))
    finally:
        terminal.close()
    figures = (
        Figure("until", "until"),
        Figure("wall_s", "s", ".2f"),
        Figure("cpu_s", "app, CPU s", ".2f"),
        Figure("rss_mb", "app, MB then", ".0f"),
    )
    report.table("app", f"The app open on the run, {size}", figures, rows)


def _sought(made: filled.Filled) -> tuple[str, str]:
    """Give the cases of the run's last trial, and of the first one that did not pass."""
    with closing(open_readable(made.store)) as db:
        last = run_queries.run(db, made.run).total - 1
        unmet = views.next_place(db, made.run, [views.UNMET], last)
        places = (last, last if unmet is None else unmet)
        last_case, unmet_case = (
            trial_rows.trials_from(db, made.run, place, 1)[0].case_id for place in places
        )
        return last_case, unmet_case


def _at(terminal: Terminal, case: str) -> bool:
    """Whether the cursor stands on a trial of a case."""
    line = terminal.place()
    return line is not None and case in terminal.lines[line]


# -- commands


def _report_commands(
    report: Report, made: filled.Filled, names: Sequence[str], args: argparse.Namespace
) -> None:
    folder = made.store.parent
    first = f"{made.name}:fake-model"
    second = f"{made.name}:target-1" if args.targets > 1 else first
    words = {
        "show --json": ["show", made.name, "--json"],
        "show --json again": ["show", made.name, "--json"],
        "show": ["show", made.name],
        "compare": ["compare", first, second],
        **{
            f"export {kind}": ["export", made.name, "-o", str(folder / f"export.{kind}")]
            for kind in ("jsonl", "csv", "parquet")
        },
        "resume": ["resume", made.name, "--json"],
        "second run": ["run", "bench.toml", "--json"],
    }
    if "show --json" in names:
        _forget(made)
    rows: list[Row] = []
    with serving(0.0, "--port", _port(folder)) as base_url:
        for name in names:
            report.note(name)
            before = heard(base_url).requests
            began = time.monotonic()
            cost = processes.run(
                processes.program(*words[name], "--store", str(made.store)),
                folder=folder,
                environment=_around(made),
                timeout_s=_LONG_S,
            )
            stats = heard(base_url)
            asked = stats.requests - before
            wanted = _QUEUED if name == "resume" else 0
            assert asked == wanted, (name, asked)
            assert cost.exit_code in _ENDED, (name, cost.exit_code)
            rows.append(
                {
                    "command": name,
                    "wall_s": cost.wall_s,
                    "cpu_s": cost.cpu_s,
                    "peak_mb": cost.peak_mb,
                    "exit_code": cost.exit_code,
                    "requests": asked,
                    "first_request_s": stats.first_at - began
                    if asked and stats.first_at is not None
                    else None,
                    "bytes": _taken_away(folder / f"export.{name.removeprefix('export ')}"),
                }
            )
    figures = (
        Figure("command", ""),
        Figure("wall_s", "s", ".1f"),
        Figure("cpu_s", "CPU s", ".1f"),
        Figure("peak_mb", "peak MB", ".0f"),
        Figure("exit_code", "exit code"),
        Figure("first_request_s", "first request, s", ".2f"),
        Figure("bytes", "bytes", ",d"),
    )
    report.table("commands", f"{args.trials} trials, from start to end", figures, rows)


def _port(folder: Path) -> str:
    """Give the port that the suite's targets are asked on."""
    with (folder / "bench.toml").open(encoding="utf-8") as file:
        url = next(line for line in file if line.startswith("base_url"))
    return url.rpartition(":")[2].partition("/")[0]


def _taken_away(file: Path) -> int | None:
    """Remove what was exported; give its bytes. None: nothing was."""
    if not file.exists():
        return None
    size = file.stat().st_size
    file.unlink()
    return size


def _around(made: filled.Filled) -> dict[str, str]:
    home = made.store.parent / "home"
    home.mkdir(exist_ok=True)
    return processes.surroundings(home, processes.OWN)


if __name__ == "__main__":
    sys.exit(main())
