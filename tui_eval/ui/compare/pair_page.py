"""A case as both sides answered it: what was asked and expected above, the outputs side by side."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from rich.cells import cell_len

from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.store.rows import ScoreRow, TrialRow
from tui_eval.ui.compare.compared_texts import ComparedTrials, SideTrials
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.comparable import output_text
from tui_eval.ui.run.detail.pages.result_page import expectation
from tui_eval.ui.run.detail.pages.verdict_lines import verdict_lines
from tui_eval.ui.run.detail.trial_status import status_words
from tui_eval.ui.run.detail.verdicts import VERDICT_TONES, tone_of
from tui_eval.ui.text.beginnings import beginning
from tui_eval.ui.text.laid_out_text import lay_out_text
from tui_eval.ui.text.prose import (
    GLUE,
    LABELS,
    Line,
    Para,
    TonedSpan,
    block,
    lay_out,
    marked,
)
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

LONGEST = 20_000
"""Characters of each output that stand here; the diff has more."""
_LONGEST_QUESTION = 5_000
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

    @property
    def half(self) -> int:
        """Cells of a line of one side."""
        return max((self.width - _BETWEEN) // 2, 1)


def pair_paras(of: ComparedTrials, looks: PairLooks, glyphs: Glyphs) -> list[Para]:
    """Return a case as both sides answered it; texts of any length, so in a thread."""
    beside = list(_beside(of, looks, glyphs))
    question = list(lay_out(_question(of, looks), looks.width - LABELS))
    expected = {(one.how, one.texts): one for one in of.expected}
    told = [expectation(one, named=len(expected) > 1) for one in expected.values()]
    wanted = list(lay_out(told, looks.width - LABELS))
    # what both sides said comes first, what it leaves free goes to what was expected and asked
    gap = [Para("")] if looks.height >= _LOW else []
    free, least = looks.height - len(beside) - len(gap), max(looks.height // 6, 1)
    paras: list[Para] = []
    for heading, lines, other in (("Question", question, wanted), ("Expected", wanted, question)):
        room = len(lines) if looks.whole else max(free - len(other), least)
        shows_all = key("compare.question", "m")
        paras += block(heading, beginning(lines, room, shows_all))
    return [*paras, *(gap if paras else []), *beside]


def _question(of: ComparedTrials, looks: PairLooks) -> list[Para]:
    if of.question is None:
        return []
    asked = of.question if looks.whole else of.question[:_LONGEST_QUESTION]
    return [Para(asked.strip("\n")) if asked else Para("an empty text", "dim")]


def _beside(of: ComparedTrials, looks: PairLooks, glyphs: Glyphs) -> Iterator[Para]:
    room = looks.half
    left, right = (
        list(lay_out(_side_paras(name, side, of, looks, glyphs), room, most=LONGEST))
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


def _side_paras(
    name: str, side: SideTrials, of: ComparedTrials, looks: PairLooks, glyphs: Glyphs
) -> Iterator[Para]:
    shown = side.shown
    if shown is None:
        yield marked((name, "strong"))
        yield Para(side.why_not, "dim")
        return
    words, tone = status_words(shown.trial, glyphs)
    yield marked((name, "strong"), ("  ", "plain"), (words, tone))
    if len(side.epochs) > 1:
        yield marked(*_epochs(side.epochs, of.epoch, glyphs))
    scores = [one for one in shown.scores if _counts(one)]
    if looks.height >= _LOW:
        yield Para("")
    yield from _output(shown, looks.half, glyphs)
    if not scores:
        return
    yield Para("")
    if any(one.source != "code" or one.verdict is not Verdict.PASS for one in scores):
        yield from verdict_lines(scores, shown.output, of.expected, glyphs)
    else:
        yield marked(*_scorer_marks(scores, glyphs))


def _epochs(rows: Sequence[TrialRow], epoch: int, glyphs: Glyphs) -> Iterator[tuple[str, Tone]]:
    yield "epochs ", "dim"
    for row in rows:
        shape = glyphs.trial(row.state, row.verdict)
        # the one that is looked at, not by its colour alone
        yield (f"[{shape}]" if row.epoch == epoch else shape), tone_of(row.state, row.verdict)


def _counts(entry: ScoreRow) -> bool:
    return entry.current and not entry.superseded and entry.withdrawn_at is None


def _scorer_marks(scores: Sequence[ScoreRow], glyphs: Glyphs) -> Iterator[tuple[str, Tone]]:
    """Yield each scorer with its mark, where there is no more to tell of any."""
    for entry in scores:
        yield f"{glyphs.verdict(entry.verdict)}{GLUE}", VERDICT_TONES[entry.verdict]
        yield entry.scorer.replace(" ", GLUE), "plain" if entry.required else "dim"
        yield "  ", "plain"


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
        yield Para("Truncated.", "ungraded")
