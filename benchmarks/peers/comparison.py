"""tui-eval beside other tools that do the same work.

    python -m benchmarks.peers FOLDER [--tools inspect_ai,promptfoo,pydantic-evals] [--faults]

The same cases (a question whose right answer is the question), the same server process on the
loopback, the same calls in flight, exact match. The tools run in turns, each as a process of its
own: wall time, CPU of the process and all it started, and the largest sum of their memory. The
floor is the `openai` client alone, on its aiohttp transport with raw responses, nothing stored.

CPU a case is what a case costs beyond the start: a run of few cases is taken off. Every run is
checked: what the tool says of the cases has to be that all are right.

With `--faults` it is another question: what becomes of 200 cases, 10 in flight, 300 ms, time-out
5 s, where some requests go wrong. `passing`: 20 × 429 with Retry-After 1, 10 × 500, 4 × reset in
the body, 2 × hang, 4 × invalid JSON, each on the first attempt only; a perfect client gets 200
right with 40 further requests. `lasting in meaning`: 10 each of null text, empty text, an answer
cut short, an error in a 200, and a context that is too long, on every attempt; no case of those is
an answer, so a perfect client gets 150 right and grades none wrong.

The tools are installed into environments of their own in FOLDER, with pinned versions, which takes
minutes and gigabytes the first time; what cannot be installed is skipped with the reason. Only the
installing talks to the network: their telemetry is off, and they find a proxy that nobody serves.
"""

import argparse
import statistics
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers import faults
from benchmarks.peers.environments import UnavailableError
from benchmarks.peers.tools import FLOOR, PEERS, TUI_EVAL, BrokenError, Installed, Job, Tool
from benchmarks.processes import Cost, TimedOutError
from benchmarks.report import Figure, Report, Row, parser
from benchmarks.server import serving
from tui_eval.model.json import Json

_FEW = 20
"""Cases of the run that is taken off."""
_FIGURES = (
    Figure("tool", ""),
    Figure("version", ""),
    Figure("start_s", "start s", ".2f"),
    Figure("wall_s", "wall s", ".2f"),
    Figure("wall_ratio", "of floor", ".2f"),
    Figure("cpu_ms", "CPU ms a case", ".2f"),
    Figure("cpu_ratio", "of floor", ".2f"),
    Figure("peak_mb", "peak MB", ".0f"),
    Figure("note", ""),
)


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("peers", __doc__)
    made.add_argument("folder", type=Path, help="where the tools' environments are kept")
    made.add_argument(
        "--tools",
        default="inspect_ai,promptfoo,pydantic-evals",
        help=f"of {','.join(PEERS)}; or all; or none, tui-eval alone",
    )
    made.add_argument("--cases", type=int, default=1000)
    made.add_argument("--in-flight", type=int, default=50)
    made.add_argument("--latency", type=float, default=0.02, help="seconds before each answer")
    made.add_argument("--rounds", type=int, default=1, help="their medians are told")
    made.add_argument("--faults", action="store_true", help="compare what becomes of faults")
    made.add_argument("--seed", type=int, default=7, help="which cases meet which fault")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    names = {"all": list(PEERS), "none": []}.get(args.tools, args.tools.split(","))
    if unknown := [name for name in names if name not in PEERS]:
        options().error(f"no tool is called {', '.join(unknown)}; there are {', '.join(PEERS)}")
    folder = args.folder.absolute()
    own = [Installed(tool, folder / "own") for tool in (FLOOR, TUI_EVAL)]
    with Report("peers", args) as report, tempfile.TemporaryDirectory() as scratch:
        there = list(_installed([PEERS[name] for name in names], folder, report))
        if args.faults:
            faults.compare(report, [own[1], *there], Path(scratch), args.seed)
        else:
            _compare(report, [*own, *there], Path(scratch), args)
    return 0


def _installed(wanted: Sequence[Tool], folder: Path, report: Report) -> Iterator[Installed]:
    """Install the tools, one after the other; those that cannot be are told of and left out."""
    skipped: list[Row] = []
    for tool in wanted:
        report.note(f"{tool.name} {tool.version}: making sure it is installed")
        try:
            tool.install(folder / tool.name)
        except UnavailableError as error:
            skipped.append({"tool": tool.name, "version": tool.version, "why": str(error)})
        else:
            yield Installed(tool, folder / tool.name)
    if skipped:
        figures = (Figure("tool", ""), Figure("version", ""), Figure("why", "why not"))
        report.table("skipped", "Not installed", figures, skipped)


@dataclass(frozen=True)
class _Taken:
    """What one tool took in one round."""

    few: Cost
    all: Cost
    trouble: str
    """What is not as it should be; empty: nothing."""


def _compare(
    report: Report, there: Sequence[Installed], scratch: Path, args: argparse.Namespace
) -> None:
    taken: dict[str, list[_Taken]] = {}
    broken: dict[str, str] = {}
    with serving(args.latency) as base_url:
        for one in there:  # the first time a tool makes caches and databases
            _run(one, Job(scratch / f"warm {one.tool.name}", base_url, _FEW, args.in_flight))
        for round_ in range(args.rounds):
            for one in there:
                report.note(f"round {round_ + 1}: {one.tool.name}")
                folder = scratch / f"{round_} {one.tool.name}"
                few = Job(folder / "few", base_url, _FEW, args.in_flight)
                whole = Job(folder / "all", base_url, args.cases, args.in_flight)
                try:
                    found = _Taken(_run(one, few)[0], *_run(one, whole))
                except (BrokenError, TimedOutError) as error:
                    broken[one.tool.name] = str(error)
                else:
                    taken.setdefault(one.tool.name, []).append(found)
    ideal = args.cases / args.in_flight * args.latency
    title = (
        f"{args.cases} cases, {args.in_flight} in flight, {args.latency * 1000:g} ms; "
        f"ideal {ideal:.2f} s"
    )
    rows = [
        _row(one.tool, taken.get(one.tool.name, []), taken[FLOOR.name], args.cases)
        | ({"note": broken[one.tool.name]} if one.tool.name in broken else {})
        for one in there
    ]
    report.table("tools", title, _FIGURES, rows)


def _run(one: Installed, job: Job) -> tuple[Cost, str]:
    cost = one.run(job)
    outcome = one.outcome(job)
    if outcome.right == job.cases and cost.exit_code == 0:
        return cost, ""
    return cost, f"only {outcome.right} of {job.cases} right, exit code {cost.exit_code}"


def _row(
    tool: Tool, taken: Sequence[_Taken], floor: Sequence[_Taken], cases: int
) -> dict[str, Json]:
    about: dict[str, Json] = {"tool": tool.name, "version": tool.version}
    if not taken:
        return about
    wall, cpu = _wall(taken), _cpu_ms(taken, cases)
    return about | {
        "start_s": statistics.median(one.few.wall_s for one in taken),
        "wall_s": wall,
        "wall_ratio": wall / _wall(floor),
        "cpu_ms": cpu,
        "cpu_ratio": cpu / _cpu_ms(floor, cases),
        "cpu_s": statistics.median(one.all.cpu_s for one in taken),
        "peak_mb": max(one.all.peak_mb for one in taken),
        "note": "; ".join(sorted({one.trouble for one in taken if one.trouble})),
    }


def _wall(taken: Sequence[_Taken]) -> float:
    return statistics.median(one.all.wall_s for one in taken)


def _cpu_ms(taken: Sequence[_Taken], cases: int) -> float:
    """Give what a case costs beyond the start, in milliseconds of CPU."""
    beyond = statistics.median(one.all.cpu_s - one.few.cpu_s for one in taken)
    return beyond / (cases - _FEW) * 1000
