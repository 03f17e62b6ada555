"""What an attempt told of itself while it ran, as far as it is kept."""

from typing import Final

from tui_eval.model.outputs.attempt_record import (
    AttemptProgress,
    AttemptRecord,
    PhaseStart,
    UsageSample,
)
from tui_eval.processes.thinning import Thinned

_MOST_TURNS: Final = 100_000


class AttemptHistory:
    """When each phase began, and what was taken: a few hundred figures, however long it runs."""

    def __init__(self) -> None:
        self._phases: list[PhaseStart] = []
        self._turns: list[float] = []
        self._samples: Thinned[UsageSample] = Thinned()

    def add(self, progress: AttemptProgress, at_s: float) -> None:
        """Take what it tells so many seconds after its beginning."""
        if not self._phases or self._phases[-1].name != progress.phase:
            self._phases.append(PhaseStart(progress.phase, round(at_s, 3)))
        new = min(progress.turn or 0, _MOST_TURNS) - len(self._turns)
        self._turns += [round(at_s, 3)] * new
        if progress.cpu_s is not None or progress.rss_bytes is not None:
            self._samples.add(UsageSample(round(at_s, 3), progress.cpu_s, progress.rss_bytes))

    def beside(self, record: AttemptRecord) -> AttemptRecord:
        """Return a record with what was told, which it is no part of yet."""
        return AttemptRecord(
            record.exit,
            record.isolation,
            record.resources,
            record.changes,
            record.steps,
            record.tool_calls,
            record.files,
            record.printed,
            tuple(self._phases),
            tuple(self._samples.kept),
            tuple(self._turns),
        )
