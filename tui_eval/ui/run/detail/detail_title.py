"""The two lines above a trial's page: its tabs, and in zoom which trial it is."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tui_eval.format import number
from tui_eval.store.rows import TrialRow
from tui_eval.ui.run.detail.trial_status import status_words
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.toned import Piece, fit, width_of

_LEAST_NAME = 6
"""Cells below which the case's name is left out beside the tabs."""
_AROUND_NAME = 3
"""Cells around the name: its spaces and the rule."""
_WIDE_GAP = 3
"""Cells between two tabs, where there is room."""


class Tab(StrEnum):
    """The tabs, from left to right."""

    LIVE = "Live"
    """Only of what runs and tells how far it is."""
    RESULT = "Result"
    MESSAGES = "Messages"
    SCORES = "Scores"
    ATTEMPTS = "Attempts"
    JUDGE = "Judge"
    CASE = "Case"


@dataclass(frozen=True, slots=True)
class ListPosition:
    """Where the trial that is shown stands in a list that zoom hides."""

    at: int = 0
    """From 1."""
    listed: int = 0
    marked: int = 0
    """How many trials are marked."""
    this_one: bool = False
    """Whether this one is."""
    in_list: bool = True
    """Whether it is listed; in zoom it stays on the screen where it is not any more."""


def tab_pieces(
    there: Sequence[Tab], chosen: Tab, name: str, column: str, room: int, glyphs: Glyphs
) -> tuple[list[Piece], list[Piece]]:
    """Return the line of tabs: what stands at its left, and at its right edge.

    Args:
        there: The tabs.
        chosen: The one that is shown.
        name: The case's id, foreign; it is left out where there is no room beside the tabs.
        column: Its column, foreign; stands after the id where both have room. Empty: the run has
            no other.
        room: Cells there are.
        glyphs: The shapes.
    """
    rule, dot = glyphs.rule, glyphs.dot
    left: list[Piece] = []
    for_tabs = sum(len(tab) + _WIDE_GAP for tab in there)
    whose = f" {dot} {column}" if column else ""
    close_tabs = for_tabs - (len(there) - 1) * (_WIDE_GAP - 1)
    # which trial it is matters more than how far apart the tabs stand
    if name and for_tabs <= room - _AROUND_NAME < for_tabs + width_of(name + whose):
        for_tabs = close_tabs
    if name and room - for_tabs > _LEAST_NAME:
        spare = room - for_tabs - _AROUND_NAME
        # the targets of a case are told apart, where both have room
        for_name = max(spare - width_of(whose), spare // 2) if spare > 2 * _LEAST_NAME else spare
        shown = fit(name, min(width_of(name), for_name), ellipsis=glyphs.cut, keep=4)
        left += [Piece(" "), Piece(shown, "strong")]
        spare -= width_of(shown)
        if whose and spare > _LEAST_NAME:
            left.append(Piece(fit(whose, min(width_of(whose), spare), ellipsis=glyphs.cut, keep=4)))
        left.append(Piece(f" {rule}", "dim"))
    between = f" {dot} " if room >= for_tabs > close_tabs else " "
    left.append(Piece(" "))
    for at, tab in enumerate(there):
        if at:
            left.append(Piece(between, "dim"))
        tone: Tone = "heading" if tab is chosen else "dim"
        left.append(Piece(tab, tone, f"open_tab('{tab}')"))
    left.append(Piece(" "))
    turning = [Piece(" "), Piece("[", "accent", "turn_tab(-1)"), Piece(" ")]
    turning += [Piece("]", "accent", "turn_tab(1)"), Piece(" ")]
    taken = sum(width_of(piece.text) for piece in (*left, *turning))
    return left, turning if taken < room else []


def trial_pieces(
    trial: TrialRow, place: ListPosition, room: int, glyphs: Glyphs, *, scored: bool
) -> tuple[list[Piece], list[Piece]]:
    """Return the line that says in zoom which trial it is, how it stands, and where in the list.

    Args:
        trial: The trial.
        place: Where it stands in the list.
        room: Cells there are.
        glyphs: The shapes.
        scored: Whether its run scores anything.
    """
    words, tone = status_words(trial, glyphs, scored=scored)
    right = [Piece(f" {glyphs.mark} ", "accent")] if place.this_one else []
    if place.marked:
        right.append(Piece(f" {number(place.marked)} marked ", "dim"))
    stands = f"{number(place.at)}/{number(place.listed)}" if place.in_list else "not in the list"
    right.append(Piece(f" {stands} ", "dim"))
    left = [Piece(f"  {words}  ", tone)]
    epoch = f"  epoch {trial.epoch + 1}" if trial.epoch else ""
    room -= sum(width_of(piece.text) for piece in [*left, *right]) + len(epoch)
    case = fit(trial.case_id, min(width_of(trial.case_id), room // 2), ellipsis=glyphs.cut, keep=4)
    room -= width_of(case) + 2
    column = fit(trial.column, min(width_of(trial.column), room), ellipsis=glyphs.cut, keep=6)
    return [*left, Piece(case, "strong"), Piece(f"  {column}"), Piece(epoch, "dim")], right
