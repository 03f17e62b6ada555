"""The Live tab: what a running attempt takes of what it may, and what it does and prints."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui_eval.format import clock, compact, many, money, number, seconds, size
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.folds import Folds
from tui_eval.ui.run.detail.live_reader import LiveView
from tui_eval.ui.run.detail.pages.steps import step_paras
from tui_eval.ui.run.detail.progress_words import waiting_words
from tui_eval.ui.text.prose import Para, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

_LABEL = 10
"""Cells of a figure's name."""
_WORDS = 19
"""Cells of what is taken, and of how much there may be."""
_BAR = 7
"""Cells of a bar at least."""
_WIDEST_BAR = 24
_APART = 2
_NEAR = 0.8
"""The share of a limit from which on it is near."""


@dataclass(frozen=True, slots=True)
class LiveSeen:
    """What is known of a running attempt."""

    progress: AttemptProgress | None = None
    """How far it is; None: it does not tell."""
    view: LiveView | None = None
    """What was seen of it; None: it was not looked at yet."""
    raw: bool = False
    """Whether what it prints is to be shown, and not its steps."""


@dataclass(frozen=True, slots=True)
class _Figure:
    """One thing that an attempt takes, and how much of it there may be."""

    name: str
    limit: str
    """What it is called in `limits`."""
    value: float
    most: float | None
    """None: as much as it likes."""

    @property
    def share(self) -> float:
        """How much of its limit is taken; -1: it has none."""
        return min(self.value / self.most, 1.0) if self.most else -1.0


def live_figures(
    found: WholeTrial, seen: LiveSeen, width: int, height: int, glyphs: Glyphs, now: float
) -> list[Para]:
    """Return what a running attempt does, and what it takes of what it may; empty: nothing is told.

    Side by side, as many as there is room for: where there is not enough, those stay that are
    nearest to their limits.

    Args:
        found: The trial.
        seen: What is known of its attempt.
        width: Cells there are.
        height: Lines there are.
        glyphs: The shapes.
        now: Unix seconds.
    """
    progress = seen.progress
    if not _told(found, seen):
        return []
    took = now - found.attempts[-1].sent_at if found.attempts else 0.0
    head: list[tuple[str, Tone]] = [(progress.phase if progress else "running", "strong")]
    if progress is not None and progress.tool:
        head.append((f"  {progress.tool}", "plain"))
    figures = list(_figures(progress, seen.view, took))
    beside = max((width + _APART) // (_LABEL + 1 + _BAR + _WORDS + _APART), 1)
    room = max(height - 1, 0) * beside
    kept = sorted(figures, key=lambda one: -one.share)[:room]
    figures = [one for one in figures if one in kept]
    cells = (width + _APART) // beside - _APART
    rows = [figures[at : at + beside] for at in range(0, len(figures), beside)]
    return [marked(*head), *(_row(row, cells, glyphs) for row in rows)]


def live_page(
    found: WholeTrial, seen: LiveSeen, folds: Folds, width: int, glyphs: Glyphs, now: float
) -> Iterator[Para]:
    """Yield the last steps of a running attempt, or what it prints.

    Args:
        found: The trial.
        seen: What is known of its attempt.
        folds: Which of what can be folded is open.
        width: Cells there are.
        glyphs: The shapes.
        now: Unix seconds.
    """
    trial, view = found.trial, seen.view
    if trial.state is not TrialState.RUNNING:
        yield Para(f"It does not run ({trial.state}). Attempts has what it took.", "dim")
    elif trial.waiting is not None:
        yield Para(f"next attempt: {waiting_words(trial, now)}", "ungraded")
    elif view is None:
        yield Para("Looking…", "dim")
    elif not _told(found, seen):
        yield Para("Nothing is told of it while it runs.", "dim")
    elif view.messages is None or seen.raw:
        yield from _printed(view, raw=seen.raw and view.messages is not None)
    else:
        yield from _steps(view, folds, width, glyphs)


def _told(found: WholeTrial, seen: LiveSeen) -> bool:
    """Say whether anything is known of an attempt that runs."""
    trial = found.trial
    runs = trial.state is TrialState.RUNNING and trial.waiting is None
    return runs and (seen.progress is not None or bool(seen.view and seen.view.tails))


def _figures(
    progress: AttemptProgress | None, view: LiveView | None, took: float
) -> Iterator[_Figure]:
    limits = {} if view is None else view.limits
    told = {} if view is None else view.figures
    taken: list[tuple[str, str, float | None]] = [("wall", "wall", took)]
    if progress is not None:
        taken += [
            ("CPU", "cpu_s", progress.cpu_s),
            ("memory", "memory", progress.rss_bytes),
            ("processes", "processes", progress.processes),
            ("disk", "disk", progress.disk_bytes),
            ("printed", "output", progress.output_bytes),
            ("turns", "turns", progress.turn),
        ]
    taken += [
        ("tool calls", "tool_calls", told.get("tool_calls")),
        ("tokens", "tokens", told.get("tokens")),
        ("cost", "cost_usd", told.get("cost_usd")),
    ]
    for name, limit, value in taken:
        if value is not None:
            yield _Figure(name, limit, value, limits.get(limit))


def _row(figures: Sequence[_Figure], cells: int, glyphs: Glyphs) -> Para:
    pieces: list[tuple[str, Tone]] = []
    for at, one in enumerate(figures):
        drawn = list(_drawn(one, min(cells - _LABEL - 1 - _WORDS, _WIDEST_BAR), glyphs))
        pieces += drawn
        if at < len(figures) - 1:
            left = cells + _APART - sum(len(text) for text, _ in drawn)
            pieces.append((" " * max(left, 1), "plain"))
    return marked(*pieces)


def _drawn(of: _Figure, bar: int, glyphs: Glyphs) -> Iterator[tuple[str, Tone]]:
    yield f"{of.name:<{_LABEL}} ", "dim"
    if of.share < 0:
        yield " " * bar, "plain"
    else:
        filled = max(round(of.share * bar), 1 if of.value else 0)
        # not of full height: bars on lines below each other stay apart
        yield glyphs.levels[3] * filled, "ungraded" if of.share >= _NEAR else "accent"
        yield glyphs.levels[0] * (bar - filled), "dim"
    yield f" {_worded(of.limit, of.value)}", "plain"
    if of.most is not None:
        yield f" of {_limit_words(of.limit, of.most)}", "dim"


def _worded(limit: str, value: float) -> str:
    if limit == "wall":
        return clock(value)
    if limit == "cpu_s":
        return seconds(value)
    if limit == "cost_usd":
        return money(value)  # its own word
    if limit in ("memory", "disk", "output"):
        return size(round(value))
    return compact(round(value)) if limit == "tokens" else number(round(value))


def _limit_words(limit: str, most: float) -> str:
    return money(most) if limit == "cost_usd" else _worded(limit, most)


def _printed(view: LiveView, *, raw: bool) -> Iterator[Para]:
    if raw:
        yield Para(f"as it is printed; {key('run.raw', 'm')} shows its steps", "dim")
    nothing = True
    for tail in view.tails:
        if not tail.text:
            continue
        nothing = False
        more = f"  {size(tail.before)} before" if tail.before else ""
        if not tail.in_order:
            more += "  more than is kept: its last lines are not in order yet"
        yield marked((tail.name, "accent"), (more, "dim"))
        yield Para(tail.text.rstrip("\n"), indent=2)
    if nothing:
        yield Para("It has printed nothing yet.", "dim")


def _steps(view: LiveView, folds: Folds, width: int, glyphs: Glyphs) -> Iterator[Para]:
    assert view.messages is not None, "asked only where there are some"
    if not view.messages:
        yield Para("It has taken no step yet.", "dim")
    if view.before:
        yield Para(f"{many(view.before, 'message')} before", "dim")
    yield from step_paras(view.messages, folds, width, glyphs, first=view.turns_before)
    yield Para(
        f"{key('run.raw', 'm')} shows what it prints; {key('run.unfold', 'x')} unfolds", "dim"
    )
