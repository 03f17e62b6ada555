"""What both sides said of one case, and what was asked and expected; in a connection's thread."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.outputs.conversation import last_user_text
from tui_eval.reports.comparison.flips import Flip
from tui_eval.reports.comparison.pairing import PairedColumns
from tui_eval.store.read.report_queries import moment
from tui_eval.store.read.trials import trial_queries
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.store.rows import TrialRow
from tui_eval.ui.compare.comparison_reading import ComparedSides
from tui_eval.ui.compare.sources import SideSource
from tui_eval.ui.expected_values import ExpectedValue
from tui_eval.ui.run.detail.rendered_request import messages
from tui_eval.ui.run.detail.trial_context import expected_of_trial

_GONE = "It is not there any more: its run was deleted."


@dataclass(frozen=True, slots=True)
class SideTrials:
    """What became of a case on one side."""

    epochs: Sequence[TrialRow]
    """None: see `shown`."""
    shown: WholeTrial | None
    """The epoch that is looked at; None: see `why_not`."""
    why_not: str
    """Why there is none."""


@dataclass(frozen=True, slots=True)
class ComparedTrials:
    """A case on both sides."""

    flip: Flip
    a: SideTrials
    b: SideTrials
    epoch: int
    """Which is looked at, from 0."""
    question: str | None
    """None: nobody has it, or there is no prompt."""
    expected: Sequence[ExpectedValue]
    """By the scorers of the side that has the question."""

    @property
    def epochs(self) -> int:
        """How many there are on the side that has more."""
        return max(len(self.a.epochs), len(self.b.epochs))


def compared_trials(
    db: sqlite3.Connection,
    sides: ComparedSides,
    columns: PairedColumns,
    flip: Flip,
    epoch: int | None,
) -> ComparedTrials:
    """Read what both sides said of a case.

    Args:
        db: The connection.
        sides: What is compared.
        columns: Which column of each.
        flip: The case.
        epoch: Which epoch is looked at, from 0; None: the first in which the sides differ.
    """
    with moment(db):
        return _compared(db, sides, columns, flip, epoch)


def _compared(
    db: sqlite3.Connection,
    sides: ComparedSides,
    columns: PairedColumns,
    flip: Flip,
    epoch: int | None,
) -> ComparedTrials:
    rows_a = sides.a.trials(db, columns.a, flip.case_id)
    rows_b = sides.b.trials(db, columns.b, flip.case_id)
    at = _differing(rows_a, rows_b) if epoch is None else epoch
    a, b = _side(db, sides.a, rows_a, at), _side(db, sides.b, rows_b, at)
    asked = next(
        (
            (source.run, side.shown)
            for source, side in ((sides.b, b), (sides.a, a))
            if source.run is not None and side.shown is not None
        ),
        None,
    )
    if asked is None:
        return ComparedTrials(flip, a, b, at, None, ())
    said = messages(db, *asked)
    sent = said if isinstance(said, str) else tuple(said)
    question = None if isinstance(sent, str) else last_user_text(sent)
    return ComparedTrials(flip, a, b, at, question, expected_of_trial(db, *asked, sent))


def _differing(a: Sequence[TrialRow], b: Sequence[TrialRow]) -> int:
    pairs = enumerate(zip(a, b, strict=False))
    return next((at for at, (one, other) in pairs if one.verdict is not other.verdict), 0)


def _side(
    db: sqlite3.Connection, source: SideSource, rows: Sequence[TrialRow], epoch: int
) -> SideTrials:
    if not rows:
        return SideTrials(rows, None, source.no_texts or _GONE)
    if epoch >= len(rows):
        return SideTrials(rows, None, f"It has no epoch {epoch + 1}.")
    row = rows[epoch]
    assert source.run is not None, "only a run has trials"
    return SideTrials(rows, trial_queries.whole(db, source.run, row.id), _GONE)
