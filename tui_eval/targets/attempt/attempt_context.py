"""What a target is told of the attempt it makes, and whom it tells how far it is."""

import shutil
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final, Self

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.targets.attempt.attempt_history import AttemptHistory
from tui_eval.targets.conversation.call_log import CallLog, UnrecordedCalls
from tui_eval.targets.disk_room import DiskRoom

PROGRAM: Final = "program"
"""The folder in an attempt's own that the warden of its program writes to: a later engine looks
there for what became of it."""


def _nobody(_: AttemptProgress) -> None:
    """Tell nobody."""


@dataclass(slots=True)
class AttemptContext:
    """One attempt at a trial's output.

    What a target registers with `when_written` is done once the attempt's result is on the disk,
    and not before: what a later engine would need after a crash stays until then.
    """

    timeout_s: float
    """Seconds from its beginning until the whole answer must be here."""
    attempt: int = 0
    """Its id in the store."""
    folders: Path | None = None
    """Where the folders of attempts are, beside the store; None: there is no store."""
    kept: Path | None = None
    """Where files go that outlive the attempt, each by its digest; None: there is no store."""
    orphan: Path | None = None
    """The folder of an earlier attempt whose program went on when its engine had gone."""
    room: DiskRoom = field(default_factory=DiskRoom)
    """Where files wait that a full disk does not take."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """What it may take, as its case says; see `Case.limits`."""
    on_progress: Callable[[AttemptProgress], None] = _nobody
    calls: CallLog = field(default_factory=UnrecordedCalls)
    """Where it makes the calls of a conversation."""
    partial: str | None = None
    """What has been produced so far, kept where the attempt is cancelled."""
    messages: tuple[JsonObject, ...] = ()
    """The conversation so far; likewise."""
    began: float = field(default_factory=time.monotonic)
    _history: AttemptHistory | None = None
    """None: it has told nothing."""
    _told: list[Callable[[AttemptProgress], None]] = field(default_factory=list)
    _written: list[Callable[[], None]] = field(default_factory=list)

    @property
    def deadline(self) -> float:
        """When the whole answer must be here (monotonic seconds)."""
        return self.began + self.timeout_s

    @property
    def left_s(self) -> float:
        """Seconds until then; 0: it has passed."""
        return max(0.0, self.deadline - time.monotonic())

    def begun_now(self) -> Self:
        """Return the context of a call that begins now, with all the time that one may take."""
        return replace(self, began=time.monotonic())

    def progress(self, progress: AttemptProgress) -> None:
        """Tell how far the attempt is: the latest is kept, at a bounded pace; it costs nothing."""
        if self._history is None:
            self._history = AttemptHistory()
        self._history.add(progress, time.monotonic() - self.began)
        self.on_progress(progress)
        for call in self._told:
            call(progress)

    def relay(self, progress: AttemptProgress) -> None:
        """Tell how far an attempt is that is made elsewhere: its reply brings its history along."""
        self.on_progress(progress)
        for call in self._told:
            call(progress)

    def tell(self, call: Callable[[AttemptProgress], None]) -> None:
        """Tell somebody else, too, how far the attempt is."""
        self._told.append(call)

    def recorded(self, reply: Output | Failure) -> Output | Failure:
        """Return what came of it, with what it told meanwhile in its record."""
        if self._history is None:
            return reply
        return replace(reply, record=self._history.beside(reply.record))

    def folder(self) -> Path:
        """Make the attempt's own folder, empty and its owner's alone.

        A later engine finds it by the attempt's id.

        Raises:
            OSError: it cannot be made.
        """
        assert self.folders is not None, "an attempt without a store has no folder"
        made = self.folders / str(self.attempt)
        self.folders.mkdir(mode=0o700, exist_ok=True)
        with suppress(FileNotFoundError):
            shutil.rmtree(made)  # of an attempt that bore the same id and was deleted since
        made.mkdir(mode=0o700)
        return made

    def when_written(self, call: Callable[[], None]) -> None:
        """Have something done once the attempt's result is on the disk."""
        self._written.append(call)

    def written(self) -> None:
        """Do what waits for the attempt's result to be on the disk."""
        calls, self._written = self._written, []
        for call in calls:
            call()
