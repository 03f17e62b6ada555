"""How close an engine stays to what latency alone takes, and how many calls it can feed.

    python -m benchmarks.pace [--at-once 1,5,20,50] [--latency 0.2] [--turns 25]

Where answers are slow: with so many calls at once, each slot makes as many one after the other as
there are turns, so a run would take turns × latency if nothing else took time. Told are the wall
time over that ideal, and how many times as fast it goes as with one call at once. 20 calls at once
of 0.2 s are 100 calls a second. Where answers are quick, the engine is the bound: told are calls a
second.

Time counts from the first request that arrives to the end of the run; medians of the rounds. What
a commit to this disk takes stands below: a call waits for its own before it leaves.
"""

import argparse
import asyncio
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks import suites
from benchmarks.engine import commit_ms, run
from benchmarks.report import Figure, Report, Row, parser
from benchmarks.server import heard, serving

_QUICK_S = 0.02
"""Latency of the answers where the engine is the bound."""


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("pace", __doc__)
    made.add_argument("--at-once", default="1,5,20,50", help="numbers of calls at once; 1 first")
    made.add_argument("--latency", type=float, default=0.2, help="seconds before each slow answer")
    made.add_argument("--turns", type=int, default=25, help="calls each slot makes, one by one")
    made.add_argument("--feed", default="50,100,200", help="calls at once where answers are quick")
    made.add_argument("--cases", type=int, default=4000, help="of each run with quick answers")
    made.add_argument("--rounds", type=int, default=3, help="their medians are told")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    with Report("pace", args) as report, tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with serving() as base_url:
            warm = suites.write(folder / "warm", base_url, 50, 5)
            asyncio.run(run(warm, 50, 50))  # imports are another matter
        _tell_waiting(report, _waiting(folder, args), args)
        _tell_feeding(report, _feeding(folder, args), args)
        disk = Figure("commit_ms", "a commit to this disk, ms (median)", ".2f")
        report.table("disk", "The disk", (disk,), [{"commit_ms": commit_ms(folder)}])
    return 0


def _took(folder: Path, latency_s: float, cases: int, at_once: int) -> float:
    """Make a run against a server of its own; give the seconds since its first request."""
    with serving(latency_s) as base_url:
        asyncio.run(run(suites.write(folder, base_url, cases, at_once), cases, cases))
        ended, first = time.monotonic(), heard(base_url).first_at
    assert first is not None
    return ended - first


def _waiting(folder: Path, args: argparse.Namespace) -> list[Row]:
    """Give wall times where the latency is the bound, one row for each number of calls at once."""
    walls: dict[int, list[float]] = {at_once: [] for at_once in _numbers(args.at_once)}
    for round_ in range(args.rounds):
        for at_once, found in walls.items():
            place = folder / f"slow{round_}-{at_once}"
            found.append(_took(place, args.latency, at_once * args.turns, at_once))
    ideal = args.turns * args.latency
    rates = {n: n * args.turns / statistics.median(found) for n, found in walls.items()}
    alone, base = next(iter(rates.items()))
    return [
        {
            "at_once": at_once,
            "calls_s": rate,
            "wall_s": statistics.median(walls[at_once]),
            "ratio": statistics.median(walls[at_once]) / ideal,
            "speed_up": rate / base,
            "share": rate / base / (at_once / alone),
        }
        for at_once, rate in rates.items()
    ]


def _feeding(folder: Path, args: argparse.Namespace) -> list[Row]:
    """Give calls a second where the engine is the bound."""
    rates: dict[int, list[float]] = {at_once: [] for at_once in _numbers(args.feed)}
    for round_ in range(args.rounds):
        for at_once, found in rates.items():
            place = folder / f"quick{round_}-{at_once}"
            found.append(args.cases / _took(place, _QUICK_S, args.cases, at_once))
    return [
        {"at_once": at_once, "calls_s": statistics.median(found), "most": max(found)}
        for at_once, found in rates.items()
    ]


def _numbers(text: str) -> list[int]:
    return [int(number) for number in text.split(",")]


def _tell_waiting(report: Report, rows: Sequence[Row], args: argparse.Namespace) -> None:
    figures = (
        Figure("at_once", "at once"),
        Figure("calls_s", "calls/s", ".1f"),
        Figure("wall_s", "wall s", ".2f"),
        Figure("ratio", "of ideal", ".3f"),
        Figure("speed_up", "speed-up", ".2f"),
        Figure("share", "of it reached", ".1%"),
    )
    ideal = args.turns * args.latency
    title = f"Answers after {args.latency * 1000:g} ms, {args.turns} turns; ideal {ideal:.2f} s"
    report.table("waiting", title, figures, rows)


def _tell_feeding(report: Report, rows: Sequence[Row], args: argparse.Namespace) -> None:
    figures = (
        Figure("at_once", "at once"),
        Figure("calls_s", "calls/s", ".0f"),
        Figure("most", "the best round", ".0f"),
    )
    title = f"Answers after {_QUICK_S * 1000:g} ms, {args.cases} cases"
    report.table("feeding", title, figures, rows)


if __name__ == "__main__":
    sys.exit(main())
