"""How far running attempts are, written down at a bounded pace whatever they tell."""

import asyncio

from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes
from tui_eval.store.writer import Writer

PACE_S = 0.25
"""Seconds between two writings."""


class ProgressWriter:
    """Keeps the latest word of each attempt, and writes all of them together.

    So a run has four such commits a second at most, however many attempts tell however often; they
    join whatever else is written then.
    """

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._latest: dict[int, AttemptProgress] = {}
        self._due: asyncio.TimerHandle | None = None

    def tell(self, attempt: int, progress: AttemptProgress) -> None:
        """Take an attempt's latest word; to be called on the loop."""
        self._latest[attempt] = progress
        if self._due is None:
            self._due = asyncio.get_running_loop().call_later(PACE_S, self._write)

    def close(self) -> None:
        """Write nothing any more."""
        if self._due is not None:
            self._due.cancel()

    def _write(self) -> None:
        self._due = None
        latest, self._latest = self._latest, {}

        def unit(tx: Tx) -> None:
            for attempt, progress in latest.items():
                attempt_writes.tell_progress(tx, attempt, progress)

        self._writer.submit(unit)
