"""What a run may spend before it asks: money, tokens, errors."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tui_eval.model.output import Failure, Output
from tui_eval.store.board import Counts


@dataclass(frozen=True, slots=True)
class Caps:
    """Where a run pauses; None: no cap."""

    cost_usd: float | None = None
    tokens: int | None = None
    """Read and produced, of all targets and judges together."""
    errors: float | None = None
    """Errored trials: a number from 1 on, or a share of all trials below 1."""


class Purse:
    """Adds up what a run takes, and says once when a cap is reached.

    Calls in flight at that moment end as they do. So that they do not take a run far above its cap
    on cost, no further call begins where those in flight and one more would, at the mean of what
    calls cost so far, exceed it. One alone may: it is how the cap is reached.
    """

    def __init__(self, on_empty: Callable[[Failure], None]) -> None:
        """Make a purse without caps.

        Args:
            on_empty: Told when a cap is reached, with what to do.
        """
        self.caps = Caps()
        """Where to stop; may be moved while the run goes on."""
        self._cost_usd = 0.0
        self._tokens = 0
        self._errors = 0
        self._trials = 0
        self._on_empty = on_empty
        self._in_flight: Counter[int] = Counter()
        self._priced: dict[int, tuple[int, float]] = {}
        """For each column the calls whose cost is known, and what they cost together."""
        self._held = False
        self.on_room: Callable[[], None] = lambda: None
        """Told when a call that was held back may perhaps begin."""

    def open(self, caps: Caps, so_far: Counts, spent_usd: float, judge_tokens: int = 0) -> None:
        """Begin to watch the caps.

        Args:
            caps: Where to stop.
            so_far: What the run has taken already; totals are sums over all its engines.
            spent_usd: What is known to be spent, on targets and judges.
            judge_tokens: What its judges took.
        """
        self.caps = caps
        self._cost_usd = spent_usd
        self._tokens = so_far.input_tokens + so_far.output_tokens + judge_tokens
        self._errors = so_far.error
        self._trials = so_far.total
        self._look()

    def may_begin(self) -> bool:
        """Whether one more call to a target may begin without exceeding the cap on cost."""
        cap, in_flight = self.caps.cost_usd, self._in_flight
        if cap is None or not self._priced or not in_flight.total():
            return True
        means = {col: cost / n for col, (n, cost) in self._priced.items()}
        under_way = sum(means.get(col, 0.0) * n for col, n in in_flight.items())
        held = self._cost_usd + under_way + max(means.values()) > cap
        self._held = self._held or held
        return not held

    @contextmanager
    def call(self, col: int) -> Iterator[None]:
        """Hold a place for a call to a column's target while it is in flight."""
        self._in_flight[col] += 1
        try:
            yield
        finally:
            self._in_flight[col] -= 1
            if self._held:
                self._held = False
                self.on_room()

    def paid(self, output: Output, col: int | None = None) -> None:
        """Add what an output took; an unknown cost adds nothing, so caps need known prices.

        Args:
            output: The output of a target, or of a judge.
            col: The target's column; None: a judge's.
        """
        self._cost_usd += output.cost_usd or 0.0
        if col is not None and output.cost_usd is not None:
            n, cost = self._priced.get(col, (0, 0.0))
            self._priced[col] = (n + 1, cost + output.cost_usd)
        self._tokens += (output.usage.input or 0) + (output.usage.output or 0)
        self._look()

    def errored(self) -> None:
        """Add a trial that ended as an error."""
        self._errors += 1
        self._look()

    def _look(self) -> None:
        empty = self.empty()
        if empty is not None:
            self._on_empty(empty)

    def empty(self) -> Failure | None:
        """Say which cap is reached, with the sums of this moment; None: none is."""
        caps = self.caps
        if caps.cost_usd is not None and self._cost_usd >= caps.cost_usd:
            return _at_cap(
                "max_cost_usd",
                f"${self._cost_usd:.4g} is spent and max_cost_usd is {caps.cost_usd:g}: "
                "resume with a higher --max-cost to go on",
            )
        if caps.tokens is not None and self._tokens >= caps.tokens:
            return _at_cap(
                "max_tokens",
                f"{self._tokens} tokens are used and max_tokens is {caps.tokens}: "
                "resume with a higher --max-tokens to go on",
            )
        if caps.errors is not None and self._errors >= self._most_errors(caps.errors):
            return _at_cap(
                "max_errors",
                f"{self._errors} trials errored and max_errors is {caps.errors:g}: "
                "look at them, then resume to try them again",
            )
        return None

    def _most_errors(self, cap: float) -> float:
        return cap if cap >= 1 else max(1.0, cap * self._trials)


def _at_cap(kind: str, message: str) -> Failure:
    return Failure(kind, message, fatal=True)
