"""What all screens share."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from textual.signal import Signal

from tui_eval.suites.config.app_state import AppState
from tui_eval.ui.keys.key_queue import KeyHold
from tui_eval.ui.keys.restrictions import UNRESTRICTED, Restrictions
from tui_eval.ui.store_access.rate_book import RateBook
from tui_eval.ui.store_access.store_client import StoreClient
from tui_eval.ui.theme.glyphs import Glyphs

if TYPE_CHECKING:
    from tui_eval.store.follow import Pulse
    from tui_eval.ui.suites.suite_list import SuiteEntry


@dataclass(frozen=True, slots=True)
class AppContext:
    """What the app hands to every screen."""

    client: StoreClient
    glyphs: Glyphs
    pulse: "Signal[Pulse]"
    """Something was committed to the store."""
    paths: Sequence[Path]
    """Suites and folders of suites the person named; empty: here."""
    remembered: AppState
    restrictions: Restrictions = UNRESTRICTED
    """What this session does not permit."""
    suites: "list[SuiteEntry]" = field(default_factory=list)
    """The suites that were found; those of the Suites screen."""
    rates: RateBook = field(default_factory=RateBook)
    """What is known of the pass rates of runs."""
    keys_wait: KeyHold = field(default_factory=KeyHold)
    """Holds keys while the dialog that they are for is being read."""
