"""The Scores tab: each scorer's whole history: what it expects, what it extracted, who says so."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace

from tui_eval.format import decimal
from tui_eval.reports.judging.opinions import opinions
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.store.rows import ScoreRow
from tui_eval.ui.expected_values import ExpectedValue
from tui_eval.ui.run.detail.moments import moment
from tui_eval.ui.run.detail.pages.verdict_lines import opinion_paras
from tui_eval.ui.run.detail.trial_context import TrialContext
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
                label = "reference" if expected.reference else "expected"
                yield Para(_expectation(expected), indent=3, label=label, label_tone="dim")
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
        for para in opinion_paras(line, 3, glyphs):
            yield para if counts else replace(para, tone="dim", label_tone="dim")
    if entry.raw is not None and entry.source == "code" and not said:
        saw = entry.raw if isinstance(entry.raw, str) else json.dumps(entry.raw, ensure_ascii=False)
        yield Para(saw, "plain" if counts else "dim", indent=3, label="extracted", label_tone="dim")
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
