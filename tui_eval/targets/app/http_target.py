"""An app behind an address, asked over HTTP."""

import asyncio
import json
import shlex
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import Final, Self

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers import keys
from tui_eval.providers.answer_reading import READ_AT_ONCE, AnswerReader, redacted
from tui_eval.providers.app_endpoint import AppEndpoint, AppKey, TimedAnswer, origin_of
from tui_eval.providers.errors import UnavailableError
from tui_eval.providers.http.event_streams import EventStream, event_stream
from tui_eval.providers.presets import host_of
from tui_eval.providers.waiting import exhausted
from tui_eval.suites.spec.targets.http import HttpTargetSpec, literal_origin
from tui_eval.suites.templates.renderer import with_prompt
from tui_eval.suites.templates.template import TemplateError
from tui_eval.targets.app.polling import Job, JobTemplates, named_by
from tui_eval.targets.app.reply_mapping import (
    OUTPUT,
    ReplyMapping,
    partial_text,
    read_events,
    read_reply,
)
from tui_eval.targets.app.request_templates import RequestTemplates, outgoing
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.base import NothingToSendError, Target
from tui_eval.targets.build_context import BuildContext, fixed
from tui_eval.targets.conversation.call_log import Send
from tui_eval.targets.conversation.dialogue import Dialogue, DialogueParts

TURNS: Final = "turns"
"""Where a request has what is asked after the first reply."""
_AUTHORIZATION: Final = "authorization"


class HttpTarget(Target):
    """Sends an app one request a case, and reads by JSON paths what it answers."""

    def __init__(self, spec: HttpTargetSpec, context: BuildContext) -> None:
        """Make the target.

        Raises:
            TemplateError: for a template that cannot be read.
        """
        self._origin = origin_of(literal_origin(spec.url))
        super().__init__(spec, context.renderer, f"http|{self._origin}|{spec.api_key_env or ''}")
        self.default_concurrency = fixed(
            spec.concurrency or context.suite.run.concurrency or context.usual
        )
        self._spec = spec
        self._templates = RequestTemplates(spec)
        self._mapping = ReplyMapping.of(spec)
        self._poll_field = f"targets.{spec.name}.poll"
        self._polled_by = (
            frozenset[str]() if spec.poll is None else named_by(spec.poll, self._poll_field)
        )
        self._prices = spec.token_prices()
        self._endpoint: AppEndpoint | None = None
        self._reader = AnswerReader()
        self._found = False
        """Whether an answer had an output where the suite says that it is."""

    def problem(self) -> str | None:
        """Say which key is missing."""
        try:
            self._key()
        except UnavailableError as error:
            return str(error)
        return None

    def note(self) -> str | None:
        """Return a warning about a key that is an ordinary word."""
        variable = self._spec.api_key_env
        said = None if variable is None else keys.word_note(variable)
        return None if said is None else f"{said}: {self._needed_by()}"

    def identity(self) -> JsonObject:
        """Return the key's name and header, and how the answer is got and read."""
        spec = self._spec
        known: JsonObject = {"kind": self.kind, **self._mapping.identity()}
        if spec.api_key_env is not None:
            known["key"] = {"env": spec.api_key_env, "header": spec.api_key_header.lower()}
        if spec.stream is not None:
            known["stream"] = spec.stream
        if spec.poll is not None:
            known["poll"] = {"url": spec.poll.url, "until": spec.poll.until}
        if spec.version is not None:
            known["version"] = spec.version
        return known

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Return the request as it goes out, but for the key; what polling names of the case."""
        try:
            return self._request(column, case)
        except TemplateError as error:
            return Failure("template", str(error))

    def _request(self, column: Column, case: Case) -> JsonObject:
        names = self._renderer.target_names(column, case)
        request = self._templates.rendered(names)
        used: JsonObject = {name: names[name] for name in self._polled_by if name in names}
        if used:
            request["poll"] = used
        turns = self._renderer.turns(column, case)
        if not turns:
            return request
        named: JsonObject = {name: names[name] for name in self._templates.names if name in names}
        opening: list[Json] = [*self._renderer.messages(column, case)]
        return {**request, TURNS: {"says": [*turns], "opening": opening, "names": named}}

    def shown(self, column: Column, case: Case) -> list[JsonObject]:
        """Return the request as one message: its line and its body.

        Raises:
            TemplateError: when a template cannot be rendered for the case.
        """
        request = self._request(column, case)
        lines = [f"{request['method']} {request['url']}"]
        if "text" in request:
            lines += ["", str(request["text"])]
        elif "body" in request:
            lines += ["", json.dumps(request["body"], ensure_ascii=False, indent=2)]
        return [{"role": "user", "content": "\n".join(lines)}]

    def as_command(self, column: Column, case: Case) -> str:
        """Return a call of curl.

        Raises:
            NothingToSendError: the request cannot be rendered.
        """
        request = self.request(column, case)
        if isinstance(request, Failure):
            raise NothingToSendError(request.message)
        sent = outgoing(request)
        words = ["curl", "-N"] if self._spec.stream is not None else ["curl"]
        if sent.method != ("GET" if sent.body is None else "POST"):
            words += ["-X", sent.method]
        words.append(shlex.quote(sent.url))
        words += [f"-H {shlex.quote(f'{name}: {value}')}" for name, value in sent.headers.items()]
        if self._spec.api_key_env is not None:
            key = f"{self._bearer()}${self._spec.api_key_env}"
            words.append(f'-H "{self._spec.api_key_header}: {key}"')
        if sent.body is not None:
            text = request.get("text")
            body = text if text is not None else json.dumps(request["body"], ensure_ascii=False)
            words += ["--data-binary", shlex.quote(str(body))]
        return " ".join(words)

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Send the request, wait for the job where there is one, and read the answer.

        To each further turn of the user another one, with the conversation so far.
        """
        turns = request.get(TURNS)
        if not isinstance(turns, dict):
            return await self._sent(request, attempt)
        opening, says, names = turns["opening"], turns["says"], turns["names"]
        assert isinstance(opening, list) and isinstance(says, list) and isinstance(names, dict)
        beside = {name: request[name] for name in ("poll",) if name in request}

        async def call(said: Sequence[JsonObject]) -> tuple[JsonObject, Send] | Failure:
            seen = with_prompt(names, said)
            try:
                asked = await asyncio.to_thread(self._templates.rendered, seen)
            except TemplateError as error:
                return Failure("template", str(error))
            asked |= beside
            return asked, lambda: self._reply(asked, attempt)

        parts = DialogueParts(
            opening=tuple(one for one in opening if isinstance(one, dict)),
            begins=0,
            turns=tuple(says),
            target=call,
            max_replies=1,
            calls_end=False,
        )
        return await Dialogue(parts, attempt).outcome()

    async def _reply(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Make a call of a conversation, with all the time that one may take."""
        own = attempt.begun_now()
        try:
            return await self._sent(request, own)
        finally:
            attempt.partial = own.partial

    async def _sent(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        stream = self._spec.stream
        events = None if stream is None else event_stream(stream)
        try:
            got = await self._answer(request, attempt, events)
        except asyncio.CancelledError:
            if events is not None:
                attempt.partial = partial_text(self._mapping, events.events)
            raise
        if isinstance(got, Failure):
            if events is None or not events.events:
                return redacted(got)
            said = partial_text(self._mapping, events.events)
            return redacted(replace(got, partial=said))
        return self._priced(await self._read(got, events))

    async def _answer(
        self, request: JsonObject, attempt: AttemptContext, events: EventStream | None
    ) -> TimedAnswer | Failure:
        endpoint, sent = self._endpoint, outgoing(request)
        assert endpoint is not None, "the target is open"
        got = await endpoint.send(sent, attempt.left_s, events)
        if isinstance(got, Failure):
            own = got.kind == "not_found" and self._templates.address_varies
            return replace(got, fatal=False) if own else got
        poll, names = self._spec.poll, request.get("poll", {})
        if poll is None:
            return got
        assert isinstance(names, dict)
        templates = JobTemplates(poll.url, poll.until, self._poll_field, names)
        job = Job(templates, poll.every, sent)
        return await job.answer(endpoint, got, self._reader, attempt)

    async def _read(self, got: TimedAnswer, events: EventStream | None) -> Output | Failure:
        reader, mapping, body = self._reader, self._mapping, got.answer.body
        came = None if events is None else tuple(events.events)
        size = len(body) if came is None else sum(len(event.data) for event in came)
        at_once = size <= READ_AT_ONCE and mapping.linear
        if came is None:
            read = await reader.read(size, at_once, read_reply, mapping, body)
        else:
            read = await reader.read(size, at_once, read_events, mapping, came)
        nothing_left = exhausted(got.answer.headers)
        if isinstance(read, Output):
            self._found = True
            latency = got.ended - got.began
            return replace(read, latency_s=latency, exhausted=nothing_left)
        # a path that has never led anywhere is the suite's mistake: every trial would meet it
        fatal = read.kind == OUTPUT and not self._found
        return replace(read, fatal=fatal, exhausted=nothing_left)

    def _priced(self, got: Output | Failure) -> Output | Failure:
        if got.cost_usd is not None or self._prices is None:
            return got
        return replace(got, cost_usd=self._prices.of(got.usage))

    def _key(self) -> AppKey | None:
        """Read the key.

        Raises:
            MissingKeyError: it is not there, or is none that can be sent.
        """
        variable = self._spec.api_key_env
        if variable is None:
            return None
        value = keys.resolve(variable, self._needed_by())
        return AppKey(variable, self._spec.api_key_header, self._bearer() + value)

    def _bearer(self) -> str:
        return "Bearer " if self._spec.api_key_header.lower() == _AUTHORIZATION else ""

    def _needed_by(self) -> str:
        return f"target {self.name!r} ({host_of(self._origin)})"

    async def __aenter__(self) -> Self:
        """Open the connection.

        Raises:
            UnavailableError: where its key is missing.
        """
        endpoint = AppEndpoint(self._origin, self._key())
        self._endpoint = await endpoint.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the connection."""
        self._reader.close()
        endpoint, self._endpoint = self._endpoint, None
        if endpoint is not None:
            await endpoint.__aexit__(kind, error, trace)
