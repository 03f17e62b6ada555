"""The transcript of a program that works: read while it grows, for figures and limits."""

import os
from typing import Final

from tui_eval.suites.spec import CommandTargetSpec
from tui_eval.suites.spec.asked.programs import Limits
from tui_eval.targets.command.trial_folder import TrialFolder
from tui_eval.targets.command.workspace_file import content
from tui_eval.targets.transcripts import Reader, reader_of

_AT_ONCE: Final = 4_000_000
"""Bytes that are read at one look."""
_HEAD: Final = 2
"""The part of what is kept of a stream that its beginning has: a half."""


class LiveTranscript:
    """Follows one transcript from its first byte; blocking, one thread's at a time.

    What comes of a trial is never taken from here: that is read once more, to the end.
    """

    def __init__(self, where: str, form: str, folder: TrialFolder, kept: int) -> None:
        """Follow a transcript.

        Args:
            where: `stdout`, or `file:` and a path in the workspace.
            form: Its format.
            folder: The trial's.
            kept: Bytes of the standard output of which it is known that they stay as they are.
        """
        self.reader: Reader = reader_of(form)
        head, _, path = where.partition(":")
        self._root = folder.workspace if head == "file" else folder.program
        self._path = os.fsencode(path if head == "file" else "out")
        self._left = 64_000_000 if head == "file" else kept
        self._at = 0

    def look(self) -> None:
        """Read what has come since."""
        try:
            piece = content(self._root, self._path, min(_AT_ONCE, self._left), self._at)
        except OSError:
            return  # it is not there yet
        self._at += len(piece)
        self._left -= len(piece)
        if piece:
            self.reader.feed(piece)

    def over(self, limits: Limits) -> str | None:
        """Return the limit that the program exceeds by its own word; None: none."""
        usage = self.reader.usage
        taken = {
            "tokens": (usage.input or 0) + (usage.output or 0),
            "cost_usd": self.reader.cost_usd or 0.0,
            "turns": self.reader.turn,
            "tool_calls": self.reader.tool_calls,
        }
        return next((name for name in limits.told if taken[name] > getattr(limits, name)), None)


def live_transcript(spec: CommandTargetSpec, folder: TrialFolder) -> LiveTranscript | None:
    """Return what follows the transcript of a target's trial; None: it tells nothing."""
    told = spec.told
    if told is None:
        return None
    return LiveTranscript(told.from_, told.format, folder, spec.limits.output // _HEAD)
