"""What a batch API is to the engine, whichever provider's."""

from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol

from tui_eval.model.json import JsonObject
from tui_eval.model.output import Failure, Output


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
    """Names it in the results: token and ordinal, ≤ 64 of `[A-Za-z0-9_-]`; never a case's id."""
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
    problem: str | None = None
    """Why it failed as a whole."""


@dataclass(frozen=True, slots=True)
class BulkLine:
    """One line of the results."""

    custom_id: str
    reply: Output | Failure
    """A failure of kind `expired` or `cancelled`: it was never done, and costs nothing."""
    digest: bytes
    """Of the line: two with one id are the same where this is."""


class BulkApi(Protocol):
    """A provider's batch API.

    Every method raises `BulkError` with the `Failure` that a call met; nothing is retried within.
    """

    @property
    def limits(self) -> BulkLimits:
        """Return what the provider takes in one consignment."""

    async def send(self, token: str, requests: Iterable[BulkRequest]) -> BulkStatus:
        """Upload a consignment and have it begun, marked with its token."""

    async def find(self, token: str) -> BulkStatus | None:
        """Look for a consignment that was sent with a token; None: the provider has none."""

    async def look(self, provider_id: str) -> BulkStatus:
        """Ask how far a consignment is."""

    def results(self, provider_id: str) -> AsyncIterator[BulkLine]:
        """Stream what is done of a consignment that is under way no more, in any order."""

    async def cancel(self, provider_id: str) -> None:
        """Have it end; what is done by then can be had."""


class BulkError(Exception):
    """What a call to a batch API met."""

    def __init__(self, failure: Failure) -> None:
        """Carry the failure as any other call's."""
        super().__init__(failure.message)
        self.failure = failure
