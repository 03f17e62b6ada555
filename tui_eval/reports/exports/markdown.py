"""What a run came to, as a comment for a pull request."""

import re
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from html import escape
from typing import Final

from tui_eval.format import decimal, many
from tui_eval.model.visible import visible_line
from tui_eval.reports.comparison.comparison import outcome
from tui_eval.reports.comparison.flips import Flip
from tui_eval.reports.exports.export_choice import ExportChoice, chosen_lines
from tui_eval.reports.exports.foreign_text import code_span
from tui_eval.reports.exports.run_report import RunReport, run_report
from tui_eval.reports.judging import judge_report
from tui_eval.reports.terminal.comparison_text import compared_columns, row_name, said_of
from tui_eval.reports.terminal.gate_text import gate_said, gate_words
from tui_eval.reports.terminal.rate_tables import target_columns
from tui_eval.reports.terminal.tables import TableColumn
from tui_eval.reports.trial_outcomes import ReportedOutcome, why
from tui_eval.reports.trial_outcomes import outcome as trial_outcome
from tui_eval.store.rows import RunRow

_LISTED: Final = 50
"""Flips and failures that are named at most."""
_NAME: Final = 120
_WHY: Final = 200
_TOLD = (ReportedOutcome.FAIL, ReportedOutcome.ERROR)


def markdown(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[str]:
    """Yield a comment of `choice.chars` characters at most.

    Its first line is a mark by which a bot finds its own comment again. What matters most comes
    first; flips and failures are listed as far as there is room, and what is left out is counted.
    """
    report = run_report(db, run, choice)
    text = f"{mark(run.suite)}\n{''.join(_summary(report))}"
    text = text[: choice.chars]
    room = choice.chars - len(text)
    failures = (
        f"- {code_span(line.case_id, _NAME)}, {code_span(line.column, _NAME)}: "
        f"{code_span(why(line), _WHY)}\n"
        for line in chosen_lines(db, run, choice)
        if trial_outcome(line) in _TOLD
    )
    counts = report.results.counts
    for title, lines, total in (
        (_flips_title(report), map(_flip_line(report), report.flips), len(report.flips)),
        ("Failures and errors", failures, counts.failed + counts.error),
    ):
        if total:
            part = _listed(title, lines, total, room)
            room -= len(part)
            text += part
    yield text


def mark(suite: str) -> str:
    """Return the line by which a comment about a suite is found again."""
    return f"<!-- tui-eval {re.sub('[^A-Za-z0-9_.]+', '-', suite).strip('-')} -->"


def _summary(of: RunReport) -> Iterator[str]:
    run = of.results.run
    yield f"### {code_span(run.suite, _NAME)}: {gate_words(of.results)}\n\n"
    parts = [
        code_span(run.name, _NAME),
        of.results.state.value,
        many(of.results.counts.total, "trial"),
    ]
    if of.results.left_out is not None:
        parts.append(of.results.left_out)
    yield f"{' · '.join(parts)}\n\n"
    yield from _table(target_columns(of.columns, of.results.rests_on_judges))
    for judged in judge_report.judge_lines(of.results.judges):
        yield f"{code_span(judged, 400)}\n\n"
    if said := gate_said(of.results):
        yield "".join(f"- {code_span(one, 300)}\n" for one in said) + "\n"
    yield from _comparison(of)


def _table(columns: Sequence[TableColumn]) -> Iterator[str]:
    yield f"| {' | '.join(column.title for column in columns)} |\n"
    yield f"|{'|'.join(':--' if column.left else '--:' for column in columns)}|\n"
    for place in range(len(columns[0].cells)):
        cells = (
            code_span(column.cells[place], _NAME, in_table=True)
            if column.left
            else column.cells[place]
            for column in columns
        )
        yield f"| {' | '.join(cells)} |\n"
    yield "\n"


def _comparison(of: RunReport) -> Iterator[str]:
    """Yield how each column differs from its base."""
    if of.comparison is None or not (rows := of.compared):
        return
    yield f"Against {code_span(of.base_name, _NAME)}:\n\n"
    yield from _table(compared_columns(rows))
    for row in rows:
        for said in said_of(row, of.comparison):
            yield f"- {code_span(row_name(row), _NAME)}: {said}\n"
    yield "\n"


def _flips_title(of: RunReport) -> str:
    return f"Cases that came to something else than in {escape(visible_line(of.base_name))}"


def _flip_line(of: RunReport) -> Callable[[Flip], str]:
    several = len(of.columns) > 1

    def line(flip: Flip) -> str:
        column = f", {code_span(of.column_of(flip), _NAME)}" if several else ""
        return f"- {_value(flip.a)} → {_value(flip.b)}: {code_span(flip.case_id, _NAME)}{column}\n"

    return line


def _value(value: float) -> str:
    said = outcome(value)
    return said if isinstance(said, str) else decimal(said)


def _listed(title: str, lines: Iterator[str], total: int, room: int) -> str:
    """Return what has room of a list, folded up; empty where nothing has."""
    head = f"<details><summary>{title} ({total:,})</summary>\n\n"
    foot = "\n</details>\n\n"
    more = f"- … {many(total, 'other')}\n"
    room -= len(head) + len(foot) + len(more)
    taken: list[str] = []
    for line in lines:
        if len(taken) == _LISTED or len(line) > room:
            break
        taken.append(line)
        room -= len(line)
    if not taken:
        return ""
    left = total - len(taken)
    rest = f"- … {many(left, 'other')}\n" if left else ""
    return f"{head}{''.join(taken)}{rest}{foot}"
