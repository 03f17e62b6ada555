"""What becomes of a run where some requests go wrong, with each tool."""

import asyncio
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks.peers.tools import INSPECT_AI, INSPECT_GOES_ON, BrokenError, Installed, Job
from benchmarks.processes import TimedOutError
from benchmarks.report import Figure, Report
from tests.servers.fake_model import FakeModel, Mix, Reply, refuse
from tui_eval.model.json import Json

CASES = 200
IN_FLIGHT = 10
LATENCY_S = 0.3
TIMEOUT_S = 5.0

_TOO_LONG = refuse(400, "context_length_exceeded", "the prompt is longer than the context")
_MEANING = (
    (Reply("null_text"), 10),
    (Reply("empty_text"), 10),
    (Reply("length", text="quest"), 10),
    (Reply("error_in_200"), 10),
    (_TOO_LONG, 10),
)
_FIGURES = (
    Figure("tool", ""),
    Figure("version", ""),
    Figure("right", "right"),
    Figure("errored", "errored"),
    Figure("ungraded", "ungraded"),
    Figure("never_run", "never run"),
    Figure("wrong", "graded wrong"),
    Figure("further", "further requests"),
    Figure("wall_s", "wall s", ".1f"),
    Figure("exit_code", "exit"),
    Figure("note", ""),
)


@dataclass(frozen=True)
class Kind:
    """Faults of one kind, and what a perfect client makes of them."""

    name: str
    title: str
    right: int
    further: int
    lasting: bool = False
    faults: Sequence[tuple[Reply, int]] = Mix.FAULTS


KINDS = (
    Kind("passing", "Faults that pass", right=200, further=40),
    Kind("meaning", "Faults of meaning, that last", 150, 0, lasting=True, faults=_MEANING),
)
"""The kinds of faults there are."""


def compare(report: Report, there: Sequence[Installed], scratch: Path, seed: int) -> None:
    """Let each tool meet each kind of faults; tell what it says, and what the server saw."""
    for kind in KINDS:
        rows: list[dict[str, Json]] = [
            {"tool": "perfect", "right": kind.right, "wrong": 0, "further": kind.further}
        ]
        for one in _variants(there):
            report.note(f"{kind.name}: {one.tool.name}")
            rows.append(_row(one, kind, scratch / kind.name / one.tool.name, seed))
        title = (
            f"{kind.title}: {CASES} cases, {IN_FLIGHT} in flight, {LATENCY_S * 1000:g} ms, "
            f"time-out {TIMEOUT_S:g} s"
        )
        report.table(kind.name, title, _FIGURES, rows)


def _variants(there: Sequence[Installed]) -> Iterator[Installed]:
    for one in there:
        yield one
        if one.tool is INSPECT_AI:
            yield Installed(INSPECT_GOES_ON, one.environment)


def _row(one: Installed, kind: Kind, folder: Path, seed: int) -> dict[str, Json]:
    about: dict[str, Json] = {"tool": one.tool.name, "version": one.tool.version}
    mix = Mix(seed, CASES, kind.lasting, kind.faults)
    with _serving(mix) as server:
        job = Job(folder, server.base_url, CASES, IN_FLIGHT, TIMEOUT_S)
        try:
            cost = one.run(job)
            about |= {"wall_s": cost.wall_s, "exit_code": cost.exit_code}
            outcome = one.outcome(job)
        except (BrokenError, TimedOutError) as error:
            return about | {"further": _further(server), "note": str(error)}
        return about | {
            "right": outcome.right,
            "errored": outcome.errored,
            "ungraded": outcome.ungraded,
            "never_run": outcome.never_run(CASES),
            "wrong": outcome.wrong,
            "further": _further(server),
        }


def _further(server: FakeModel) -> int:
    return server.requests - len(server.counts)


@contextmanager
def _serving(mix: Mix) -> Iterator[FakeModel]:
    """Give a server in a thread of this process, which has nothing else to do."""
    server = FakeModel(script=mix, latency=LATENCY_S, record=False)
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(10)
        yield server
        asyncio.run_coroutine_threadsafe(server.__aexit__(), loop).result(10)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
