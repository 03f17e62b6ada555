"""What all screens share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from textual.signal import Signal

from tui_eval.ui.desk import Desk
from tui_eval.ui.glyphs import Glyphs
from tui_eval.ui.rating import RateBook
from tui_eval.ui.remembered import Remembered
from tui_eval.ui.turns import Hold

if TYPE_CHECKING:
    from tui_eval.store.follow import Pulse
    from tui_eval.ui.suites.shelf import Entry


@dataclass(frozen=True, slots=True)
class Bench:
    """Handed to every screen by the app."""

    desk: Desk
    glyphs: Glyphs
    pulse: "Signal[Pulse]"
    """Something was committed to the store."""
    paths: Sequence[Path]
    """Suites and folders of suites the person named; empty: here."""
    remembered: Remembered
    suites: "list[Entry]" = field(default_factory=list)
    """The suites that were found; those of the Suites screen."""
    rates: RateBook = field(default_factory=RateBook)
    """What is known of the pass rates of runs."""
    keys_wait: Hold = field(default_factory=Hold)
    """Entered while something is read that the next keys are meant for."""
