"""The shapes of the screen, and their twins for a terminal without Unicode."""

import codecs
import os
from collections.abc import Mapping
from dataclasses import dataclass

from tui_eval.model.states import RunState, TrialState, Verdict


@dataclass(frozen=True, slots=True)
class Glyphs:
    """Every shape that is not a letter, each one cell wide."""

    passed: str = "✓"
    failed: str = "✗"
    ungraded: str = "?"
    error: str = "!"
    waiting: str = "·"
    working: str = "…"
    cancelled: str = "-"
    live: str = "●"
    paused: str = "‖"
    ended: str = "○"
    cursor: str = "▸"
    mark: str = "◆"
    note: str = "✎"
    rule: str = "─"
    dot: str = "·"
    arrow: str = "▸"
    turns: str = "→"
    """Between what was and what would be, or is now."""
    opened: str = "▾"
    """What an arrow becomes when what it stands for is unfolded."""
    queued: str = "·"
    held: str = "░"
    called: str = "█"
    """Of a line of time: in the queue, waiting, in the call."""
    broken: str = "≈"
    """Where a line of time leaves something out."""
    cut: str = "…"
    rising: str = "▲"
    falling: str = "▼"
    away: str = "×"
    """Takes away what stands before it."""
    between: str = "│"
    """Between two things side by side."""
    bar: str = "▄"
    bar_rest: str = "·"
    """Of a bar that is half as high as a line: what is filled, and the rest."""
    levels: str = "▁▂▃▄▅▆▇█"
    """From low to high, for sparklines."""

    def verdict(self, verdict: Verdict | None) -> str:
        """Return a verdict's shape; None: there is none yet."""
        match verdict:
            case Verdict.PASS:
                return self.passed
            case Verdict.FAIL:
                return self.failed
            case Verdict.UNGRADED:
                return self.ungraded
            case None:
                return self.waiting

    def trial(self, state: TrialState, verdict: Verdict | None) -> str:
        """Return the shape of where a trial stands."""
        match state:
            case TrialState.DONE:
                return self.verdict(verdict)
            case TrialState.ERROR:
                return self.error
            case TrialState.CANCELLED:
                return self.cancelled
            case TrialState.QUEUED:
                return self.waiting
            case TrialState.RUNNING | TrialState.SCORING:
                return self.working

    def run(self, state: RunState, live: bool) -> str:
        """Return the shape of where a run stands."""
        if state is RunState.PAUSED and live:
            return self.paused
        return self.live if live else self.ended


UNICODE = Glyphs()
ASCII = Glyphs(
    passed="v",
    failed="x",
    waiting=".",
    working="~",
    live="*",
    paused="=",
    ended="o",
    cursor=">",
    mark="#",
    note='"',
    rule="-",
    dot="|",
    arrow=">",
    turns=">",
    opened="v",
    queued=".",
    held="-",
    called="#",
    broken="~",
    cut="~",
    rising="^",
    falling="v",
    away="x",
    between="|",
    bar="=",
    bar_rest=".",
    levels="_.-=+*%#",
)


def glyphs_for(environ: Mapping[str, str] = os.environ) -> Glyphs:
    """Choose by the locale, as POSIX orders it: LC_ALL, LC_CTYPE, LANG.

    With none of them set the terminal is taken to be able to show Unicode, as nearly all are.
    """
    locale = environ.get("LC_ALL") or environ.get("LC_CTYPE") or environ.get("LANG") or ""
    if not locale:
        return UNICODE
    _, _, encoding = locale.partition(".")
    name = encoding.partition("@")[0]
    if not name:
        return ASCII if locale in ("C", "POSIX") else UNICODE
    try:
        return UNICODE if codecs.lookup(name).name == "utf-8" else ASCII
    except LookupError:
        return ASCII
