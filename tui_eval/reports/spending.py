"""What a run costs: so far, in a minute, in the end; and where it is to stop."""

from collections.abc import Iterable
from dataclasses import dataclass

from tui_eval.engine.limits.spend_caps import Caps
from tui_eval.format import compact, cost, dollars, estimated_usd, money
from tui_eval.reports import throughput
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.rows import RunRow


@dataclass(frozen=True, slots=True)
class Spending:
    """A run's money; what is unknown is None, never a nought."""

    total: Counts
    """What it took so far."""
    caps: Caps
    """Where it pauses and asks."""
    expected_usd: float | None
    """When all is done, if the rest costs as much as what was asked so far; None: who knows."""
    usd_per_minute: float | None = None
    """By the last minute; None: nothing goes on, or it is too early to say."""

    @property
    def tokens(self) -> int:
        """Read and produced."""
        return self.total.input_tokens + self.total.output_tokens

    @property
    def so_far(self) -> str:
        """What is spent, with its caps: `$0.83`, `$0.83/2`, `41k/50k tok`; empty: nothing to say.

        Where some of it is estimated, `about $0.83`; where some is unknown, `$0.83+?`; all: `$?`.
        """
        parts = []
        if self._worth_showing:
            cap = self.caps.cost_usd
            limit = "" if cap is None else f"/{dollars(cap)}"
            parts.append(f"{cost(self.total, short=True)}{limit}")
        if self.caps.tokens is not None:
            parts.append(f"{compact(self.tokens)}/{compact(self.caps.tokens)} tok")
        return "  ".join(parts)

    @property
    def to_come(self) -> str:
        """What it will cost: `$0.12/min, about $1.17 in all`; empty: nothing more, or who knows."""
        spent = estimated_usd(self.total)
        if spent is None or not self._worth_showing:
            return ""
        parts = []
        if self.usd_per_minute:
            parts.append(f"{money(self.usd_per_minute)}/min")
        if self.expected_usd is not None and self.expected_usd > spent:
            parts.append(f"about {money(self.expected_usd)} in all")
        return ", ".join(parts)

    @property
    def _worth_showing(self) -> bool:
        known = self.total.cost_usd
        return self.caps.cost_usd is not None or known is None or known > 0


def spending(
    run: RunRow,
    total: Counts,
    columns: Iterable[Counts],
    caps: Caps,
    usd_per_minute: float | None = None,
) -> Spending:
    """Say what a run costs.

    Args:
        run: The run; while it is staged nobody knows how much is to come.
        total: Its counts.
        columns: Those of each column.
        caps: Where it pauses and asks.
        usd_per_minute: What is spent in a minute; it says nothing where nothing goes on.
    """
    return Spending(
        total,
        caps,
        throughput.expected_usd(columns) if run.staged else None,
        usd_per_minute if run.live and total.settled < total.total else None,
    )
