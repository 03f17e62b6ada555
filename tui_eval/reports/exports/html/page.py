"""A run as one page: what it came to, what it is compared with, then trials, failures first.

Everything is in the file: nothing is fetched, and its policy forbids it. The one script narrows the
list of trials; without it the page says the same. All text of others goes through `markup_text`
and is escaped by the template.
"""

import base64
import hashlib
import sqlite3
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Final

from jinja2 import Environment, StrictUndefined, Template

from tui_eval.format import clock, cost, decimal, many, money, seconds
from tui_eval.model.json import Json
from tui_eval.reports import json_output
from tui_eval.reports.comparison.comparison import outcome as outcome_of_value
from tui_eval.reports.exports.export_choice import ExportChoice, chosen_lines
from tui_eval.reports.exports.foreign_text import cut, markup_line, markup_text
from tui_eval.reports.exports.run_report import RunReport, run_report
from tui_eval.reports.exports.trial_line import TrialLines
from tui_eval.reports.judging import judge_report
from tui_eval.reports.terminal.comparison_text import compared_columns, row_name, said_of
from tui_eval.reports.terminal.gate_text import gate_said, gate_words
from tui_eval.reports.terminal.rate_tables import target_columns
from tui_eval.reports.trial_outcomes import ReportedOutcome, outcome, why
from tui_eval.store.read.report_queries import ScoreLine, TrialLine
from tui_eval.store.rows import RunRow

_TEXT: Final = 20_000
"""Characters of a question, an output and what is expected."""
_FLIPS: Final = 500
_FIRST: Final = (ReportedOutcome.FAIL, ReportedOutcome.ERROR, ReportedOutcome.UNGRADED)
"""What comes first, in dataset order; then all others."""


@dataclass(slots=True)
class PageTrials:
    """The trials that the page has room for, given one after the other."""

    db: sqlite3.Connection
    run: RunRow
    choice: ExportChoice
    left_out: Counter[str] = field(default_factory=Counter)
    """How many there was no room for, by outcome; whole once all were given."""
    shown: int = 0

    def __iter__(self) -> Iterator["PageTrial"]:
        made = TrialLines(self.db, self.run.id, case=self.choice.case)
        for first in (True, False):
            for line in chosen_lines(self.db, self.run, self.choice):
                what = outcome(line)
                if (what in _FIRST) is not first:
                    continue
                if self.shown == self.choice.rows:
                    self.left_out[what.value] += 1
                    continue
                self.shown += 1
                yield _page_trial(line, what, made)


@dataclass(frozen=True, slots=True)
class PageTrial:
    """One trial as the page shows it."""

    case_id: str
    column: str
    epoch: int
    outcome: ReportedOutcome
    why: str
    blocks: tuple[tuple[str, str], ...]
    """What is shown of it, each with its title."""
    scores: tuple[ScoreLine, ...]
    figures: str
    tags: tuple[str, ...]


def html(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[str]:
    """Yield the page, with `choice.rows` trials at most; what is left out is counted."""
    report = run_report(db, run, choice)
    trials = PageTrials(db, run, choice)
    style, script = _asset("report.css"), _asset("report.js")
    return _template().generate(
        report=report,
        results=report.results,
        run=run,
        made_at=_time(report.results.at),
        created_at=_time(run.created_at),
        took=clock(run.wall(report.results.at)),
        gate=gate_words(report.results),
        gate_said=gate_said(report.results),
        targets=target_columns(report.columns, report.results.rests_on_judges),
        compared=compared_columns(report.compared) if report.compared else (),
        said=_said(report),
        judges=list(judge_report.judge_lines(report.results.judges)),
        flips=list(islice(report.flips, _FLIPS)),
        trials=trials,
        style=style,
        script=script,
        policy=_policy(style, script),
    )


def _page_trial(line: TrialLine, what: ReportedOutcome, made: TrialLines) -> PageTrial:
    asked = made.asked(line)
    told = {
        "Question": asked.get("question"),
        "Output": line.text,
        "Expected": asked.get("expected"),
        "Note": line.note,
    }
    figures = [
        f"score {decimal(line.score)}" if line.score is not None else "",
        seconds(line.latency_s) if line.latency_s is not None else "",
        money(line.cost_usd) if line.cost_usd is not None else "",
        f"finish reason {line.finish_reason}" if line.finish_reason not in (None, "stop") else "",
        many(line.attempts, "attempt") if line.attempts > 1 else "",
        "from the cache" if line.cached else "",
    ]
    return PageTrial(
        line.case_id,
        line.column,
        line.epoch,
        what,
        why(line),
        tuple((title, _text(value)) for title, value in told.items() if value is not None),
        line.scores,
        " · ".join(filter(None, figures)),
        line.tags,
    )


def _text(value: Json) -> str:
    return cut(value if isinstance(value, str) else json_output.dumps(value, indent=2), _TEXT)


def _said(of: RunReport) -> list[str]:
    found = of.comparison
    if found is None:
        return []
    return [f"{row_name(row)}: {said}" for row in of.compared for said in said_of(row, found)]


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text("utf-8")


def _policy(style: str, script: str) -> str:
    """Return the policy: these very styles and this script, and nothing from anywhere."""
    return (
        f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


@cache
def _template() -> Template:
    made = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    made.filters["line"] = markup_line
    made.filters["shown"] = markup_text
    made.filters["cost"] = cost
    made.filters["many"] = many
    made.filters["came_to"] = _came_to
    return made.from_string(_asset("report.html.j2"))


def _came_to(value: float) -> str:
    said = outcome_of_value(value)
    return said if isinstance(said, str) else decimal(said)
