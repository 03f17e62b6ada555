"""How a run stands to its baseline and to its gate, as text for a person."""

import os
import shlex
from collections.abc import Iterator

from tui_eval.format import many, number, percent, points, points_interval
from tui_eval.model.visible import visible_line
from tui_eval.reports.comparison.baseline.base import BaseComparison
from tui_eval.reports.comparison.comparison import ComparedRows, ComparisonRow
from tui_eval.reports.results import Results
from tui_eval.reports.terminal.comparison_text import not_compared, scorer_notes
from tui_eval.reports.terminal.tables import AnsiStyle, folded


def baseline_lines(of: Results, width: int) -> list[str]:
    """Return how a finished run differs from its baseline; nothing where it has none."""
    base = of.base
    if base is None or base.base.name is None:
        return []
    lines = [""]
    for said in _against(base, [one.column.name for one in of.columns]):
        lines += folded(visible_line(said, 600), width, "  ")
    return lines


def _against(base: BaseComparison, columns: list[str]) -> Iterator[str]:
    name = base.base.name
    if base.comparison is None:
        yield f"not compared with its baseline: {base.why}"
        return
    for column in columns:
        who = f"{column}, against {name}" if len(columns) > 1 else f"against {name}"
        row = base.rows.get(column)
        said = "it has no such target" if row is None else difference(row, base.comparison)
        yield f"{who}: {said}"
    yield from scorer_notes(base.comparison)


def difference(row: ComparisonRow, of: ComparedRows) -> str:
    """Return in one line how a column differs from its baseline."""
    known = row.difference
    if known is None:
        parts = ["no case has a result on both sides"]
    else:
        rates = f"{percent(row.rate_a)} → {percent(row.rate_b)}"
        change = f"{points(known.diff)} points {points_interval(known.interval95)}, {row.word}"
        flips = f"{number(row.pairs.worse)} worse, {number(row.pairs.better)} better"
        parts = [f"{rates}, {change}", f"{many(row.n, 'pair')}, {flips}"]
    return "; ".join([*parts, *not_compared(row, of)])


def compare_command(of: Results) -> str | None:
    """Return the command that shows what differs from the baseline; None: nothing does."""
    base = of.base
    if base is None or not any(row.pairs.worse + row.pairs.better for row in base.rows.values()):
        return None
    if base.base.run is not None:
        return f"tui-eval compare {base.base.run.name} {of.run.name}"
    path = base.base.path
    if path is None or not path.is_file():
        return None  # its copy in the store is compared, and no command has that
    return f"tui-eval compare {named_file(str(path))} {of.run.name}"


def gate_lines(of: Results, width: int, ink: AnsiStyle) -> list[str]:
    """Return whether the gate holds, with what does not, and what nobody can tell."""
    if of.missed is None:
        return []
    colour = ink.bad if of.missed else str if of.gate_unclear else ink.good
    lines = ["", colour(gate_words(of))]
    for what in gate_said(of):
        lines += folded(f"  {visible_line(what, 600)}", width, "    ")
    return lines


def gate_words(of: Results) -> str:
    """Say whether the gate holds; without a gate, or before the end, what the run's state is."""
    if of.missed is None:
        return f"{of.state}, without a gate" if of.finished else of.state.value
    if of.missed:
        return "the gate does not hold"
    if of.gate_unclear:
        return "the gate holds, but against the baseline it is unclear"
    return "the gate holds"


def gate_said(of: Results) -> list[str]:
    """Return what does not hold, and what nobody can tell, a sentence each."""
    said = [str(missed) for missed in of.missed or ()]
    told = {missed.column for missed in of.missed or () if missed.threshold == "unclear"}
    for one in of.against:
        unclear = () if one.column in told else one.unclear
        said += [f"{one.column}, baseline: {what}" for what in (*unclear, *one.notes)]
    return said


def named_file(path: str) -> str:
    """Name a file for a shell, from where one is."""
    try:
        near = os.path.relpath(path)
    except OSError:  # where one is has been removed
        near = ".."
    return shlex.quote(visible_line(path if near.startswith("..") else near))
