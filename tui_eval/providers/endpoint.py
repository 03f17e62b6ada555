"""One connection to one OpenAI-compatible endpoint: a request goes in, a value comes out."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Self

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers import patience
from tui_eval.providers.answer_reading import READ_AT_ONCE, AnswerReader
from tui_eval.providers.answers import chat_output, responses_output
from tui_eval.providers.embeddings import Pairs, cosines_output
from tui_eval.providers.errors import NEVER_LEFT, WireError
from tui_eval.providers.http.placed_call import placed_call
from tui_eval.providers.keys import NO_KEY, redact_json
from tui_eval.providers.presets import host_of
from tui_eval.providers.waiting import exhausted

if TYPE_CHECKING:
    from tui_eval.providers.http.client import Client

MAX_BODY = 32 * 1024 * 1024
"""Bytes of one answer, decompressed, that are read at most."""


class Endpoint:
    """An async connection; `async with` opens and closes its pool.

    One attempt each call: nothing is retried here, nothing is raised for what an endpoint does.
    """

    def __init__(
        self,
        base_url: str,
        api_key: str = NO_KEY,
        *,
        key_env: str | None = None,
        max_body: int = MAX_BODY,
    ) -> None:
        """Describe a connection; cheap, nothing is imported or opened yet.

        Args:
            base_url: Where the API starts.
            api_key: The secret itself, or a dummy.
            key_env: The variable it came from, named in advice.
            max_body: Bytes of one decompressed answer that are read at most.
        """
        self._base_url = base_url
        self._api_key = api_key
        self._key_env = key_env
        self._max_body = max_body
        self._host = host_of(base_url)
        self._client: Client | None = None
        self._reader = AnswerReader()
        self._reached = False

    async def __aenter__(self) -> Self:
        """Open the pool; connections are made when they are needed."""
        # aiohttp takes a while to import: only where calls are made, and beside the loop, which
        # has a lease to renew meanwhile
        client_class = await asyncio.to_thread(_client_class)
        self._client = client_class(self._base_url, self._api_key, self._max_body)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection."""
        self._reader.close()
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def chat(self, body: JsonObject, timeout_s: float) -> Output | Failure:
        """Make one request to `/chat/completions`.

        Args:
            body: The request as it goes out.
            timeout_s: Seconds from now until the whole answer must be here.
        """
        return await self._attempt("/chat/completions", body, timeout_s, chat_output)

    async def responses(self, body: JsonObject, timeout_s: float) -> Output | Failure:
        """Make one request to `/responses` (see `chat`)."""
        return await self._attempt("/responses", body, timeout_s, responses_output)

    async def cosines(self, body: JsonObject, pairs: Pairs, timeout_s: float) -> Output | Failure:
        """Make one request to `/embeddings`, for how alike some of its texts are (see `chat`).

        The output's `fields` hold `cosines`, one for each pair of texts; vectors are not kept.

        Args:
            body: The request as it goes out.
            pairs: Which of its texts are compared, by their places.
            timeout_s: Seconds from now until the whole answer must be here.
        """
        texts = body["input"]
        assert isinstance(texts, list)
        read = partial(cosines_output, texts=len(texts), pairs=pairs)
        return await self._attempt("/embeddings", body, timeout_s, read)

    async def _attempt(
        self,
        path: str,
        body: JsonObject,
        timeout_s: float,
        read: Callable[[Json], Output | Failure],
    ) -> Output | Failure:
        assert self._client is not None, "the endpoint is not open"
        model = body.get("model")
        where = patience.EndpointIdentity(
            self._host, self._key_env, model if isinstance(model, str) else None
        )
        client, content = self._client, json.dumps(body).encode()
        try:
            answer, started = await placed_call(lambda: client.post(path, content), timeout_s)
        except TimeoutError:
            return patience.of_timeout(timeout_s, where)
        except WireError as error:
            told = str(error)
            failure = patience.of_wire(error.kind, told, where, reached_before=self._reached)
            return replace(failure, unsent=error.kind in NEVER_LEFT)
        latency = (answer.ended_at or time.monotonic()) - started
        self._reached = True
        if not 200 <= answer.status < 300:
            return patience.of_status(answer.status, answer.headers, answer.body, where)
        body_size = len(answer.body)
        at_once = body_size <= READ_AT_ONCE
        got = await self._reader.read(body_size, at_once, _output, answer.body, read)
        nothing_left = exhausted(answer.headers)
        if isinstance(got, Failure):
            return replace(got, exhausted=nothing_left)
        return replace(got, latency_s=latency, exhausted=nothing_left)


def _output(body: bytes, read: Callable[[Json], Output | Failure]) -> Output | Failure:
    try:
        # a lone byte that is no UTF-8 makes an answer invalid; nothing is guessed
        return read(redact_json(json.loads(body)))
    except ValueError:
        return Failure("bad_answer", "the answer is no valid JSON", retryable=True)
    except RecursionError:
        return Failure("bad_answer", "the answer is nested too deeply", retryable=True)


def _client_class() -> type["Client"]:
    from tui_eval.providers.http.client import Client

    return Client
