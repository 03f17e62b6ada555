"""What each attempt of a run's trials is told."""

from functools import partial

from tui_eval.engine.journey.conversation_calls import (
    ConversationCalls,
    ConversationSurroundings,
)
from tui_eval.engine.journey.progress_writer import ProgressWriter
from tui_eval.engine.journey.trial_in_flight import TrialInFlight
from tui_eval.engine.limits.call_permit import CallPermit
from tui_eval.store.location import attempt_folders, kept_files
from tui_eval.targets.attempt.attempt_context import AttemptContext


class AttemptContexts:
    """Makes the context of an attempt; what attempts tell goes to the store."""

    def __init__(self, shared: ConversationSurroundings, progress: ProgressWriter) -> None:
        store = shared.store
        self._shared = shared
        self._attempts = None if store.path is None else attempt_folders(store.path)
        self._kept = None if store.path is None else kept_files(store.path)
        self._orphans = store.orphans
        self._room = store.room
        self._progress = progress

    def __call__(
        self, flight: TrialInFlight, attempt: int, timeout_s: float, permit: CallPermit
    ) -> AttemptContext:
        """Return the context of an attempt that begins now."""
        return AttemptContext(
            timeout_s,
            attempt,
            folders=self._attempts,
            kept=self._kept,
            orphan=self._orphans.pop(flight.work.trial, None),
            room=self._room,
            on_progress=partial(self._progress.tell, attempt),
            calls=ConversationCalls(self._shared, flight, attempt, permit),
        )
