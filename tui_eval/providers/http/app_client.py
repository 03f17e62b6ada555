"""Requests to an app, whatever it speaks; importing this imports `aiohttp`."""

from collections.abc import Mapping
from typing import NamedTuple

from yarl import URL

from tui_eval.providers.http.event_streams import EventStream
from tui_eval.providers.http.pool import HttpPool


class AppAnswer(NamedTuple):
    """What came back, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Their names in lower case."""
    body: bytes
    """Empty where its events were taken instead."""
    ended_at: float | None
    """When its last byte arrived (monotonic seconds); None: nobody has seen that."""


class AppClient:
    """Sends requests to one origin over kept connections."""

    def __init__(self, origin: str, max_body: int) -> None:
        """Prepare a pool (see `HttpPool`); nothing is connected yet."""
        self._pool = HttpPool(origin, max_body)

    async def send(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        body: bytes | None,
        events: EventStream | None = None,
    ) -> AppAnswer:
        """Send one request; give the whole answer.

        Args:
            method: `GET`, `POST`, …
            url: Encoded already.
            headers: All that are sent beside those that HTTP itself needs.
            body: Nothing where it is None.
            events: Takes the body of a success as it arrives, also of one that breaks off; the
                connection is closed where the stream says that it ends. None: nobody does.

        Raises:
            WireError: where no whole answer arrived.
        """
        # encoded already: a second time would change the path
        where = URL(url, encoded=True)
        async with self._pool.exchange(method, where, headers, body) as answer:
            whole = b""
            if events is None or not 200 <= answer.status < 300:
                whole = await answer.read()
            else:
                async for part in answer.parts():
                    events.feed(part)
                    if events.done:
                        answer.leave()
                        break
                events.end()
        known = {name.lower(): value for name, value in answer.headers.items()}
        return AppAnswer(answer.status, known, whole, answer.ended_at)

    async def close(self) -> None:
        """Close every connection."""
        await self._pool.close()
