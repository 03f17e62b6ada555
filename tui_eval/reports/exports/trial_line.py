"""One trial as JSON: a line of an export, and an event each time it settles."""

import sqlite3
from contextlib import suppress

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import last_user_text
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.reports.json_output import rounded
from tui_eval.reports.judging.opinions import spread
from tui_eval.scoring.check import Subject
from tui_eval.scoring.scorers import Scorers
from tui_eval.store.read import run_queries
from tui_eval.store.read.report_queries import TrialLine
from tui_eval.suites.frozen_suite import readable_suite
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.suites.templates.template import TemplateError

_MEANT: frozenset[str] = frozenset(("scorers", "skip", "tags"))
"""Columns that say how a case is graded and grouped, not what it is about."""


class TrialLines:
    """Gives the trials of one run the way exports and events show them."""

    def __init__(self, db: sqlite3.Connection, run_id: int, *, case: bool = True) -> None:
        """Read what all lines need.

        Args:
            db: The connection.
            run_id: The run.
            case: Whether lines tell of their case: `question`, `expected`, `metadata`.
        """
        self._run = run_queries.run(db, run_id).name
        self._told = case
        suite = readable_suite(db, run_id)
        self._columns = {
            row.name: Column(row.index, row.name, row.target, row.prompt)
            for row in run_queries.columns(db, run_id)
        }
        self._renderer = None if suite is None else Renderer(suite)
        self._scorers = (
            Scorers(()) if suite is None else Scorers(suite.scorers, suite.names_of_output)
        )
        self._hidden = _MEANT
        if suite is not None:
            self._hidden |= {suite.dataset.id or "id", *suite.recorded_columns}

    def json(self, line: TrialLine) -> JsonObject:
        """Return a trial as JSON.

        `latency_s`, `tokens` and `finish_reason` are of the output, wherever it came from;
        `cost_usd` is what the trial cost in this run: 0 where its output came from the cache.
        """
        return {
            "run": self._run,
            "case_id": line.case_id,
            "target": line.column,
            "epoch": line.epoch,
            "state": line.state,
            "verdict": line.verdict,
            "score": line.score,
            "output": line.text,
            "finish_reason": line.finish_reason,
            "error": (
                None
                if line.error_kind is None
                else {"kind": line.error_kind, "message": line.error_message}
            ),
            "attempts": line.attempts,
            **self.asked(line),
            "messages": list(line.messages) or None,
            "phase": line.phase,
            **line.record.as_json(),
            "latency_s": rounded(line.latency_s),
            "tokens": {"input": line.usage.input, "output": line.usage.output},
            "cost_usd": line.cost_usd,
            "cost_about_usd": line.about_usd,
            "self_reported": line.self_reported,
            "cached": line.cached,
            "tags": list(line.tags),
            "note": line.note,
            "scores": [
                {
                    "scorer": score.scorer,
                    "value": score.value,
                    "raw": score.raw,
                    "sd": rounded(spread(score.raw)),
                    "verdict": score.verdict,
                    "reason": score.reason,
                    "source": score.source,
                }
                for score in line.scores
            ],
        }

    def asked(self, line: TrialLine) -> JsonObject:
        """Return `question`, `expected` and `metadata` of a trial's case; empty: not to be told.

        The question is the last that the user says, None where a template fails or there is no
        prompt. Expected is what the first scorer that expects something expects.
        """
        if not self._told:
            return {}
        messages: list[JsonObject] = []
        if self._renderer is not None:
            with suppress(TemplateError):  # the trial's error says so
                messages = self._renderer.messages(self._columns[line.column], line.case)
        question = last_user_text(messages)
        output = Output(
            line.text,
            messages=line.messages,
            fields=line.fields,
            finish_reason=line.finish_reason,
        )
        target = self._columns[line.column].target
        subject = Subject(line.case, question, tuple(messages), output, target)
        return {
            "question": question,
            "expected": self._expected(subject),
            "metadata": self._metadata(line.case),
        }

    def _expected(self, subject: Subject) -> Json:
        checks = self._scorers.checks(subject)
        for check in () if isinstance(checks, Failure) else checks:
            wanted = check.settings.get("expected", check.settings.get("reference"))
            if wanted is not None and not check.negate:
                return wanted[0] if isinstance(wanted, list) and len(wanted) == 1 else wanted
        return None

    def _metadata(self, case: Case) -> JsonObject:
        return {name: value for name, value in case.fields.items() if name not in self._hidden}
