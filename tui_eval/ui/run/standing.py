"""How a trial stands, in colours."""

from collections.abc import Mapping

from tui_eval.ui.tones import Tone

STANDING_TONES: Mapping[str, Tone] = {
    "pass": "pass",
    "fail": "fail",
    "ungraded": "ungraded",
    "error": "error",
    "cancelled": "dim",
    "queued": "dim",
    "running": "accent",
    "scoring": "accent",
}
"""By the verdict; where there is none, by the state."""
