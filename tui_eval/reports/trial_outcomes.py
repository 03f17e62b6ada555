"""What a trial came to, in the one word that other programs know, and why."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Final

from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read.report_queries import ScoreLine, TrialLine


class ReportedOutcome(StrEnum):
    """What a trial came to."""

    PASS = "pass"  # noqa: S105  # a verdict
    FAIL = "fail"
    UNGRADED = "ungraded"
    ERROR = "error"
    CANCELLED = "cancelled"
    OPEN = "open"
    """It still goes on, or has not begun."""


_VERDICTS: Final = {
    Verdict.PASS: ReportedOutcome.PASS,
    Verdict.FAIL: ReportedOutcome.FAIL,
    Verdict.UNGRADED: ReportedOutcome.UNGRADED,
}


def outcome(line: TrialLine) -> ReportedOutcome:
    """Return what a trial came to."""
    if line.state is TrialState.DONE:
        return ReportedOutcome.UNGRADED if line.verdict is None else _VERDICTS[line.verdict]
    if line.state is TrialState.ERROR:
        return ReportedOutcome.ERROR
    return ReportedOutcome.CANCELLED if line.state is TrialState.CANCELLED else ReportedOutcome.OPEN


def deciding(line: TrialLine) -> Sequence[ScoreLine]:
    """Return the required scores that say what the trial's verdict says, in order."""
    return [score for score in line.scores if score.required and score.verdict is line.verdict]


def why(line: TrialLine) -> str:
    """Say why a trial did not pass: its error, or what its scorers said; empty: it passed."""
    what = outcome(line)
    if what is ReportedOutcome.ERROR:
        return f"{line.error_kind or 'error'}: {line.error_message or ''}"
    if what is ReportedOutcome.OPEN:
        return f"it is {line.state}"
    if what is ReportedOutcome.CANCELLED:
        return "it was cancelled"
    if what is ReportedOutcome.PASS:
        return ""
    return "; ".join(f"{score.scorer}: {score.reason}" for score in deciding(line))
