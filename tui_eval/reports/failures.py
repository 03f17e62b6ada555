"""The failures of a run, one line each; and one case in full."""

import json
import sqlite3
from collections.abc import Iterator

from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json
from tui_eval.model.states import Verdict
from tui_eval.model.visible import visible, visible_line
from tui_eval.reports.tables import Ink
from tui_eval.reports.wording import UNKNOWN, decimal, money, seconds
from tui_eval.store import figures, reader
from tui_eval.store.figures import ScoreLine, TrialLine
from tui_eval.store.rows import AttemptRow, ColumnRow
from tui_eval.suites.prompts import Renderer
from tui_eval.suites.spec import Suite
from tui_eval.suites.templates import TemplateError

_REASON = 300
_INDENT = "    "


def failures(db: sqlite3.Connection, run_id: int, ink: Ink) -> Iterator[str]:
    """Give a line for each trial that failed: case, target, and why."""
    settings = Settings.from_json(reader.run(db, run_id).settings)
    suite = Suite.model_validate_json(reader.spec(db, run_id))
    epochs = (settings.epochs or suite.run.epochs) > 1
    for line in figures.lines(db, run_id, failed=True):
        epoch = f" epoch {line.epoch + 1}" if epochs else ""
        why = "; ".join(_why(score) for score in line.scores if score.verdict is Verdict.FAIL)
        name = ink.bold(visible_line(line.case_id, 80))
        yield f"{name}  {visible_line(line.column)}{epoch}  {why}"


def case_in_full(db: sqlite3.Connection, run_id: int, case_id: str, ink: Ink) -> Iterator[str]:
    """Give all that is known of one case in a run: what was asked, answered and found, and when.

    Nothing is given where the run has no such case.
    """
    suite = Suite.model_validate_json(reader.spec(db, run_id))
    columns = {column.name: column for column in reader.columns(db, run_id)}
    lines = figures.lines_of_case(db, run_id, case_id)
    for i, line in enumerate(lines):
        trial = reader.trial(db, line.id)
        assert trial is not None, "a trial of a run is never deleted alone"
        case = reader.case(db, run_id, trial.seq)
        if i == 0:
            yield ink.bold(f"case {visible_line(case_id)}")
            yield from _fields(case.fields)
        yield ""
        yield ink.bold(f"{visible_line(line.column)} · epoch {line.epoch + 1}") + _outcome(line)
        yield from _asked(suite, columns[line.column], case, ink)
        output = None if trial.output is None else reader.output(db, trial.output)
        if output is not None:
            yield from _block("output", output.text, ink)
            yield from _block("reasoning", output.reasoning, ink)
            yield f"  {_measured(line)}"
        if line.error_kind is not None:
            yield f"  {visible_line(line.error_kind)}: {visible(line.error_message or '')}"
        for score in line.scores:
            mark = ink.good("pass") if score.verdict is Verdict.PASS else ink.bad(score.verdict)
            said = visible_line(score.reason, _REASON)
            yield f"  {visible_line(score.scorer)}: {mark} {decimal(score.value)}  {said}"
        for attempt in reader.attempts(db, line.id):
            yield f"  {_attempt(attempt)}"


def _why(score: ScoreLine) -> str:
    return f"{visible_line(score.scorer)}: {visible_line(score.reason, _REASON)}"


def _fields(fields: dict[str, Json]) -> Iterator[str]:
    for name, value in fields.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=True)
        yield f"  {visible_line(name)}: {_indented(visible(text))}"


def _asked(suite: Suite, column: ColumnRow, case: Case, ink: Ink) -> Iterator[str]:
    """Give the messages a target was asked with."""
    asked = Column(column.index, column.name, column.target, column.prompt)
    try:
        messages = Renderer(suite).messages(asked, case)
    except TemplateError as error:
        yield f"  not asked: {visible_line(str(error))}"
        return
    for message in messages:
        content = message.get("content")
        text = content if isinstance(content, str) else json.dumps(content)
        yield from _block(str(message.get("role")), text, ink)


def _outcome(line: TrialLine) -> str:
    verdict = f", {line.verdict}" if line.verdict else ""
    return f"  {line.state}{verdict}, score {decimal(line.score)}"


def _block(title: str, text: str | None, ink: Ink) -> Iterator[str]:
    if text is not None:
        yield f"  {ink.dim(visible_line(title))}"
        yield f"{_INDENT}{_indented(visible(text))}"


def _indented(text: str) -> str:
    return text.replace("\n", f"\n{_INDENT}")


def _measured(line: TrialLine) -> str:
    usage = line.usage
    tokens = "/".join(UNKNOWN if n is None else f"{n:,}" for n in (usage.input, usage.output))
    parts = [
        f"finish {visible_line(line.finish_reason or UNKNOWN)}",
        f"call {seconds(line.latency_s)}",
        f"tokens {tokens}",
        f"cost {money(line.cost_usd)}",
    ]
    return ", ".join([*parts, "from the cache"] if line.cached else parts)


def _attempt(attempt: AttemptRow) -> str:
    times = [
        f"{name} {seconds(spent)}"
        for name, spent in (
            ("queue", attempt.queue_s),
            ("wait", attempt.wait_s),
            ("call", attempt.call_s),
        )
        if spent is not None
    ]
    said = ""
    if attempt.error_kind is not None:
        said = f"  {visible_line(attempt.error_kind)}: "
        said += visible_line(attempt.error_message or "", _REASON)
    return f"attempt {attempt.number} {attempt.state}  {', '.join(times)}{said}"
