"""What the Run screen says of people's grades: how far its judge agrees with them, and rates."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from tui_eval.format import interval, many, percent
from tui_eval.model.judge_quality import ENOUGH
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone

if TYPE_CHECKING:
    from tui_eval.reports.agreement.run_agreement import PeoplesWord, ScorerAgreement

# What agreement is made of knows the suite's format, which is slow to load: it is imported only
# where people have graded anything.


def people_words(
    people: "PeoplesWord | None", names: Mapping[int, str], glyphs: Glyphs
) -> Iterator[tuple[Tone | None, str]]:
    """Yield in a few words each what people's grades say; without a tone where it is not well.

    Args:
        people: What they say; None: nobody graded anything.
        names: The columns by their index.
        glyphs: The shapes.
    """
    if people is None:
        return
    for scorer in people.scorers:
        yield from _agreement(scorer, names, glyphs)
    for col, one in people.corrected.items():
        if one.known:
            rate = f"{percent(one.rate)} ({interval(one.interval)})"
            yield "plain", f"{names[col]} corrected {rate} by {one.by}"
    if people.by_hand:
        yield "plain", f"{many(sum(people.by_hand.values()), 'verdict')} by hand"


def _agreement(
    of: "ScorerAgreement", names: Mapping[int, str], glyphs: Glyphs
) -> Iterator[tuple[Tone | None, str]]:
    from tui_eval.reports.terminal.agreement_text import briefly, untrusted

    poor = untrusted(of)
    for col, one in of.columns.items():
        if not one.n:
            continue
        words = f"{names[col]}: {briefly(one)} by people"
        if one.n < ENOUGH:
            yield "dim", f"{names[col]}: {one.n} graded by people, too few to say"
        elif col in poor:
            yield None, f"{glyphs.failed} {words}, not yet to be trusted"
        else:
            yield "plain", words
