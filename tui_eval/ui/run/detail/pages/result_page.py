"""The Result tab: all that a verdict is judged by, as labelled blocks."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui_eval.format import SELF_REPORTED, call_cost, left_words, many, number, seconds
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.conversation import last_user_text, text_of
from tui_eval.model.outputs.output import Output
from tui_eval.model.states import TrialState
from tui_eval.reports.rates.epoch_spread import epoch_spread
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.ui.expected_values import ExpectedValue
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.folds import Folds
from tui_eval.ui.run.detail.pages.verdict_lines import tells, verdict_lines
from tui_eval.ui.run.detail.progress_words import no_output_words
from tui_eval.ui.run.detail.shortening import Block, PageRoom, blocks_in
from tui_eval.ui.run.detail.trial_context import TrialContext
from tui_eval.ui.run.detail.verdicts import (
    earlier_words,
    epoch_strip,
    tone_of,
    verdict_strip,
)
from tui_eval.ui.text.laid_out_text import LaidOutText, TextForm
from tui_eval.ui.text.prose import LABELS, Para, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.toned import fit, width_of

_SEVERAL = 3
_SHORT = 80
"""Characters up to which a text is set bright."""
_ROOMY = 18
"""Lines of a page from which on there is room for what the case came to in other columns."""
_READING = Para("reading…", "dim")
"""Stands where something will be: nobody takes what is there for all there is."""
_STOPPED = "the endpoint stopped before the model did"


@dataclass(frozen=True, slots=True)
class OutputRendering:
    """How an output is looked at."""

    raw: bool = False
    """As it came, to the letter."""
    shown: LaidOutText | None = None
    """Its text laid out; None: not wanted, or not yet."""


def result_page(
    found: WholeTrial,
    context: TrialContext | None,
    looks: OutputRendering,
    folds: Folds,
    room: PageRoom,
    glyphs: Glyphs,
    now: float,
) -> Iterator[Para]:
    """Yield question, output, what is expected and each scorer, shortened to what has room.

    Args:
        found: The trial.
        context: What was asked and is expected; None: not read yet.
        looks: How its text is shown.
        folds: Which of what is shortened is shown whole.
        room: What there is.
        glyphs: The shapes.
        now: Unix seconds.
    """
    trial = found.trial
    blocks = []
    if trial.note is not None:
        blocks.append(Block("Note", [Para(trial.note, "accent")]))
    asked = [_READING] if context is None else list(_question(found, context.asked))
    blocks.append(Block("Question", asked, fold=0))
    if trial.state is TrialState.ERROR:
        said = f"{glyphs.error} {trial.error_kind}: {trial.error_message or ''}"
        blocks.append(Block("Error", [Para(said, "error")]))
    blocks += _output_blocks(found, looks, now)
    if context is not None:
        blocks += _expected_blocks(context.expected)
    elif found.scores:
        blocks.append(Block("Expected", [_READING]))
    blocks += _score_blocks(found, () if context is None else context.expected, glyphs)
    if context is not None:
        blocks += _changed(found, context, glyphs)
        blocks += _over_epochs_and_runs(found, context, glyphs)
        if room.height >= _ROOMY:
            blocks += _in_other_columns(context, room, glyphs)
    if found.output is not None:
        facts = "  ".join(_facts(found, found.output, looks))
        if facts:
            blocks.append(Block("Call", [Para(facts, "dim")]))
    yield from blocks_in(blocks, room, folds, glyphs)


def _question(found: WholeTrial, asked: tuple[JsonObject, ...] | str) -> Iterator[Para]:
    if isinstance(asked, str):
        yield Para(asked, "dim")
        return
    output = found.output
    talk = [*asked, *(output.messages if output is not None else found.broken_off)]
    question = last_user_text(talk)
    if question is None:
        yield Para("the request has no message of a user: the tab Messages shows it", "dim")
        return
    yield Para(question.strip("\n")) if question else Para("an empty text", "dim")
    earlier = sum(one.get("role") in ("user", "assistant") for one in talk[: _last_user(talk)])
    if earlier:
        yield Para(f"after {many(earlier, 'earlier message')}: the tab Messages", "dim")


def _last_user(talk: Sequence[JsonObject]) -> int:
    """Return where in a conversation the last message of a user stands."""
    return max(at for at, one in enumerate(talk) if one.get("role") == "user")


def _output_blocks(found: WholeTrial, looks: OutputRendering, now: float) -> Iterator[Block]:
    """Yield what came; where nothing did, why, and what had arrived."""
    trial, output = found.trial, found.output
    if output is not None:
        yield Block("Output", list(_spoken(output, looks)), fold=1, gives_way=True)
        if output.reasoning:
            yield Block("Reasoning", [Para(output.reasoning, "dim")], fold=2)
        return
    if trial.state is not TrialState.ERROR:
        tone: Tone = "ungraded" if trial.waiting else "dim"
        paras = [Para(no_output_words(found, now), tone)]
        if trial.left_at is not None:
            paras.append(Para(left_words(trial.left_at), "ungraded"))
        yield Block("Output", paras)
    partial = next((tried.partial for tried in reversed(found.attempts) if tried.partial), None)
    if found.broken_off:
        said = many(len(found.broken_off), "message")
        over = trial.state in (TrialState.ERROR, TrialState.CANCELLED)
        how = f"broke off after {said}" if over else f"{said} so far"
        last = Para(partial or _last_said(found.broken_off))
        paras = [Para(f"{how}: the tab Messages; said last:", "dim"), last]
        yield Block("Partial", paras, fold=1, gives_way=True)
    elif partial:
        paras = [Para("what had arrived when it broke off:", "dim"), Para(partial)]
        yield Block("Partial", paras, fold=1, gives_way=True)


def _last_said(messages: Sequence[JsonObject]) -> str:
    return next(
        (said for one in reversed(messages) if (said := text_of(one.get("content")))), "nothing"
    )


def _spoken(output: Output, looks: OutputRendering) -> Iterator[Para]:
    if output.cut_short:
        limit = (output.finish_reason or "").removeprefix("limit:")
        by_limit = limit != output.finish_reason
        why = f"ended at its limit of `{limit}`" if by_limit else _STOPPED
        yield Para(f"Truncated: {why}.", "ungraded")
    if output.filtered:
        yield Para("Taken away by the endpoint's content filter.", "ungraded")
    if output.broken_off:
        yield Para(f"Broken off: it ended with {output.finish_reason!r}.", "ungraded")
    if output.text is None:
        yield Para("no text in the answer", "dim")
    elif not output.text:
        yield Para("an empty text", "dim")
    elif looks.shown is None or looks.raw:
        yield Para(output.text, _weight(output.text))
    elif looks.shown.form is TextForm.PLAIN:
        yield Para(output.text.strip("\n"), _weight(output.text))
    else:
        yield from looks.shown.paras


def _weight(text: str) -> Tone:
    """Return how bright a text is: a short one is what one came for, of a long one all would be."""
    return "strong" if len(text) <= _SHORT else "plain"


def _expected_blocks(expected: Sequence[ExpectedValue]) -> Iterator[Block]:
    """Yield what is expected of the output, and what judges compare it with."""
    for heading, fold, reference in (("Expected", 3, False), ("Reference", 4, True)):
        # once each; with the scorer's name where scorers differ
        said = {(one.how, one.texts): one for one in expected if one.reference is reference}
        if said:
            paras = [expectation(one, named=len(said) > 1) for one in said.values()]
            yield Block(heading, paras, fold=fold)


def expectation(expected: ExpectedValue, *, named: bool) -> Para:
    """Return what a scorer expects on a line, with its name where others expect otherwise."""
    pieces: list[tuple[str, Tone]] = [
        (f"{expected.scorer}: " if named else "", "dim"),
        (f"{expected.how} " if expected.how else "", "dim"),
    ]
    if len(expected.texts) == 1 and "\n" in expected.texts[0]:
        return Para("".join(words for words, _ in pieces) + expected.texts[0])
    for nth, text in enumerate(expected.texts[:_SEVERAL]):
        if nth:
            pieces.append((" or ", "dim"))
        pieces.append((text, _weight(text)) if text else ("an empty text", "dim"))
    if len(expected.texts) > _SEVERAL:
        pieces.append((f" or {len(expected.texts) - _SEVERAL} more", "dim"))
    return marked(*pieces)


def _score_blocks(
    found: WholeTrial, expected: Sequence[ExpectedValue], glyphs: Glyphs
) -> Iterator[Block]:
    """Yield each scorer; what one says that is only reported leaves the others the room."""
    current = [entry for entry in found.scores if entry.current]
    telling = [entry for entry in current if not entry.required and tells(entry)]
    heading = "Scores"
    for scores, reported in (
        ([one for one in current if one not in telling], False),
        (telling, True),
    ):
        if scores:
            paras = list(verdict_lines(scores, found.output, expected, glyphs))
            yield Block(heading, paras, fold=5 if reported else None, comes_last=reported)
            heading = ""


def _changed(found: WholeTrial, context: TrialContext, glyphs: Glyphs) -> Iterator[Block]:
    """Yield what the case came to in the earlier run, where that was something else."""
    earlier, was = context.earlier, context.was
    if earlier is None or was is None:
        return
    shape = glyphs.trial(found.trial.state, found.trial.verdict)
    which = "the baseline" if earlier.is_base else "the last full run"
    said = f"{shape} {earlier_words(was, glyphs)} in {earlier.name}, {which}"
    compare = f"; {key('run.diff', 'd')} compares the outputs"
    tone: Tone = "fail" if was.worse else "pass"
    yield Block("Changed", [marked((said, tone), (compare, "dim"))])


def _over_epochs_and_runs(
    found: WholeTrial, context: TrialContext, glyphs: Glyphs
) -> Iterator[Block]:
    """Yield how the case went in the other epochs, and in the last full runs."""
    epoch = found.trial.epoch
    here = next((one.run for one in context.pasts if one.trial == found.trial.id), None)
    epochs = [one for one in context.pasts if one.run == here]
    if len(epochs) > 1:
        spread = epoch_spread(one.score for one in epochs)
        said = "" if spread is None else f"   {spread.words}"
        yield Block("Epochs", [marked(*epoch_strip(epochs, epoch, glyphs), (said, "dim"))])
    runs = {one.run for one in context.pasts if not one.partial}
    if len(runs) > 1:
        yield Block("History", [marked(*verdict_strip(context, epoch, glyphs))])


def _in_other_columns(context: TrialContext, room: PageRoom, glyphs: Glyphs) -> Iterator[Block]:
    """Yield what the case came to in the other columns of the run, a line each."""
    others = context.others
    if not others:
        return
    named = min(max(width_of(one.column) for one in others), room.width // 3)
    left = max(room.width - LABELS - named - 4, 1)  # a shape and what stands between
    paras = []
    for one in others:
        said = one.opening if one.opening is not None else one.error_kind or ""
        first = next((line for line in said.splitlines() if line.strip()), "")
        column = fit(one.column, named, ellipsis=glyphs.cut, keep=6)
        tone = tone_of(one.state, one.verdict)
        pieces: list[tuple[str, Tone]] = [
            (f"{glyphs.trial(one.state, one.verdict)} ", tone),
            (f"{column}  ", "plain"),
            (fit(first, min(width_of(first), left), ellipsis=glyphs.cut), "dim"),
        ]
        paras.append(marked(*pieces))
    yield Block("Others", paras)


def _facts(found: WholeTrial, output: Output, looks: OutputRendering) -> Iterator[str]:
    made_by = (one for one in found.attempts if one.output == found.trial.output)
    about_usd = next((one.about_usd for one in made_by), None)
    if output.latency_s is not None:
        yield seconds(output.latency_s)
    usage = output.usage
    if usage.input is not None or usage.output is not None:
        yield f"{number(usage.input)} tokens in, {number(usage.output)} out"
    if usage.reasoning:
        yield f"{number(usage.reasoning)} of them reasoning"
    if usage.cached:
        yield f"{number(usage.cached)} read from the endpoint's cache"
    known, about = output.price.known_usd, output.price.about_usd
    if known is None or known > 0:
        yield call_cost(known, about_usd if about is None else about)
    if output.self_reported:
        yield SELF_REPORTED
    if output.finish_reason:
        yield f"finish {output.finish_reason}"
    if output.model:
        yield output.model
    if found.trial.cached:
        yield "from the cache"
    if looks.raw:
        yield "as it came"
    elif looks.shown is not None and looks.shown.form is not TextForm.PLAIN:
        yield f"laid out as {looks.shown.form}"
