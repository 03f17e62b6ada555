"""The context of a trial: what was asked, what is expected, what became of its case before."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.conversation import last_user_text
from tui_eval.model.outputs.output import Failure
from tui_eval.store.read.comparing import case_history
from tui_eval.store.read.comparing.case_history import OtherTrial, PastTrial
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.store.search.case_conditions import EarlierResult, EarlierRun
from tui_eval.ui.expected_values import ExpectedValue, expected_values
from tui_eval.ui.run.detail.rendered_request import (
    NothingToCopyError,
    column_of,
    messages,
    shown_suite,
)

_OTHERS = 12
"""Other columns of a run that are looked at beside a trial."""


@dataclass(frozen=True, slots=True)
class TrialContext:
    """What was asked in a trial, what is expected, and what became of its case before."""

    expected: tuple[ExpectedValue, ...] = ()
    """In the suite's order; without scorers that expect nothing in words."""
    pasts: tuple[PastTrial, ...] = ()
    """Newest run first; see `store.history`."""
    asked: tuple[JsonObject, ...] | str = ()
    """The messages of its request; a text says why there are none."""
    earlier: EarlierRun | None = None
    """The run with whose verdicts its own is compared; None: there is none."""
    was: EarlierResult | None = None
    """What the case came to in the earlier run, where that was something else."""

    others: tuple[OtherTrial, ...] = ()
    """What the case came to in other columns of the run."""

    @property
    def flaky(self) -> bool:
        """Whether the case flips though the same was asked."""
        return case_history.flaky(self.pasts)


def trial_context(
    db: sqlite3.Connection, run_id: int, found: WholeTrial, earlier: EarlierRun | None = None
) -> TrialContext:
    """Return what was asked in a trial, what is expected, and what became of its case before.

    Args:
        db: The connection.
        run_id: The run.
        found: The trial.
        earlier: The run with whose verdicts its own is compared; None: there is none.
    """
    from tui_eval.reports.comparison.earlier import earlier_results

    said = messages(db, run_id, found)
    asked = said if isinstance(said, str) else tuple(said)
    was = earlier_results(db, run_id, earlier, [found.trial.seq])
    return TrialContext(
        tuple(expected_of_trial(db, run_id, found, asked)),
        tuple(case_history.history(db, run_id, found.trial)),
        asked,
        earlier,
        was.get((found.trial.seq, found.trial.col)),
        tuple(case_history.in_other_columns(db, run_id, found.trial, _OTHERS)),
    )


def expected_of_trial(
    db: sqlite3.Connection, run_id: int, found: WholeTrial, asked: tuple[JsonObject, ...] | str
) -> Sequence[ExpectedValue]:
    """Return what the scorers of a trial expect, in the suite's order; see `TrialContext`."""
    from tui_eval.scoring.check import Subject
    from tui_eval.scoring.scorers import Scorers
    from tui_eval.suites.templates.template import TemplateError

    try:
        suite = shown_suite(db, run_id)
        said = () if isinstance(asked, str) else asked
        target = column_of(db, run_id, found).target
        subject = Subject(found.case, last_user_text(said), said, found.output, target)
        checks = Scorers(suite.scorers, suite.names_of_output).checks(subject)
    except (NothingToCopyError, TemplateError):
        return []  # the Messages tab and the trial's error say what is wrong with the suite
    return [] if isinstance(checks, Failure) else expected_values(checks)
