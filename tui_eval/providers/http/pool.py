"""One pool of connections to one origin: requests go out, capped bodies come in.

The body is read here, so that its size is capped while it streams; no cookies are kept, nothing is
followed, and a cut transfer is told from a time-out. Whoever speaks to an origin goes this way:
`client.py` to models, `app_client.py` to other apps.
"""

import asyncio
import socket
import ssl
from collections.abc import AsyncIterable, AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from urllib.request import getproxies, proxy_bypass

import aiohttp
from yarl import URL

from tui_eval.model.outputs.output import NO_DESCRIPTOR
from tui_eval.providers.errors import WireError
from tui_eval.providers.http.descriptors import descriptors_are_out
from tui_eval.providers.http.strict_connection import StrictConnector, TimedResponse
from tui_eval.providers.presets import host_of, is_loopback

_MOST_HEADER = 64 * 1024
"""Bytes of one header that are read at most: some gateways send many."""


class IncomingAnswer:
    """An answer whose head has come; its body is read while its `exchange` is open."""

    def __init__(self, response: aiohttp.ClientResponse, max_body: int) -> None:
        self._response = response
        self._max_body = max_body
        self.status = response.status
        """The HTTP status."""

    @property
    def headers(self) -> Mapping[str, str]:
        """Its headers as they came, looked up without regard to case."""
        return self._response.headers

    @property
    def ended_at(self) -> float | None:
        """When its last byte arrived (monotonic seconds); None: it has not, or nobody saw it."""
        return self._response.ended_at if isinstance(self._response, TimedResponse) else None

    async def read(self) -> bytes:
        """Return the whole body.

        Raises:
            WireError: it is larger than the cap.
        """
        length = self._response.content_length
        packed = "Content-Encoding" in self._response.headers
        if length is not None and not packed and length <= self._max_body:
            return await self._response.read()
        return b"".join([part async for part in self.parts()])

    async def parts(self) -> AsyncIterator[bytes]:
        """Yield the body as it arrives; the cap holds for what comes out of the decompressor.

        Raises:
            WireError: it is larger than the cap.
        """
        length = self._response.content_length
        size = 0 if length is None else length
        if size <= self._max_body:
            size = 0
            async for part in self._response.content.iter_any():
                size += len(part)
                if size > self._max_body:
                    break
                yield part
        if size > self._max_body:
            # the rest is not waited for: the connection goes with it
            self._response.close()
            mb = self._max_body / 1e6
            raise WireError("too_large", f"the answer is larger than {mb:.0f} MB")

    def leave(self) -> None:
        """Close the connection: what else it brings is not waited for."""
        self._response.close()


class HttpPool:
    """Kept connections to one origin.

    It has no limit of its own: the limiter that bounds the calls in flight can be turned up while
    the run goes on, and the pool has to follow it.
    """

    def __init__(self, base_url: str, max_body: int) -> None:
        """Prepare a pool for the origin of `base_url`; nothing is connected yet.

        Args:
            base_url: Decides about TLS and the proxy.
            max_body: Bytes of one decompressed body that are read before it is given up.
        """
        self._max_body = max_body
        self._proxy = _proxy_for(base_url)
        secure = _certificates() if _scheme(base_url) == "https" else None
        self._session = aiohttp.ClientSession(
            connector=StrictConnector(ssl_context=secure),
            response_class=TimedResponse,
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=aiohttp.ClientTimeout(total=None),  # the deadline is the caller's
            auto_decompress=True,
            trust_env=False,
            max_line_size=_MOST_HEADER,
            max_field_size=_MOST_HEADER,
        )

    def exchange(
        self,
        method: str,
        url: URL,
        headers: Mapping[str, str],
        body: bytes | AsyncIterable[bytes] | None,
    ) -> "Exchange":
        """Return one request, which `async with` sends and gives the answer of.

        Args:
            method: `GET`, `POST`, …
            url: Encoded already.
            headers: All that are sent beside those that HTTP itself needs.
            body: Nothing where it is None; in parts, it needs a `Content-Length`.
        """
        sent = self._session.request(
            method,
            url,
            headers=headers,
            data=body,
            allow_redirects=False,
            proxy=self._proxy,
        )
        return Exchange(sent, self._max_body)

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()
        # TLS connections close a moment later; without this turn of the loop they warn
        await asyncio.sleep(0)


class Exchange:
    """One request and its answer; what is left of it at the end is not waited for.

    Entering it, and whatever is read of the answer within it, raises `WireError` where no whole
    answer arrived, or one larger than the cap.
    """

    # a generator for each call would cost the loop more than all that is done here
    __slots__ = ("_max_body", "_sent")

    def __init__(
        self, sent: AbstractAsyncContextManager[aiohttp.ClientResponse], max_body: int
    ) -> None:
        self._sent = sent
        self._max_body = max_body

    async def __aenter__(self) -> IncomingAnswer:
        """Send the request; give its answer once the head has come."""
        try:
            return IncomingAnswer(await self._sent.__aenter__(), self._max_body)
        except (aiohttp.ClientError, OSError) as error:
            raise _told(error) from error

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Let go of the connection."""
        try:
            await self._sent.__aexit__(kind, error, trace)
        except (aiohttp.ClientError, OSError) as late:
            raise _told(late) from late
        if isinstance(error, aiohttp.ClientError | OSError):
            raise _told(error) from error


def _told(error: aiohttp.ClientError | OSError) -> WireError:
    """Say in our words what an exchange ran into."""
    if isinstance(error, aiohttp.ClientError):
        return _wire_error(error)
    if descriptors_are_out(error):
        return _no_descriptor()
    return WireError("connection", f"the connection broke: {error}")


def _wire_error(error: aiohttp.ClientError) -> WireError:
    """Say in our words what aiohttp ran into."""
    cause = error.os_error if isinstance(error, aiohttp.ClientConnectorError) else error
    if isinstance(cause, OSError) and descriptors_are_out(cause):
        return _no_descriptor()
    if isinstance(error, aiohttp.ClientConnectorDNSError):
        return WireError("unknown_host", "the host's name is not known")
    if isinstance(error, (aiohttp.ClientConnectorCertificateError, aiohttp.ClientSSLError)):
        return WireError("tls", f"no secure connection: {error}")
    if isinstance(error, aiohttp.ClientConnectorError):
        if isinstance(error.os_error, socket.gaierror):
            return WireError("unknown_host", "the host's name is not known")
        return WireError("refused", f"no connection: {error.os_error.strerror or error.os_error}")
    if isinstance(error, aiohttp.ServerDisconnectedError):
        return WireError("connection", "the connection was closed before an answer came")
    if isinstance(error, aiohttp.ClientPayloadError):
        return WireError("connection", "the answer was cut off on the wire")
    if isinstance(error, aiohttp.ClientResponseError):
        said = error.message
        if "content-encoding" in said:  # it advises to install what would unpack it
            said = "it is packed in a way that was not asked for"
        return WireError("connection", f"the answer cannot be read: {said}")
    return WireError("connection", f"the connection broke: {error}")


def _no_descriptor() -> WireError:
    return WireError(NO_DESCRIPTOR, "no connection: this process has too many open files")


def _certificates() -> ssl.SSLContext:
    """Return what trusts the certificates that the system does."""
    import httpx2

    return httpx2.create_ssl_context()


def _scheme(base_url: str) -> str:
    """Return the scheme in lower case: it may be written in any."""
    return base_url.partition(":")[0].lower()


def _proxy_for(base_url: str) -> str | None:
    """Return the proxy the environment names for this origin; none ever for this machine."""
    host = host_of(base_url)
    if is_loopback(host) or proxy_bypass(host):
        return None
    proxies = getproxies()
    return proxies.get(_scheme(base_url)) or proxies.get("all")
