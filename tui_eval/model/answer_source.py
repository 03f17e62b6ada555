"""Where the answers of a target or judge come from."""

from enum import StrEnum


class AnswerSource(StrEnum):
    """What an answer is worth as evidence, and whether it can have cost anything."""

    ASKED = "asked"
    """Somebody is asked, who may cost money."""
    RECORDED = "recorded"
    """They were given before: no API calls (replay)."""
    SIMULATED = "simulated"
    """They are simulated; it is said wherever they are shown."""
