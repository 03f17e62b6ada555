"""What is said of a comparison above its rows and below them."""

from collections.abc import Iterator, Sequence

from tui_eval.reports.comparison.comparison import By, RunComparison, Word
from tui_eval.reports.terminal.comparison_text import (
    equivalent,
    not_compared,
    scorer_notes,
    seen,
)
from tui_eval.ui.compare.comparison_reader import ComparisonReader
from tui_eval.ui.compare.comparison_reading import ReadComparison
from tui_eval.ui.compare.comparison_table import TableLine
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.detail.moments import moment
from tui_eval.ui.text.prose import Para, fold
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.toned import Piece, fit, width_of

_NO_GROUPS: dict[By, str] = {
    "tag": "no case has a tag: there are no groups",
    "scorer": "no scorer is on both sides: there are no groups",
}


def head_pieces(
    of: ComparisonReader, width: int, glyphs: Glyphs
) -> tuple[list[Piece], list[Piece]]:
    """Return the first line's left and right: which sides, and as of when."""
    right = _state(of, glyphs)
    if of.found is None:
        return [Piece("  compare", "strong")], right
    found = of.found.comparison
    left = [Piece("  compare ", "dim"), Piece("A ", "accent"), Piece(" B ", "accent")]
    room = width - sum(width_of(piece.text) for piece in (*left, *right)) - 6
    names = []
    for name in (found.a.name, found.b.name):
        cells = min(width_of(name), max(room // 2, 1))
        names.append(fit(name, cells, ellipsis=glyphs.cut, keep=5))
        room -= cells
        room *= 2  # the second may have all that the first left
    left.insert(2, Piece(names[0], "strong"))
    left.insert(3, Piece(f" {glyphs.arrow}", "dim", "screen.swap"))
    return [*left, Piece(names[1], "strong")], right


def _state(of: ComparisonReader, glyphs: Glyphs) -> list[Piece]:
    if of.problem is not None and of.found is not None:
        return [Piece(f"{of.problem}; as of {moment(of.found.at)} ", "ungraded")]
    if of.found is None:
        return [Piece("reading… ", "dim")]
    live = [name for name, on in zip("AB", of.found.live, strict=True) if on]
    pieces = [Piece(f"as of {moment(of.found.at)} ", "dim")]
    if live:
        words = f"{glyphs.live} {' and '.join(live)} live  "
        pieces.insert(0, Piece(words, "accent"))
    return pieces


def note_lines(
    found: ReadComparison, line: TableLine, by: By | None, width: int, most: int
) -> list[list[Piece]]:
    """Return what is said of the row under the cursor.

    Args:
        found: The comparison.
        line: The row.
        by: What is grouped by; None: nothing.
        width: Cells of a line.
        most: Lines there is room for.
    """
    paras = [Para(said, tone) for said, tone in _notes(found, line, by)]
    lines = list(fold(paras, width))
    if len(lines) > most:
        lines = [*lines[: most - 1], (f"… {len(lines) - most + 1} more: {_all()}", "dim")]
    return [[Piece(text, tone)] for text, tone in lines]


def _all() -> str:
    return f"{key('compare.export', 'E')} writes all of it"


def _notes(found: ReadComparison, line: TableLine, by: By | None) -> Iterator[tuple[str, Tone]]:
    row, of = line.row, found.comparison
    tested = _tested(of, line)
    rows = "rows" if line.group is None else "groups"
    # in one paragraph: on a small screen each line is one less for the flips
    corrected = f"; p corrected for {tested} {rows} (Holm)" if tested > 1 else ""
    yield f"{seen(row)}{corrected}", "plain"
    if any(found.live):
        yield "so far: what ends early is no fair sample of all", "ungraded"
    for said in scorer_notes(of):
        yield said, "ungraded"
    if line.group is None or by == "scorer":  # of a tag's cases nobody knows how many are missing
        for said in not_compared(row, of):
            yield said, "dim"
    if row.word is Word.EQUIVALENT:
        yield equivalent(of.margin), "dim"
    if by is not None and not of.groups:
        yield _NO_GROUPS[by], "dim"


def _tested(of: RunComparison, line: TableLine) -> int:
    rows: Sequence[object] = of.rows
    if line.group is not None:
        rows = [row for several in of.groups.values() for row in several]
    return len(rows)
