"""Keys of one kind after the other, and when the terminal showed what each is for."""

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from benchmarks.report import Figure, Row
from benchmarks.terminal import Came, Terminal

Shown = Callable[[Terminal], object]

_GAP_S = 0.15
"""Seconds that each key has to itself."""
_REST_S = 0.02
_STEPS = 8
"""Steps in a round."""
_DOWN = 5
"""Rows the cursor goes down and up again; a small terminal shows a few more."""
_HOME = b"\x1b[H"
_FIND = "text in id"
"""How the field begins that `/` opens, while it is empty."""

FIGURES = (
    Figure("while", ""),
    Figure("kind", "key"),
    Figure("keys", "keys"),
    Figure("p50_ms", "p50 ms", ".1f"),
    Figure("p95_ms", "p95 ms", ".1f"),
    Figure("max_ms", "max ms", ".1f"),
    Figure("on_cpu_p50_ms", "less waiting for a core: p50", ".1f"),
    Figure("on_cpu_p95_ms", "p95", ".1f"),
)


@dataclass
class Kind:
    """Keys that do alike, each with what it came to."""

    name: str
    seen: list[Came] = field(default_factory=list)

    def row(self, when: str) -> Row:
        """Give the distribution.

        Threads that wait at the same time are counted twice, so that what is left over without
        waiting is at least 0, and rather too little than too much.
        """
        taken = [one.after_s * 1000 for one in self.seen]
        row: dict[str, str | float | int | None] = {
            "while": when,
            "kind": self.name,
            "keys": len(taken),
            "p50_ms": quantile(taken, 50),
            "p95_ms": quantile(taken, 95),
            "max_ms": max(taken),
            "on_cpu_p50_ms": None,
            "on_cpu_p95_ms": None,
        }
        waits = [one.waited_s for one in self.seen]
        known = [wait * 1000 for wait in waits if wait is not None]
        if len(known) == len(taken):
            left = [max(took - wait, 0.0) for took, wait in zip(taken, known, strict=True)]
            row["on_cpu_p50_ms"], row["on_cpu_p95_ms"] = quantile(left, 50), quantile(left, 95)
        return row


def quantile(values: Sequence[float], percent: int) -> float:
    """Give a percentile of at least two values, interpolated between them."""
    return statistics.quantiles(values, n=100, method="inclusive")[percent - 1]


class Stepping:
    """`j` and `k` in an app whose lines have a cursor: until it is seen on the next row."""

    def __init__(self, terminal: Terminal, name: str) -> None:
        """Begin on the first row."""
        self.step = Kind(name)
        self.detail = Kind(f"{name}: the detail")
        """The same keys, until the pane below the list shows what the row is about."""
        self._terminal = terminal
        terminal.seen_after(_HOME, 2 * _GAP_S, Terminal.place)
        self._top = self._place = terminal.place() or 0
        self._down = True

    def press(self) -> None:
        """Press one key."""
        self._down = self._place <= self._top if not self._down else self._place < self._top + _DOWN
        self._place += 1 if self._down else -1
        key = b"j" if self._down else b"k"
        step, detail = self._terminal.seen_after(key, _GAP_S, self._shows_row, self._shows_detail)
        self.step.seen += [step] if step is not None else []
        self.detail.seen += [detail] if detail is not None else []

    def _shows_row(self, terminal: Terminal) -> bool:
        return terminal.place() == self._place

    def _shows_detail(self, terminal: Terminal) -> bool:
        case = [*terminal.lines[self._place].split(), "", ""][1]
        return self._shows_row(terminal) and any(
            line.startswith(f"─ {case} ─") for line in terminal.lines
        )


def _other_page(terminal: Terminal) -> Shown:
    """Give whether the text under the tabs is another than now."""
    before = _page(terminal)
    return lambda terminal: _page(terminal) not in (before, [])


def _page(terminal: Terminal) -> list[str]:
    lines = terminal.lines
    tabs = next((at for at, line in enumerate(lines) if " Messages · " in line), len(lines))
    return [line for line in lines[tabs + 1 : -1] if line.strip()]


def _zoomed(terminal: Terminal) -> bool:
    return terminal.place() is None


def _finding(terminal: Terminal) -> bool:
    return any(_FIND in line for line in terminal.lines)


def _turns(terminal: Terminal) -> Iterator[tuple[str, bytes, Shown]]:
    """Yield keys that end where they began, each with what it brings about."""
    yield "tab", b"]", _other_page(terminal)
    yield "tab", b"[", _other_page(terminal)
    yield "zoom", b"\r", _zoomed
    yield "unzoom", b"\x1b", Terminal.place
    yield "find", b"/", _finding
    yield "leave find", b"\x1b", lambda terminal: not _finding(terminal)


def pressed(app: Terminal, floor: Terminal, rounds: int) -> list[Kind]:
    """Press keys of each kind in turns, and those of the least app there is.

    Args:
        app: The Run screen, its list in front.
        floor: `floor_app.py`.
        rounds: How often each; the steps eight times as often.

    Raises:
        TimeoutError: one of them was never seen.
    """
    kinds: dict[str, Kind] = {}
    step, least = Stepping(app, "j, k"), Stepping(floor, "j, k of the floor")
    for _ in range(rounds):
        for _ in range(_STEPS):
            step.press()
            app.rest(_REST_S)
            least.press()
            app.rest(_REST_S)
        for name, key, shown in _turns(app):
            (came,) = app.seen_after(key, _GAP_S, shown)
            assert came is not None, "else it is an error"
            kinds.setdefault(name, Kind(name)).seen.append(came)
            app.rest(_REST_S)
    return [least.step, step.step, step.detail, *kinds.values()]
