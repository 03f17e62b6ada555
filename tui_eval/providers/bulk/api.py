"""What a batch API is to the engine, whichever provider's."""

import re
from collections.abc import AsyncGenerator, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from types import TracebackType
from typing import Final, Protocol, Self

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output

_ID: Final = re.compile(r"([A-Za-z0-9_]{1,40})-(0|[1-9][0-9]{0,8})")
_WITHIN: Final = re.compile(rb'"custom_id"\s*:\s*"(([A-Za-z0-9_]{1,40})-([0-9]{1,9}))"')
"""An id in a line, wherever it stands: within a text its quotes would be escaped."""


def custom_id(token: str, ordinal: int) -> str:
    """Return what a request of a consignment is called: within what every provider takes.

    Args:
        token: Of the consignment: 1 to 40 of `[A-Za-z0-9_]`, drawn at random.
        ordinal: Which of its requests, from 0.

    Raises:
        ValueError: the two are not such.
    """
    made = f"{token}-{ordinal}"
    if not _ID.fullmatch(made):
        raise ValueError(f"{made!r} is no id of a request")
    return made


def token_and_ordinal(given: str) -> tuple[str, int] | None:
    """Take an id apart that `custom_id` may have made; None: it did not."""
    found = _ID.fullmatch(given)
    return None if found is None else (found[1], int(found[2]))


def id_within(line: bytes) -> str | None:
    """Return the first id in a line of JSON, or in its beginning, without reading it; None: none.

    It is one as `custom_id` makes them.
    """
    found = _WITHIN.search(line)
    return None if found is None else found[1].decode()


@dataclass(frozen=True, slots=True)
class BulkLimits:
    """What one consignment can hold at most."""

    requests: int
    megabytes: int
    """Of 10⁶ bytes, of the file as it is sent."""


@dataclass(frozen=True, slots=True)
class BulkRequest:
    """One request of a consignment."""

    custom_id: str
    """Names it in the results, see `custom_id`; never a case's id."""
    body: JsonObject
    """What would be posted for it alone."""


class BulkState(StrEnum):
    """Where a consignment stands at the provider."""

    UNDER_WAY = "sent"
    ENDED = "ended"
    EXPIRED = "expired"
    CANCELLED = "cancelled"
    FAILED = "failed"
    """Refused as a whole: nothing of it was done."""


@dataclass(frozen=True, slots=True)
class BulkStatus:
    """What a provider says of a consignment."""

    id: str
    """The provider's."""
    state: BulkState
    requests: int | None
    """How many it holds; None: not said."""
    done: int | None
    """How many are answered, well or not; None: not said."""
    ends_by: datetime | None = None
    """When the provider gives up what is not done."""
    problem: Failure | None = None
    """Why it failed as a whole. Retryable: it is taken later (kind `no_room`: the provider has as
    much waiting as it takes); else no further one would be."""


@dataclass(frozen=True, slots=True)
class SoughtConsignment:
    """A consignment that may have been sent, and what it can be known by."""

    token: str
    requests: int
    """How many it was to hold."""
    since: datetime
    """When its sending began, with its time zone."""
    until: datetime
    """When nobody was sending it any more."""
    others: frozenset[str] = frozenset()
    """The provider's ids of consignments that are known to be others."""


@dataclass(frozen=True, slots=True)
class BulkLine:
    """One line of the results."""

    custom_id: str
    """As it came: it may be nobody's."""
    reply: Output | Failure
    """A failure of kind `expired` or `cancelled`: it was never done, and costs nothing."""
    digest: bytes
    """Of what it says: two with one id are the same where this is."""


@dataclass(frozen=True, slots=True)
class StrayLine:
    """A line of the results of which nobody can say whose it is."""

    where: str
    """The file and the line's number, from 1."""
    problem: str
    """What is wrong with it, for a person."""


class BulkApi(Protocol):
    """A provider's batch API; `async with` opens and closes its connections.

    Every method that asks the provider raises `BulkError` with the `Failure` that the call met;
    nothing is retried within, but for the questions that `find` asks in a row.
    """

    @property
    def limits(self) -> BulkLimits:
        """Return what the provider takes in one consignment."""

    def encoded(self, request: BulkRequest) -> bytes | Failure:
        """Return a request as it is sent, or why it cannot be.

        A consignment takes so many bytes, and one more, for each of its requests.
        """

    async def send(self, token: str, requests: Iterable[BulkRequest]) -> BulkStatus:
        """Upload a consignment and have it begun, marked with its token.

        The requests are taken a few at a time, on the loop.

        Raises:
            BulkError: `unsettled` where the provider may have taken it all the same: it is to be
                looked for before it is sent again.
        """

    async def find(self, sought: SoughtConsignment) -> BulkStatus | None:
        """Look for a consignment that may have been sent; None: the provider has none.

        Raises:
            BulkError: `unsettled` where that cannot be known yet: ask again later, and send
                nothing meanwhile.
        """

    async def look(self, provider_id: str) -> BulkStatus:
        """Ask how far a consignment is."""

    def results(self, provider_id: str) -> AsyncGenerator[BulkLine | StrayLine, None]:
        """Stream what can be had of a consignment by now, in any order; nothing is left out.

        Called again, it begins anew. It may break off (`BulkError`) after some lines: they count.
        Who stops early closes it (`contextlib.aclosing`).
        """

    def news(self, provider_id: str) -> AsyncGenerator[BulkLine | StrayLine, None]:
        """Stream the whole lines that came since this was asked last, of one that is under way.

        There are none where results come once it has ended. What breaks off is not streamed again
        here: `results` has it.
        """

    async def cancel(self, provider_id: str) -> None:
        """Have it end; what is done by then can be had. One that has ended stays as it is."""

    async def __aenter__(self) -> Self:
        """Open it; nothing is connected yet."""

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection."""


class BulkError(Exception):
    """What a call to a batch API met."""

    def __init__(self, failure: Failure, *, unsettled: bool = False) -> None:
        """Carry the failure as any other call's.

        Args:
            failure: What was met.
            unsettled: Whether it is unknown if the provider has the consignment.
        """
        super().__init__(failure.message)
        self.failure = failure
        self.unsettled = unsettled
