"""Why a trial stands where it does, in a few words."""

from tui_eval.format import clock, left_words
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.states import TrialState
from tui_eval.store.rows import TrialRow
from tui_eval.ui.expected_values import parted
from tui_eval.ui.run.detail.progress_words import progress_words, waiting_words


def why(
    trial: TrialRow, reason: str | None, now: float, told: AttemptProgress | None = None
) -> str:
    """Say why a trial stands where it does, in a few words; may be foreign text.

    Args:
        trial: The trial.
        reason: What its first unmet scorer says, where it has one.
        now: Unix seconds.
        told: How far its running attempt is; None: its target does not tell.
    """
    match trial.state:
        case TrialState.ERROR:
            return f"{trial.error_kind}: {trial.error_message or ''}"
        case TrialState.RUNNING | TrialState.SCORING if trial.waiting is not None:
            return waiting_words(trial, now)
        case TrialState.RUNNING:
            since = f" {clock(now - trial.since)}" if trial.since is not None else ""
            again = f", try {trial.attempts}" if trial.attempts > 1 else ""
            if told is None:
                return f"in flight{since}{again}"
            # that it runs is said beside it
            phase = "" if told.phase == "running" else told.phase
            return " · ".join([f"{phase}{since}{again}".lstrip(), *progress_words(told)])
        case TrialState.DONE:
            return (
                output_first(reason or "")
                or trial.note
                or ("from the cache" if trial.cached else "")
            )
        case TrialState.CANCELLED if trial.left_at is not None:
            return left_words(trial.left_at)
        case _:
            return trial.note or ""


def output_first(reason: str) -> str:
    """Turn `expected 18, got 21` into `21, expected 18`: what differs comes first.

    Args:
        reason: What a scorer says, with its name before it where there are several; may be foreign.
            Anything else is returned as it is.
    """
    scorer, sign, said = reason.partition(": ")
    if reason.startswith("expected "):
        scorer, sign, said = "", "", reason
    expected, came = parted(said)
    if not expected or '"' in scorer:
        return reason
    return f"{scorer}{sign}{came.partition(' ')[2]}, {expected}"
