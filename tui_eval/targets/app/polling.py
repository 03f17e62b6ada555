"""Asking again until a job is done: its address and its end are templates over the last body."""

import asyncio
import json
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urljoin

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import Failure
from tui_eval.providers.answer_reading import AnswerReader
from tui_eval.providers.app_endpoint import AppEndpoint, AppRequest, TimedAnswer
from tui_eval.suites import loop_bounds
from tui_eval.suites.spec.targets.http import RESPONSE, Polling
from tui_eval.suites.templates.template import Template, TemplateError
from tui_eval.suites.templates.url_template import UrlTemplate
from tui_eval.targets.attempt.attempt_context import AttemptContext

_FALSE: Final = frozenset(("", "false", "none", "0"))
_READ_AT_ONCE: Final = 20_000
"""Bytes of a body that templates see on the loop, for a few milliseconds."""
_AT_ONCE_S: Final = 0.005
_MOST_FAILURES: Final = 5
"""Requests in a row that may fail while a job goes on: it is worth more than they are."""


@dataclass(frozen=True, slots=True)
class JobTemplates:
    """The templates of `poll` with what they know of a case; can be pickled."""

    url: str
    until: str
    field: str
    """The path of the table, for messages."""
    names: JsonObject

    def url_template(self) -> UrlTemplate:
        """Compile that of the address.

        Raises:
            TemplateError: when it cannot be read.
        """
        return UrlTemplate(self.url, f"{self.field}.url")

    def until_template(self) -> Template:
        """Compile that of the end.

        Raises:
            TemplateError: when it cannot be read.
        """
        return Template(self.until, f"{self.field}.until")


@dataclass(frozen=True, slots=True)
class JobState:
    """What a body says of its job."""

    done: bool
    url: str | None = None
    """Where to ask next; None: it does not say."""
    undecided: str = ""
    """Why it is not known whether it is done; empty: it is known."""
    nowhere: str = ""
    """Why there is no such address."""


def job_state(templates: JobTemplates, body: bytes) -> JobState:
    """Say what a body tells of its job; what its templates do not find there is not known yet."""
    try:
        response: Json = json.loads(body)
    except (ValueError, RecursionError):
        told = "the last body is no valid JSON"
        return JobState(False, None, told, told)
    names = {**templates.names, RESPONSE: response}
    undecided = ""
    try:
        value = templates.until_template().value(names)
        truth = value.strip().casefold() not in _FALSE if isinstance(value, str) else bool(value)
        if truth:
            return JobState(True)
    except TemplateError as error:
        undecided = str(error)
    try:
        return JobState(False, templates.url_template().text(names), undecided)
    except TemplateError as error:
        return JobState(False, None, undecided, str(error))


def named_by(spec: Polling, field: str) -> frozenset[str]:
    """Return the names of a case that the templates use.

    Raises:
        TemplateError: when one cannot be read.
    """
    templates = JobTemplates(spec.url, spec.until, field, {})
    return (templates.url_template().names | templates.until_template().names) - {RESPONSE}


@dataclass(frozen=True, slots=True)
class Job:
    """A job that an app was given."""

    templates: JobTemplates
    every: float
    request: AppRequest
    """What began it: its headers go along with each further request."""

    async def answer(
        self,
        endpoint: AppEndpoint,
        first: TimedAnswer,
        reader: AnswerReader,
        attempt: AttemptContext,
    ) -> TimedAnswer | Failure:
        """Ask until the job is done.

        Args:
            endpoint: Where.
            first: What the request that began it was answered.
            reader: Renders what may take long.
            attempt: How long there is, and what is kept where it is cancelled.

        Returns:
            The answer, as if it had taken from the first request until now.
        """
        last, url, failures = first, "", 0
        state = await self._state(last, reader)
        while not (isinstance(state, Failure) or state.done):
            url = state.url or url
            if not url:
                return Failure("bad_answer", state.nowhere, retryable=True, partial=_text(last))
            attempt.partial = _text(last)
            attempt.progress(AttemptProgress("polling"))
            await asyncio.sleep(min(self.every, attempt.left_s))
            if not attempt.left_s:
                return _not_done(last, state, attempt)
            got = await endpoint.send(self._asking(url), attempt.left_s)
            if isinstance(got, Failure):
                failures += 1
                if not attempt.left_s:
                    return _not_done(last, state, attempt)
                if not got.retryable or failures > _MOST_FAILURES:
                    return replace(got, partial=_text(last))
                await asyncio.sleep(min(got.retry_after_s or 0.0, attempt.left_s))
                continue
            last, failures = replace(got, began=first.began), 0
            state = await self._state(last, reader)
        return state if isinstance(state, Failure) else last

    def _asking(self, url: str) -> AppRequest:
        headers = {k: v for k, v in self.request.headers.items() if k != "content-type"}
        return AppRequest("GET", urljoin(self.request.url, url), headers)

    async def _state(self, last: TimedAnswer, reader: AnswerReader) -> JobState | Failure:
        body = last.answer.body
        if len(body) <= _READ_AT_ONCE:
            try:
                with loop_bounds.within(_AT_ONCE_S):
                    return job_state(self.templates, body)
            except loop_bounds.NotAtOnceError:
                pass  # a template that works hard: elsewhere
        return await reader.beside(len(body), job_state, self.templates, body)


def _text(last: TimedAnswer) -> str:
    return last.answer.body[:20_000].decode("utf-8", "replace")


def _not_done(last: TimedAnswer, state: JobState, attempt: AttemptContext) -> Failure:
    why = f": {state.undecided}" if state.undecided else ""
    told = f"the job was not done within {attempt.timeout_s:g} s{why}"
    return Failure("timeout", told, retryable=True, partial=_text(last))
