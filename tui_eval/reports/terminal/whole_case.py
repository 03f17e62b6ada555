"""One case in full: what was asked, answered and found, every attempt, and what came before."""

import json
import sqlite3
from collections.abc import Iterator

from tui_eval.format import SELF_REPORTED, UNKNOWN, call_cost, decimal, left_words, seconds
from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import text_of
from tui_eval.model.outputs.output import Output
from tui_eval.model.states import TrialState, Verdict
from tui_eval.model.visible import visible, visible_line
from tui_eval.reports.judging.opinions import opinions
from tui_eval.reports.programs.program_words import (
    done_words,
    exit_words,
    isolation_words,
    taken_words,
)
from tui_eval.reports.rates.epoch_spread import epoch_spread
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.trials import output_queries, trial_queries
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.store.rows import AttemptRow, ColumnRow, ScoreRow, TrialRow
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.spec import Suite
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.suites.templates.template import TemplateError

_INDENT = "    "
_DEEPER = "      "
_NO_OUTPUT = {
    TrialState.QUEUED: "waits for its turn",
    TrialState.RUNNING: "the call is in flight",
    TrialState.SCORING: "is being scored",
}


def case_in_full(
    db: sqlite3.Connection, run_id: int, case_id: str, now: float, ink: AnsiStyle
) -> Iterator[str]:
    """Yield all that is known of one case in a run.

    Nothing is given where the run has no such case.

    Args:
        db: The connection.
        run_id: The run.
        case_id: The case.
        now: The present moment (Unix seconds).
        ink: Colours or none.
    """
    suite = frozen_suite(db, run_id)
    columns = {column.name: column for column in run_queries.columns(db, run_id)}
    lines = report_queries.lines_of_case(db, run_id, case_id)
    epochs = any(line.epoch for line in lines)
    spreads = {
        column: epoch_spread(line.score for line in lines if line.column == column)
        for column in columns
    }
    for i, line in enumerate(lines):
        found = trial_queries.whole(db, run_id, line.id)
        assert found is not None, "a trial of a run is never deleted alone"
        if i == 0:
            name = visible_line(run_queries.run(db, run_id).name)
            yield f"{ink.bold(f'case {visible_line(case_id)}')} of {name}"
            yield from _case(found.case)
        yield ""
        if line.epoch == 0 and (spread := spreads[line.column]) is not None:
            yield f"{visible_line(line.column)}: {spread.words}"
        epoch = f" · epoch {line.epoch + 1}" if epochs else ""
        yield f"{ink.bold(visible_line(line.column) + epoch)}  {_outcome(found.trial, now, ink)}"
        yield from _Trial(db, found, ink).lines(suite, columns[line.column])


def _case(case: Case) -> Iterator[str]:
    for name, value in case.fields.items():
        yield f"  {visible_line(name)}: {_indented(_text(value))}"
    if case.tags and "tags" not in case.fields:
        yield f"  tags: {visible_line(', '.join(case.tags))}"


class _Trial:
    """The lines of one trial."""

    def __init__(self, db: sqlite3.Connection, found: WholeTrial, ink: AnsiStyle) -> None:
        self._db = db
        self._found = found
        self._ink = ink

    def lines(self, suite: Suite, column: ColumnRow) -> Iterator[str]:
        """Yield them all."""
        found, ink = self._found, self._ink
        trial, output = found.trial, found.output
        if trial.note is not None:
            yield f"  {ink.dim('note')} {_indented(visible(trial.note))}"
        yield from self._asked(suite, column)
        if output is not None:
            yield from self._answered(output)
            yield f"  {ink.dim(_measured(output, trial))}"
        current = [score for score in found.scores if score.current and not score.superseded]
        for score in current:
            yield f"  {_score(score, ink)}"
            for line in opinions(score.source, score.raw):
                told = visible_line(line.text)
                yield f"{_INDENT}{'  ' * line.depth}{ink.bad(told) if line.met is False else told}"
        for attempt in found.attempts:
            yield from self._attempt(attempt)
        if not found.attempts and trial.cached:
            yield "  no attempt: the output was in the store"
        earlier = [score for score in found.scores if score not in current]
        if earlier:
            yield f"  {ink.dim('scores that count no more')}"
            for score in earlier:
                yield f"{_INDENT}{_score(score, ink)}"

    def _asked(self, suite: Suite, column: ColumnRow) -> Iterator[str]:
        asked = Column(column.index, column.name, column.target, column.prompt)
        try:
            messages = Renderer(suite).messages(asked, self._found.case)
        except TemplateError as error:
            if self._found.trial.error_kind != "template":
                yield f"  what was asked cannot be shown: {visible_line(str(error))}"
            return
        for message in messages:
            yield from self._message(message)

    def _answered(self, output: Output) -> Iterator[str]:
        if output.messages:
            for message in output.messages:
                yield from self._message(message)
            if output.text is not None and output.text != output.messages[-1].get("content"):
                yield from self._block("output", output.text)
        elif output.text is None:
            yield "  the answer has no text"
        else:
            yield from self._block("output", output.text)
        if output.reasoning is not None:
            yield from self._block("reasoning", output.reasoning)

    def _message(self, message: JsonObject) -> Iterator[str]:
        content, calls = message.get("content"), message.get("tool_calls")
        if content is not None or not calls:
            yield from self._block(str(message.get("role")), text_of(content))
        for call in calls if isinstance(calls, list) else []:
            yield from self._block("calls a tool", _text(call))

    def _program(self, attempt: AttemptRow) -> Iterator[str]:
        left = self._found.records.get(attempt.id)
        if left is None:
            return
        ended = filter(None, (exit_words(left.record), isolation_words(left.record)))
        for words in ([*ended, *taken_words(left.record)], done_words(left.record)):
            if words:
                yield f"{_INDENT}{', '.join(words)}"

    def _attempt(self, attempt: AttemptRow) -> Iterator[str]:
        times = [
            f"{name} {seconds(spent)}"
            for name, spent in (
                ("queue", attempt.queue_s),
                ("wait", attempt.wait_s),
                ("call", attempt.call_s),
            )
            if spent is not None
        ]
        if attempt.status is not None:
            times.append(f"HTTP {attempt.status}")
        if attempt.retry_after_s is not None:
            times.append(f"asked to wait {seconds(attempt.retry_after_s)}")
        yield f"  attempt {attempt.number} {attempt.ending}  {', '.join(times)}"
        if attempt.bulk is not None:
            yield f"{_INDENT}{visible_line(attempt.bulk.words)}"
            left_at = self._found.trial.left_at
            if attempt.state == "sent" and left_at is not None:
                yield f"{_INDENT}{visible_line(left_words(left_at))}"
        yield from self._program(attempt)
        if attempt.error_kind is not None:
            why = f"{visible_line(attempt.error_kind)}: {visible(attempt.error_message or '')}"
            yield f"{_INDENT}{_indented(why)}"
        if attempt.partial and attempt.output is None:
            yield f"{_INDENT}{self._ink.dim('had arrived')}"
            yield f"{_DEEPER}{_indented(visible(attempt.partial), _DEEPER)}"
        if attempt.printed:
            yield f"{_INDENT}{self._ink.dim('printed')}"
            yield f"{_DEEPER}{_indented(visible(attempt.printed), _DEEPER)}"
        present = self._found.trial.output
        if attempt.output is not None and attempt.output != present:
            yield from self._came_of(attempt, output_queries.output(self._db, attempt.output))

    def _came_of(self, attempt: AttemptRow, before: Output) -> Iterator[str]:
        """Yield what an attempt gave that its trial does not have."""
        if attempt.state == "answered":
            yield f"{_INDENT}{self._ink.dim('gave, before it was asked again')}"
            yield f"{_DEEPER}{_indented(visible(before.text or UNKNOWN), _DEEPER)}"
            return
        yield f"{_INDENT}{self._ink.dim('its conversation')}"
        for message in before.messages:
            for line in self._message(message):
                yield f"{_INDENT}{_indented(line)}"

    def _block(self, title: str, text: str) -> Iterator[str]:
        yield f"  {self._ink.dim(visible_line(title))}"
        yield f"{_INDENT}{_indented(visible(text))}"


def _outcome(trial: TrialRow, now: float, ink: AnsiStyle) -> str:
    """Say what became of a trial, or what it waits for."""
    match trial.state:
        case TrialState.DONE:
            verdict = str(trial.verdict)
            if trial.verdict is Verdict.PASS:
                verdict = ink.good(verdict)
            elif trial.verdict is Verdict.FAIL:
                verdict = ink.bad(verdict)
            return f"{verdict}, score {decimal(trial.score)}"
        case TrialState.ERROR:
            kind = visible_line(trial.error_kind or "")
            return f"{ink.bad('error')}: {kind}: {visible_line(trial.error_message or '')}"
        case TrialState.CANCELLED:
            return "cancelled"
        case waiting:
            why = visible_line(trial.waiting or _NO_OUTPUT[waiting])
            left = trial.waiting_until - now if trial.waiting_until is not None else 0.0
            return f"{waiting}: {why}{f', {seconds(left)} left' if left > 0 else ''}"


def _measured(output: Output, trial: TrialRow) -> str:
    usage = output.usage
    tokens = "/".join(UNKNOWN if n is None else f"{n:,}" for n in (usage.input, usage.output))
    parts = [
        f"finish {visible_line(output.finish_reason or UNKNOWN)}",
        f"call {seconds(output.latency_s)}",
        f"tokens in/out {tokens}",
    ]
    if usage.reasoning:
        parts.append(f"{usage.reasoning:,} of them reasoning")
    parts.append(f"cost {call_cost(trial.cost_usd, trial.about_usd)}")
    if output.self_reported:
        parts.append(SELF_REPORTED)
    if output.model:
        parts.append(visible_line(output.model))
    if trial.cached:
        parts.append("from the cache")
    return ", ".join(parts)


def _score(score: ScoreRow, ink: AnsiStyle) -> str:
    verdict = str(score.verdict)
    if score.verdict is Verdict.PASS:
        verdict = ink.good(verdict)
    elif score.verdict is Verdict.FAIL:
        verdict = ink.bad(verdict)
    about = [] if score.required else ["reported only"]
    about += [] if score.source == "code" else [f"by {visible_line(score.source)}"]
    about += [] if score.withdrawn_at is None else ["withdrawn"]
    how = f" ({', '.join(about)})" if about else ""
    value = f" {decimal(score.value)}" if score.value is not None else ""
    return f"{visible_line(score.scorer)}{how}: {verdict}{value}  {visible_line(score.reason)}"


def _text(value: Json) -> str:
    return visible(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _indented(text: str, indent: str = _INDENT) -> str:
    return text.replace("\n", f"\n{indent}")
