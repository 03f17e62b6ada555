"""The Scores tab: each scorer's whole history, what was expected, what it saw, who says so."""

import json
from collections.abc import Iterator, Sequence

from tui_eval.format import decimal
from tui_eval.reports.judging.opinions import opinions
from tui_eval.store.read.trial_queries import WholeTrial
from tui_eval.store.rows import ScoreRow
from tui_eval.ui.run.detail.moments import moment
from tui_eval.ui.run.detail.trial_context import ExpectedValue, TrialContext
from tui_eval.ui.run.detail.verdicts import VERDICT_TONES
from tui_eval.ui.text.prose import Para, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

_WHO = {"code": "by code", "judge": "by a judge", "human": "by hand"}
_MOST = 400
"""Characters of what was expected."""


def _no_scores(found: WholeTrial) -> str:
    if not found.trial.state.settled:
        return "No scores yet."
    return f"No scores: {'there is no output' if found.output is None else 'no scorer applies'}."


def scores_page(found: WholeTrial, context: TrialContext | None, glyphs: Glyphs) -> Iterator[Para]:
    """Yield each scorer's whole history, the newest first.

    Args:
        found: The trial.
        context: What its scorers expect; None: not read yet.
        glyphs: The shapes.
    """
    if not found.scores:
        yield Para(_no_scores(found), "dim")
    for scorer in dict.fromkeys(entry.scorer for entry in found.scores):
        history = [entry for entry in found.scores if entry.scorer == scorer]
        yield marked((scorer, "accent"), (_path(history), "dim"))
        for expected in context.expected if context is not None else ():
            if expected.scorer == scorer:
                yield Para(_expectation(expected), indent=3, label="expected")
        for entry in reversed(history):
            yield from _score(entry, glyphs)
        yield Para("")
    if found.trial.score is not None:
        yield Para(f"The trial's score: {decimal(found.trial.score)}", "dim")


def _path(history: Sequence[ScoreRow]) -> str:
    """Return how a scorer's verdict went from old to new, where it was given more than once."""
    if len(history) < 2:
        return ""
    path: list[str] = []
    for entry in history:
        step = f"{entry.verdict} {decimal(entry.value)}"
        if not path or path[-1] != step:
            path.append(step)
    if len(path) == 1:
        return f"  {len(history)} times {path[0]}"
    return f"  {' → '.join(path)}"


def _expectation(expected: ExpectedValue) -> str:
    words = " or ".join(expected.texts)
    shown = words if len(words) <= _MOST else f"{words[:_MOST]}… {len(words):,} characters"
    return f"{expected.how} {shown}" if expected.how else shown


def _counts(entry: ScoreRow) -> bool:
    return entry.current and not entry.superseded and entry.withdrawn_at is None


def _score(entry: ScoreRow, glyphs: Glyphs) -> Iterator[Para]:
    counts = _counts(entry)
    withdrawn = entry.withdrawn_at is not None
    tone: Tone = VERDICT_TONES[entry.verdict] if counts else "struck" if withdrawn else "dim"
    yield Para(
        f"{entry.verdict} {decimal(entry.value)}  {entry.reason}",
        tone,
        indent=1,
        label=glyphs.cancelled if withdrawn else glyphs.verdict(entry.verdict),
    )
    said = list(opinions(entry.source, entry.raw))
    for line in said:
        of: Tone = "fail" if line.met is False and counts else "plain" if counts else "dim"
        yield Para(line.text, of, indent=3 + 2 * line.depth)
    if entry.raw is not None and entry.source != "judge" and not said:
        saw = entry.raw if isinstance(entry.raw, str) else json.dumps(entry.raw, ensure_ascii=False)
        yield Para(saw, "plain" if counts else "dim", indent=3, label="extracted")
    facts = [_WHO.get(entry.source, f"by {entry.source}"), moment(entry.at)]
    if entry.weight != 1.0:
        facts.append(f"weight {entry.weight:g}")
    if not entry.required:
        facts.append("reported only")
    if entry.withdrawn_at is not None:
        facts.append(f"withdrawn {moment(entry.withdrawn_at)}")
    elif not counts:
        facts.append("superseded")
    yield Para(", ".join(facts), "dim", indent=3)
