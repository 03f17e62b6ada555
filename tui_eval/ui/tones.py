"""What a piece of text means; the theme decides what that looks like."""

from typing import Literal, TypeAlias

Tone: TypeAlias = Literal[
    "plain",
    "dim",
    "strong",
    "accent",
    "pass",
    "fail",
    "ungraded",
    "error",
    "found",
]

TONES: frozenset[Tone] = frozenset(
    {"plain", "dim", "strong", "accent", "pass", "fail", "ungraded", "error", "found"}
)
COMPONENTS: set[str] = {f"tone--{tone}" for tone in TONES}
"""For `COMPONENT_CLASSES` of widgets that draw toned text; styled once, in `styles/app.tcss`."""
