"""A request and its result as one line each, in the form of OpenAI's batch files.

Fields: "Batch API" and "The batch object" of OpenAI's API reference (`custom_id`, `method`, `url`,
`body`; `response.status_code`, `response.body`, `error.code`), which Groq, Azure and vLLM's
`run-batch` (`vllm/entrypoints/openai/run_batch.py`) write as well. What vLLM could not do has the
status in `response` and the reason in `error`.
"""

import json
from collections.abc import Mapping
from typing import Final, Literal, TypeAlias

from tui_eval.model.json import Json, JsonObject, compact
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.visible import visible_line
from tui_eval.providers import patience
from tui_eval.providers.answers import chat_output, error_inside, responses_output
from tui_eval.providers.bulk.api import BulkRequest
from tui_eval.providers.bulk.result_lines import ReadReply, without_names
from tui_eval.providers.patience import EndpointIdentity

CallForm: TypeAlias = Literal["chat", "responses"]
"""Which API a body is for."""

PATHS: Final[dict[CallForm, str]] = {"chat": "/v1/chat/completions", "responses": "/v1/responses"}
"""What a line says its body is posted to: the same at every provider, wherever its API starts."""
_UNDONE: Final = {
    "batch_expired": "expired",
    "batch_cancelled": "cancelled",
    "batch_canceled": "cancelled",
}
"""The codes of requests that were never done: the first is documented, of the others neither is."""
_written = compact()


def openai_line(request: BulkRequest, form: CallForm) -> bytes:
    """Return a request as a line, without its end."""
    row = {
        "custom_id": request.custom_id,
        "method": "POST",
        "url": PATHS[form],
        "body": request.body,
    }
    return _written(row).encode("ascii")


def chat_reply(row: JsonObject, where: EndpointIdentity) -> tuple[Output | Failure, Json]:
    """Read a line whose request was one to `/chat/completions`, see `ReadReply`."""
    return _reply(row, where, "chat"), _said(row)


def responses_reply(row: JsonObject, where: EndpointIdentity) -> tuple[Output | Failure, Json]:
    """Read a line whose request was one to `/responses`, see `ReadReply`."""
    return _reply(row, where, "responses"), _said(row)


REPLIES: Final[Mapping[CallForm, ReadReply]] = {"chat": chat_reply, "responses": responses_reply}
"""What reads the lines of each."""


def undone(how: str, message: str) -> Failure:
    """Return the failure of a request that was never done, and costs nothing.

    Args:
        how: `expired` or `cancelled`.
        message: For a person.
    """
    return Failure(how, visible_line(message, 300), retryable=True)


def _said(row: JsonObject) -> Json:
    """Return what must be the same in two lines."""
    response = row.get("response")
    told = response if isinstance(response, dict) else {}
    return [told.get("status_code"), without_names(told.get("body")), row.get("error")]


def _reply(row: JsonObject, where: EndpointIdentity, form: CallForm) -> Output | Failure:
    response, error = row.get("response"), row.get("error")
    status = response.get("status_code") if isinstance(response, dict) else None
    if not isinstance(response, dict) or not isinstance(status, int):
        return _without_response(error, where)
    body = response.get("body")
    if 200 <= status < 300 and not error:
        return chat_output(body) if form == "chat" else responses_output(body)
    if 200 <= status < 300:
        return error_inside(error)
    said = body if body else {"error": error}
    return patience.of_status(status, {}, json.dumps(said).encode(), where)


def _without_response(error: Json, where: EndpointIdentity) -> Failure:
    if not error:
        told = "the line has neither a response with a status nor an error"
        return Failure("bad_answer", told, retryable=True)
    code = error.get("code") if isinstance(error, dict) else None
    how = _UNDONE.get(code) if isinstance(code, str) else None
    if how is None:
        return error_inside(error)
    message = error.get("message") if isinstance(error, dict) else None
    return undone(how, f"{where.host}: {message if isinstance(message, str) else how}")
