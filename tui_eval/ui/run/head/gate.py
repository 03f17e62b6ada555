"""The gate in the head: whether it holds, and what does not."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from tui_eval.reports.live_results import LiveGate
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.toned import Piece, width_of

if TYPE_CHECKING:
    from tui_eval.reports.gates.gate import Missed


def gate_line(gate: LiveGate | None, columns: int, width: int, glyphs: Glyphs) -> list[Piece]:
    """Say whether a gate holds, with as much of what does not as there is room for.

    Args:
        gate: How the run stands to it; None: nobody knows yet.
        columns: How many targets the run has: one alone needs no name.
        width: Cells there are.
        glyphs: The shapes.
    """
    left = [Piece("  gate ", "dim")]
    if gate is None:
        return [*left, Piece(glyphs.working, "dim")]
    if not gate.missed:
        return [*left, *_holding(gate, columns, width - width_of(left[0].text), glyphs)]
    words = "does not hold" if gate.settled else "does not hold so far"
    left += [Piece(f"{glyphs.failed} {words} ", "fail", filled=True), Piece(" ")]
    room = width - sum(width_of(piece.text) for piece in left)
    shown = _as_many_as_fit([missed_words(one, columns > 1) for one in gate.missed], room, glyphs)
    return [*left, Piece(shown)]


def _holding(gate: LiveGate, columns: int, width: int, glyphs: Glyphs) -> list[Piece]:
    """Return what is said of a gate of which nothing is missed."""
    if gate.unmeasured:
        return [Piece(f"{glyphs.waiting} nothing to measure yet", "dim")]
    later = "baseline at the end"
    if gate.later and gate.bare:
        return [Piece(f"{glyphs.waiting} {later}", "dim")]
    if gate.unclear:
        said = f"{glyphs.ungraded} holds, but the baseline is unclear"
        named = f"{said}: {', '.join(gate.unclear)}" if columns > 1 else said
        shown = named if width_of(named) + 2 <= width else said
        return [Piece(f"{shown} ", "ungraded", filled=True)]
    words = "holds" if gate.settled else "holds so far"
    more = [Piece(f"{glyphs.dot} {later}", "dim")] if gate.later else []
    return [Piece(f"{glyphs.passed} {words} ", "pass", filled=True), *more]


def missed_words(missed: "Missed", named: bool) -> str:
    """Return what does not hold in a few words; may hold foreign names.

    Args:
        missed: What it is.
        named: Whether to name the target.
    """
    said = missed.in_short()
    return f"{missed.column} {said}" if named else said


def _as_many_as_fit(parts: Sequence[str], room: int, glyphs: Glyphs) -> str:
    between = f" {glyphs.dot} "
    for n in range(len(parts), 0, -1):
        more = f"{between}+{len(parts) - n} more" if n < len(parts) else ""
        shown = between.join(parts[:n]) + more
        if width_of(shown) <= room:
            return shown
    return f"{len(parts)} thresholds" if len(parts) > 1 else parts[0]
