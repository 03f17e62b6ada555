"""What a run may spend before it asks: money, tokens, errors."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final, TypeVar

from tui_eval.engine.coordination import Coordination
from tui_eval.engine.departure import capped
from tui_eval.engine.limits.spend_cap import CallBound, GradingBacklog, Payer, PayerCalls, SpendCap
from tui_eval.format import many, money
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.store.read.figures.call_spending import CallSpending
from tui_eval.store.read.run_counts import Counts

T = TypeVar("T")

_TIGHT: Final = 0.1
"""The share of a cap below which nothing is sent in bulk that it cuts short. That may take a day,
and each time what comes back cheaper than was held for it makes room for a bit less."""


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
class BulkPayer:
    """Who puts requests into consignments."""

    is_judge: bool = False
    """Whether what others have put together and not sent may wait for the same as this one."""
    draft: str | None = None
    """The token of the consignment that they are put into, where it holds room already."""


class SpendCaps:
    """Adds up what a run takes, and says once when a cap is reached.

    A cap holds before a call: one that could exceed it does not begin. While others are in flight
    it waits for them, for they may take less than is held for them; so does a target's while there
    are outputs to grade. Else the run pauses and asks.
    """

    def __init__(self, coordination: Coordination) -> None:
        """Begin without caps.

        Args:
            coordination: Told when a cap is reached, when targets begin to wait, and when calls
                that were held back may perhaps begin; asked what waits for a grade.
        """
        self._coordination = coordination
        self._calls: defaultdict[Payer, PayerCalls] = defaultdict(PayerCalls)
        self.grading = GradingBacklog(coordination)
        self._money = SpendCap(self._calls, self.grading)
        self._tokens = SpendCap(self._calls, self.grading)
        self._caps = Caps()
        self.with_others: Mapping[Payer, tuple[Payer, ...]] = {}
        """Who else makes calls in a call of a payer's: the simulated user, of a column."""
        self._errors = 0
        self._trials = 0
        self._in_flight = 0
        self._held = False
        self._drafts: set[str] = set()
        """Consignments that hold room and are not sent yet: they wait for company."""
        self.forming = asyncio.Lock()
        """Whoever has it puts a consignment together: two at once would cut each other short."""
        self.holds_targets = False
        """Whether targets wait until others have ended: no output comes to be graded meanwhile."""

    @property
    def calls_in_flight(self) -> int:
        """How many calls are, of targets and judges that are asked live."""
        return self._in_flight

    @property
    def holds_back(self) -> bool:
        """Whether something is held back until `Coordination.calls_have_room`."""
        return self._held

    @property
    def caps(self) -> Caps:
        """Where to stop; may be moved while the run goes on."""
        return self._caps

    @caps.setter
    def caps(self, caps: Caps) -> None:
        self._caps = caps
        self._money.cap, self._tokens.cap = caps.cost_usd, caps.tokens
        self.look_again()

    def bound(self, bounds: Mapping[Payer, CallBound]) -> None:
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
        before: Mapping[Payer, CallSpending] | None = None,
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
            self._calls[payer].before(was.answered)
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
        return all(
            self._money.fits(one) and self._tokens.fits(one) for one in self._together(payer)
        )

    def _together(self, payer: Payer) -> tuple[Payer, ...]:
        return (payer, *self.with_others.get(payer, ()))

    def further_fits(self, payer: Payer) -> bool:
        """Return whether a further call could begin of a conversation that is under way.

        The room for a target's is held already, since it began.
        """
        mine = int(isinstance(payer, int))
        return self._money.fits(payer, mine) and self._tokens.fits(payer, mine)

    def may_begin(self, payer: Payer) -> bool:
        """Return whether a payer's next call, which is ready, may begin now.

        Where it may not and nothing is in flight that could make room, nor, for a target, is to be
        graded first, the run is told to pause.
        """
        if self.fits(payer):
            return True
        self._held = True
        if isinstance(payer, int):
            if not self.holds_targets:
                self.holds_targets = True
                self._coordination.targets_held()
            if self.grading.ungraded and not self.grading.rests:
                return False
        if not self._in_flight and not self._money.consigned:
            self._coordination.leave(capped(self.empty() or self._too_large(payer)))
        return False

    def has_room(self, usd: float | None, tokens: int | None) -> bool:
        """Return whether what takes so much at most exceeds no cap; None: nobody knows."""
        return self._money.fits_most(usd) and self._tokens.fits_most(tokens)

    def exceeded(self) -> bool:
        """Return whether what is under way may exceed a cap: it has been lowered meanwhile."""
        return self._money.exceeded() or self._tokens.exceeded()

    def may_consign(self, of: BulkPayer) -> bool:
        """Return whether requests may be put into a consignment now.

        Where little of a cap is left they wait until nothing is under way any more: what is then
        left may be enough for all.
        """
        if self._tight(of) and self._comes(of):
            self._held = True
            return False
        return True

    def cut_short(self, of: BulkPayer, fitting: int, usd: float | None, tokens: int | None) -> bool:
        """Return whether a consignment is to be sent that caps cut short.

        It is not where little of a cap is left. Where nothing is under way that could make room,
        the run is told to pause.

        Args:
            of: Who asks.
            fitting: How many requests it holds so far.
            usd: What the next one, with those that hold no room yet, can cost; None: nobody knows.
            tokens: What they can take; None: nobody knows.
        """
        if fitting and not self._tight(of):
            return True
        self._held = True
        if not self._comes(of):
            of_money = not self._money.fits_most(usd)
            what = f"the rest is enough for only {many(fitting, 'further request')} in bulk"
            if not fitting and of_money:
                what = f"the next request in bulk may cost {_unless_unknown(usd, money)}"
            elif not fitting:
                what = f"the next request in bulk may take {_unless_unknown(tokens, str)}"
            why = (
                self._at_cost(f"{_dollars(self._money)} spent, {what}")
                if of_money
                else self._at_tokens(f"{_count(self._tokens)} tokens are used, {what}")
            )
            self._coordination.leave(capped(self.empty() or why))
        return False

    def _tight(self, of: BulkPayer) -> bool:
        left = [cap.share_left(of.draft) for cap in (self._money, self._tokens)]
        return min(left) < _TIGHT

    def _comes(self, of: BulkPayer) -> bool:
        """Return whether something is under way that may make room."""
        consigned = set(self._money.consigned)
        return bool(self._in_flight or (consigned - self._drafts if of.is_judge else consigned))

    def drafted(self, token: str, usd: float | None, tokens: int | None) -> None:
        """Hold the room of a consignment that waits for company; it is sent before others are."""
        self.consigned(token, usd, tokens)
        self._drafts.add(token)

    def consigned(self, token: str, usd: float | None, tokens: int | None) -> None:
        """Hold the room of what a consignment may still take at most; None: nobody knows.

        It is held from its first request on, before anything of it is written down.
        """
        self._drafts.discard(token)
        self._money.consigned[token] = usd
        self._tokens.consigned[token] = None if tokens is None else float(tokens)

    def settled(self, token: str) -> None:
        """Give the room of a consignment back, where it holds some: nothing more comes of it."""
        if token not in self._money.consigned:
            return
        self._drafts.discard(token)
        del self._money.consigned[token], self._tokens.consigned[token]
        self.look_again()

    @contextmanager
    def call(self, payer: Payer) -> Iterator[None]:
        """Hold the room of a payer's call while it is in flight."""
        self._in_flight += 1
        try:
            with self._calls[payer].one():
                yield
        finally:
            self._in_flight -= 1
            self.look_again()

    def has_output(self) -> None:
        """Learn that a target gave an output whose calls were paid one by one."""
        self.grading.bought += 1

    def paid(
        self, payer: Payer, got: Output | Failure, questions: int = 1, *, of_several: bool = False
    ) -> None:
        """Add what a call took; of an answer whose endpoint does not say, about what it took.

        A failure has taken something only where the endpoint says so; a call that timed out may
        have to be paid.

        Args:
            payer: Who made it.
            got: What came back.
            questions: How many it put to a judge.
            of_several: Whether it is one of those that an output takes; see `has_output`.
        """
        usage = got.usage
        if isinstance(got, Failure) and not got.was_paid:
            if got.kind == "timeout":
                self.unanswered(payer)
            return
        self._calls[payer].answered += 1
        self.grading.bought += isinstance(payer, int) and not of_several
        about = got.estimate
        self._money.took(payer, got.price.known_usd, got.price.about_usd, questions)
        told = (usage.input or 0) + (usage.output or 0)
        self._tokens.took(payer, told, about.tokens if about else None, questions)
        self._look()

    def unanswered(self, payer: Payer) -> None:
        """Learn that a call was ended, or timed out, after it had left: it may have to be paid."""
        self._money.doubt(payer)
        self._tokens.doubt(payer)
        self._look()

    def errored(self) -> None:
        """Add a trial that ended as an error."""
        self._errors += 1
        self._look()

    def look_again(self) -> None:
        """Have calls that were held back look whether they may begin now."""
        if self._held:
            self._held = self.holds_targets = False
            self._coordination.calls_have_room()

    def _look(self) -> None:
        empty = self.empty()
        if empty is not None:
            self._coordination.leave(capped(empty))

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
        for one in self._together(payer):
            if not self._money.fits(one):
                next_ = self._money.next(one) or 0.0
                return self._at_cost(
                    f"{_dollars(self._money)} spent, the next call may cost {money(next_)}"
                    + self._and_grades(one, self._money, money)
                )
        payer = next((one for one in self._together(payer) if not self._tokens.fits(one)), payer)
        next_ = self._tokens.next(payer) or 0.0
        return self._at_tokens(
            f"{_count(self._tokens)} tokens are used, the next call may take {next_:.0f}"
            + self._and_grades(payer, self._tokens, "{:.0f}".format)
        )

    def _and_grades(self, payer: Payer, cap: SpendCap, form: Callable[[float], str]) -> str:
        grades = cap.grades(1) if isinstance(payer, int) else None
        return f", grading its output {form(grades)}" if grades else ""

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


def _unless_unknown(amount: T | None, form: Callable[[T], str]) -> str:
    return "nobody knows how much" if amount is None else form(amount)


def _dollars(of: SpendCap) -> str:
    if not of.doubtful:
        return f"{money(of.spent)} is"
    return f"about {money(of.total)} is or may be"


def _count(tokens: SpendCap) -> str:
    return f"about {tokens.total:.0f}" if tokens.doubtful else f"{tokens.spent:.0f}"


def _at_cap(kind: str, message: str) -> Failure:
    return Failure(kind, message, fatal=True)
