"""The line above the table: what is listed, how it divides, how it is sorted."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.format import many, number
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.search.views import UNMET, Condition, FilterKind, TrialOutcome, View
from tui_eval.ui.run.detail.detail_title import ListPosition
from tui_eval.ui.run.figures import Figures
from tui_eval.ui.run.head.pace_line import as_fits
from tui_eval.ui.run.list.filters import order_words, part_words
from tui_eval.ui.run.list.view_lookup import TrialSearch
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.toned import Piece, fit, width_of

_FILTER = "filter"
_LONGEST = (32, 20, 12)
"""Cells of one condition, where there is room and where there is less."""
_UNDIVIDED = ((), (Condition(FilterKind.STANDS, TrialOutcome.FAILED),), (UNMET,))
"""Parts of lists whose failures are all there are: of others it would say what is not in them."""


_WIDE = 90
"""Cells from which on there is room for how many trials have been searched."""


@dataclass(frozen=True, slots=True)
class ShownList:
    """What the line says of a list."""

    total: Counts
    """How all trials stand."""
    figures: Figures | None
    """What has been counted of it; None: nothing yet."""
    wanted: View
    """What is asked for."""
    view: View
    """What is listed so far: of the view before, as long as nothing of the wanted one is known."""
    n: int
    """How many rows that is."""
    in_row: int
    """Trials of a case."""
    listing: bool
    """Whether nothing of the wanted view is known yet."""
    search: TrialSearch | None
    """How far it is searched for; None: it is not, or no more."""
    following: bool
    """Whether the cursor goes along with what is settled."""
    hidden_marks: int
    """Trials that are marked and not listed."""
    place: ListPosition
    """Where the trial under the cursor stands, and how many are marked."""
    asked: Sequence[str]
    """What is asked of the run, in words."""


class FilterLine(Bar):
    """The line; a click on a word does what its key does."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__(id="filter", fill=glyphs.rule, frame=True)
        self._glyphs = glyphs

    def show_list(self, shown: ShownList, width: int) -> None:
        """Say what is listed, how it divides, and what is asked of the run.

        Args:
            shown: What there is to say.
            width: Cells of the whole list.
        """
        right = [Piece(f" {word} ", "accent") for word in shown.asked]
        if shown.listing:
            right.append(Piece(f" listing{self._glyphs.working} ", "dim"))
        if shown.following:
            right.append(Piece(" following ", "accent", "follow"))
        if shown.place.marked:
            hidden = shown.hidden_marks
            beside = f", {number(hidden)} not shown" if hidden else ""
            marked = f" {number(shown.place.marked)} marked{beside} "
            right.append(Piece(marked, "accent", "unmark"))
        right.append(Piece(f" {number(shown.place.at)}/{number(shown.place.listed)} ", "dim"))
        right.append(Piece(self._glyphs.rule, "dim"))
        left = filter_words(
            shown.total,
            shown.figures,
            shown.wanted,
            _listed_words(shown, self._glyphs, wide=width >= _WIDE),
            self._glyphs,
            self.room - sum(width_of(piece.text) for piece in right),
        )
        self.show(left, right)


def _listed_words(shown: ShownList, glyphs: Glyphs, *, wide: bool) -> str:
    """Return how many are listed, of how many."""
    total, search = shown.total.total, shown.search
    if shown.listing:
        return f"{glyphs.working} of {number(total)}"
    if search is None:
        whole = many(total // shown.in_row, "case") if shown.view.by_case else number(total)
        return f"{number(shown.n)} of {whole}" if shown.wanted.narrowed else whole
    if wide:
        searched = f"{number(search.searched)} of {number(search.total)}"
    else:
        searched = f"{search.searched * 100 // max(search.total, 1)}%"
    return f"{number(shown.n)} so far, searched {searched}"


def filter_words(
    total: Counts, figures: Figures | None, view: View, listed: str, glyphs: Glyphs, room: int
) -> list[Piece]:
    """Return the line; a click on a condition takes it away.

    Args:
        total: How all trials stand.
        figures: What has been counted of it; None: nothing yet.
        view: What is listed.
        listed: How many trials that is, in words.
        glyphs: The shapes.
        room: Cells there are; what matters least is left out.
    """
    rule = Piece(f"{glyphs.rule} ", "dim")
    if view.narrowed:
        first: list[Sequence[Piece]] = [[rule, Piece(f"{listed} ", "strong", _FILTER), rule]]
    else:
        first = [[rule, Piece(f"all {number(total.total)} ", "plain", _FILTER), rule]]
        if view.by_case:
            first.insert(0, [rule, Piece(f"{listed} ", "strong", "by_case")])
        first += [[piece] for piece in _standings(total, glyphs)]
    conditions = [*map(part_words, view.parts), *([f"“{view.text}”"] if view.text else [])]
    left = room - sum(width_of(piece.text) for group in first for piece in group)
    groups = [*first, _conditions(conditions, glyphs, left)]
    if order := order_words(view):
        groups.append([rule, Piece(f"{order} ", "accent", "sort")])
    if view.narrowed:  # how all divide stays: what is listed is some of them
        groups.append([rule, *_standings(total, glyphs)])
    if not order and figures is not None and not view.text and view.parts in _UNDIVIDED:
        for at, (name, n) in enumerate(figures.failing[:4]):
            lead = Piece(f"{glyphs.dot} ", "dim") if at else rule
            groups.append([lead, Piece(f"{name} {number(n)} ", "dim")])
    return as_fits(groups, room)


def _conditions(words: Sequence[str], glyphs: Glyphs, room: int) -> Sequence[Piece]:
    """Return as many conditions as there is room for, and how many there are beside."""
    pieces: list[Piece] = []
    for longest in _LONGEST:
        pieces = [
            Piece(f"{_short(one, longest, glyphs)} {glyphs.away} ", "accent", f"drop_filter({at})")
            for at, one in enumerate(words)
        ]
        if sum(width_of(piece.text) for piece in pieces) <= room:
            return pieces
    for shown in range(len(pieces) - 1, -1, -1):
        more = Piece(f"+{len(pieces) - shown} ", "accent", _FILTER)
        if sum(width_of(piece.text) for piece in (*pieces[:shown], more)) <= room:
            return [*pieces[:shown], more]
    return []


def _standings(total: Counts, glyphs: Glyphs) -> list[Piece]:
    """Return how all trials divide; a click lists some of them."""
    counts: list[tuple[str, int, Tone, TrialOutcome]] = [
        (glyphs.passed, total.passed, "pass", TrialOutcome.PASSED),
        (glyphs.failed, total.failed, "fail", TrialOutcome.FAILED),
        (glyphs.ungraded, total.ungraded, "ungraded", TrialOutcome.UNGRADED),
        (glyphs.error, total.error, "error", TrialOutcome.ERRORS),
        (glyphs.cancelled, total.cancelled, "dim", TrialOutcome.CANCELLED),
    ]
    return [
        Piece(f"{shape} {number(n)} ", tone, f"list_only('{which.name}')")
        for shape, n, tone, which in counts
        if n or which in (TrialOutcome.PASSED, TrialOutcome.FAILED)
    ]


def _short(words: str, longest: int, glyphs: Glyphs) -> str:
    return fit(words, min(width_of(words), longest), ellipsis=glyphs.cut)
