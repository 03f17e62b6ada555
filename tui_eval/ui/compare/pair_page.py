"""A case as both sides answered it: what was asked and expected above, the outputs side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from rich.cells import cell_len

from tui_eval.format import many
from tui_eval.model.states import TrialState, Verdict
from tui_eval.model.visible import visible_line
from tui_eval.reports.judging.opinions import opinions
from tui_eval.store.read.trial_queries import WholeTrial
from tui_eval.store.rows import ScoreRow, TrialRow
from tui_eval.ui.compare.compared_texts import ComparedTrials, SideTrials
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.comparable import output_text
from tui_eval.ui.run.detail.trial_context import ExpectedValue
from tui_eval.ui.run.detail.trial_status import status_words
from tui_eval.ui.run.detail.verdicts import VERDICT_TONES, tone_of
from tui_eval.ui.text.laid_out_text import lay_out_text
from tui_eval.ui.text.prose import Line, Para, TonedSpan, drawn, lay_out, marked
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.toned import fit

LONGEST = 20_000
"""Characters of each output that stand here; the diff has more."""
_LONGEST_QUESTION = 5_000
_LABELS = len("Question ")
_LOW = 14
"""Lines below which nothing is left free between what is asked, expected and said."""
_BETWEEN = 3
"""Cells between the two sides."""


@dataclass(frozen=True, slots=True)
class PairLooks:
    """How a pair is looked at."""

    width: int
    """Cells of a line."""
    height: int
    """Lines that are in view."""
    names: tuple[str, str]
    """What A and B are called; may be foreign."""
    whole: bool = False
    """Whether all of a long question is shown."""


def pair_paras(of: ComparedTrials, looks: PairLooks, glyphs: Glyphs) -> list[Para]:
    """Return a case as both sides answered it; texts of any length, so in a thread."""
    paras: list[Para] = []
    if of.question is not None:
        paras += _above("Question", of.question, looks)
    if of.expected:
        paras += _above("Expected", _expected_words(of.expected), looks)
    if paras and looks.height >= _LOW:
        paras.append(Para(""))
    return [*paras, *_beside(of, looks, glyphs)]


def _above(label: str, text: str, looks: PairLooks) -> Iterator[Para]:
    """Yield a text over the whole width, the first lines of it where it is long."""
    most = _LONGEST_QUESTION if not looks.whole else len(text)
    para = Para(text[:most] or "an empty text", "plain" if text else "dim", label=label)
    lines = list(lay_out([para], looks.width))
    room = len(lines) if looks.whole else max(looks.height // 6, 1)
    left = len(lines) - room
    if left == 1:  # as many as it would take to say so
        room, left = len(lines), 0
    yield from (_as_para(line) for line in lines[:room])
    if left > 0:
        words = f"… {many(left, 'more line')}; {key('compare.question', 'm')} shows all"
        yield Para(words, "dim", indent=_LABELS)


def _expected_words(expected: Sequence[ExpectedValue]) -> str:
    said = dict.fromkeys(
        f"{one.how} {' or '.join(one.texts)}" if one.how else " or ".join(one.texts)
        for one in expected
    )
    return "\n".join(said)


def _beside(of: ComparedTrials, looks: PairLooks, glyphs: Glyphs) -> Iterator[Para]:
    room = max((looks.width - _BETWEEN) // 2, 1)
    left, right = (
        list(lay_out(_side_paras(name, side, of.epoch, room, looks, glyphs), room, most=LONGEST))
        for name, side in zip(looks.names, (of.a, of.b), strict=True)
    )
    for a, b in zip_longest(left, right, fillvalue=Line("", "plain")):
        start = f"{a.text}{' ' * (room - cell_len(a.text))} {glyphs.between} "
        sign = TonedSpan(len(start) - 2, len(start) - 1, "dim")
        marks = (*_marks(a, 0), sign, *_marks(b, len(start)))
        yield Para(f"{start}{b.text}".rstrip(), marks=marks)


def _marks(line: Line, start: int) -> Iterator[TonedSpan]:
    """Yield the tones of a line that begins further to the right in another; in order."""
    at = 0
    for begins, ends, tone in (*line.marks, TonedSpan(len(line.text), len(line.text), line.tone)):
        if begins > at and line.tone != "plain":
            yield TonedSpan(start + at, start + begins, line.tone)
        if ends > begins:
            yield TonedSpan(start + begins, start + ends, tone)
        at = ends


def _as_para(line: Line) -> Para:
    return Para(line.text, line.tone, marks=line.marks)


def _side_paras(
    name: str, side: SideTrials, epoch: int, width: int, looks: PairLooks, glyphs: Glyphs
) -> Iterator[Para]:
    shown = side.shown
    if shown is None:
        yield marked((name, "strong"))
        yield Para(side.why_not, "dim")
        return
    words, tone = status_words(shown.trial, glyphs)
    yield marked((name, "strong"), ("  ", "plain"), (words, tone))
    if len(side.epochs) > 1:
        yield marked(*_epochs(side.epochs, epoch, glyphs))
    scores = [one for one in shown.scores if _counts(one)]
    for entry in scores:
        yield _score(entry, width, glyphs)
    if looks.height >= _LOW:
        yield Para("")
    yield from _output(shown, width, glyphs)
    for entry in scores:
        yield from _reason(entry, width, glyphs)


def _epochs(rows: Sequence[TrialRow], epoch: int, glyphs: Glyphs) -> Iterator[tuple[str, Tone]]:
    yield "epochs ", "dim"
    for row in rows:
        shape = glyphs.trial(row.state, row.verdict)
        # the one that is looked at, not by its colour alone
        yield (f"[{shape}]" if row.epoch == epoch else shape), tone_of(row.state, row.verdict)


def _counts(entry: ScoreRow) -> bool:
    return entry.current and not entry.superseded and entry.withdrawn_at is None


def _whole_score(entry: ScoreRow, glyphs: Glyphs) -> Para:
    beside = "" if entry.required else " (reported only)"
    reason = f": {visible_line(entry.reason)}" if entry.reason else ""
    words = f"{entry.scorer}{beside}{reason}"
    return Para(words, VERDICT_TONES[entry.verdict], label=glyphs.verdict(entry.verdict))


def _score(entry: ScoreRow, width: int, glyphs: Glyphs) -> Para:
    """Return what a scorer says on one line: all of it stands below the output."""
    whole = _whole_score(entry, glyphs)
    words = fit(whole.text, width - len(whole.label) - 1, ellipsis=glyphs.cut)
    return replace(whole, text=words.rstrip())


def _reason(entry: ScoreRow, width: int, glyphs: Glyphs) -> Iterator[Para]:
    """Yield what had no room on one line, of what did not pass, and what each judge said."""
    whole = _whole_score(entry, glyphs)
    said = list(opinions(entry.source, entry.raw))
    all_said = _score(entry, width, glyphs).text == drawn(whole.text)
    if not said and (all_said or entry.verdict is Verdict.PASS):
        return
    yield Para("")
    yield whole
    for line in said:
        met: Tone = "fail" if line.met is False else "dim"
        yield Para(line.text, met, indent=2 + 2 * line.depth)


def _output(found: WholeTrial, width: int, glyphs: Glyphs) -> Iterator[Para]:
    trial, output = found.trial, found.output
    if trial.state is TrialState.ERROR:
        yield Para(f"{trial.error_kind}: {trial.error_message or ''}", "error")
    if output is None:
        yield Para(f"No output ({trial.state}).", "dim")
        return
    text = output_text(output)
    if not text:
        yield Para("The answer is an empty text.", "dim")
    yield from lay_out_text(text, width, glyphs).paras
    if output.cut_short:
        yield Para("Cut short.", "ungraded")
