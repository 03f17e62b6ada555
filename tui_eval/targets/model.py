"""A model behind an OpenAI-compatible endpoint, or embedded beside the engine."""

import shlex
from typing import Final

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.output import Failure, Output
from tui_eval.suites.data.attachments import AttachmentError
from tui_eval.suites.spec import ModelTargetSpec
from tui_eval.suites.templates.template import TemplateError
from tui_eval.targets.attempt_context import AttemptContext
from tui_eval.targets.base import NothingToSendError, Target
from tui_eval.targets.build_context import BuildContext, ceiling
from tui_eval.targets.model_caller import ModelCaller
from tui_eval.targets.request_files import with_body

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

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Return the body as it goes out: model, messages, parameters, tools."""
        try:
            messages = self._files.named(self._renderer.messages(column, case))
        except TemplateError as error:
            return Failure("template", str(error))
        except AttachmentError as error:
            return Failure("attachment", str(error))
        body = self._messages(messages)
        if self._tools:
            body["tools"] = self._tools
        return body

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
        url = f"{where.base_url}/{'responses' if self._spec.api == 'responses' else _CHAT}"
        words = ["curl", shlex.quote(url), "-H 'Content-Type: application/json'"]
        if where.api_key_env is not None:
            words.append(f'-H "Authorization: Bearer ${where.api_key_env}"')
        return with_body(words, request, self._spec.api)

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Make one call; what it cost is in the output."""
        return await self._connection.call(self._spec, request, attempt.timeout_s)


def _tools(spec: ModelTargetSpec) -> list[Json]:
    """Return the tools in the form the API takes; suites write that of the chat API."""
    if spec.tools is None:
        return []
    if isinstance(spec.tools, str):
        raise TypeError("the suite's tools are still a path: they were not read")
    if spec.api == "chat":
        return [dict(tool) for tool in spec.tools]
    return [_flat(tool) for tool in spec.tools]


def _flat(tool: JsonObject) -> JsonObject:
    function = tool.get("function")
    if not isinstance(function, dict):
        return dict(tool)
    return {**{name: value for name, value in tool.items() if name != "function"}, **function}
