"""What was in the rows that have been read: which columns of a list tell anything."""

from collections.abc import Iterable
from itertools import takewhile

from tui_eval.store.rows import TrialRow
from tui_eval.ui.widgets.toned import width_of


class SeenRows:
    """Only ever grows, so that a column that has been shown stays."""

    def __init__(self) -> None:
        self.partial_scores = False
        """Whether a score lies between 0 and 1: elsewhere the verdict says as much."""
        self.latencies = False
        """Whether an output took a known time; recorded ones often did not."""
        self.longest_id = 0
        """Cells of the longest id of a case."""
        self._alike: str | None = None
        """What all ids begin with; None: none was seen."""

    @property
    def alike(self) -> int:
        """Characters that all ids begin with, up to the last sign between their parts."""
        alike = self._alike or ""
        while alike and alike[-1].isalnum():
            alike = alike[:-1]
        return len(alike)

    def see(self, rows: Iterable[TrialRow]) -> None:
        """Look at rows that were read."""
        for trial in rows:
            self.partial_scores = self.partial_scores or trial.score not in (None, 0.0, 1.0)
            self.latencies = self.latencies or trial.latency_s is not None
            case_id, alike = trial.case_id, self._alike
            if alike is None:
                self._alike = case_id
            elif not case_id.startswith(alike):
                same = takewhile(lambda two: two[0] == two[1], zip(alike, case_id, strict=False))
                self._alike = "".join(letter for letter, _ in same)
            self.longest_id = max(self.longest_id, width_of(case_id))

    def shortened(self, case_id: str, room: int, cut: str) -> str:
        """Return an id without part of what all ids begin with, where it has no room whole.

        Args:
            case_id: The id; foreign.
            room: Cells there are.
            cut: What stands where something was cut; one cell.
        """
        alike = self.alike
        if width_of(case_id) <= room or alike < 2:
            return case_id
        tells = case_id[alike:]
        left = max(room - width_of(cut) - width_of(tells), 0)
        return f"{case_id[: min(left, alike)]}{cut}{tells}"
