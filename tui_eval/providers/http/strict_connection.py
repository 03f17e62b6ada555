"""Kept connections on which nothing counts but the one answer to the request that was sent.

aiohttp parses whatever arrives on an idle connection and hands it to the next request as its
answer. Clients that look at the socket before they reuse it (urllib3's `is_connection_dropped`,
httpcore's `is_readable`) drop such a connection; this does the same, and also drops one on which
something came before any request, or after the answer in the same segment.

An answer that nobody asked for and that comes while the next request waits cannot be told from its
answer, and the answers of all later requests on that connection are the ones before. So once a
server was seen to send one answer too many, each of its connections serves a single request.
"""

import asyncio
import functools
import re
import select
import ssl
import time
from typing import Any, Final

import aiohttp
from aiohttp import StreamReader
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection
from aiohttp.http import RawResponseMessage

from tui_eval.providers.http.descriptors import PLACES, spare_socket
from tui_eval.providers.http.resolver import PinnedResolver

_IDLE_TOO_LONG: Final = re.compile(rb"HTTP/1\.[01] 408 ")
"""How some proxies take their leave of an idle connection: no request's answer."""


class StrictResponseHandler(ResponseHandler):
    """One connection: a request, its answer, the next request.

    What arrives while no request waits for its answer is nobody's: the connection ends there.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, unasked: asyncio.Event) -> None:
        """Make the protocol of a connection that is about to be opened.

        Args:
            loop: Where it lives.
            unasked: Set once an answer that nobody asked for has come on any connection of a pool:
                from then on none is used twice.
        """
        super().__init__(loop)
        self._unasked = unasked
        self._asked = False
        """Whether a request was sent whose answer has not begun or not ended."""
        self._body: StreamReader | None = None
        """The body of the answer to the last request; None: its head has not come."""
        self._quiet = False
        """Whether it was just seen that nothing has come: the next request goes out in this turn
        of the loop."""
        self._poll: select.poll | None = None
        """Looks at its socket; None: nobody has looked yet."""
        self.received_at = 0.0
        """When something arrived last (monotonic seconds)."""

    def is_connected(self) -> bool:
        """Return whether it can be used; False too where something unasked has come."""
        if not super().is_connected():
            return False
        if self._waits_for_answer():
            return True
        if self._body is not None and self._unasked.is_set():
            return False
        self._quiet = not (self._has_part_of_another() or self._readable())
        return self._quiet

    @property
    def should_close(self) -> bool:
        """Whether it is not to be kept: aiohttp's reasons, or a server that sends too much."""
        return self._unasked.is_set() or super().should_close

    def set_response_params(self, **params: Any) -> None:  # noqa: ANN401 - aiohttp's own, passed on
        """Begin to wait for an answer; what came before the request ends the connection."""
        # whoever takes a kept connection has just asked whether it can be used
        if not self._quiet and self.transport is not None and self._readable():
            self.transport.abort()  # sending fails now, and the request goes to no liar
        self._asked, self._body, self._quiet = True, None, False
        super().set_response_params(**params)

    def data_received(self, data: bytes) -> None:
        """Take bytes of the answer; without a request that waits for one, end the connection."""
        # no data: aiohttp goes on with what it held back
        if data and not self._waits_for_answer():
            if data.startswith(b"HTTP/") and not _IDLE_TOO_LONG.match(data):
                self._unasked.set()
            self._drop()
            return
        self.received_at = time.monotonic()
        super().data_received(data)

    def feed_data(self, data: tuple[RawResponseMessage, StreamReader], size: int = 0) -> None:
        """Take a parsed answer; a second one to the same request ends the connection."""
        message, body = data
        if not self._asked or self._body is not None:
            self._unasked.set()
            self._drop()
            return
        if message.code >= 200 or message.code == 101:  # others only precede the answer
            self._body = body
        super().feed_data(data, size)

    def _waits_for_answer(self) -> bool:
        return self._asked and (self._body is None or not self._body.is_eof())

    def _has_part_of_another(self) -> bool:
        """Whether the head of a further answer has begun behind the last one's body."""
        try:
            return self._parser is not None and self._parser.feed_eof() is not None
        except aiohttp.http_exceptions.HttpProcessingError:
            return True

    def _readable(self) -> bool:
        """Whether bytes, or the end, have arrived that the loop has not read yet."""
        assert self.transport is not None, "it is connected"
        if self._poll is None:
            self._poll = select.poll()
            self._poll.register(self.transport.get_extra_info("socket"), select.POLLIN)
        return bool(self._poll.poll(0))

    def _drop(self) -> None:
        self.force_close()  # not kept, where it is not yet
        if self.transport is not None:
            self.transport.abort()


class TimedResponse(aiohttp.ClientResponse):
    """An answer that knows when its last byte arrived, whenever somebody came to read it."""

    ended_at: float | None = None
    """In monotonic seconds; None: it has not ended."""

    async def start(self, connection: Connection) -> "TimedResponse":
        """Wait for the head of the answer."""
        handler = connection.protocol
        await super().start(connection)

        def ended() -> None:
            if isinstance(handler, StrictResponseHandler):
                self.ended_at = handler.received_at

        self.content.on_eof(ended)  # at once, where the whole answer came together
        return self


class StrictConnector(aiohttp.TCPConnector):
    """A pool of such connections; one that got what nobody asked for is not used again."""

    def __init__(self, *, ssl_context: ssl.SSLContext | None) -> None:
        """Make an empty pool without a limit of its own.

        Args:
            ssl_context: The certificates that are trusted; None: aiohttp's own, never none.
        """
        # True, never False: that would take any certificate
        super().__init__(
            limit=0,
            ttl_dns_cache=60,
            ssl=ssl_context or True,
            resolver=PinnedResolver(),
            socket_factory=spare_socket,
        )
        self._factory = functools.partial(  # type: ignore[assignment]  # aiohttp's is invariant
            StrictResponseHandler, loop=self._loop, unasked=asyncio.Event()
        )
        PLACES.join(self)

    def close_unused(self) -> bool:
        """Close the connections that are kept for later; False where there are none."""
        kept = [handler for conns in self._conns.values() for handler, _since in conns]
        self._conns.clear()
        for handler in kept:
            handler.close()
        return bool(kept)
