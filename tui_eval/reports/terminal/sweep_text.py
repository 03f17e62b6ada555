"""What a sweep came to, as text for a person."""

from collections.abc import Iterator

from tui_eval.format import UNKNOWN, figure, many, number, per_second, percent, seconds
from tui_eval.reports.sweep_report import LevelUnderWay, SweepReport, knee_words
from tui_eval.reports.terminal.tables import AnsiStyle, TableColumn, folded, table
from tui_eval.statistics.intervals import Interval
from tui_eval.statistics.load import LevelLoad

_INDENT = "  "
_REACHED = 0.8
"""The share of a level's slots below which it is said that they were not all taken."""


def sweep_lines(of: SweepReport, *, width: int, ink: AnsiStyle) -> list[str]:
    """Return the rows of a sweep, what they mean, and the line for the suite.

    Args:
        of: The sweep.
        width: Cells of a line.
        ink: Colours or none.
    """
    lines = table(_columns(of), width, ink) if of.levels else ["no level was measured to its end"]
    for said in _said(of):
        lines += folded(said, width)
    if of.line is not None:
        lines += ["", ink.bold(of.line), f"{_INDENT}for [run] of the suite, or for the target"]
    return lines


def level_line(of: LevelLoad) -> str:
    """Return what one level came to, in one line."""
    parts = [
        f"concurrency {number(of.level)}: {many(of.calls, 'call')}",
        per_second(of.calls_s),
        f"p50 {seconds(of.p50_s)}, p95 {seconds(of.p95_s)}",
        _failed(of),
    ]
    return ", ".join(parts)


def under_way_line(of: LevelUnderWay) -> str:
    """Return how far a level is, in one line."""
    done = f"{number(of.ended)} of {many(of.calls, 'call')}"
    errors = f", {many(of.errors, 'error')}" if of.errors else ""
    return f"concurrency {number(of.level)}: {done}{errors}"


def _failed(of: LevelLoad) -> str:
    if not of.errors:
        return "no error"
    refused = f", {number(of.refused)} of them refused" if of.refused else ""
    return f"{many(of.errors, 'error')} ({percent(of.errors / of.calls)}){refused}"


def _columns(of: SweepReport) -> list[TableColumn]:
    levels = of.levels
    speedups = [of.speedup(one) for one in levels]
    return [
        TableColumn("concurrency", [_named(one.level, of.knee) for one in levels]),
        TableColumn("calls/s", [_figure(one.calls_s) for one in levels]),
        TableColumn("speedup", ["–" if one is None else f"{figure(one)}×" for one in speedups]),
        TableColumn("p50", [seconds(one.p50_s) for one in levels]),
        TableColumn("p95", [seconds(one.p95_s) for one in levels]),
        TableColumn("tokens/s", [_figure(one.tokens_s) for one in levels]),
        TableColumn("errors", [f"{number(one.errors)}/{number(one.calls)}" for one in levels]),
        TableColumn("95%", [_share(one.error_ci95) for one in levels]),
        TableColumn("refused", [number(one.refused) for one in levels]),
    ]


def _named(level: int, knee: int | None) -> str:
    return f"knee → {number(level)}" if level == knee else number(level)


def _figure(value: float | None) -> str:
    return UNKNOWN if value is None else figure(value)


def _share(interval: Interval | None) -> str:
    """Return an interval of shares in whole percent: of few calls no more is known."""
    return UNKNOWN if interval is None else f"{interval[0] * 100:.0f}–{interval[1] * 100:.0f}%"


def _said(of: SweepReport) -> Iterator[str]:
    """Say what the rows mean."""
    if of.under_way is not None:
        yield f"{under_way_line(of.under_way)}: not measured to its end"
    for one in of.levels:
        if one.in_flight is not None and one.in_flight < _REACHED * one.level and not one.errors:
            taken = f"{figure(one.in_flight)} calls in flight on average"
            yield f"concurrency {number(one.level)}: only {taken}: this machine gave no more"
    if (words := knee_words(of)) is not None:
        yield words
    elif of.levels:
        yield f"no knee: every level had more than {percent(of.plan.stop_at)} errors"
    if (much := of.too_much) is not None:
        above = any(level > of.levels[-1].level for level in of.plan.levels)
        kept = "; --all measures the levels above, too" if above else ""
        yield f"concurrency {number(much.level)} is too much: {_failed(much)}{kept}"
    if of.under_way is None:
        yield from _closer(of)


def _closer(of: SweepReport) -> Iterator[str]:
    """Say which levels would tell more."""
    if between := of.levels_between:
        named = ",".join(map(str, between))
        yield f"closer: --levels {named}"
    if of.still_grows:
        top = of.plan.levels[-1]
        yield f"throughput still grew at the highest level: try --levels {top},{2 * top}"
