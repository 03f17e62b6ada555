"""A run's trials as CSV, for spreadsheets."""

import csv
import io
import re
import sqlite3
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.visible import visible
from tui_eval.reports import json_output
from tui_eval.reports.exports.export_choice import ExportChoice, chosen_lines
from tui_eval.reports.exports.trial_line import TrialLines
from tui_eval.reports.judging.opinions import spread
from tui_eval.reports.rates.epoch_spread import epoch_spread
from tui_eval.store.read import report_queries
from tui_eval.store.read.report_queries import TrialLine
from tui_eval.store.read.trials import attempt_queries, trial_queries
from tui_eval.store.rows import RunRow

# spreadsheets skip white space and quotes; some take the other separators for the cell's end
_FORMULA = re.compile(r"[\s\"';,|]*[=+\-@\t\r\n＝＋－＠]")
# what a terminal acts on, what moves the text beside it (bidirectional overrides), and no text
_NO_TEXT = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


def csv_table(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[str]:
    """Yield CSV (RFC 4180): a header, then one record for each trial.

    Each scorer has columns for its verdict, value and reason, one that asks a judge for the
    standard deviation of its repeats too; so has what programs left beside outputs, in runs that
    have any. Where cases are asked several times, `score_sd` is that of their epochs. Tags are
    separated by `; `. Text that a spreadsheet would take for a formula is defused, and control
    characters but tabs and line breaks are made visible, see `cell`; JSON Lines keep every
    character.
    """
    scorers = report_queries.scorer_names(db, run.id)
    judged = report_queries.judged_scorers(db, run.id)
    buffer = io.StringIO()
    writer = csv.writer(buffer)

    def record(values: Sequence[object]) -> str:
        writer.writerow([cell(value) if isinstance(value, str) else value for value in values])
        text = buffer.getvalue()
        buffer.seek(0)
        buffer.truncate()
        return text

    made = TrialLines(db, run.id, case=choice.case)
    told = _ASKED if choice.case else ()
    programs = attempt_queries.any_records(db, run.id)
    spread_told = () if trial_queries.epochs(db, run.id) <= 1 else (_SPREAD,)
    more = (*told, *(_LEFT if programs else ()), *spread_told)
    yield record(_header(scorers, judged, more))
    for line, sd in _with_spread(chosen_lines(db, run, choice)):
        asked = made.asked(line)
        left = _left(line.record.as_json()) if programs else ()
        about = (*(asked[name] for name in told), *left, *(sd for _ in spread_told))
        yield record(_cells(run.name, line, scorers, judged, about))


def _with_spread(lines: Iterator[TrialLine]) -> Iterator[tuple[TrialLine, float | None]]:
    """Yield each trial with how far the scores of its case's epochs lie apart."""
    for _, epochs in groupby(lines, lambda line: (line.case.seq, line.column)):
        together = list(epochs)
        spread = epoch_spread(line.score for line in together)
        for line in together:
            yield line, None if spread is None else json_output.rounded(spread.sd)


_ASKED = ("question", "expected")
_SPREAD: Final = "score_sd"
_LEFT: Final = {
    "exit_code": ("exit", "code"),
    "exit_signal": ("exit", "signal"),
    "isolation": ("isolation",),
    "cpu_s": ("resources", "cpu_s"),
    "wall_s": ("resources", "wall_s"),
    "peak_rss_bytes": ("resources", "peak_rss_bytes"),
    "peak_processes": ("resources", "peak_processes"),
    "files_added": ("changes", "added"),
    "files_changed": ("changes", "changed"),
    "files_removed": ("changes", "removed"),
    "changed_bytes": ("changes", "bytes"),
    "steps": ("steps",),
    "tool_calls": ("tool_calls",),
}
"""Columns of what a program left, each with where an attempt's record has it."""


def _left(record: JsonObject) -> Iterator[Json]:
    for way in _LEFT.values():
        value: Json = record
        for name in way:
            value = value[name] if isinstance(value, dict) else None
        yield value


def _as_cell(value: Json) -> Json:
    return json_output.dumps(value) if isinstance(value, list | dict) else value


def cell(text: str) -> str:
    """Make text safe for a cell of a spreadsheet.

    An apostrophe is put before text that would be run as a formula: whose first character, after
    white space, quotes and separators, is `=`, `+`, `-` or `@` (also in their full-width forms), or
    which begins with a tab or a line break. Control characters, bidirectional overrides and lone
    surrogates become visible stand-ins.
    """
    safe = _NO_TEXT.sub(lambda found: visible(found.group()), text)
    return f"'{safe}" if _FORMULA.match(safe) else safe


def _header(scorers: Sequence[str], judged: frozenset[str], told: Sequence[str]) -> list[str]:
    fixed = [
        "run", "case_id", "target", "epoch", "state", "verdict", "score", "output",
        "finish_reason", "error_kind", "error_message", "attempts", "latency_s", "input_tokens",
        "output_tokens", "cost_usd", "cost_about_usd", "self_reported", "cached", "tags", "note",
        "messages",
    ]  # fmt: skip
    parts = (f"{name} {part}" for name in scorers for part in _parts(name in judged))
    return [*fixed, *told, *parts]


def _parts(judged: bool) -> tuple[str, ...]:
    """Return what a scorer's columns hold; a judge's repeats have a standard deviation."""
    return ("verdict", "value", "reason", "sd") if judged else ("verdict", "value", "reason")


def _cells(
    run: str,
    line: TrialLine,
    scorers: Sequence[str],
    judged: frozenset[str],
    told: Sequence[Json],
) -> list[object]:
    given = {score.scorer: score for score in line.scores}
    fixed: list[object] = [
        run,
        line.case_id,
        line.column,
        line.epoch,
        line.state.value,
        line.verdict.value if line.verdict else None,
        line.score,
        line.text,
        line.finish_reason,
        line.error_kind,
        line.error_message,
        line.attempts,
        json_output.rounded(line.latency_s),
        line.usage.input,
        line.usage.output,
        line.cost_usd,
        line.about_usd,
        "true" if line.self_reported else "false",
        "true" if line.cached else "false",
        "; ".join(line.tags),
        line.note,
        _as_cell(list(line.messages) or None),
        *map(_as_cell, told),
    ]
    for name in scorers:
        score = given.get(name)
        fixed += [score.verdict.value, score.value, score.reason] if score else [None, None, None]
        if name in judged:
            fixed.append(json_output.rounded(spread(score.raw)) if score else None)
    return fixed
