"""How fast a run goes, as seen from here."""

from collections import deque

_WINDOW_S = 10.0
_LEAST_S = 0.5


class Pace:
    """Settled trials over time."""

    def __init__(self, seconds: int = 60) -> None:
        self._seen: deque[tuple[float, int]] = deque()
        """Moments and how many trials were settled by then, oldest first."""
        self._by_second: deque[tuple[int, int]] = deque(maxlen=seconds)
        self._settled: int | None = None

    def see(self, now: float, settled: int) -> None:
        """Take a look.

        Args:
            now: Monotonic seconds.
            settled: Trials settled by now; fewer than before after a retry.
        """
        if self._settled is not None:
            gained = max(settled - self._settled, 0)
            second = int(now)
            if self._by_second and self._by_second[-1][0] == second:
                self._by_second[-1] = (second, self._by_second[-1][1] + gained)
            else:
                self._by_second.append((second, gained))
        if self._settled is not None and settled < self._settled:
            self._seen.clear()
        self._settled = settled
        self._seen.append((now, settled))
        while len(self._seen) > 2 and now - self._seen[1][0] > _WINDOW_S:
            self._seen.popleft()

    def per_second(self) -> float | None:
        """Give trials a second over the last seconds; None: too early to say."""
        if len(self._seen) < 2:
            return None
        (began, before), (now, settled) = self._seen[0], self._seen[-1]
        return (settled - before) / (now - began) if now - began >= _LEAST_S else None

    def left(self, open_trials: int) -> float | None:
        """Give the seconds until all is settled, if it goes on like this; None: who knows."""
        rate = self.per_second()
        return open_trials / rate if rate else None

    def history(self, now: float, seconds: int) -> list[int]:
        """Give the trials settled in each of the last whole seconds, oldest first."""
        counts = dict(self._by_second)
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
