"""How far a trial without an output is, in words."""

from tui_eval.format import clock, number, seconds, size
from tui_eval.model.outputs.attempt_record import AttemptProgress
from tui_eval.model.states import TrialState
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.store.rows import TrialRow
from tui_eval.ui.keys.shown_keys import key


def progress_words(told: AttemptProgress) -> list[str]:
    """Return turn, tool, processor time and memory, as far as they are known; may be foreign."""
    words = []
    if told.turn:
        words.append(f"turn {number(told.turn)}")
    if told.tool:
        words.append(told.tool)
    if told.cpu_s is not None:
        words.append(f"{seconds(told.cpu_s)} CPU")
    if told.rss_bytes is not None:
        words.append(size(told.rss_bytes))
    return words


def waiting_words(trial: TrialRow, now: float) -> str:
    """Say what a trial waits for between two attempts: why, which try, how long.

    Args:
        trial: One that waits; its words may be foreign.
        now: Unix seconds.
    """
    left = None if trial.waiting_until is None else trial.waiting_until - now
    if left is None:
        return str(trial.waiting)
    return f"{trial.waiting}, {f'in {clock(left)}' if left >= 1 else 'any moment'}"


def no_output_words(found: WholeTrial, now: float) -> str:
    """Say why a trial has no output, and for how long; may be foreign.

    Args:
        found: A trial without one.
        now: Unix seconds.
    """
    trial, progress = found.trial, found.progress
    if trial.waiting is not None:
        return f"none yet: {waiting_words(trial, now)}"
    since = "" if trial.since is None else f", for {clock(now - trial.since)}"
    at = "the call is in flight" if progress is None else progress.phase
    return {
        TrialState.QUEUED: f"none yet: queued{since}",
        TrialState.RUNNING: f"none yet: {at}{since}",
        TrialState.CANCELLED: "none: cancelled before there was one; "
        f"{key('run.undo', 'U')} undoes the last cancel, {key('run.retry', 'r')} asks again",
    }.get(trial.state, "none")
