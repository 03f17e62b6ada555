"""What a run came to, as GitHub Actions shows it: annotations, and the summary of the job.

The lines are workflow commands (docs.github.com, "Workflow commands for GitHub Actions"), read from
the standard output of a step.
"""

import os
import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from tui_eval.model.visible import visible_line
from tui_eval.reports.exports.export_choice import ExportChoice, chosen_lines
from tui_eval.reports.exports.markdown import markdown
from tui_eval.reports.exports.run_report import RunReport, run_report
from tui_eval.reports.terminal.gate_text import gate_said, gate_words
from tui_eval.reports.trial_outcomes import ReportedOutcome, outcome, why
from tui_eval.store.rows import RunRow

_MOST: Final = 10
"""Annotations of a kind that a step may have; further ones are dropped by GitHub."""
_SUMMARY: Final = "GITHUB_STEP_SUMMARY"
_SUMMARY_CHARS: Final = 250_000
"""A summary of more than 1 MiB is dropped whole; a character takes at most four bytes."""
_MESSAGE: Final = 400


class SummaryError(OSError):
    """The job's summary cannot be written; the file's name says by what it was named."""


def github(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[str]:
    """Yield the annotations; then append to the job's summary, where GitHub names a file for it.

    What the gate misses comes first, then cases that got worse than in the base; trials that
    errored or are ungraded are warnings. A failed case is none: the gate is about rates.

    Raises:
        SummaryError: the summary cannot be written; the annotations were yielded.
    """
    report = run_report(db, run, choice)
    yield from islice(_errors(run, report), _MOST)
    yield from islice(_warnings(db, run, choice), _MOST)
    if path := os.environ.get(_SUMMARY):
        whole = "".join(markdown(db, run, replace(choice, chars=_SUMMARY_CHARS)))
        try:
            with Path(path).open("a", encoding="utf-8") as summary:
                summary.write(f"{whole}\n")
        except OSError as error:
            raise SummaryError(error.errno, error.strerror, f"{_SUMMARY}={path}") from error


def _errors(run: RunRow, report: RunReport) -> Iterator[str]:
    if report.results.missed:
        title = f"{run.suite}: {gate_words(report.results)}"
        yield _command("error", title, "; ".join(gate_said(report.results)))
    for flip in report.flips:
        if flip.b < flip.a:
            title = f"{run.suite}: {flip.case_id} ({report.column_of(flip)})"
            yield _command("error", title, f"better in {report.base_name}")


def _warnings(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[str]:
    for line in chosen_lines(db, run, replace(choice, failed=False)):
        if outcome(line) in (ReportedOutcome.ERROR, ReportedOutcome.UNGRADED):
            yield _command("warning", f"{run.suite}: {line.case_id} ({line.column})", why(line))


def _command(kind: str, title: str, message: str) -> str:
    said = _data(visible_line(message, _MESSAGE))
    return f"::{kind} title={_property(visible_line(title, 120))}::{said}\n"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
