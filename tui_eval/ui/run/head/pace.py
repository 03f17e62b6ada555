"""How fast a run goes and spends: from what the store knows of the last minute, then as seen."""

from collections import deque
from collections.abc import Mapping

from tui_eval.reports.throughput import Meter, TimeLeft
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.read.trials.trial_queries import RecentActivity

_MONEY_S = 60.0
"""Calls of one model cost very different sums: their rate is taken over longer."""


class RunPace:
    """Settled trials, answers and dollars over time."""

    def __init__(self, seconds: int = 60) -> None:
        self._left = TimeLeft()
        self._begin()
        self._by_second: deque[tuple[int, int]] = deque(maxlen=seconds)
        self._settled: int | None = None

    def _begin(self) -> None:
        self._answers, self._dollars = Meter(), Meter(_MONEY_S, few=0)

    def recall(self, now: float, lately: RecentActivity) -> None:
        """Begin with what the store knows of the last seconds, instead of with nothing.

        Args:
            now: Monotonic seconds.
            lately: What has happened until now.
        """
        self._begin()
        self._by_second.clear()
        settled = lately.settled - sum(n for n, _ in lately.by_age.values())
        answered = lately.answered - sum(n for n, _ in lately.by_age.values())
        dollars = (lately.cost_usd or 0.0) - sum(usd for _, usd in lately.by_age.values())
        before: list[tuple[float, int]] = []
        for age in range(lately.seconds, -1, -1):
            # the youngest second is not over yet: its trials are there by now
            moment = now - age
            before.append((moment, settled))
            self._answers.see(moment, answered)
            self._dollars.see(moment, dollars)
            n, usd = lately.by_age.get(age - 1, (0, 0.0))
            settled, answered, dollars = settled + n, answered + n, dollars + usd
            if age:
                self._by_second.append((int(moment), n))
        self._left.recall(before)
        self._settled = lately.settled

    def see(
        self,
        now: float,
        whole: Counts,
        columns: Mapping[int, Counts],
        cost_usd: float | None = None,
    ) -> None:
        """Take a look.

        Args:
            now: Monotonic seconds.
            whole: Counts of the run by now; after a retry fewer are settled than before.
            columns: Of each column, by its index.
            cost_usd: What is spent by now; None: nobody knows.
        """
        settled = whole.settled
        if self._settled is not None:
            gained = max(settled - self._settled, 0)
            second = int(now)
            if self._by_second and self._by_second[-1][0] == second:
                self._by_second[-1] = (second, self._by_second[-1][1] + gained)
            else:
                self._by_second.append((second, gained))
        self._settled = settled
        self._left.see(now, whole, columns)
        self._answers.see(now, whole.answered)
        if cost_usd is not None:
            self._dollars.see(now, cost_usd)

    def per_second(self) -> float | None:
        """Return answers a second over the last seconds; None: too early to say."""
        return self._answers.rate()

    def usd_per_minute(self) -> float | None:
        """Return what is spent in a minute, by the last one; None: too early to say."""
        rate = self._dollars.rate()
        return None if rate is None else rate * 60

    def left(self) -> float | None:
        """Return the seconds until all is settled, if it goes on like this; None: who knows."""
        return self._left.seconds()

    def history(self, now: float, seconds: int) -> list[int]:
        """Return the trials settled in each of the last whole seconds, oldest first."""
        counts: Mapping[int, int] = dict(self._by_second)
        first = min(counts, default=int(now))
        begin = max(int(now) - seconds, first)
        return [counts.get(second, 0) for second in range(begin, int(now))]


def sparkline(counts: list[int] | tuple[int, ...], levels: str) -> str:
    """Draw counts with characters from low to high; nothing at all is the lowest."""
    most = max(counts, default=0)
    if most == 0:
        return ""
    top = len(levels) - 1
    return "".join(levels[-(-count * top // most)] for count in counts)
