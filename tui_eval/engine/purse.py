"""What a run may spend before it asks: money, tokens, errors."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeAlias

from tui_eval.model.output import Failure, Output
from tui_eval.store.board import Counts
from tui_eval.store.spending import Spending

Payer: TypeAlias = int | str
"""Who makes calls: a column by its index, a judge by its name. Each has prices and sizes of its
own."""


@dataclass(frozen=True, slots=True)
class Caps:
    """Where a run pauses; None: no cap."""

    cost_usd: float | None = None
    tokens: int | None = None
    """Read and produced, of all targets and judges together."""
    errors: float | None = None
    """Errored trials: a number from 1 on, or a share of all trials below 1."""

    @property
    def of_calls(self) -> bool:
        """Whether calls may be held back: for what they cost, or for their tokens."""
        return self.cost_usd is not None or self.tokens is not None


@dataclass(frozen=True, slots=True)
class Bound:
    """What one call takes at most, as far as that is known before any has been made."""

    cost_usd: float | None = None
    """None: unknown. 0.0: known to be free."""
    tokens: int | None = None


@dataclass(slots=True)
class Allowance:
    """One cap, of money or of tokens alike.

    What is spent, what is in flight and the next call together stay below it. A call is reckoned at
    the largest that its payer has made; before there is any, at its bound; where there is none, it
    is made alone: while a call of unknown size is in flight, no other begins that takes anything.
    """

    cap: float | None = None
    spent: float = 0.0
    doubtful: float = 0.0
    """What calls may have taken of which no answer came (their engine was killed, or they were
    ended), and about what those took whose endpoint did not say."""
    bounds: dict[Payer, float | None] = field(default_factory=dict)
    _largest: dict[Payer, float] = field(default_factory=dict)
    _reserved: float = 0.0
    _unknown: int = 0
    """Calls in flight of which nobody can tell what they take."""

    @property
    def total(self) -> float:
        """What is or may be spent."""
        return self.spent + self.doubtful

    def next(self, payer: Payer) -> float | None:
        """Return what a payer's next call is reckoned at; None: unknown."""
        return self._largest.get(payer, self.bounds.get(payer))

    def reached(self) -> bool:
        """Return whether nothing is left."""
        return self.cap is not None and self.total >= self.cap

    def fits(self, payer: Payer) -> bool:
        """Return whether a payer's next call may begin now."""
        if self.cap is None:
            return True
        amount, taken = self.next(payer), self.total + self._reserved
        if amount == 0:
            return True
        if self._unknown:
            return False
        return taken < self.cap if amount is None else taken + amount <= self.cap

    @contextmanager
    def reserved(self, payer: Payer) -> Iterator[None]:
        """Hold the room of a call while it is in flight."""
        amount = self.next(payer)
        self._reserved += amount or 0.0
        self._unknown += amount is None
        try:
            yield
        finally:
            self._reserved -= amount or 0.0
            self._unknown -= amount is None

    def took(self, payer: Payer, amount: float | None, about: float | None = None) -> None:
        """Add what a call took.

        Args:
            payer: Who made it.
            amount: What is known; None: nothing is.
            about: What it took beside that, as an estimate; None: there is none.
        """
        if amount is None and about is None:
            self.doubt(payer)
            return
        self.spent += amount or 0.0
        self.doubtful += about or 0.0
        self.seen(payer, (amount or 0.0) + (about or 0.0))

    def seen(self, payer: Payer, amount: float | None) -> None:
        """Learn that a payer has made a call of a size."""
        if amount is not None:
            self._largest[payer] = max(self._largest.get(payer, 0.0), amount)

    def doubt(self, payer: Payer, calls: int = 1) -> None:
        """Add what calls may have taken of which no answer came."""
        self.doubtful += calls * (self.next(payer) or 0.0)


class Purse:
    """Adds up what a run takes, and says once when a cap is reached.

    A cap holds before a call: one that could exceed it does not begin. While others are in flight
    it waits for them, for they may take less than is held for them; else the run pauses and asks.
    """

    def __init__(self, on_empty: Callable[[Failure], None]) -> None:
        """Make a purse without caps.

        Args:
            on_empty: Told when a cap is reached, with what to do.
        """
        self._money = Allowance()
        self._tokens = Allowance()
        self._caps = Caps()
        self._errors = 0
        self._trials = 0
        self._in_flight = 0
        self._on_empty = on_empty
        self._held = False
        self.on_room: Callable[[], None] = lambda: None
        """Told when a call that was held back may perhaps begin."""

    @property
    def caps(self) -> Caps:
        """Where to stop; may be moved while the run goes on."""
        return self._caps

    @caps.setter
    def caps(self, caps: Caps) -> None:
        self._caps = caps
        self._money.cap, self._tokens.cap = caps.cost_usd, caps.tokens
        self._tell()

    def bound(self, bounds: Mapping[Payer, Bound]) -> None:
        """Learn what calls take at most, before any has been made."""
        for payer, most in bounds.items():
            self._money.bounds[payer] = most.cost_usd
            self._tokens.bounds[payer] = most.tokens

    def open(
        self,
        caps: Caps,
        so_far: Counts,
        spent_usd: float,
        judge_tokens: int = 0,
        before: Mapping[Payer, Spending] | None = None,
    ) -> None:
        """Begin to watch the caps.

        Args:
            caps: Where to stop.
            so_far: What the run has taken already; totals are sums over all its engines.
            spent_usd: What is known to be spent, on targets and judges.
            judge_tokens: What its judges took.
            before: What calls of earlier engines were like, and how many were never answered.
        """
        self._money.spent = spent_usd
        self._tokens.spent = so_far.input_tokens + so_far.output_tokens + judge_tokens
        self._money.doubtful = self._tokens.doubtful = 0.0
        for payer, was in (before or {}).items():
            self._money.seen(payer, was.largest_usd)
            self._tokens.seen(payer, was.largest_tokens)
            self._money.doubtful += was.about_usd
            self._tokens.doubtful += was.about_tokens
            self._money.doubt(payer, was.unanswered)
            self._tokens.doubt(payer, was.unanswered)
        self._errors = so_far.error
        self._trials = so_far.total
        self.caps = caps
        self._look()

    def fits(self, payer: Payer) -> bool:
        """Return whether a payer's next call could begin now without exceeding a cap."""
        return self._money.fits(payer) and self._tokens.fits(payer)

    def may_begin(self, payer: Payer) -> bool:
        """Return whether a payer's next call, which is ready, may begin now.

        Where it may not and nothing is in flight that could make room, the run is told to pause.
        """
        if self.fits(payer):
            return True
        self._held = True
        if not self._in_flight:
            self._on_empty(self.empty() or self._too_large(payer))
        return False

    @contextmanager
    def call(self, payer: Payer) -> Iterator[None]:
        """Hold the room of a payer's call while it is in flight."""
        self._in_flight += 1
        try:
            with self._money.reserved(payer), self._tokens.reserved(payer):
                yield
        finally:
            self._in_flight -= 1
            self._tell()

    def paid(self, payer: Payer, got: Output | Failure) -> None:
        """Add what a call took; of an answer whose endpoint does not say, about what it took.

        A failure has taken something only where the endpoint says so.
        """
        usage = got.usage
        if isinstance(got, Failure) and usage.input is None and usage.output is None:
            return
        about = got.estimate if isinstance(got, Output) else None
        unpriced = about is not None and got.cost_usd is None
        self._money.took(payer, got.cost_usd, about.cost_usd if about and unpriced else None)
        told = (usage.input or 0) + (usage.output or 0)
        self._tokens.took(payer, told, about.tokens if about else None)
        self._look()

    def unanswered(self, payer: Payer) -> None:
        """Learn that a call was ended after it had left: it may have to be paid."""
        self._money.doubt(payer)
        self._tokens.doubt(payer)
        self._look()

    def errored(self) -> None:
        """Add a trial that ended as an error."""
        self._errors += 1
        self._look()

    def _tell(self) -> None:
        if self._held:
            self._held = False
            self.on_room()

    def _look(self) -> None:
        empty = self.empty()
        if empty is not None:
            self._on_empty(empty)

    def empty(self) -> Failure | None:
        """Say which cap is reached, with the sums of this moment; None: none is."""
        caps = self._caps
        if self._money.reached():
            return self._at_cost(_dollars(self._money) + " spent")
        if self._tokens.reached():
            return self._at_tokens(f"{_count(self._tokens)} tokens are used")
        if caps.errors is not None and self._errors >= self._most_errors(caps.errors):
            return _at_cap(
                "max_errors",
                f"{self._errors} trials errored and max_errors is {caps.errors:g}: "
                "look at them, then resume to try them again",
            )
        return None

    def _too_large(self, payer: Payer) -> Failure:
        """Say which cap has no room for a payer's next call."""
        if not self._money.fits(payer):
            next_ = self._money.next(payer) or 0.0
            return self._at_cost(
                f"{_dollars(self._money)} spent, the next call may cost ${next_:.4g}"
            )
        next_ = self._tokens.next(payer) or 0.0
        return self._at_tokens(
            f"{_count(self._tokens)} tokens are used, the next call may take {next_:.0f}"
        )

    def _at_cost(self, spent: str) -> Failure:
        cap = self._caps.cost_usd
        return _at_cap(
            "max_cost_usd",
            f"{spent} and max_cost_usd is {cap:g}: resume with a higher --max-cost to go on",
        )

    def _at_tokens(self, used: str) -> Failure:
        cap = self._caps.tokens
        return _at_cap(
            "max_tokens",
            f"{used} and max_tokens is {cap}: resume with a higher --max-tokens to go on",
        )

    def _most_errors(self, cap: float) -> float:
        return cap if cap >= 1 else max(1.0, cap * self._trials)


def _dollars(money: Allowance) -> str:
    if not money.doubtful:
        return f"${money.spent:.4g} is"
    return f"about ${money.total:.4g} is or may be"


def _count(tokens: Allowance) -> str:
    return f"about {tokens.total:.0f}" if tokens.doubtful else f"{tokens.spent:.0f}"


def _at_cap(kind: str, message: str) -> Failure:
    return Failure(kind, message, fatal=True)
