"""What the Run screen says of its judges: what they do now, and how far they are to be trusted."""

from collections.abc import Iterator, Sequence

from tui_eval.format import many, number, percent
from tui_eval.model.judge_quality import GoldAgreement
from tui_eval.model.states import RunState
from tui_eval.reports.judging.judge_report import trust_lines
from tui_eval.store.read.judges.judge_figures import JudgeFigures, JudgeRequests
from tui_eval.ui.run.figures import Figures
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.text.prose import Para
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.toned import Piece, width_of

_WORDS = {"audit": "auditing", "gold": "checking gold"}


def measuring(run: Snapshot) -> str | None:
    """Say what is measured of judges while nothing else goes on: `audit`, `gold`; None: nothing."""
    row, total = run.run, run.total
    if not row.live or not row.staged or row.state is not RunState.RUNNING:
        return None
    match run.judging.purpose:
        case "gold" if not total.running and total.settled < total.total:
            return "gold"
        case "audit" if total.settled == total.total:
            return "audit"
    return None


def measuring_words(run: Snapshot) -> str | None:
    """Say in a word or two what is measured of judges just now; None: nothing."""
    found = measuring(run)
    return None if found is None else _WORDS[found]


def judge_groups(run: Snapshot, figures: Figures | None) -> Iterator[list[Piece]]:
    """Say what judges do now, what matters least last."""
    judges = () if figures is None else figures.judges
    calls = many(run.judging.calls, "call")
    match measuring(run):
        case "audit":
            yield [Piece(f"audit {calls}{_so_far([one.auditing for one in judges])}")]
            return
        case "gold":
            yield [Piece(f"gold {calls}{_so_far([one.on_gold for one in judges])}")]
            return
    waiting = run.total.scoring
    if not waiting:
        return
    if not run.judging.calls:
        yield [Piece(f"{number(waiting)} being scored")]
    else:
        # a look of the audit goes before what waits
        asked = "audit" if run.judging.purpose == "audit" else "judge"
        yield [Piece(f"{asked} {calls}, {number(waiting)} waiting")]
    yield from _came_of(judges)


def judged_groups(figures: Figures | None) -> Iterator[list[Piece]]:
    """Say what the judges of a run that nobody works on have done."""
    judges = () if figures is None else figures.judges
    calls = sum(one.asked.calls for one in judges)
    if calls:
        yield [Piece(f"   judge {many(calls, 'call')}", "dim")]
        yield from _came_of(judges)


def _came_of(judges: Sequence[JudgeFigures]) -> Iterator[list[Piece]]:
    if repaired := sum(one.repaired for one in judges):
        yield [Piece(f", {number(repaired)} repaired")]
    if ungraded := sum(one.ungraded for one in judges):
        yield [Piece(f", {number(ungraded)} ungraded", "ungraded")]


def _so_far(asked: Sequence[JudgeRequests]) -> str:
    items = sum(one.items for one in asked)
    return f", {many(items, 'output')} so far" if items else ""


def trust_line(
    judges: Sequence[JudgeFigures],
    width: int,
    glyphs: Glyphs,
    people: Sequence[tuple[Tone | None, str]] = (),
) -> list[Piece]:
    """Say in a line how far judges are to be trusted, the worst first; empty: nobody measured it.

    Without a judge it is what people graded.

    Args:
        judges: What each did for each scorer.
        width: Cells there are.
        glyphs: The shapes.
        people: What people's grades say, see `people_words`.
    """
    several = len({one.scorer for one in judges}) > 1
    found = [said for one in judges for said in _briefly(one, several, glyphs)]
    found += people
    if not found:
        return []
    found.sort(key=lambda said: said[0] is not None)  # None first: what is wrong
    pieces = [Piece("  judge " if judges else "  graded ", "dim")]
    for at, (tone, words) in enumerate(found):
        between = f" {glyphs.dot} " if at else ""
        left = len(found) - at - 1
        rest = f" {glyphs.dot} +{left} more" if left else ""
        used = sum(width_of(piece.text) for piece in pieces)
        if at and used + width_of(between + words + rest) > width:
            more = f"{between}+{left + 1} more"
            return [
                *pieces,
                Piece(more if used + width_of(more) <= width else f" +{left + 1}", "dim"),
            ]
        pieces += [Piece(between, "dim"), Piece(words, tone or "ungraded")]
    return pieces


def quality_is_poor(judges: Sequence[JudgeFigures]) -> bool:
    """Whether a judge agrees too little with a person, or its batching was turned off."""
    return any(
        (one.gold is not None and one.gold.too_low)
        or (one.audit is not None and one.audit.batching_off)
        for one in judges
    )


def _briefly(of: JudgeFigures, named: bool, glyphs: Glyphs) -> Iterator[tuple[Tone | None, str]]:
    """Yield what was measured in a few words each; without a tone where it is not well."""
    who = f"{of.scorer}: " if named else ""
    if (gold := of.gold) is not None:
        least = "" if gold.min_agreement is None else f", {gold.min_agreement:.0%} asked"
        few = "" if gold.enough else ", too few to say"
        ranks = "" if gold.min_spearman is None else f", {_ranks(gold)}"
        words = f"{who}gold {percent(gold.agreement)} of {gold.n}{least}{ranks}{few}"
        yield (None, f"{glyphs.failed} {words}") if gold.too_low else ("plain", words)
    if (audit := of.audit) is not None:
        if audit.batching_off:
            why = f"flips at least {audit.low:.1%}, {audit.max_excess_flips:.0%} allowed"
            yield None, f"{glyphs.failed} {who}batching off: {why}"
        elif audit.enough:
            bounds = f"({100 * audit.low:+.1f} to {100 * audit.high:+.1f})"
            yield "plain", f"{who}batching flips {audit.excess:+.1%} {bounds}"
        else:
            yield "dim", f"{who}audit of {audit.n}, too few to say"


def _ranks(gold: GoldAgreement) -> str:
    """Say how the order of the grades agrees, against what is asked."""
    rho = "unknown" if gold.spearman is None else f"{gold.spearman:.2f}"
    return f"rank correlation {rho}, {gold.min_spearman:.2f} asked"


def trust_paras(judges: Sequence[JudgeFigures]) -> Iterator[Para]:
    """Say how far judges are to be trusted, in full; nothing where nobody measured it."""
    for one in judges:
        lines = list(trust_lines(one))
        if not lines:
            continue
        wrong = quality_is_poor([one])
        yield Para(f"How far {one.judge} is to be trusted, as it was measured", "accent")
        for line in lines:
            yield Para(line.strip(), "ungraded" if wrong else "plain", indent=_depth(line))
        yield Para("")


def _depth(line: str) -> int:
    """Return how far in a line of a report stands."""
    return len(line) - len(line.lstrip(" "))
