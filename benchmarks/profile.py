"""Where a case's CPU goes, in an engine at work.

    python -m benchmarks.profile [--cases 4000] [--in-flight 50] [--latency 0.02] [--second]

A whole run (plan, store, scoring included) is made in this process against a server on the
loopback, and a thread looks at the stacks of all others a thousand times a second. What CPU each
has used since the last look, by its own clock, goes to the stack it is seen with, so waiting counts
nothing. Looking takes some CPU itself, which is not counted; it makes the run slower, and threads
take turns oftener than they would. Told are shares, and microseconds a case:

`threads`; `packages`, by the innermost function; `ours`, by the innermost function of tui_eval,
whatever libraries it called; `within`, by every function of tui_eval on the stack, so that shares
add up to more than all; `functions`, by the innermost function of anybody.

With `--second` it is the second run of the same suite, which asks nobody.
"""

import argparse
import asyncio
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import CodeType, FrameType
from typing import Self

from benchmarks import suites
from benchmarks.engine import run
from benchmarks.report import Figure, Report, parser
from benchmarks.server import serving
from tui_eval.model.json import Json

_LOOK_S = 0.001
_SWITCH_S = 0.0001
"""A thread asked for its turn gives it up after so long; with more, what it does next is blamed."""
_WARM = 50
_PACKAGE = "tui_eval"


def options() -> argparse.ArgumentParser:
    """Give what the command line takes."""
    made = parser("profile", __doc__)
    made.add_argument("--cases", type=int, default=4000)
    made.add_argument("--in-flight", type=int, default=50)
    made.add_argument("--latency", type=float, default=0.02, help="seconds before each answer")
    made.add_argument("--second", action="store_true", help="the second run of the same suite")
    made.add_argument("--top", type=int, default=25, help="lines of the tables of functions")
    return made


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; give the exit code."""
    args = options().parse_args(arguments)
    with Report("profile", args) as report, tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with serving(args.latency) as base_url:

            def once(suite: Path, cases: int, calls: int) -> None:
                asyncio.run(run(suite, cases, calls))

            warm = suites.write(folder / "warm", base_url, _WARM, args.in_flight)
            once(warm, _WARM, _WARM)  # imports are another matter
            suite = suites.write(folder / "run", base_url, args.cases, args.in_flight)
            if args.second:
                once(suite, args.cases, args.cases)
            cpu, wall = time.process_time(), time.monotonic()
            with Sampler() as sampler:
                once(suite, args.cases, 0 if args.second else args.cases)
            cpu, wall = time.process_time() - cpu, time.monotonic() - wall
        _tell(report, sampler, args, cpu, wall)
    return 0


class Sampler:
    """Looks at the stacks of all other threads while it is entered."""

    def __init__(self) -> None:
        self.stacks: Counter[tuple[str, tuple[CodeType, ...]]] = Counter()
        """Nanoseconds of CPU by a thread's name and its stack, outermost first."""
        self.modules: dict[CodeType, str] = {}
        """The module each function of a stack is in."""
        self._clocks: dict[int, int] = {}
        self._seen: dict[int, int] = {}
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look_on, daemon=True)
        self._switch = sys.getswitchinterval()

    def __enter__(self) -> Self:
        self._look(count=False)
        sys.setswitchinterval(_SWITCH_S)
        self._thread.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self._over.set()
        self._thread.join()
        sys.setswitchinterval(self._switch)

    def _look_on(self) -> None:
        while not self._over.wait(_LOOK_S):
            self._look()

    def _look(self, *, count: bool = True) -> None:
        me = threading.get_ident() if count else None
        frames = sys._current_frames()  # noqa: SLF001 - documented, whatever its name says
        for ident in frames.keys() - self._clocks.keys():
            # at once: of a thread that has ended the clock must not be asked for any more
            self._clocks[ident] = time.pthread_getcpuclockid(ident)
        names = {thread.ident: thread.name for thread in threading.enumerate()}
        for ident, frame in frames.items():
            try:
                now = time.clock_gettime_ns(self._clocks[ident])
            except OSError:  # it has ended, and another has its number
                del self._clocks[ident]
                continue
            used = now - self._seen.get(ident, now if not count else 0)
            self._seen[ident] = now
            if ident != me and count and used > 0:
                self.stacks[names.get(ident, "?"), self._stack(frame)] += used

    def _stack(self, frame: FrameType | None) -> tuple[CodeType, ...]:
        codes: list[CodeType] = []
        while frame is not None:
            codes.append(frame.f_code)
            self.modules.setdefault(frame.f_code, str(frame.f_globals.get("__name__")))
            frame = frame.f_back
        return tuple(reversed(codes))

    def by(self, key: Callable[[str, Sequence[CodeType]], set[str]]) -> Counter[str]:
        """Add the CPU up.

        Args:
            key: Gives, of a thread's name and a stack, what it is counted for.
        """
        found: Counter[str] = Counter()
        for (thread, stack), used in self.stacks.items():
            for name in key(thread, stack):
                found[name] += used
        return found

    def named(self, code: CodeType) -> str:
        """Name a function with its module."""
        return f"{self.modules[code]}.{code.co_qualname}"

    def package(self, code: CodeType) -> str:
        """Name the package a function is in; of ours, the layer too."""
        parts = self.modules[code].split(".")
        return ".".join(parts[: 2 if parts[0] == _PACKAGE else 1])

    def own(self, stack: Sequence[CodeType]) -> list[CodeType]:
        """Give the functions of tui_eval on a stack, outermost first."""
        return [code for code in stack if self.modules[code].split(".")[0] == _PACKAGE]


def _tell(
    report: Report, sampler: Sampler, args: argparse.Namespace, cpu_s: float, wall_s: float
) -> None:
    def innermost_own(_: str, stack: Sequence[CodeType]) -> set[str]:
        own = sampler.own(stack)
        return {sampler.named(own[-1]) if own else "(none of ours)"}

    views: tuple[tuple[str, str, Callable[[str, Sequence[CodeType]], set[str]]], ...] = (
        ("threads", "Threads", lambda thread, _: {thread}),
        ("packages", "Packages", lambda _, stack: {sampler.package(stack[-1])}),
        ("ours", "The innermost function of ours", innermost_own),
        ("within", "Within", lambda _, stack: {sampler.named(c) for c in sampler.own(stack)}),
        ("functions", "Functions", lambda _, stack: {sampler.named(stack[-1])}),
    )
    total = sum(sampler.stacks.values())
    which = "the second run" if args.second else "a run"
    seen: dict[str, Json] = {
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "seen_s": total / 1e9,
        "us": total / 1000 / args.cases,
    }
    figures = (
        Figure("wall_s", "wall s", ".2f"),
        Figure("cpu_s", "CPU s, looking included", ".2f"),
        Figure("seen_s", "CPU s that was seen", ".2f"),
        Figure("us", "µs a case", ".0f"),
    )
    report.table("run", f"{args.cases} cases, {which}", figures, [seen])
    columns = (Figure("share", "share", ".1%"), Figure("us", "µs a case", ".1f"), Figure("of", ""))
    for name, title, key in views:
        rows: list[dict[str, Json]] = [
            {"of": of, "share": used / total, "us": used / 1000 / args.cases}
            for of, used in sampler.by(key).most_common(args.top)
        ]
        report.table(name, title, columns, rows)


if __name__ == "__main__":
    sys.exit(main())
