"""A judge that is a model behind an OpenAI-compatible endpoint, or embedded beside the engine."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.suites.spec import ModelJudgeSpec
from tui_eval.suites.spec.asked.bulk import BulkSpec
from tui_eval.targets.build_context import BuildContext
from tui_eval.targets.bulk_access import BulkAccess
from tui_eval.targets.judges.endpoint_judge import EndpointJudge
from tui_eval.targets.model.endpoint_connection import EndpointConnection
from tui_eval.targets.model.model_bulk import ModelBulk

_FORM: Final = "grades"
"""What the form of the reply is called in requests."""
_REASON: Final = 300
"""Characters of a reason from an embedded model: a small one would go on for ever."""


class ModelJudge(EndpointJudge):
    """Asks a model for grades, in the form of a JSON Schema where the endpoint can do that."""

    def __init__(self, spec: ModelJudgeSpec, context: BuildContext) -> None:
        """Make the judge; its connection is shared with whoever asks at the same address.

        Raises:
            ValueError: its provider or base URL makes no sense.
        """
        super().__init__(spec, context)
        self._spec: ModelJudgeSpec = spec
        self._folder = context.folder
        self._probe = self._connection.probe(spec.model)

    def identity(self) -> JsonObject:
        """Return its parameters and instructions, too: the rubric's request holds neither.

        Raises:
            UnavailableError: where the file of an embedded model cannot be read.
        """
        own: JsonObject = {"params": self._spec.params, "instructions": self._spec.instructions}
        return {**super().identity(), **own}

    def body(self, messages: Sequence[JsonObject], schema: JsonObject) -> JsonObject:
        """Return a request as it goes out; without a form where the endpoint has refused one."""
        return self._body(messages, None if self._probe.refused else schema)

    def bulk(self) -> BulkAccess | None:
        """Return how it is asked through its provider's batch API; None: it is asked live."""
        settings = self._spec.bulk_settings
        if settings is None:
            return None
        return _JudgeBulk(self, self._spec, settings, self._connection, self._folder)

    def form_refused(self) -> None:
        """Learn that a request was refused for the form it asks for: no further one asks."""
        self._probe.ended(refused=True)

    async def ask(
        self, messages: Sequence[JsonObject], schema: JsonObject, *, timeout_s: float
    ) -> Output | Failure:
        """Make one call; what it cost is in the reply.

        A request that is refused for the form it asks for is made again without it at once, and
        so are all that follow.
        """
        if not await self._probe.asks_for_form():
            return await self._call(messages, None, timeout_s)
        refused = False
        try:
            got = await self._call(messages, schema, timeout_s)
            refused = isinstance(got, Failure) and got.kind == "response_format"
        finally:
            self._probe.ended(refused=refused)
        return await self._call(messages, None, timeout_s) if refused else got

    async def _call(
        self, messages: Sequence[JsonObject], schema: JsonObject | None, timeout_s: float
    ) -> Output | Failure:
        body = self._body(messages, schema)
        return await self._connection.call(self._spec, body, timeout_s)

    def _body(self, messages: Sequence[JsonObject], schema: JsonObject | None) -> JsonObject:
        body = self._messages(messages)
        if schema is None:
            return body
        if self._connection.address.embedded:
            schema = strict_for_small_models(schema)
        form: JsonObject = {"name": _FORM, "strict": True, "schema": schema}
        if self._spec.api == "responses":
            text = body.get("text")
            own = text if isinstance(text, dict) else {}
            body["text"] = {**own, "format": {"type": "json_schema", **form}}
        else:
            body["response_format"] = {"type": "json_schema", "json_schema": form}
        return body


class _JudgeBulk(ModelBulk):
    """Sends what a judge would post."""

    def __init__(
        self,
        judge: ModelJudge,
        spec: ModelJudgeSpec,
        settings: BulkSpec,
        connection: EndpointConnection,
        folder: Path,
    ) -> None:
        super().__init__(spec, settings, connection, None, folder)
        self._judge = judge

    async def body(self, request: JsonObject) -> JsonObject | Failure:
        """Return what is posted for messages and the schema of their reply."""
        messages, schema = request["messages"], request["schema"]
        assert isinstance(messages, list), "a call is kept so"
        assert isinstance(schema, dict), "a call is kept so"
        return self._judge.body([one for one in messages if isinstance(one, dict)], schema)

    def heard(self, failure: Failure) -> None:
        """Ask for no form any more where it was refused."""
        if failure.kind == "response_format":
            self._judge.form_refused()


def strict_for_small_models(schema: JsonObject) -> JsonObject:
    """Give a schema that llama.cpp can hold a small model to: short texts, whole numbers in bounds.

    It makes a grammar of the schema, which knows the bounds of whole numbers only.
    """
    found = {name: _held(value) for name, value in schema.items()}
    match found:
        case {"type": "string"} if "enum" not in found:
            found["maxLength"] = _REASON
        case {
            "type": "number",
            "minimum": float() | int() as low,
            "maximum": float() | int() as high,
        }:
            if float(low).is_integer() and float(high).is_integer():
                found |= {"type": "integer", "minimum": int(low), "maximum": int(high)}
    return found


def _held(value: Json) -> Json:
    if isinstance(value, dict):
        return strict_for_small_models(value)
    return [_held(item) for item in value] if isinstance(value, list) else value
