"""The table of a run's targets: the rate of each, how it compares, and what is amiss."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tui_eval.format import UNKNOWN, interval, number, seconds
from tui_eval.format import rate as rate_words
from tui_eval.model.answer_source import AnswerSource
from tui_eval.reports.live_results import LiveResults
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.rows import ColumnRow
from tui_eval.ui.run.figures import ColumnDifferences, Figures
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.theme.glyphs import UNICODE, Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.fields import Field, lay_out
from tui_eval.ui.widgets.rate_bar import rate_bar
from tui_eval.ui.widgets.toned import Piece, fit, width_of

MARGIN = "  "
LEAST_ROOM = 2
"""Targets that have a line of their own on the lowest screens: then only what is amiss is told."""
KEPT_OF_TARGET = 6
"""Cells at the end of a target's name that stay where it is cut: its prompt's."""
_WORDS_FROM = 100
"""Cells of the screen from which on columns of what is amiss are named, and not by their sign."""
_NAME = Field("target", 12, share=1, keep=KEPT_OF_TARGET)
_RATE = (
    Field("pass", 7, right=True),
    Field("", 12, drop=7),
    Field("95%", 10, right=True, drop=3),
)
_BAR_AT, _VERSUS_AT = 2, 5
_RATE_AT = 0
"""Of the columns after the name."""
_VERSUS = Field("vs base", 16, drop=4)
_TRUNCATED = Field("truncated", 9, right=True, drop=5)
_P50 = Field("p50", 6, right=True, drop=6)
_LONGEST_NAME, _NARROW_NAME = 24, 16
"""Cells of a target's name that other columns leave room for, or go; on a narrow screen."""
_NARROW = 80
"""Cells of a screen below which it is narrow."""


def target_lines(
    run: Snapshot,
    of: LiveResults | None,
    figures: Figures | None,
    room: int,
    width: int,
    differences: ColumnDifferences | None = None,
    glyphs: Glyphs = UNICODE,
    *,
    before: bool = False,
) -> list[list[Piece]]:
    """Return the lines of the targets under their head; more than there is room for are folded.

    What is wrong with none of a target's trials is left blank.

    Args:
        run: The run.
        of: What it comes to; None: not read yet.
        figures: What takes a pass over the trials; None: not counted yet.
        room: Targets that have a line.
        width: Cells of the screen.
        differences: How the columns differ; None: not compared.
        glyphs: The shapes.
        before: Whether `of` is what it came to before it was scored again.
    """
    columns = run.columns
    if not columns:
        return []
    compared = differences if has_room_for_versus(run, room, width) else None
    if compared is not None and not compared.by_column:
        compared = None
    present = _Present.of(run, of, figures)
    fields = _fields(run, room, width, present, compared)
    shown = columns[:room]
    folded = f", {room} of {len(columns)}" if len(columns) > room else ""
    widths = _widths(fields, run, room, width)
    first, *rest = (field.title for field in fields)
    if len(first) + len(folded) > widths[0]:
        first = "target"
    if before:
        rest[_RATE_AT] = "before"
    heads: list[tuple[str, Tone]] = [(f"{first}{folded}", "dim"), *((one, "dim") for one in rest)]
    lines = [_line(heads, fields, widths, [])]
    for column in shown:
        cells = _target(column, run, of, figures, present)
        is_first = False
        if compared is not None:
            cells.insert(_VERSUS_AT, _versus(column.index, compared))
            is_first = compared.base is None and column is columns[0]
        rated = None if of is None or run.run.is_sweep else of.rates.get(column.index)
        rate = None if rated is None else rated.rate
        if before:
            cells = [(text, "dim") for text, _ in cells]
        bar = rate_bar(rate, widths[_BAR_AT], glyphs)
        if before:
            bar = [piece._replace(tone="dim") for piece in bar]
        lines.append(_line(cells, fields, widths, bar, mark="B" if is_first else ""))
    return lines


def has_room_for_versus(run: Snapshot, room: int, width: int) -> bool:
    """Return whether the lines of the targets have room for how they differ."""
    if not run.columns:
        return False
    fields = _fields(run, room, width, _Present(), ColumnDifferences())
    return _widths(fields, run, room, width)[_VERSUS_AT] > 0


@dataclass(frozen=True, slots=True)
class _Present:
    """Which of the last columns there are: what none of the targets has takes no room."""

    ungraded: bool = False
    errors: bool = False
    cancelled: bool = False
    truncated: bool = False
    timed: bool = False
    """Whether it is known of a target how long its calls took."""

    @classmethod
    def of(cls, run: Snapshot, of: LiveResults | None, figures: Figures | None) -> "_Present":
        """Look at all columns of a run."""
        counts = () if of is None else tuple(of.by_column.values())
        return cls(
            any(one.ungraded for one in counts),
            any(one.error for one in counts),
            any(one.cancelled for one in counts),
            figures is not None and any(figures.cut.values()),
            figures is not None and bool(figures.p50),
        )


def _fields(
    run: Snapshot, room: int, width: int, present: _Present, compared: ColumnDifferences | None
) -> Sequence[Field]:
    """Return the table's columns, wide enough for what they are to hold."""
    shown = run.columns[:room]
    name = replace(_NAME, title=run.column_title)
    longest = max(width_of(_named(column, run)) for column in shown)
    roomy = _LONGEST_NAME if width >= _NARROW else _NARROW_NAME
    name = replace(name, least=max(name.least, min(longest, roomy)))
    most = max((counts.total for counts in run.by_column.values()), default=0)
    fields = [*_RATE, Field("n", max(5, len(number(most))), right=True)]
    if compared is not None:
        base = compared.base or (shown[0].name if shown else "base")
        fields.append(replace(_VERSUS, title=f"vs {base}"))
    words = width >= _WORDS_FROM
    if present.ungraded:
        fields.append(Field("ungraded" if words else "?", 8 if words else 3, right=True))
    if present.errors:
        fields.append(Field("errors" if words else "!", 6 if words else 3, right=True))
    if present.cancelled:
        fields.append(Field("cancelled" if words else "-", 9 if words else 3, right=True, drop=8))
    if present.truncated:
        fields.append(_TRUNCATED)
    return [name, *fields, _P50] if present.timed else [name, *fields]


def _widths(fields: Sequence[Field], run: Snapshot, room: int, width: int) -> Sequence[int]:
    columns = run.columns
    folded = f", {room} of {len(columns)}" if len(columns) > room else ""
    longest = max(width_of(_named(column, run)) for column in columns[:room])
    least = sum(field.least + 2 for field in fields[1:])
    # a name shorter than its column makes no other column go
    least_name = max(len(fields[0].title) + len(folded), fields[0].least)
    return lay_out(fields, min(width - 2 * len(MARGIN), max(longest, least_name) + least))


def _line(
    cells: Sequence[tuple[str, Tone]],
    fields: Sequence[Field],
    widths: Sequence[int],
    bar: Sequence[Piece],
    mark: str = "",
) -> list[Piece]:
    pieces = [Piece(mark.ljust(len(MARGIN)), "dim")]
    for at, ((text, tone), field, width) in enumerate(zip(cells, fields, widths, strict=True)):
        if width and bar and at == _BAR_AT:
            pieces += [*bar, Piece("  ")]
        elif width:
            shown = fit(text, width, right=field.right, keep=field.keep)
            pieces.append(Piece(shown + "  ", tone))
    return pieces


def _versus(column: int, compared: ColumnDifferences) -> tuple[str, Tone]:
    difference = compared.by_column.get(column)
    return ("", "dim") if difference is None else (difference.words, difference.tone)


def all_simulated(run: Snapshot) -> bool:
    """Return whether all targets of a run are simulated: then its title says so, once."""
    sources = {column.source for column in run.columns}
    return sources == {AnswerSource.SIMULATED}


def _named(column: ColumnRow, run: Snapshot) -> str:
    marks = column.source is AnswerSource.SIMULATED and not all_simulated(run)
    return f"{column.name} (simulated)" if marks else column.name


def _target(
    column: ColumnRow,
    run: Snapshot,
    of: LiveResults | None,
    figures: Figures | None,
    present: _Present,
) -> list[tuple[str, Tone]]:
    cut = figures.cut.get(column.index, 0) if figures is not None else 0
    p50 = figures.p50.get(column.index) if figures is not None else None
    counts = Counts() if of is None else of.by_column.get(column.index, Counts())
    cells: list[tuple[str, Tone]] = [(_named(column, run), "plain"), *_rated(column.index, run, of)]
    if present.ungraded:
        cells.append((number(counts.ungraded) if counts.ungraded else "", "ungraded"))
    if present.errors:
        cells.append((number(counts.error) if counts.error else "", "error"))
    if present.cancelled:
        cells.append((number(counts.cancelled) if counts.cancelled else "", "dim"))
    if present.truncated:
        cells.append((number(cut) if cut else "", "ungraded"))
    if present.timed:
        cells.append((seconds(p50), "plain" if p50 is not None else "dim"))
    return cells


def _rated(column: int, run: Snapshot, of: LiveResults | None) -> list[tuple[str, Tone]]:
    """Return a column's rate, the place of its bar, what stands beside it, and what it is over."""
    rate = None if of is None else of.rates.get(column)
    unknown: list[tuple[str, Tone]] = [(UNKNOWN, "dim"), ("", "dim"), ("", "dim"), (UNKNOWN, "dim")]
    if of is None or rate is None or run.run.is_sweep:  # of a sweep nothing is scored
        return unknown
    beside = "" if rate.interval is None else interval(rate.interval)
    if rate.open or not run.run.staged:
        beside = "so far" if rate.n else ""
    return [
        (rate_words(rate.rate, of.judged), "strong"),
        ("", "dim"),
        (beside, "dim"),
        (number(rate.n), "plain"),
    ]
