"""The Case tab: the case as it was frozen with the run, and how it went before."""

import json
from collections.abc import Iterator

from tui_eval.format import clock, decimal, many
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.moments import moment
from tui_eval.ui.run.detail.trial_context import TrialContext
from tui_eval.ui.run.detail.verdicts import tone_of, verdict_strip
from tui_eval.ui.text.json_text import json_para
from tui_eval.ui.text.prose import Para, block, marked
from tui_eval.ui.theme.glyphs import Glyphs

_LISTED = 6
"""Runs that are listed with what came."""
_OPENING = 60
"""Characters of what came."""


def case_page(found: WholeTrial, context: TrialContext | None, glyphs: Glyphs) -> Iterator[Para]:
    """Yield the case, and a shape for each of the last full runs.

    Args:
        found: The trial.
        context: What became of the case before; None: not read yet.
        glyphs: The shapes.
    """
    case, trial = found.case, found.trial
    facts = [f"number {case.seq + 1}", trial.column]
    if trial.epoch:
        facts.append(f"epoch {trial.epoch + 1}")
    if case.weight != 1.0:
        facts.append(f"weight {case.weight:g}")
    if case.timeout is not None:
        facts.append(f"timeout {clock(case.timeout)}")
    yield from block("Id", [Para(case.id, "strong"), Para(", ".join(facts), "dim")])
    if trial.note is not None:
        yield from block("Note", [Para(trial.note, "accent")])
    if case.tags:
        yield from block("Tags", [Para(", ".join(case.tags))])
    if case.skip:
        yield from block("Skips", [Para(", ".join(case.skip))])
    if context is not None:
        yield from block("History", list(_history(context, trial.epoch, glyphs)))
    yield Para("")
    for name, value in case.fields.items():
        yield Para(name, "accent")
        if isinstance(value, dict | list):
            yield json_para(json.dumps(value, ensure_ascii=False), indent=2)
        else:
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield Para(text, indent=2)
    for settings in case.scorers:
        yield Para("its own scorer", "accent")
        yield json_para(json.dumps(settings, ensure_ascii=False), indent=2)


def _history(context: TrialContext, epoch: int, glyphs: Glyphs) -> Iterator[Para]:
    """Yield how the case went in the last full runs: all as shapes, the newest with its words."""
    pasts = [past for past in context.pasts if not past.partial and past.epoch == epoch]
    if not pasts:
        yield Para("no full run of this suite has it yet", "dim")
        return
    runs = many(len(pasts), "full run")
    strip = verdict_strip(context, epoch, glyphs)
    yield marked(*strip, (f"  oldest to newest, of {runs}", "dim"))
    longest = max(len(past.run_name) for past in pasts[:_LISTED])
    for past in pasts[:_LISTED]:
        said = past.opening if past.opening is not None else past.error_kind or ""
        first = next((line for line in said.splitlines() if line.strip()), "")
        tone = tone_of(past.state, past.verdict)
        yield marked(
            (f"{glyphs.trial(past.state, past.verdict)} ", tone),
            (f"{past.run_name:<{longest}}  ", "plain"),
            (f"{moment(past.created_at)}  {decimal(past.score):>5}  ", "dim"),
            (first if len(first) <= _OPENING else f"{first[:_OPENING]}{glyphs.cut}", "plain"),
        )
    more = f"{len(pasts) - _LISTED} more; " if len(pasts) > _LISTED else ""
    yield Para(f"{more}{key('run.history', 'h')} lists them, to open one", "dim")
