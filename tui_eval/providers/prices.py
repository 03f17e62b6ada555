"""What a call costs: a user's prices, else the library's; what neither knows is unknown.

The library is genai-prices with the figures shipped in the package; nothing is fetched.
"""

from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from typing import TYPE_CHECKING

from tui_eval.model.outputs.output import Usage
from tui_eval.providers.presets import PRESETS, host_of, is_loopback

if TYPE_CHECKING:
    from genai_prices.types import TieredPrices

_LIBRARY_NAMES = {"gemini": "google"}
"""Our preset → the library's provider, where they differ."""

_MILLION = 1e6


@dataclass(frozen=True, slots=True)
class Rate:
    """US dollars for a million tokens, which may depend on how long the prompt is."""

    base: float
    tiers: tuple[tuple[int, float], ...] = ()
    """(more input tokens than this, the rate then), ascending."""

    def at(self, input_tokens: int) -> float:
        """Return the rate of a call with so many input tokens."""
        rate = self.base
        for start, tier in self.tiers:
            if input_tokens > start:
                rate = tier
        return rate


@dataclass(frozen=True, slots=True)
class Prices:
    """What a model costs."""

    input: Rate
    output: Rate
    cached_input: Rate | None = None
    """None: like other input."""

    @classmethod
    def flat(cls, input_: float, output: float, cached_input: float | None = None) -> "Prices":
        """Make prices that do not depend on anything, in US dollars for a million tokens."""
        cached = None if cached_input is None else Rate(cached_input)
        return cls(Rate(input_), Rate(output), cached)

    def of(self, usage: Usage) -> float | None:
        """Return the US dollars of a call; None where its tokens are not known, and not free."""
        if self == FREE:
            return 0.0
        if usage.input is None or usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input)
        input_rate = self.input.at(usage.input)
        cached_rate = self.cached_input.at(usage.input) if self.cached_input else input_rate
        dollars = (
            (usage.input - cached) * input_rate
            + cached * cached_rate
            + usage.output * self.output.at(usage.input)
        )
        return dollars / _MILLION

    def about(self, sent: int | None, produced: int | None) -> float | None:
        """Return the US dollars of many calls together, as if none of them were a long one."""
        if self == FREE:
            return 0.0
        if sent is None or produced is None:
            return None
        return (sent * self.input.base + produced * self.output.base) / _MILLION


FREE = Prices.flat(0.0, 0.0)
"""What is known to cost nothing, however many tokens there are."""


def prices_of(
    provider: str | None, base_url: str | None, model: str, own: Prices | None = None
) -> Prices | None:
    """Return what a model's tokens cost; None: that is unknown.

    Args:
        provider: The preset's name, if one was named.
        base_url: Where calls go; None for an embedded server.
        model: The model as it is asked for.
        own: A user's own prices.
    """
    if own is None and is_free(provider, base_url):
        return FREE
    return own or known_prices(provider, base_url, model)


@dataclass(frozen=True, slots=True)
class BulkPrices:
    """What a model costs through a provider's batch API."""

    prices: Prices
    at_most: bool
    """Whether these are the prices of single calls, as what a batch costs is not known."""


def bulk_prices_of(
    provider: str | None, base_url: str | None, model: str, own: Prices | None = None
) -> BulkPrices | None:
    """Return what a model's tokens cost through a batch API; None: not even single calls are known.

    A user's own prices are those of single calls: what is taken off them nobody says.
    """
    single = prices_of(provider, base_url, model, own)
    if single is None or single == FREE or own is not None:
        return None if single is None else BulkPrices(single, at_most=single != FREE)
    batch = known_prices(provider, base_url, model, batch=True)
    # the library gives the prices of single calls where it knows no others
    known = batch is not None and (batch.input, batch.output) != (single.input, single.output)
    return BulkPrices(batch if known and batch else single, at_most=not known)


def is_free(provider: str | None, base_url: str | None) -> bool:
    """Say whether an endpoint costs nothing: a local preset, or this machine."""
    preset = PRESETS.get(provider or "")
    return (preset is not None and preset.local) or is_loopback(host_of(base_url or ""))


def input_prices_of(
    provider: str | None, base_url: str | None, model: str, own: Prices | None = None
) -> Prices | None:
    """Return what the tokens of a model cost that produces none, as `prices_of` does."""
    if own is None and is_free(provider, base_url):
        return FREE
    return own or known_prices(provider, base_url, model, reads_only=True)


@lru_cache(maxsize=256)
def known_prices(
    provider: str | None,
    base_url: str | None,
    model: str,
    *,
    reads_only: bool = False,
    batch: bool = False,
) -> Prices | None:
    """Look a model up in the library, for today; None: it does not know it.

    Args:
        provider: The preset's name, if one was named.
        base_url: Where calls go.
        model: The model as it is asked for.
        reads_only: Whether it produces no tokens, so that it needs no price for them.
        batch: Whether it is asked through a batch API (the library's `processing`); what it knows
            no such price of costs what it does in single calls.
    """
    # 0.1 s and some megabytes of figures: only where something is priced
    from genai_prices import Usage as LibraryUsage
    from genai_prices import calc_price

    nothing = LibraryUsage(input_tokens=0, output_tokens=0)
    how = {"processing": "batch"} if batch else None
    try:
        if provider is not None:
            name = _LIBRARY_NAMES.get(provider, provider)
            found = calc_price(nothing, model, provider_id=name, price_context=how).model_price
        elif base_url is not None:
            found = calc_price(
                nothing, model, provider_api_url=base_url, price_context=how
            ).model_price
        else:
            return None
    except LookupError:
        return None
    given = _rate(found.input_mtok)
    produced = Rate(0.0) if reads_only else _rate(found.output_mtok)
    if given is None or produced is None:
        return None
    return Prices(given, produced, _rate(found.cache_read_mtok))


def _rate(price: "Decimal | TieredPrices | None") -> Rate | None:
    if price is None:
        return None
    if isinstance(price, Decimal):
        return Rate(float(price))
    steps = sorted((int(tier.start), float(tier.price)) for tier in price.tiers)
    return Rate(float(price.base), tuple(steps))
