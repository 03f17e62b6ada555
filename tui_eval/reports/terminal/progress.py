"""How far a run is: a bar drawn anew where there is a terminal, else a line now and then."""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from rich.cells import cell_len, set_cell_size

from tui_eval.format import clock, cost, many, money, per_second, percent
from tui_eval.reports.throughput import Meter, TimeLeft, expected_usd
from tui_eval.store.read.run_counts import Counts

_DRAW_S = 0.1
_LINE_S = 10.0
_BARS = (20, 10)
"""Cells of the bar, and where there is less room."""
_RATES = 4
"""Columns whose rate is shown."""
_APART = "  "
_SHORTENED = (
    "clock", "rates", "bulk", "bar", "flight", "share", "bar", "pace", "ungraded", "cost", "rates",
    "errors", "rates", "cost", "count",
)  # fmt: skip
"""The parts of a line in the order they are shortened where it does not fit; a part that has no
shorter form is left out. The time left stays."""


class SettlingRate(NamedTuple):
    """How fast a run goes, lately; None: too early to say."""

    answers: float | None
    """Answers a second."""
    left_s: float | None
    """Seconds until all is settled, if it goes on like this."""


def line(
    counts: Counts,
    columns: Sequence[Counts],
    rates: Sequence[float | None],
    pace: SettlingRate | None,
    wall_s: float,
    *,
    bar: bool,
    width: int | None = None,
    bulk: Sequence[str] = (),
) -> str:
    """Return the state of a run in one line.

    Args:
        counts: Of the whole run.
        columns: Of each column, in order.
        rates: Pass rates, of each column too: they are never pooled.
        pace: How fast it goes; None: unknown.
        wall_s: Seconds since it began.
        bar: Whether a bar is drawn.
        width: Cells the line may take: what matters least goes first; None: as many as it needs.
        bulk: How far is what providers are asked in bulk, longest form first.
    """
    share = counts.settled / counts.total if counts.total else 0.0
    parts = {
        "bar": [_bar(share, cells) for cells in _BARS] if bar else [],
        "count": [f"{counts.settled:,}/{counts.total:,}"],
        "share": [f"{100 * share:.0f}%"],
        "clock": [clock(wall_s)],
        "pace": [] if pace is None or not pace.answers else [per_second(pace.answers)],
        "flight": _flight(counts),
        "bulk": [*bulk],
        "rates": _rates(rates) if counts.graded else [],
        "errors": [many(counts.error, "error")] if counts.error else [],
        "ungraded": [f"{counts.ungraded:,} ungraded"] if counts.ungraded else [],
        "cost": _costs(counts, columns),
        "left": _left(None if pace is None or bulk else pace.left_s),
    }
    for name in _SHORTENED:
        if width is None or cell_len(_joined(parts)) <= width:
            break
        parts[name] = parts[name][1:]
    return _joined(parts)


def _joined(parts: Mapping[str, Sequence[str]]) -> str:
    return _APART.join(forms[0] for forms in parts.values() if forms)


def _bar(share: float, cells: int) -> str:
    full = int(share * cells)
    return "█" * full + "░" * (cells - full)


def _flight(counts: Counts) -> list[str]:
    calls = f"{counts.running:,} in flight"
    return [f"{calls}, {counts.scoring:,} being scored", calls] if counts.scoring else [calls]


def _rates(rates: Sequence[float | None]) -> list[str]:
    def first(n: int) -> str:
        more = f" +{len(rates) - n}" if len(rates) > n else ""
        return f"pass {' '.join(map(percent, rates[:n]))}{more}"

    return [f"{first(_RATES)} so far", first(_RATES), first(1)]


def _costs(counts: Counts, columns: Sequence[Counts]) -> list[str]:
    if counts.cost_usd == 0:
        return []
    if counts.cost_usd is None and not counts.known_usd and counts.about_usd is None:
        return ["cost unknown"]
    spent, expected = cost(counts), expected_usd(columns)
    if expected is None or counts.settled == counts.total:
        return [spent]
    return [f"{spent} of about {money(expected)}", spent]


def _left(seconds: float | None) -> list[str]:
    return [] if seconds is None else [f"about {clock(seconds)} left"]


class Progress:
    """Draws a run's state, seldom enough to cost nothing."""

    def __init__(self, write: Callable[[str], None], width: Callable[[], int] | None) -> None:
        """Prepare to draw.

        Args:
            write: Takes text as it is to appear, line ends included.
            width: Gives the terminal's cells in a line; None: there is no terminal.
        """
        self._write = write
        self._width = width
        self._answers, self._left = Meter(), TimeLeft()
        self._drawn_at: float | None = None
        self._on_line = False

    def update(
        self,
        counts: Counts,
        columns: Sequence[Counts],
        rates: Sequence[float | None],
        wall_s: float,
        now: float,
        bulk: Sequence[str] = (),
    ) -> None:
        """Show how far it is, unless that was done a moment ago.

        Args:
            counts: Of the whole run.
            columns: Of each column, in order.
            rates: Pass rates, of each column too.
            wall_s: Seconds since it began.
            now: The present moment, in seconds of any clock that only goes forward.
            bulk: How far is what providers are asked in bulk, longest form first.
        """
        if not self._due(now):
            return
        self._answers.see(now, counts.answered)
        self._left.see(now, counts, dict(enumerate(columns)))
        pace = SettlingRate(self._answers.rate(), self._left.seconds())
        if self._width is None:
            self._write(line(counts, columns, rates, pace, wall_s, bar=False, bulk=bulk) + "\n")
            return
        width = self._width() - 1  # a full line would wrap
        drawn = line(counts, columns, rates, pace, wall_s, bar=True, width=width, bulk=bulk)
        self._draw(drawn, width)

    def show(self, text: str, now: float) -> None:
        """Show a line of one's own, unless that was done a moment ago."""
        if not self._due(now):
            return
        if self._width is None:
            self._write(f"{text}\n")
        else:
            self._draw(text, self._width() - 1)

    def _due(self, now: float) -> bool:
        """Return whether it is time for a line; from then on it is not for a while."""
        every = _LINE_S if self._width is None else _DRAW_S
        if self._drawn_at is None and self._width is None:
            self._drawn_at = now  # the first line comes after a while: short runs need none
        if self._drawn_at is not None and now - self._drawn_at < every:
            return False
        self._drawn_at = now
        return True

    def _draw(self, text: str, width: int) -> None:
        if cell_len(text) > width:
            text = set_cell_size(text, width)
        self._write(f"\r{text}\x1b[K")
        self._on_line = True

    def say(self, text: str) -> None:
        """Put a line of text above the bar."""
        self.clear()
        self._write(f"{text}\n")

    def clear(self) -> None:
        """Take the bar away."""
        if self._on_line:
            self._write("\r\x1b[K")
            self._on_line = False
            self._drawn_at = None
