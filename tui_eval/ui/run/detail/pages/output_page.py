"""The Output tab: what was expected beside what came, then what came."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tui_eval.format import SELF_REPORTED, call_cost, clock, many, number, seconds
from tui_eval.model.conversation import text_of
from tui_eval.model.json import JsonObject
from tui_eval.model.output import Output
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read.trial_queries import WholeTrial
from tui_eval.store.rows import ScoreRow, TrialRow
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.trial_context import ExpectedValue, TrialContext
from tui_eval.ui.run.detail.verdicts import VERDICT_TONES, verdict_strip
from tui_eval.ui.text.laid_out_text import LaidOutText, TextForm
from tui_eval.ui.text.prose import GLUE, Para, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

_SHORT = 40
"""Characters of an output, an expectation or a reason that have room in the first line."""
_GAP: tuple[str, Tone] = ("   ", "plain")
_SEVERAL = 3
_STOPPED = "the endpoint stopped before the model did"


@dataclass(frozen=True, slots=True)
class OutputRendering:
    """How an output is looked at."""

    raw: bool = False
    """As it came, to the letter."""
    shown: LaidOutText | None = None
    """Its text laid out; None: not wanted, or not yet."""


def output_page(
    found: WholeTrial,
    context: TrialContext | None,
    looks: OutputRendering,
    glyphs: Glyphs,
    now: float,
) -> Iterator[Para]:
    """Yield what the target said beside what was expected.

    Args:
        found: The trial.
        context: What stands beside it; None: not read yet.
        looks: How its text is shown.
        glyphs: The shapes.
        now: Unix seconds.
    """
    trial, output = found.trial, found.output
    if trial.note is not None:
        yield Para(trial.note, "accent", label="note")
    if trial.state is TrialState.ERROR:
        yield Para(f"{glyphs.error} {trial.error_kind}: {trial.error_message or ''}", "error")
    elif output is None:
        yield Para(_no_output(found, now), "ungraded" if trial.waiting else "dim")
    current = [entry for entry in found.scores if entry.current]
    in_head = _fits_in_head(output, looks)
    got = output if in_head else None
    head = list(_head(got, output, current, context, trial.epoch, glyphs))
    if head:
        yield marked(*head)
    for entry in current:
        if _told(entry, output) is None:
            yield _verdict_line(entry, glyphs)
    if output is not None:
        if head and not in_head:
            yield Para("")
        yield from _spoken(output, looks, in_head=in_head)
    partial = next((tried.partial for tried in reversed(found.attempts) if tried.partial), None)
    if output is None and found.broken_off:
        said = many(len(found.broken_off), "message")
        over = trial.state in (TrialState.ERROR, TrialState.CANCELLED)
        how = f"It broke off after {said}" if over else f"{said} so far"
        yield Para(f"{how}, which the tab Messages has. Said last:", "dim")
        yield Para(partial or _last_said(found.broken_off))
    elif output is None and partial:
        yield Para("What had arrived when it broke:", "dim")
        yield Para(partial)
    if output is not None:
        made_by = (one for one in found.attempts if one.output == trial.output)
        about_usd = next((one.about_usd for one in made_by), None)
        facts = _output_facts(output, looks, about_usd, cached=trial.cached)
        yield Para("  ".join(facts), "dim")


def _last_said(messages: Sequence[JsonObject]) -> str:
    return next(
        (said for one in reversed(messages) if (said := text_of(one.get("content")))), "nothing"
    )


def _no_output(found: WholeTrial, now: float) -> str:
    """Say why there is no output, and for how long."""
    trial, progress = found.trial, found.progress
    if trial.waiting is not None:
        return f"No output yet: {waiting_words(trial, now)}."
    since = "" if trial.since is None else f", for {clock(now - trial.since)}"
    at = "the call is in flight" if progress is None else f"it is {progress.phase}"
    return {
        TrialState.QUEUED: f"No output yet: the trial waits for its turn{since}.",
        TrialState.RUNNING: f"No output yet: {at}{since}.",
        TrialState.CANCELLED: "Cancelled before there was an output; "
        f"{key('run.undo', 'U')} undoes the last cancel, "
        f"{key('run.retry', 'r')} asks anew.",
    }.get(trial.state, "No output.")


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


def _fits_in_head(output: Output | None, looks: OutputRendering) -> bool:
    return (
        output is not None
        and not looks.raw
        and output.text is not None
        and 0 < len(output.text.strip()) <= _SHORT
        and "\n" not in output.text.strip()
        and (looks.shown is None or looks.shown.form is TextForm.PLAIN)
    )


def _head(
    got: Output | None,
    output: Output | None,
    current: Sequence[ScoreRow],
    context: TrialContext | None,
    epoch: int,
    glyphs: Glyphs,
) -> Iterator[tuple[str, Tone]]:
    """Yield the line that says expected against got, scorer by scorer, and how it was before."""
    begun = False
    if got is not None and got.text is not None:
        yield got.text.strip(), "strong"
        begun = True
    if context is not None and context.expected:
        if begun:
            yield _GAP
        yield from _expectation(context.expected)
        begun = True
    for entry in current:
        if begun:
            yield _GAP
        yield f"{entry.scorer} ".replace(" ", GLUE), "plain"
        yield glyphs.verdict(entry.verdict), VERDICT_TONES[entry.verdict]
        told = _told(entry, output)
        if told and not (context is not None and _stands_there(entry, got, context.expected)):
            yield f" {told}", "dim" if entry.verdict is Verdict.PASS else "plain"
        begun = True
    if context is not None and sum(not past.partial for past in context.pasts) > 1:
        if begun:
            yield GLUE * len(_GAP[0]), "plain"  # a row of shapes says little on a line of its own
        yield from verdict_strip(context, epoch, glyphs)


def _stands_there(entry: ScoreRow, got: Output | None, expected: Sequence[ExpectedValue]) -> bool:
    """Whether a reason says no more than that what came is not what was expected beside it."""
    if got is None or got.text is None:
        return False
    came = got.text.strip()
    wanted = (text for one in expected if one.scorer == entry.scorer for text in one.texts)
    return entry.reason in {f'expected "{text}", got "{came}"' for text in wanted}


def _expectation(expected: Sequence[ExpectedValue]) -> Iterator[tuple[str, Tone]]:
    yield "expected ", "dim"
    said = dict.fromkeys((one.how, one.texts) for one in expected)
    for at, (how, texts) in enumerate(said):
        if at == _SEVERAL:
            yield f" and {len(said) - at} more", "dim"
            return
        if at:
            yield ", ", "dim"
        if how:
            yield f"{how} ", "dim"
        for nth, text in enumerate(texts[:_SEVERAL]):
            if nth:
                yield " or ", "dim"
            if text:
                yield _cut(text), "strong"
            else:
                yield "an empty text", "dim"
        if len(texts) > _SEVERAL:
            yield f" or {len(texts) - _SEVERAL} more", "dim"


def _told(entry: ScoreRow, output: Output | None) -> str | None:
    """Return what the first line says of a score; None: it needs a line of its own."""
    if entry.source != "code":
        return None
    if entry.verdict is Verdict.PASS:
        return "" if entry.required else "(reported only)"
    if isinstance(entry.raw, str | int | float) and entry.reason.startswith("expected"):
        saw = str(entry.raw)
        if output is not None and output.text is not None and saw == output.text.strip():
            return "" if len(saw) <= _SHORT else None
        return f"extracted {saw}" if 0 < len(saw) <= _SHORT else None
    return entry.reason if len(entry.reason) <= _SHORT else None


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else f"{text[: _SHORT - 1]}…"


def _verdict_line(entry: ScoreRow, glyphs: Glyphs) -> Para:
    optional = "" if entry.required else " (reported only)"
    source = "" if entry.source == "code" else f" by {entry.source}"
    return Para(
        f"{entry.scorer}{optional}{source}: {entry.reason}",
        VERDICT_TONES[entry.verdict],
        label=glyphs.verdict(entry.verdict),
    )


def _spoken(output: Output, looks: OutputRendering, *, in_head: bool) -> Iterator[Para]:
    if output.text is None:
        yield Para("The answer has no text.", "dim")
    elif not output.text:
        yield Para("The answer is an empty text.", "dim")
    elif looks.shown is not None and not looks.raw:
        if not in_head:
            yield from looks.shown.paras
    elif not in_head:
        yield Para(output.text)
    if output.cut_short:
        limit = (output.finish_reason or "").removeprefix("limit:")
        by_limit = limit != output.finish_reason
        why = f"it was ended at its limit of `{limit}`" if by_limit else _STOPPED
        yield Para(f"Truncated: {why}.", "ungraded")
    if output.filtered:
        yield Para("Taken away by the endpoint's content filter.", "ungraded")
    if output.broken_off:
        yield Para(f"Broken off: it ended with {output.finish_reason!r}.", "ungraded")
    if output.reasoning:
        yield Para("")
        yield Para("Reasoning", "accent")
        yield Para(output.reasoning, "dim", indent=2)


def _output_facts(
    output: Output, looks: OutputRendering, about_usd: float | None, *, cached: bool
) -> Iterator[str]:
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
    if cached:
        yield "from the cache"
    if looks.raw:
        yield "as it came"
    elif looks.shown is not None and looks.shown.form is not TextForm.PLAIN:
        yield f"laid out as {looks.shown.form}"
