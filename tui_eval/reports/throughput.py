"""How fast a run goes and what it will cost: reckoned here for app, command line and charts."""

from collections import deque
from collections.abc import Iterable, Mapping

from tui_eval.format import estimated_usd
from tui_eval.store.read.run_counts import Counts

WINDOW_S = 10.0
"""Seconds over which answers a second are taken, wherever they are shown."""
LEAST_S = 0.5
"""Seconds below which nothing is said of a rate: it would jump."""
_LEAST_LEFT_S = 3.0
"""Likewise of the time left, which a few trials more or less change by hours."""

_FEW = 10
"""By how much a number must grow within the window, or the rate is taken over longer."""


class Meter:
    """A number that grows, looked at again and again; gives its rate over the last seconds."""

    def __init__(self, window_s: float = WINDOW_S, few: float = _FEW) -> None:
        self._window_s = window_s
        self._few = few
        self._now, self._value = 0.0, 0.0
        self._seen: deque[tuple[float, float]] = deque()
        """Each value with the moment it was seen first, oldest first."""

    def see(self, now: float, value: float) -> None:
        """Take a look; a value that has become less begins anew."""
        seen = self._seen
        self._now, self._value = now, value
        if seen and value < seen[-1][1]:
            seen.clear()
        if not seen or value != seen[-1][1]:
            seen.append((now, value))
        while (
            len(seen) > 2 and now - seen[1][0] > self._window_s and value - seen[1][1] >= self._few
        ):
            seen.popleft()

    def rate(self, least_s: float = LEAST_S) -> float | None:
        """Return what came a second; None: less than `least_s` was seen."""
        if not self._seen:
            return None
        began, before = self._seen[0]
        past = self._now - began
        return (self._value - before) / past if past >= least_s else None


class TimeLeft:
    """How long a run still takes, if it goes on as it has gone lately.

    Columns go on beside each other: a quick one that is through says nothing of a slow one, which
    is what a run waits for.
    """

    def __init__(self) -> None:
        self._whole, self._of = Meter(), Counts()
        self._columns: dict[int, tuple[Meter, Counts]] = {}

    def recall(self, settled: Iterable[tuple[float, int]]) -> None:
        """Begin with how many trials of the whole run were settled at moments in the past."""
        self._whole = Meter()
        for moment, trials in settled:
            self._whole.see(moment, trials)

    def see(self, now: float, whole: Counts, columns: Mapping[int, Counts]) -> None:
        """Take a look.

        Args:
            now: Seconds of any clock that only goes forward.
            whole: Counts of the whole run.
            columns: Of each column, by its index.
        """
        self._of = whole
        self._whole.see(now, whole.settled)
        for column, counts in columns.items():
            meter, _ = self._columns.get(column, (Meter(), counts))
            meter.see(now, counts.settled)
            self._columns[column] = meter, counts

    def seconds(self) -> float | None:
        """Return the seconds until all is settled; None: who knows, or all is.

        A column of which nothing is settled yet does not count by itself.
        """
        longest = [_left(self._whole, self._of)]
        longest += [_left(meter, counts) for meter, counts in self._columns.values()]
        return max((one for one in longest if one is not None), default=None)


def _left(meter: Meter, of: Counts) -> float | None:
    open_trials, rate = of.total - of.settled, meter.rate(_LEAST_LEFT_S)
    return open_trials / rate if rate and open_trials else None


def mean_rate(answered: int, wall_s: float) -> float | None:
    """Give the answers a second of all the time engines worked on a run; None: too early to say."""
    return answered / wall_s if wall_s >= LEAST_S else None


def expected_usd(columns: Iterable[Counts]) -> float | None:
    """Return what all columns will have cost when all is done; None: who knows.

    What no endpoint told is taken as estimated. Each column's trials that wait for an answer are
    taken to cost what its answered and errored ones did on average. Outputs from the store cost
    nothing; nobody asks for what is cancelled.
    """
    whole = 0.0
    for of in columns:
        waiting = of.total - of.settled - of.scoring
        asked = of.done + of.error + of.scoring - of.cached
        spent = estimated_usd(of)
        if spent is None or (waiting and asked <= 0):
            return None
        whole += spent + (waiting * spent / asked if waiting else 0.0)
    return whole
