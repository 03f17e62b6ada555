"""Verdicts in a colour and a row: what became of a case from run to run."""

from collections.abc import Iterator, Sequence

from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read.comparing.case_history import PastTrial
from tui_eval.store.search.case_conditions import EarlierResult
from tui_eval.ui.run.detail.trial_context import TrialContext
from tui_eval.ui.text.prose import GLUE
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

VERDICT_TONES: dict[Verdict, Tone] = {
    Verdict.PASS: "pass",
    Verdict.FAIL: "fail",
    Verdict.UNGRADED: "ungraded",
}
_MOST = 8
"""Runs in a row."""


def verdict_strip(context: TrialContext, epoch: int, glyphs: Glyphs) -> Iterator[tuple[str, Tone]]:
    """Yield `✓✓✗✓`: one shape for each of the last full runs, the newest last."""
    same = [past for past in context.pasts if not past.partial and past.epoch == epoch]
    for past in reversed(same[:_MOST]):
        yield glyphs.trial(past.state, past.verdict), tone_of(past.state, past.verdict)
    if context.flaky:
        yield f"{GLUE}flaky", "ungraded"


def epoch_strip(
    epochs: Sequence[PastTrial], here: int, glyphs: Glyphs
) -> Iterator[tuple[str, Tone]]:
    """Yield a shape for each epoch of a run, and which of them it is that is looked at.

    Args:
        epochs: In order, two or more.
        here: The epoch that is looked at, from 0.
        glyphs: The shapes.
    """
    for past in epochs:
        yield glyphs.trial(past.state, past.verdict), tone_of(past.state, past.verdict)
    passed = sum(past.verdict is Verdict.PASS for past in epochs)
    yield f"  {passed} of {len(epochs)} pass; this is epoch {here + 1}", "dim"


def tone_of(state: TrialState, verdict: Verdict | None) -> Tone:
    """Return the colour of where a trial stands."""
    if verdict is not None:
        return VERDICT_TONES[verdict]
    return "error" if state is TrialState.ERROR else "dim"


def earlier_words(was: EarlierResult | None, glyphs: Glyphs) -> str:
    """Return what a case came to in the earlier run, as `was ✓`; empty: the same, or unknown."""
    if was is None:
        return ""
    if was.graded > 1:
        return f"was {was.passed}/{was.graded}"
    return f"was {glyphs.passed if was.passed else glyphs.failed}"
