"""What the reason of a multiple-choice scorer says was expected, and what was chosen instead.

`scoring.rules.choice` and `likelihood` write the reasons: `expected B (Mars), got C (Venus)`.
"""

import json
import re
from typing import Final, NamedTuple

_EXPECTED: Final = re.compile(r"expected (.*?), (?:got |found no choice|ambiguous)", re.DOTALL)
_TEXT: Final = re.compile(r" \(.*?\)(?= or |$)", re.DOTALL)
NOTHING: Final = "none"
"""Chosen: no option was found in the output."""
SEVERAL: Final = "several"
"""Chosen: more than one was."""


class ChosenOption(NamedTuple):
    """An answer to a multiple-choice question; both are labels of options, foreign."""

    expected: str
    """`B`; `B or D` where each is right."""
    chosen: str
    """A label, `NOTHING` or `SEVERAL`."""

    @property
    def words(self) -> str:
        """Both in words: `B, got C`."""
        return f"{self.expected}, got {self.chosen}"


def choice_of(reason: str, raw: str | None) -> ChosenOption | None:
    """Return what was expected and chosen by the score of a multiple-choice scorer.

    Args:
        reason: Its reason.
        raw: What it extracted, as JSON: a label or a list of them; None: nothing.

    Returns:
        None where it was not graded by its choice, as an output that was truncated.
    """
    found = _EXPECTED.match(reason)
    if found is None:
        return None
    expected = _TEXT.sub("", found[1])
    extracted = None if raw is None else json.loads(raw)
    if isinstance(extracted, str):
        return ChosenOption(expected, extracted)
    return ChosenOption(expected, SEVERAL if extracted else NOTHING)
