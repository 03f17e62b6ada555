"""A run's trials as a report in the Common Test Report Format (CTRF 1.0.0, https://ctrf.io)."""

import sqlite3
import uuid
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import groupby
from typing import Final

from tui_eval import __version__
from tui_eval.model.json import JsonObject
from tui_eval.reports import json_output
from tui_eval.reports.comparison.baseline.base import RunBase
from tui_eval.reports.exports.export_choice import ExportChoice, chosen_lines
from tui_eval.reports.exports.foreign_text import cut
from tui_eval.reports.exports.put_aside import PutAside, put_aside
from tui_eval.reports.exports.run_report import RunReport, run_report
from tui_eval.reports.trial_outcomes import ReportedOutcome, outcome, why
from tui_eval.store.read.report_queries import TrialLine
from tui_eval.store.rows import RunRow

_OUTPUT: Final = 4_000
_STATUS: Final = {
    ReportedOutcome.PASS: "passed",
    ReportedOutcome.FAIL: "failed",
    ReportedOutcome.ERROR: "failed",
    ReportedOutcome.UNGRADED: "other",
    ReportedOutcome.CANCELLED: "skipped",
    ReportedOutcome.OPEN: "pending",
}
_DECIDED: Final = frozenset((ReportedOutcome.PASS, ReportedOutcome.FAIL))
_REPORTS: Final = uuid.UUID("6d0c2f0e-6f0b-4d7e-9a53-0f7a4c1e9b11")
"""The namespace of the reports' ids, which are made of runs' names (UUID 5, RFC 9562)."""


def ctrf(db: sqlite3.Connection, run: RunRow, choice: ExportChoice) -> Iterator[str]:
    """Yield the report. Of a case whose epochs came to different things each trial is `flaky`."""
    report = run_report(db, run, choice)
    counts: Counter[str] = Counter()
    # the summary stands before the tests, and is of those that are written
    with put_aside() as tests:
        _write_tests(db, run, choice, tests, counts)
        head = json_output.dumps(_head(run, report, counts))
        # the tests go to their place at the end of `results`
        yield head.removesuffix("}}") + ', "tests": [\n'
        yield from tests.pieces()
        yield "\n]}}\n"


def _write_tests(
    db: sqlite3.Connection,
    run: RunRow,
    choice: ExportChoice,
    tests: PutAside,
    counts: Counter[str],
) -> None:
    lines = chosen_lines(db, run, choice)
    for _, of_case in groupby(lines, lambda line: line.case.seq):
        of_column: defaultdict[str, list[TrialLine]] = defaultdict(list)
        for line in of_case:
            of_column[line.column].append(line)
        for epochs in of_column.values():
            flaky = (
                len(
                    {outcome(line) for line in epochs}
                    & {ReportedOutcome.PASS, ReportedOutcome.FAIL}
                )
                > 1
            )
            for line in epochs:
                tests.write(",\n" if counts["tests"] else "")
                tests.write(json_output.dumps(_test(run, line, flaky)))
                counts["tests"] += 1
                counts["flaky"] += flaky
                counts[_STATUS[outcome(line)]] += 1


def _test(run: RunRow, line: TrialLine, flaky: bool) -> JsonObject:
    what = outcome(line)
    test: JsonObject = {
        "name": line.case_id if line.epoch == 0 else f"{line.case_id}#{line.epoch + 1}",
        "status": _STATUS[what],
        "duration": round((line.latency_s or 0.0) * 1000),
        "suite": [run.suite, line.column],
        "rawStatus": what.value,
        "retries": max(line.attempts - 1, 0),
        "flaky": flaky,
    }
    if line.tags:
        test["tags"] = [*line.tags]
    if told := why(line):
        test["message"] = told
    if line.text:
        test["stdout"] = [*cut(line.text, _OUTPUT).split("\n")]
    test["extra"] = {
        "target": line.column,
        "epoch": line.epoch,
        "score": line.score,
        "cost_usd": line.cost_usd,
    }
    return test


def _head(run: RunRow, report: RunReport, counts: Counter[str]) -> JsonObject:
    start = round(run.created_at * 1000)
    took = round(run.wall(report.results.at) * 1000)
    head: JsonObject = {
        "reportFormat": "CTRF",
        "specVersion": "1.0.0",
        "reportId": _report_id(run.name),
        "timestamp": datetime.fromtimestamp(report.results.at, UTC).isoformat(),
        "generatedBy": "tui-eval",
    }
    if report.base is not None and (base := _baseline(report.base.base)) is not None:
        head["baseline"] = base
    statuses = ("passed", "failed", "skipped", "pending", "other", "flaky")
    head["results"] = {
        "tool": {"name": "tui-eval", "version": __version__},
        "environment": {"reportName": run.name, "appName": run.suite},
        "extra": {
            of.column.name: {"n": of.rates.n, "pass_rate": json_output.rounded(of.rates.pass_rate)}
            for of in report.columns
        },
        "summary": {
            "tests": counts["tests"],
            **{status: counts[status] for status in statuses},
            "suites": len(report.columns),
            "start": start,
            "stop": start + took,
        },
    }
    return head


def _baseline(base: RunBase) -> JsonObject | None:
    if base.side is None or base.name is None:
        return None
    told: JsonObject = {"reportId": _report_id(base.name), "source": base.name}
    if base.run is not None:
        told["timestamp"] = datetime.fromtimestamp(base.run.created_at, UTC).isoformat()
    return told


def _report_id(name: str) -> str:
    return str(uuid.uuid5(_REPORTS, name))
