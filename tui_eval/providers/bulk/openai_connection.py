"""A connection to OpenAI's batch API, and to those of others that speak like it."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Final, Self

from tui_eval.model.json import JsonObject
from tui_eval.providers.bulk.connection import BulkConnection, BulkPlace, WholeAnswer
from tui_eval.providers.bulk.spooling import SpooledConsignment
from tui_eval.providers.endpoint import MAX_BODY

if TYPE_CHECKING:
    import httpx2

    from tui_eval.providers.bulk.openai_client import OpenAiClient

_LINES: Final = "application/jsonl"


class OpenAiConnection(BulkConnection):
    """Calls are made by the `openai` package's client; what they mean is told as everywhere."""

    def __init__(self, place: BulkPlace) -> None:
        """Describe a connection; cheap, nothing is opened yet."""
        super().__init__(place, {})
        self._place = place
        self._client: OpenAiClient | None = None

    async def __aenter__(self) -> Self:
        """Open the pool, and make the client."""
        await super().__aenter__()
        # the package takes the better part of a second to import: beside the loop, which has a
        # lease to renew meanwhile
        made = await asyncio.to_thread(_client_class)
        self._client = made(self._place.base_url, self._place.api_key, self.pool, MAX_BODY)
        return self

    @property
    def client(self) -> "OpenAiClient":
        """The client of an open connection."""
        assert self._client is not None, "the connection is not open"
        return self._client

    async def get(self, path: str, **query: str) -> JsonObject:
        """Ask a question that changes nothing; see `BulkConnection`."""
        import httpx2

        return await self._answered(
            lambda: self.client.get(path, cast_to=httpx2.Response, options={"params": query})
        )

    async def post(self, path: str, body: JsonObject | None = None) -> JsonObject:
        """Ask for something small to be done; see `BulkConnection`."""
        import httpx2

        return await self._answered(
            lambda: self.client.post(path, cast_to=httpx2.Response, body=body)
        )

    async def upload_file(self, name: str, spool: SpooledConsignment) -> JsonObject:
        """Upload a consignment as a file for a batch.

        Raises:
            BulkError: no JSON object was answered.
        """

        async def sent() -> "httpx2.Response":
            file = (name, spool.rewound(), _LINES)
            files = self.client.files.with_raw_response
            return (await files.create(file=file, purpose="batch")).http_response

        return await self._answered(sent, upload=spool)

    async def _answered(
        self,
        call: "Callable[[], Awaitable[httpx2.Response]]",
        upload: SpooledConsignment | None = None,
    ) -> JsonObject:
        from openai import APIStatusError

        async def once() -> WholeAnswer:
            try:
                response = await call()
            except APIStatusError as refused:
                response = refused.response
            return WholeAnswer(response.status_code, response.headers, response.content)

        return await self.asked(once, upload)

    @asynccontextmanager
    async def file(self, path: str) -> AsyncIterator[AsyncIterator[bytes] | WholeAnswer]:
        """Give the parts of a file by its id, or the answer with which it was refused."""
        from openai import APIStatusError

        try:
            async with self.client.files.with_streaming_response.content(path) as answer:
                yield answer.http_response.aiter_raw()
        except APIStatusError as refused:
            response = refused.response
            yield WholeAnswer(response.status_code, response.headers, response.content)


def _client_class() -> "type[OpenAiClient]":
    from tui_eval.providers.bulk.openai_client import OpenAiClient

    return OpenAiClient
