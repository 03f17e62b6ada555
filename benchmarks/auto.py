"""How near `concurrency = "auto"` comes to the best fixed number of calls at once.

    python -m benchmarks.auto [--cases 2000] [--levels 1,2,4,8,16,32,64,128,256,512] [--rounds 3]

The limiter that engines have drives simulated endpoints, on a clock that moves with what happens:
nothing waits, and the figures are the same on any machine. Each endpoint is asked for so many
answers with `auto`, and with each fixed number; the best of those is the one that has most answers
a second (of several within two hundredths of it the lowest). Told are answers a second and their
share of the best's, the latency of answers beside the best's, requests for each answer, and the
most calls that were in flight.

`queue N` serves N at once, a second each, and queues all others; `refuses` (429) and `busy` (503)
serve 16 and turn all others away; `times out` serves 4, and a call is given up after 2.5 s while it
is worked on; `warms up` takes 2 s a call at first and 0.2 s after 20 s; `two kinds` mixes answers
of 0.2 s with such of 3 s, and queues nothing; `quick` answers in 20 ms, up to 500 at once.
"""

import argparse
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.report import Figure, Report, Row, parser
from tests.engine.limits.simulated_endpoint import BUSY, Drive, Server, Takes, drive, mixed, steady

_AS_GOOD = 0.98
"""The share of the most answers a second that is as good."""


def _after(first: Takes, moment: float, then: Takes) -> Takes:
    return lambda rng, now: (first if now < moment else then)(rng, now)


ENDPOINTS: dict[str, Callable[[], Server]] = {
    "queue 1": lambda: Server(steady(1.0), slots=lambda now: 1),
    "queue 8": lambda: Server(steady(1.0), slots=lambda now: 8),
    "queue 64": lambda: Server(steady(1.0), slots=lambda now: 64),
    "two kinds, queue 8": lambda: Server(mixed, slots=lambda now: 8),
    "refuses": lambda: Server(steady(0.5), refuses_above=16),
    "busy": lambda: Server(steady(0.5), refuses_above=16, refusal=BUSY),
    "times out": lambda: Server(steady(1.0), slots=lambda now: 4, timeout_s=2.5),
    "warms up": lambda: Server(_after(steady(2.0), 20.0, steady(0.2))),
    "two kinds": lambda: Server(mixed),
    "quick": lambda: Server(steady(0.02), slots=lambda now: 500),
}
"""Endpoints by name; each is made anew for each run."""


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("auto", __doc__)
    made.add_argument("--cases", type=int, default=2000, help="answers that are asked for")
    made.add_argument("--levels", default="1,2,4,8,16,32,64,128,256,512", help="fixed numbers")
    made.add_argument("--rounds", type=int, default=3, help="with luck of their own; medians")
    return made


@dataclass(frozen=True)
class Outcome:
    """What driving an endpoint came to: medians of the rounds."""

    rate: float
    """Answers a second."""
    p50_s: float
    p95_s: float
    asked: float
    """Requests for each answer."""
    most: float
    """Calls in flight at once at most."""


def outcome(name: str, cases: int, rounds: int, concurrency: int | None) -> Outcome:
    """Drive an endpoint; None: with `auto`."""
    made = [ENDPOINTS[name]() for _ in range(rounds)]
    driven = [drive(server, cases, seed, concurrency) for seed, server in enumerate(made)]

    def median(of: Callable[[Drive], float]) -> float:
        return statistics.median(map(of, driven))

    return Outcome(
        rate=median(lambda one: cases / one.seconds),
        p50_s=median(lambda one: statistics.median(one.took)),
        p95_s=median(lambda one: sorted(one.took)[int(0.95 * len(one.took))]),
        asked=statistics.median(server.requests / cases for server in made),
        most=statistics.median(server.most for server in made),
    )


def compared(name: str, cases: int, rounds: int, levels: Sequence[int]) -> Row:
    """Drive an endpoint in all ways; give `auto` beside the best fixed number."""
    found = {level: outcome(name, cases, rounds, level) for level in levels}
    enough = _AS_GOOD * max(one.rate for one in found.values())
    best = min(level for level, one in found.items() if one.rate >= enough)
    auto = outcome(name, cases, rounds, None)
    return {
        "endpoint": name,
        "best": best,
        "best_rate": found[best].rate,
        "rate": auto.rate,
        "share": auto.rate / found[best].rate,
        "best_p50_s": found[best].p50_s,
        "p50_s": auto.p50_s,
        "best_p95_s": found[best].p95_s,
        "p95_s": auto.p95_s,
        "asked": auto.asked,
        "most": auto.most,
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    levels = sorted(int(level) for level in args.levels.split(","))
    figures = (
        Figure("endpoint", "endpoint"),
        Figure("best", "best fixed"),
        Figure("best_rate", "answers/s", ".1f"),
        Figure("rate", "auto", ".1f"),
        Figure("share", "of it", ".0%"),
        Figure("best_p50_s", "p50 s", ".2f"),
        Figure("p50_s", "auto", ".2f"),
        Figure("best_p95_s", "p95 s", ".2f"),
        Figure("p95_s", "auto", ".2f"),
        Figure("asked", "requests an answer", ".2f"),
        Figure("most", "most in flight", ".0f"),
    )
    with Report("auto", args) as report:
        rows = [compared(name, args.cases, args.rounds, levels) for name in ENDPOINTS]
        report.table("endpoints", f"{args.cases} answers of each", figures, rows)
    return 0


if __name__ == "__main__":
    sys.exit(main())
