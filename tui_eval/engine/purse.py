"""What a run may spend before it asks: money, tokens, errors."""

from collections.abc import Callable
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

    Calls in flight at that moment end as they do: what is spent may be above the cap by theirs.
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

    def paid(self, output: Output) -> None:
        """Add what an output took; an unknown cost adds nothing, so caps need known prices."""
        self._cost_usd += output.cost_usd or 0.0
        self._tokens += (output.usage.input or 0) + (output.usage.output or 0)
        self._look()

    def errored(self) -> None:
        """Add a trial that ended as an error."""
        self._errors += 1
        self._look()

    def _look(self) -> None:
        caps = self.caps
        if caps.cost_usd is not None and self._cost_usd >= caps.cost_usd:
            self._empty(
                "max_cost_usd",
                f"${self._cost_usd:.4g} is spent and max_cost_usd is {caps.cost_usd:g}: "
                "resume with a higher --max-cost to go on",
            )
        elif caps.tokens is not None and self._tokens >= caps.tokens:
            self._empty(
                "max_tokens",
                f"{self._tokens} tokens are used and max_tokens is {caps.tokens}: "
                "resume with a higher --max-tokens to go on",
            )
        elif caps.errors is not None and self._errors >= self._most_errors(caps.errors):
            self._empty(
                "max_errors",
                f"{self._errors} trials errored and max_errors is {caps.errors:g}: "
                "look at them, then resume to try them again",
            )

    def _most_errors(self, cap: float) -> float:
        return cap if cap >= 1 else max(1.0, cap * self._trials)

    def _empty(self, kind: str, message: str) -> None:
        self._on_empty(Failure(kind, message, fatal=True))
