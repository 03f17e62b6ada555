"""What can be seen of an attempt from outside while it runs, by whoever has its folder."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from tui_eval.targets.transcripts import Reader


class FollowedTranscript(Protocol):
    """A transcript that is read while it grows."""

    reader: Reader
    """What is known so far."""

    def look(self) -> None:
        """Read what has come since, up to a bound; blocking."""


@dataclass(frozen=True, slots=True)
class AttemptView:
    """Where its output and its transcript come, and what it may take."""

    streams: Mapping[str, Path] = field(default_factory=dict)
    """Files that what it prints is written to, by their names; they need not be there yet."""
    transcript: FollowedTranscript | None = None
    """None: it tells nothing."""
    limits: Mapping[str, float] = field(default_factory=dict)
    """What it may take, by the names of `limits` in suites; those not set are not in it."""
