"""A model behind an OpenAI-compatible endpoint, or embedded beside the engine."""

import shlex
from collections.abc import Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Final, Self

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.suites.data.attachments import AttachmentError
from tui_eval.suites.spec import ModelTargetSpec
from tui_eval.suites.spec.tool_answers import sent_tool
from tui_eval.suites.templates.renderer import OpeningMessages
from tui_eval.suites.templates.template import TemplateError
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.base import NothingToSendError, Target
from tui_eval.targets.build_context import BuildContext, ceiling
from tui_eval.targets.bulk_access import BulkAccess
from tui_eval.targets.conversation.call_log import Send
from tui_eval.targets.conversation.model_conversations import CONVERSATION, ModelConversations
from tui_eval.targets.model.model_bulk import ModelBulk
from tui_eval.targets.model.model_caller import ModelCaller
from tui_eval.targets.model.request_files import has_files, with_body

_CHAT: Final = "chat/completions"


class ModelTarget(ModelCaller, Target):
    """Asks a model for one answer a case."""

    def __init__(self, spec: ModelTargetSpec, context: BuildContext) -> None:
        """Make the target; its connection is shared with others of the same address.

        Raises:
            ValueError: its provider or base URL makes no sense.
        """
        self._connection = context.connection(spec)
        super().__init__(spec, context.renderer, self._connection.name)
        own = spec.concurrency or context.suite.run.concurrency
        self.default_concurrency = ceiling(own, self._connection, context.usual)
        self._connection.used_by_target(spec.name, self.default_concurrency)
        self._spec: ModelTargetSpec = spec
        self._tools = _tools(spec)
        self._files = context.attachments
        self._folder = context.folder
        user = context.user
        self.has_user = user is not None
        self._conversations = ModelConversations(
            spec, context.renderer, context.folder, user, context.processes
        )
        self._opened = AsyncExitStack()

    def problem(self) -> str | None:
        """Say which key or model is missing, of the simulated user's too."""
        return super().problem() or self._conversations.problem()

    def identity(self) -> JsonObject:
        """Return endpoint, model and API, and what decides about its conversations.

        Raises:
            UnavailableError: where the file of an embedded model cannot be read.
        """
        return {**super().identity(), **self._conversations.identity()}

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Return the body as it goes out: model, messages, parameters, tools."""
        try:
            opening = self._renderer.opening(column, case)
            messages = self._files.named(opening.messages)
            turns = self._files.named(_as_messages(self._renderer.turns(column, case)))
            conversation = self._conversations.asked(
                column, case, OpeningMessages(messages, opening.begins), turns
            )
        except TemplateError as error:
            return Failure("template", str(error))
        except AttachmentError as error:
            return Failure("attachment", str(error))
        body = self._messages(messages)
        if self._tools:
            body["tools"] = self._tools
        return body if conversation is None else {**body, CONVERSATION: conversation}

    def bulk(self) -> BulkAccess | None:
        """Return how it is asked through its provider's batch API; None: it is asked live."""
        settings = self._spec.bulk_settings
        if settings is None:
            return None
        return ModelBulk(self._spec, settings, self._connection, self._files, self._folder)

    def reads_files(self, request: JsonObject) -> bool:
        """Return whether its messages name pictures or other files."""
        return has_files(request)

    def depends_on_more(self, request: JsonObject) -> bool:
        """Return whether its messages name files, or tools are run in its conversation."""
        return CONVERSATION in request or has_files(request)

    def as_command(self, column: Column, case: Case) -> str:
        """Return a call of curl; an embedded model has no address while no run goes on.

        Raises:
            NothingToSendError: so it is, or the request cannot be rendered.
        """
        where = self._connection.address
        if where.base_url is None:
            raise NothingToSendError(
                "the embedded model's address is known only while the run goes on"
            )
        request = self.request(column, case)
        if isinstance(request, Failure):
            raise NothingToSendError(request.message)
        request.pop(CONVERSATION, None)  # its first call
        url = f"{where.base_url}/{'responses' if self._spec.api == 'responses' else _CHAT}"
        words = ["curl", shlex.quote(url), "-H 'Content-Type: application/json'"]
        if where.api_key_env is not None:
            words.append(f'-H "Authorization: Bearer ${where.api_key_env}"')
        return with_body(words, request, self._spec.api)

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Make one call, or hold a conversation; what it cost is in the output."""
        asked = request.get(CONVERSATION)
        if not isinstance(asked, dict):
            return await self._call(request, attempt)
        first = {name: value for name, value in request.items() if name != CONVERSATION}

        async def call(said: Sequence[JsonObject]) -> tuple[JsonObject, Send]:
            body = {**first, **self._messages([*said])}
            return body, lambda: self._call(body, attempt)

        return await self._conversations.outcome(asked, call, attempt)

    async def _call(self, body: JsonObject, attempt: AttemptContext) -> Output | Failure:
        return await self._connection.call(self._spec, body, attempt.timeout_s)

    async def __aenter__(self) -> Self:
        """Open the connection, and what its conversations need.

        Raises:
            UnavailableError: where that is not possible, saying what to do.
        """
        async with AsyncExitStack() as stack:
            await self._connection.open()
            stack.push_async_callback(self._connection.close)
            await self._conversations.open(stack)
            self._opened = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the connection."""
        await self._opened.aclose()


def _as_messages(turns: Sequence[Json]) -> list[JsonObject]:
    return [{"role": "user", "content": content} for content in turns]


def _tools(spec: ModelTargetSpec) -> list[Json]:
    """Return the tools in the form the API takes; suites write that of the chat API."""
    sent = [sent_tool(tool) for tool in spec.listed_tools]
    return [*sent] if spec.api == "chat" else [_flat(tool) for tool in sent]


def _flat(tool: JsonObject) -> JsonObject:
    function = tool.get("function")
    if not isinstance(function, dict):
        return dict(tool)
    return {**{name: value for name, value in tool.items() if name != "function"}, **function}
