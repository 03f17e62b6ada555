"""One connection to one app: a request goes in, an answer or a failure comes out."""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import quote, urlsplit

from tui_eval import __version__
from tui_eval.model.outputs.output import Failure
from tui_eval.model.visible import visible_line
from tui_eval.providers import patience
from tui_eval.providers.endpoint import MAX_BODY
from tui_eval.providers.errors import NEVER_LEFT, WireError
from tui_eval.providers.http.placed_call import placed_call
from tui_eval.providers.keys import redact
from tui_eval.providers.presets import host_of, shown_host

if TYPE_CHECKING:
    from tui_eval.providers.http.app_client import AppAnswer, AppClient
    from tui_eval.providers.http.event_streams import EventStream

_HEADERS: Final = {
    "accept": "application/json, text/event-stream, application/x-ndjson, */*",
    # answers are small: unpacking costs more than it saves, and a bomb needs a packer
    "accept-encoding": "identity",
    "user-agent": f"tui-eval/{__version__}",
}
_ALWAYS_FATAL: Final = frozenset({"quota", "tls"})


@dataclass(frozen=True, slots=True)
class AppKey:
    """A key, and the header that it goes in."""

    env: str
    """The variable it came from."""
    header: str
    value: str
    """All that stands in the header."""


@dataclass(frozen=True, slots=True)
class AppRequest:
    """A request as it goes out, but for the key."""

    method: str
    url: str
    headers: Mapping[str, str]
    """Their names in lower case."""
    body: bytes | None = None


@dataclass(frozen=True, slots=True)
class TimedAnswer:
    """A success."""

    answer: "AppAnswer"
    began: float
    """When the request left (monotonic seconds)."""
    ended: float
    """When the answer's last byte arrived."""


class AppEndpoint:
    """An async connection; `async with` opens and closes its pool.

    One attempt each call: nothing is retried here, nothing is raised for what an app does. A
    request to another origin is refused before it leaves, and no redirect is followed: so the key
    goes where the suite says, and nowhere else.
    """

    def __init__(self, origin: str, key: AppKey | None = None, max_body: int = MAX_BODY) -> None:
        """Describe a connection; cheap, nothing is imported or opened yet.

        Args:
            origin: The only one that is asked: `https://host:port`.
            key: What goes along with each request; None: nothing does.
            max_body: Bytes of one decompressed answer that are read at most.
        """
        self._origin = origin_of(origin)
        self._key = key
        self._max_body = max_body
        self._where = patience.EndpointIdentity(
            host_of(origin), None if key is None else key.env, url_field="url"
        )
        self._client: AppClient | None = None
        self._reached = False
        self._answered = False

    async def __aenter__(self) -> Self:
        """Open the pool; connections are made when they are needed."""
        # beside the loop, which has a lease to renew meanwhile
        client_class = await asyncio.to_thread(_client_class)
        self._client = client_class(self._origin, self._max_body)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    async def send(
        self,
        request: AppRequest,
        timeout_s: float,
        events: "EventStream | None" = None,
    ) -> TimedAnswer | Failure:
        """Make one request.

        Args:
            request: The request.
            timeout_s: Seconds from now until the whole answer must be here.
            events: Takes the body as it arrives, see `AppClient.send`.
        """
        client = self._client
        assert client is not None, "the app's endpoint is not open"
        if origin_of(request.url) != self._origin:
            told = visible_line(redact(request.url), 200)
            return Failure("bad_request", f"{told} is not at {self._origin}: nobody else is asked")
        url = self._origin + _path(request.url)
        headers = {**_HEADERS, **request.headers}
        if self._key is not None:
            headers[self._key.header.lower()] = self._key.value
        try:
            answer, began = await placed_call(
                lambda: client.send(request.method, url, headers, request.body, events),
                timeout_s,
            )
        except TimeoutError:
            return patience.of_timeout(round(timeout_s, 2), self._where)
        except WireError as error:
            told = str(error)
            failure = patience.of_wire(error.kind, told, self._where, reached_before=self._reached)
            return replace(failure, unsent=error.kind in NEVER_LEFT)
        self._reached = True
        if 200 <= answer.status < 300:
            self._answered = True
            return TimedAnswer(answer, began, answer.ended_at or time.monotonic())
        refused = patience.of_status(answer.status, answer.headers, answer.body, self._where)
        return replace(refused, fatal=refused.fatal and self._is_everybodys(refused))

    def _is_everybodys(self, refused: Failure) -> bool:
        """Whether every request would be refused so, and not what this one asks.

        An app that has answered others says with most statuses what it thinks of one request.
        """
        known = refused.status == 401 or refused.kind in _ALWAYS_FATAL
        return known or not self._answered


def origin_of(url: str) -> str:
    """Return scheme, host and port of a URL in their one form; empty: it has none."""
    try:
        parts = urlsplit(url)
        scheme, port = parts.scheme.lower(), parts.port
    except ValueError:
        return ""
    host = host_of(url)
    if scheme not in _PORTS or not host or "@" in parts.netloc:
        return ""
    known = shown_host(host)
    shown = f"[{known}]" if ":" in known else known
    return f"{scheme}://{shown}" + ("" if port in (None, _PORTS[scheme]) else f":{port}")


def _path(url: str) -> str:
    """Return what stands behind a URL's host, with what no URL can hold encoded."""
    parts = urlsplit(url)
    behind = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return quote(behind, safe="%/?:@!$&'()*+,;=~[]", errors="replace")


_PORTS: Final = {"http": 80, "https": 443}


def _client_class() -> type["AppClient"]:
    from tui_eval.providers.http.app_client import AppClient

    return AppClient
