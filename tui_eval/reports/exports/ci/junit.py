"""A run's trials as JUnit's XML, as CI servers read it.

There is no standard; what is written here is what Jenkins, GitLab, GitHub's reporters and
junitparser have in common. A column is a `testsuite`, a trial a `testcase`.
"""

import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Final
from xml.sax.saxutils import escape, quoteattr

from tui_eval.reports.column_results import ColumnResults
from tui_eval.reports.exports.export_choice import ExportChoice, chosen_lines
from tui_eval.reports.exports.foreign_text import cut, markup_text
from tui_eval.reports.exports.put_aside import PutAside, put_aside
from tui_eval.reports.exports.run_report import run_report
from tui_eval.reports.trial_outcomes import ReportedOutcome, outcome, why
from tui_eval.store.read.report_queries import TrialLine
from tui_eval.store.rows import RunRow

_OUTPUT: Final = 4_000
"""Characters of an output."""
_MESSAGE: Final = 300
_ELEMENTS: Final = {
    ReportedOutcome.FAIL: "failure",
    ReportedOutcome.ERROR: "error",
    ReportedOutcome.UNGRADED: "skipped",
    ReportedOutcome.CANCELLED: "skipped",
    ReportedOutcome.OPEN: "skipped",
}


@dataclass(slots=True)
class _Suite:
    """The test cases of one column, written beside the file, where their numbers come first."""

    cases: PutAside
    counts: dict[str, int] = field(default_factory=dict)
    """By element; `testcase`: all."""
    seconds: float = 0.0

    def add(self, line: TrialLine, run: RunRow) -> None:
        what = outcome(line)
        element = _ELEMENTS.get(what)
        for name in ("testcase", *((element,) if element else ())):
            self.counts[name] = self.counts.get(name, 0) + 1
        self.seconds += line.latency_s or 0.0
        self.cases.write(_testcase(line, run, element, what))

    def count(self, name: str) -> int:
        return self.counts.get(name, 0)


def junit(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[str]:
    """Yield the XML. No trial is dropped: what is not graded is `skipped`, with the reason."""
    report = run_report(db, run, choice)
    with ExitStack() as open_files:
        suites = {
            of.column.name: _Suite(open_files.enter_context(put_aside())) for of in report.columns
        }
        for line in chosen_lines(db, run, choice):
            suites[line.column].add(line, run)
        yield '<?xml version="1.0" encoding="UTF-8"?>\n'
        whole = _attributes(run.suite, [*suites.values()])
        yield f"<testsuites{whole}>\n"
        for of in report.columns:
            suite = suites[of.column.name]
            name = f"{run.suite}.{of.column.name}"
            started = datetime.fromtimestamp(run.created_at, UTC).replace(tzinfo=None)
            stamp = f" timestamp={quoteattr(started.isoformat(timespec='seconds'))}"
            yield f"  <testsuite{_attributes(name, [suite])}{stamp}>\n"
            yield from _properties(run, of)
            yield from suite.cases.pieces()
            yield "  </testsuite>\n"
        yield "</testsuites>\n"


def _attributes(name: str, suites: list[_Suite]) -> str:
    counted: Mapping[str, object] = {
        "name": name,
        "tests": sum(one.count("testcase") for one in suites),
        "failures": sum(one.count("failure") for one in suites),
        "errors": sum(one.count("error") for one in suites),
        "skipped": sum(one.count("skipped") for one in suites),
        "time": f"{sum(one.seconds for one in suites):.3f}",
    }
    return "".join(f" {key}={_quoted(str(value))}" for key, value in counted.items())


def _properties(run: RunRow, of: ColumnResults) -> Iterator[str]:
    rates = of.rates
    told: dict[str, object] = {
        "run": run.name,
        "target": of.column.name,
        "model": of.column.model,
        "n": rates.n,
        "pass_rate": _figure(rates.pass_rate),
        "pass_rate_ci95": rates.interval and " ".join(f"{end:.6g}" for end in rates.interval),
        "mean_score": _figure(rates.mean_score),
        "cost_usd": of.counts.cost_usd,
    }
    yield "    <properties>\n"
    for name, value in told.items():
        if value is not None:
            yield f"      <property name={_quoted(name)} value={_quoted(str(value))}/>\n"
    yield "    </properties>\n"


def _figure(value: float | None) -> str | None:
    return None if value is None else f"{value:.6g}"


def _testcase(line: TrialLine, run: RunRow, element: str | None, what: ReportedOutcome) -> str:
    name = line.case_id if line.epoch == 0 else f"{line.case_id}#{line.epoch + 1}"
    took = f" time={_quoted(f'{line.latency_s:.3f}')}" if line.latency_s is not None else ""
    classname = _quoted(f"{run.suite}.{line.column}")
    lines = [f"    <testcase name={_quoted(name)} classname={classname}{took}>"]
    if element is not None:
        said = why(line)
        told = f"message={_quoted(cut(said, _MESSAGE))}"
        kind = "" if element == "skipped" else f" type={_quoted(line.error_kind or what)}"
        lines.append(f"      <{element} {told}{kind}>{_escaped(said)}</{element}>")
    if line.text:
        lines.append(f"      <system-out>{_escaped(cut(line.text, _OUTPUT))}</system-out>")
    lines.append("    </testcase>\n")
    return "\n".join(lines)


def _escaped(text: str) -> str:
    return escape(markup_text(text))


def _quoted(text: str) -> str:
    return quoteattr(markup_text(text))
