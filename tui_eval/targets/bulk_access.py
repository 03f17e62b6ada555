"""How the requests of a target, or of a judge, go to a batch API, and what comes back."""

from abc import ABC, abstractmethod
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Estimate, Failure, Output
from tui_eval.providers.bulk.api import BulkApi, BulkLimits
from tui_eval.providers.prices import BulkPrices


@dataclass(frozen=True, slots=True)
class MostTaken:
    """What a request takes at most; None: nobody knows."""

    usd: float | None
    tokens: int | None


def sum_of(one: MostTaken, other: MostTaken) -> MostTaken:
    """Return what two take together."""
    usd = None if one.usd is None or other.usd is None else one.usd + other.usd
    tokens = None if one.tokens is None or other.tokens is None else one.tokens + other.tokens
    return MostTaken(usd, tokens)


class BulkAccess(ABC):
    """What an engine needs of a target, or a judge, that is asked in bulk."""

    wanted: BulkLimits
    """What one consignment is to hold at most; the API may take less."""

    def sent_to(self, endpoint: str) -> str:
        """Return where consignments go, as endpoints are named.

        Args:
            endpoint: Where single calls of the target, or the judge, go.
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
        """Return what is posted for a request, as its target, or its judge, made it."""

    @abstractmethod
    def priced(self, reply: Output | Failure) -> Output | Failure:
        """Return what came back with what it cost."""

    @abstractmethod
    def heard(self, failure: Failure) -> None:
        """Learn what was refused: further requests may have to be others."""

    @abstractmethod
    def most(self, size: int) -> MostTaken:
        """Return what a request of so many bytes takes at most."""


def with_bulk_price(reply: Output | Failure, prices: BulkPrices | None) -> Output | Failure:
    """Return what came back with what it cost; about, where only single calls have a price."""
    cost = None if prices is None else prices.prices.of(reply.usage)
    if prices is None or cost is None or not prices.at_most:
        return replace(reply, cost_usd=cost)
    return replace(reply, cost_usd=None, estimate=Estimate(0, cost))
