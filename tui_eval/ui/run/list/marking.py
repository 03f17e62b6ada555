"""Marking trials in the list, and taking the marks away once they have served."""

from collections.abc import Callable

from tui_eval.ui.run.list.loaded_trials import LoadedTrials
from tui_eval.ui.run.list.marks import MarkedTrials
from tui_eval.ui.run.list.trial_table import TrialTable


class Marking:
    """What keys do to the marks of a list; the marks themselves are `MarkedTrials`."""

    def __init__(
        self,
        marks: MarkedTrials,
        trials: LoadedTrials,
        table: TrialTable,
        here: Callable[[], int | None],
        changed: Callable[[], object],
    ) -> None:
        """Mark trials of a list.

        Args:
            marks: The marks.
            trials: What is listed.
            table: Shows both.
            here: Gives the place of the trial that a mark is for; None: there is none.
            changed: Called when others are marked.
        """
        self._marks = marks
        self._trials = trials
        self._table = table
        self._here = here
        self._changed = changed
        self._served = False

    def toggle(self) -> None:
        """Mark the selected trial, or take its mark away, and go on to the next."""
        place = self._here()
        if place is not None:
            self._marks.toggle(place)
        self._table.redraw((self._table.cursor,))
        self._table.action_down()
        self._changed()

    def mark_all(self) -> None:
        """Mark all trials that are listed."""
        listed = self._trials.places
        self._marks.add(range(self._trials.total) if listed is None else listed)
        self._show()

    def clear(self) -> None:
        """Take all marks away."""
        self._marks.clear()
        self._show()

    def put_back(self, taken: bytes) -> None:
        """Mark what was marked before, see `MarkedTrials.taken`."""
        self._marks.put_back(taken)
        self._show()

    def serve(self) -> None:
        """Take the marks away that an action was for."""
        if self._marks.count:
            self.clear()
            self._served = True

    def just_served(self) -> bool:
        """Say once whether an action has taken the marks, and nobody has moved since.

        Whoever goes back then means the marks, and does not want to leave the run.
        """
        served, self._served = self._served, False
        return served

    def _show(self) -> None:
        self._table.redraw()
        self._changed()
