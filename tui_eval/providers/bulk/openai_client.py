"""The `openai` package's client for files and batches, over our own pool.

Importing this imports the package, which takes the better part of a second. It knows how a file is
uploaded and where batches are. What it would do beside is left out: it adds `OPENAI_ORG_ID`,
`OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS` to what it sends to any host, lets `OPENAI_BASE_URL`
move it, and retries in silence. Single calls do not go through it: there it would cost twice the
CPU of the call itself (`benchmarks/transport.py`).
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Final

import httpx2
import openai
from openai import AsyncOpenAI, Omit
from yarl import URL

from tui_eval import __version__
from tui_eval.providers.errors import WireError
from tui_eval.providers.http.api_url import api_url
from tui_eval.providers.http.pool import HttpPool, IncomingAnswer

_STREAMED: Final = "x-stainless-raw-response"
"""The header by which the package tells its transport that the answer is read in parts."""
_SPENT: Final = frozenset(
    {"content-encoding", "content-length", "transfer-encoding", "content-type", "set-cookie"}
)
"""Headers of answers that are not passed on: bodies are unpacked and put together already, no
cookie is kept, and the package would decode by whatever codec a stranger names as its charset."""


class OpenAiClient(AsyncOpenAI):
    """Sends the headers named here and, beside the key, no others."""

    def __init__(self, base_url: str, api_key: str, pool: HttpPool, most: int) -> None:
        """Describe it; nothing is connected yet.

        Args:
            base_url: Where the API starts.
            api_key: The key, or a dummy.
            pool: What it sends through; whoever made it closes it.
            most: Bytes of an answer that is not streamed; a larger one is a `WireError`.
        """
        self._whole = base_url
        super().__init__(
            api_key=api_key,
            base_url=base_url,
            max_retries=0,
            timeout=None,  # one deadline for the whole call, at the caller
            http_client=httpx2.AsyncClient(
                transport=_PoolTransport(pool, most),
                timeout=None,
                trust_env=False,
                follow_redirects=False,
            ),
        )
        self._platform = "Unknown"  # for headers that are not sent; each early call looks it up

    @property
    def default_headers(self) -> dict[str, str | Omit]:
        """What goes along with each call."""
        return {
            "Accept": "application/json, */*",
            # unpacking a file costs more than it saves, and a bomb needs a packer
            "Accept-Encoding": "identity",
            "User-Agent": f"tui-eval/{__version__} openai/{openai.__version__}",
        }

    def _prepare_url(self, url: str) -> httpx2.URL:
        return httpx2.URL(str(api_url(self._whole, url)))


class _PoolTransport(httpx2.AsyncBaseTransport):
    """Sends what the package makes through a pool; raises `WireError`."""

    def __init__(self, pool: HttpPool, most: int) -> None:
        self._pool = pool
        self._most = most

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        assert isinstance(request.stream, httpx2.AsyncByteStream), "an async client's"
        streamed = request.headers.get(_STREAMED) == "stream"
        headers = {
            name: value
            for name, value in request.headers.items()
            if not name.startswith("x-stainless-")
        }
        body = None if request.method == "GET" else _Parts(request.stream)
        url = URL(str(request.url), encoded=True)
        async with AsyncExitStack() as stack:
            sent = self._pool.exchange(request.method, url, headers, body)
            answer = await stack.enter_async_context(sent)
            return httpx2.Response(
                answer.status,
                headers=_passed_on(answer.headers),
                stream=_Body(answer, stack.pop_all(), None if streamed else self._most),
            )


class _Parts:
    """A body as the pool takes it."""

    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self._stream.__aiter__()


class _Body(httpx2.AsyncByteStream):
    """The body of an answer, and what holds its connection."""

    def __init__(self, answer: IncomingAnswer, held: AsyncExitStack, most: int | None) -> None:
        self._answer = answer
        self._held = held
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async with self._held:  # which says in our words what breaks
            async for part in self._answer.parts():
                size += len(part)
                if self._most is not None and size > self._most:
                    self._answer.leave()
                    mb = self._most / 1e6
                    raise WireError("too_large", f"the answer is larger than {mb:.0f} MB")
                yield part

    async def aclose(self) -> None:
        await self._held.aclose()


def _passed_on(headers: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Return the headers of an answer: any bytes, which break nothing as they came."""
    return [
        (name.encode("utf-8", "surrogateescape"), value.encode("utf-8", "surrogateescape"))
        for name, value in headers.items()
        if name.lower() not in _SPENT
    ]
