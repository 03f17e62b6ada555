"""How a target's requests go to its provider's batch API, and what comes back."""

from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from tui_eval.model.json import JsonObject
from tui_eval.model.output import Estimate, Failure, Output
from tui_eval.providers.bulk.api import BulkApi, BulkLimits
from tui_eval.providers.prices import BulkPrices


@dataclass(frozen=True, slots=True)
class MostTaken:
    """What a request takes at most; None: nobody knows."""

    usd: float | None
    tokens: int | None


class BulkAccess(ABC):
    """What an engine needs of a target that is asked in bulk."""

    wanted: BulkLimits
    """What one consignment is to hold at most; the API may take less."""

    def sent_to(self, endpoint: str) -> str:
        """Return where consignments go, as endpoints are named.

        Args:
            endpoint: Where single calls of the target go.
        """
        return endpoint

    @abstractmethod
    def open(self) -> AbstractAsyncContextManager[BulkApi]:
        """Return the API, which is to be opened.

        Raises:
            UnavailableError: that is not possible: its key is not set.
        """

    @abstractmethod
    async def body(self, request: JsonObject) -> JsonObject | Failure:
        """Return what is posted for a request, as its target made it."""

    @abstractmethod
    def priced(self, reply: Output | Failure) -> Output | Failure:
        """Return what came back with what it cost."""

    @abstractmethod
    def most(self, size: int) -> MostTaken:
        """Return what a request of so many bytes takes at most."""


def with_bulk_price(reply: Output | Failure, prices: BulkPrices | None) -> Output | Failure:
    """Return what came back with what it cost; about, where only single calls have a price."""
    cost = None if prices is None else prices.prices.of(reply.usage)
    if prices is None or cost is None or not prices.at_most:
        return replace(reply, cost_usd=cost)
    if isinstance(reply, Failure):
        return replace(reply, cost_usd=None)
    return replace(reply, cost_usd=None, estimate=Estimate(0, cost))
