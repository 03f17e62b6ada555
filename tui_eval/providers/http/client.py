"""Requests to one OpenAI-compatible API; importing this imports `aiohttp`.

The pool is asked directly. The `openai` package's client between a request and its pool builds a
request and an answer of its own, merges headers and looks for retries and redirects that are not
wanted here: twice the CPU of the call itself (`benchmarks/transport.py`), and half a second of
imports. It would also add what `OPENAI_ORG_ID`, `OPENAI_PROJECT_ID` and `OPENAI_CUSTOM_HEADERS`
hold to what it sends to any host.
"""

from collections.abc import Mapping
from typing import NamedTuple

from yarl import URL

from tui_eval import __version__
from tui_eval.providers.http.api_url import api_url
from tui_eval.providers.http.pool import HttpPool


class Answer(NamedTuple):
    """What came back, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Looked up without regard to case."""
    body: bytes
    ended_at: float | None
    """When its last byte arrived (monotonic seconds); None: nobody has seen that."""


class Client:
    """Posts bodies to one API and gives back what came, whatever its status."""

    def __init__(self, base_url: str, api_key: str, max_body: int) -> None:
        """Open a pool for `base_url` (see `HttpPool`)."""
        self._base_url = base_url
        self._pool = HttpPool(base_url, max_body)
        self._urls: dict[str, URL] = {}
        """By path: an API has a few, and they are asked again and again."""
        self._headers = {
            "Authorization": f"Bearer {api_key}",
            "Accept": "application/json",
            # answers are small: unpacking costs more than it saves, and a bomb needs a packer
            "Accept-Encoding": "identity",
            "Content-Type": "application/json",
            "User-Agent": f"tui-eval/{__version__}",
        }

    async def post(self, path: str, body: bytes) -> Answer:
        """Send one request; give the whole answer.

        Raises:
            WireError: where no whole answer arrived.
        """
        if (url := self._urls.get(path)) is None:
            url = self._urls[path] = api_url(self._base_url, path)
        async with self._pool.exchange("POST", url, self._headers, body) as answer:
            whole = await answer.read()
        return Answer(answer.status, answer.headers, whole, answer.ended_at)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()
