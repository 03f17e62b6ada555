"""How a trial stands, in a word and a colour."""

from collections.abc import Mapping

from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.rows import TrialRow
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

_TONES: Mapping[str, Tone] = {
    "pass": "pass",
    "fail": "fail",
    "ungraded": "ungraded",
    "error": "error",
    "cancelled": "dim",
    "queued": "dim",
    "running": "accent",
    "waiting": "ungraded",
    "scoring": "accent",
}


def status_words(trial: TrialRow, glyphs: Glyphs, *, scored: bool = True) -> tuple[str, Tone]:
    """Return a trial's verdict with its shape; where there is none its state.

    One that waits between two attempts runs, as the engine sees it; for a person it waits.

    Args:
        trial: The trial.
        glyphs: The shapes.
        scored: Whether its run scores anything: a sweep does not, and its outputs pass nothing.
    """
    if trial.verdict is Verdict.PASS and not scored:
        return f"{glyphs.trial(trial.state, trial.verdict)} answered", "plain"
    word = str(trial.verdict if trial.verdict is not None else trial.state)
    if trial.state is TrialState.RUNNING and trial.waiting is not None:
        word = "waiting"
    return f"{glyphs.trial(trial.state, trial.verdict)} {word}", _TONES[word]
