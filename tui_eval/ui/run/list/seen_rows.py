"""What was in the rows that have been read: which columns of a list tell anything."""

from collections.abc import Iterable

from tui_eval.store.rows import TrialRow
from tui_eval.ui.widgets.case_ids import CaseIds


class SeenRows:
    """Only ever grows, so that a column that has been shown stays."""

    def __init__(self) -> None:
        self.partial_scores = False
        """Whether a score lies between 0 and 1: elsewhere the verdict says as much."""
        self.latencies = False
        """Whether an output took a known time; recorded ones often did not."""
        self.ids = CaseIds()
        """The cases' ids."""

    def see(self, rows: Iterable[TrialRow]) -> None:
        """Look at rows that were read."""
        for trial in rows:
            self.partial_scores = self.partial_scores or trial.score not in (None, 0.0, 1.0)
            self.latencies = self.latencies or trial.latency_s is not None
            self.ids.see(trial.case_id)
