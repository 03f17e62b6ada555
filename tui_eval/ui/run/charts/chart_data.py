"""What the charts of a run show: from parts counted in the store to curves and words."""

import sqlite3
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final, TypeAlias

from tui_eval.format import (
    call_cost,
    clock,
    figure,
    fine_rate,
    many,
    money,
    number,
    per_second,
    seconds,
    size,
)
from tui_eval.model.runs.endpoint_event import EndpointEventKind
from tui_eval.reports.rates.pass_rates import a_case_is_a_trial, reducer_names
from tui_eval.reports.rates.run_rates import Rates
from tui_eval.reports.sweep_report import sweep_report
from tui_eval.reports.throughput import WINDOW_S, mean_rate
from tui_eval.store.read import run_queries, suite_queries
from tui_eval.store.read.charts import distributions
from tui_eval.store.read.charts.distributions import Latencies, PerCase, Spread
from tui_eval.store.read.charts.memory_timeline import memory_over_time
from tui_eval.store.read.charts.timeline import EndpointTimeline, Timeline, timeline
from tui_eval.store.read.figures import program_figures
from tui_eval.store.read.run_counts import board
from tui_eval.ui.run.charts.plotting import FILL, LINE, Curve, Panel, Plot, aligned
from tui_eval.ui.run.charts.scales import scale
from tui_eval.ui.run.charts.sweep_chart import sweep_panels
from tui_eval.ui.run.groups.group_rates import group_rates
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.toned import Piece

_MARKERS: Final = "*+ox"
_TONES: Final[tuple[Tone, ...]] = ("accent", "pass", "ungraded", "plain")
_HELD: Final[Mapping[EndpointEventKind, tuple[str, str]]] = {
    EndpointEventKind.LOW_MEMORY: ("m", "short of memory"),
    EndpointEventKind.MEMORY_PRESSURE: ("w", "waiting for memory"),
    EndpointEventKind.LOW_DISK: ("d", "short of disk"),
    EndpointEventKind.BUSY_PROCESSORS: ("p", "processors busy"),
    EndpointEventKind.ALONE: ("1", "ran alone"),
}
"""What is drawn where the machine had no room for more."""
_MOST_CURVES: Final = 4
_MOST_TICKS: Final = 6
_TIMES: Final = (
    *(part * size for size in (0.0001, 0.001, 0.01, 0.1, 1) for part in (1, 2, 5)),
    *(10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400, 604800),
)
"""Steps of the scale below, in seconds."""
NO_CALLS: Final = (
    "No call was made: every output was in the cache, or simulated. `space` in the launch form "
    "unticks “use cache”."
)
NO_PROGRAMS: Final = (
    "No program told yet what memory it takes: a trial's is drawn once it has ended. Models take "
    "none of this machine's."
)
NO_OUTPUTS: Final = "No output yet: it is drawn as soon as the first one is there."
NO_SCORES: Final = "No score yet: a trial has one as soon as all its scorers are done."
NO_LEVEL: Final = "No level is measured yet: it is drawn as soon as the first one has ended."
NO_TAGS: Final = "No scored case has tags; `tags` in the suite's [dataset] names their column."


@dataclass(frozen=True, slots=True)
class Drawing:
    """A chart of curves."""

    panels: Sequence[Panel]
    """From top to bottom, those first that must not be left out where room is scarce."""


@dataclass(frozen=True, slots=True)
class Spreads:
    """A chart with a line for each group."""

    groups: Sequence[Spread]
    noun: str


_WINDOWS = 20
"""Into how many windows a short run is cut."""
_SHORTEST_WINDOW_S = 1.0
_FEW = 10
"""Calls that a window has on average at least."""


@dataclass(frozen=True, slots=True)
class RateBars:
    """A chart with a pass rate for each group: of scores that are all 0 or 1 there is no spread."""

    groups: Sequence[tuple[str, Rates]]
    """Each with its name, which may be foreign."""
    noun: str
    judged: bool
    """Whether they rest on what judges say."""


Chart: TypeAlias = Drawing | Spreads | RateBars | str
"""A chart, or why there is none."""


def throughput(db: sqlite3.Connection, run: int, parts: int) -> Chart:
    """Draw how many calls ended a second."""
    found = timeline(db, run, parts, time.time())
    if found is None:
        return NO_CALLS
    span = found.part_s * parts
    answered = _rates(found.answered, found.part_s)
    failed = _rates(found.failed, found.part_s)
    curves = [Curve("answered", answered, LINE, "pass")]
    if any(failed):
        # refusals come in bursts: the answers set the scale, and what is above it stands at its top
        top = max(answered) or max(failed)
        curves.append(Curve("failed", [min(one, top) or None for one in failed], "x", "fail"))
    mean = mean_rate(board(db, run)[0].answered, run_queries.run(db, run).wall(time.time()))
    words = (
        f"{number(sum(found.answered))} answered, {number(sum(found.failed))} failed calls in "
        f"{clock(span)}: {per_second(mean)}"
    )
    if found.time.gaps:
        words += f"; {clock(found.time.left_out_s)} without an engine left out"
    return Drawing([_over_time(found, curves, words, fine_rate)])


def _rates(counts: Sequence[int], part_s: float) -> list[float]:
    """Return how many a second there were, over some seconds up to the end of each part.

    Calls end in bursts: what is written together is seen together. So a part is no window of its
    own; the window is a twentieth of what is shown, a second at least, long enough for a few calls,
    and at most that of rates that are told live. A longer one would draw answers where a short run
    had none any more.
    """
    span_s, all_of_them = part_s * len(counts), max(sum(counts), 1)
    wanted_s = max(_SHORTEST_WINDOW_S, span_s / _WINDOWS, span_s * _FEW / all_of_them)
    window_s = min(WINDOW_S, wanted_s)
    window = max(round(window_s / part_s), 1)
    sums = [0, *accumulate(counts)]
    return [
        (sums[end] - sums[max(end - window, 0)])
        / max(min(window, end) * part_s, _SHORTEST_WINDOW_S)
        for end in range(1, len(sums))
    ]


def concurrency(db: sqlite3.Connection, run: int, parts: int) -> Chart:
    """Draw the calls in flight under the limit, with what was refused for the rate: by endpoint."""
    found = timeline(db, run, parts, time.time())
    if found is None:
        return NO_CALLS
    return Drawing(aligned([_lane(found, lane) for lane in found.lanes]))


def _lane(found: Timeline, lane: EndpointTimeline) -> Panel:
    curves = [
        Curve("in flight, on average", lane.in_flight, LINE, "accent"),
        Curve("slots", lane.slots, "-", "plain"),
    ]
    top = max([*lane.in_flight, *(one or 0 for one in lane.slots)])
    limits = []
    if any(lane.limited):
        at = [top if n else None for n in lane.limited]
        curves.append(Curve("rate limited", at, "!", "fail"))
        limits.append(f"rate limited {number(sum(lane.limited))}×")
    for kind, times in lane.held.items():
        marker, name = _HELD[kind]
        at = [top if n else None for n in times]
        curves.append(Curve(name, at, marker, "ungraded"))
        limits.append(f"{name} {number(sum(times))}×")
    limited = ", ".join(limits) or "never limited"
    more = f" and {len(lane.names) - 1} more" if len(lane.names) > 1 else ""
    name = "the judge" if lane.names[0] == "judge judge" else lane.names[0]
    return _over_time(found, curves, f"{name}{more}: {limited}", figure)


def cost(db: sqlite3.Connection, run: int, parts: int) -> Chart:
    """Draw what was spent so far, by target; the judges apart."""
    found = timeline(db, run, parts, time.time())
    if found is None:
        return NO_CALLS
    total = sum(spent[-1] for _, spent in found.costs)
    unknown = f", {many(found.unpriced, 'call')} without a price" if found.unpriced else ""
    words = f"{call_cost(None if found.estimated else total, total)} in all{unknown}"
    if not total:
        return f"Nothing was paid{unknown}. `prices` in the suite gives a target's price."
    dearest = sorted(found.costs, key=lambda one: -one[1][-1])
    shown = dearest if len(dearest) <= _MOST_CURVES else dearest[: _MOST_CURVES - 1]
    curves = [
        Curve(f"{name} {money(spent[-1])}", spent, _MARKERS[at], _TONES[at])
        for at, (name, spent) in enumerate(shown)
    ]
    if rest := dearest[len(shown) :]:
        spent = [sum(amounts) for amounts in zip(*(one for _, one in rest), strict=True)]
        name = f"{len(rest)} others {money(spent[-1])}"
        curves.append(Curve(name, spent, _MARKERS[-1], _TONES[-1]))
    return Drawing([_over_time(found, curves, words, lambda usd: money(usd) if usd else "$0")])


def memory(db: sqlite3.Connection, run: int, parts: int) -> Chart:
    """Draw the memory that programs took together, and how many ran and might run at once."""
    found = timeline(db, run, parts, time.time())
    if found is None:
        return NO_PROGRAMS
    taken = memory_over_time(db, run, parts, found.time, found.part_s)
    if taken is None:
        return NO_PROGRAMS
    curves = [Curve("all programs together", taken, LINE, "accent")]
    words = f"{size(round(max(taken)))} at most"
    ran = program_figures.resources_by_column(db, run)
    lanes = [_lane(found, lane) for lane in found.lanes if not ran.keys().isdisjoint(lane.columns)]
    return Drawing(aligned([_over_time(found, curves, words, lambda n: size(round(n))), *lanes]))


def latency(db: sqlite3.Connection, run: int, parts: int) -> Chart:
    """Draw how long calls took."""
    found = distributions.latencies(db, run, parts)
    if found is None:
        return NO_OUTPUTS
    end = found.part_s * parts
    most, y_labels = scale(max(found.counts) * 1.15, figure)
    plot = Plot(
        [Curve("outputs", found.counts, FILL, "accent")],
        _ticks(end),
        most,
        y_labels,
        [(min(p / end, 1.0), name) for p, name in ((found.p50_s, "p50"), (found.p95_s, "p95"))],
    )
    return Drawing([Panel(plot, _latency_words(found, end))])


def _latency_words(found: Latencies, end: float) -> list[list[Piece]]:
    beyond = "; the last column has all that took longer" if found.longest_s > end * 1.001 else ""
    total = sum(n for _, n, _, _ in found.columns)
    lines = [
        [
            Piece(f"{many(total, 'output')}: p50 {seconds(found.p50_s)}  ", "strong"),
            Piece(f"p95 {seconds(found.p95_s)}  ", "strong"),
            Piece(f"longest {seconds(found.longest_s)}{beyond}", "dim"),
        ]
    ]
    if len(found.columns) > 1:
        shown = found.columns[:_MOST_CURVES]
        more = len(found.columns) - len(shown)
        lines += [
            [
                Piece(f"{name}  "),
                Piece(f"{many(n, 'output')}, p50 {seconds(p50)}, p95 {seconds(p95)}", "dim"),
            ]
            for name, n, p50, p95 in shown
        ]
        if more:
            lines.append([Piece(f"and {more} more targets", "dim")])
    return lines


def by_target(db: sqlite3.Connection, run: int, parts: int) -> Chart:
    """Show how scores are spread, by target."""
    groups = [one for one in distributions.scores_by_target(db, run, _per_case(db, run)) if one.n]
    if not groups:
        return NO_SCORES
    found = None if any(one.between for one in groups) else group_rates(db, run)
    if found is None:
        return Spreads(groups, "target")
    return RateBars([*found.by_column.items()], "target", found.judged)


def by_tag(db: sqlite3.Connection, run: int, parts: int) -> Chart:
    """Show how scores are spread, by tag."""
    groups = distributions.scores_by_tag(db, run, _per_case(db, run))
    if not groups:
        return NO_TAGS
    found = None if any(one.between for one in groups) else group_rates(db, run)
    if found is None:
        return Spreads(groups, "tag")
    several = len(found.by_column) > 1
    rates = [
        (f"{tag}, {column}" if several else tag, of)
        for tag, of_tag in found.by_tag.items()
        for column, of in of_tag.items()
    ]
    return RateBars(rates, "tag", found.judged)


def _per_case(db: sqlite3.Connection, run: int) -> PerCase | None:
    """Say how the scores of a case's epochs are put together, as in reports."""
    if a_case_is_a_trial(db, run):
        return None
    first = reducer_names(suite_queries.run_table(db, run))[0]
    return PerCase.BEST if first == "max" else PerCase.MEAN


def sweep(db: sqlite3.Connection, run: int, parts: int) -> Chart:
    """Draw what a sweep has measured, over concurrency."""
    found = sweep_report(db, run_queries.run(db, run))
    if found is None or not found.levels:
        return NO_LEVEL
    return Drawing(sweep_panels(found, parts))


CHARTS: Mapping[str, Callable[[sqlite3.Connection, int, int], Chart]] = {
    "throughput": throughput,
    "latency": latency,
    "concurrency": concurrency,
    "cost": cost,
    "memory": memory,
    "scores": by_target,
    "by tag": by_tag,
}
"""Every chart by its name: given a store, a run and how many parts it is to have."""
SWEEP_CHARTS: Mapping[str, Callable[[sqlite3.Connection, int, int], Chart]] = {
    "sweep": sweep,
    **{name: one for name, one in CHARTS.items() if name not in ("scores", "by tag")},
}
"""Those of a sweep: nothing is scored."""


def _over_time(
    found: Timeline, curves: Sequence[Curve], words: str, label: Callable[[float], str]
) -> Panel:
    most = max((y for curve in curves for y in curve.ys if y is not None), default=0.0)
    span = found.part_s * len(found.answered)
    most, y_labels = scale(most * 1.05, label)
    legend: list[Piece] = []
    for curve in curves:
        legend += [Piece(f"{curve.marker} ", curve.tone), Piece(f"{curve.name}   ")]
    return Panel(Plot(curves, _ticks(span), most, y_labels), [[Piece(words, "strong")], legend])


def _ticks(span: float) -> list[tuple[float, str]]:
    """Return labels of a time that begins at 0: places in 0..1, and what they say."""
    step = next((one for one in _TIMES if span / one <= _MOST_TICKS), span / _MOST_TICKS)
    return [
        (at * step / span, _moment(at * step, span)) for at in range(int(span / step + 1e-9) + 1)
    ]


def _moment(seconds_: float, span: float) -> str:
    if span >= 60:
        return clock(seconds_)
    return f"{seconds_:.3g}s" if span >= 0.1 else f"{seconds_ * 1000:.3g}ms"
