"""What a comparison came to, as text for a person."""

from collections.abc import Iterator, Sequence
from typing import Final

from tui_eval.format import decimal, many, number, percent, points, points_interval, rate
from tui_eval.model.visible import visible_line
from tui_eval.reports.comparison.comparison import (
    ComparedRows,
    ComparisonRow,
    RunComparison,
    Word,
    outcome,
)
from tui_eval.reports.rates.run_rates import SMALL_GROUP
from tui_eval.reports.terminal.tables import AnsiStyle, TableColumn, folded, table

_FLIPS_SHOWN: Final = 20


def comparison_text(of: RunComparison, *, width: int, ink: AnsiStyle) -> str:
    """Return a comparison, ending with the cases that flipped.

    Args:
        of: The comparison.
        width: Cells of a line.
        ink: Colours or none.
    """
    by = "" if of.scorer is None else f", by the scorer {of.scorer}"
    lines = [ink.bold(visible_line(f"{of.a.name} → {of.b.name}{by}")), ""]
    lines += table(compared_columns(of.rows, judged_sides(of)), width, ink)
    for row in of.rows:
        for said in (*_unclear(row, of.margin), *not_compared(row, of)):
            named = f"{row_name(row)}: {said}" if len(of.rows) > 1 else said
            lines += folded(visible_line(named), width)
    for said in (*unfinished(of), *scorer_notes(of)):
        lines += folded(visible_line(said), width)
    if of.why_no_groups is not None:
        lines += folded(visible_line(of.why_no_groups), width)
    if of.groups:
        lines += ["", *table(_group_columns(of), width, ink)]
    lines += _flips(of, ink)
    return "\n".join(lines)


def p_value(p: float | None) -> str:
    """Return a p value with as many places as mean something."""
    if p is None:
        return ""
    return f"{p:.3f}" if p >= 0.001 else f"{p:.1e}"


def row_name(row: ComparisonRow) -> str:
    """Return a row's columns, once where they have one name."""
    a, b = row.columns.a, row.columns.b
    return a if a == b else f"{a} → {b}"


def judged_sides(of: RunComparison) -> tuple[bool, bool]:
    """Return of either side whether the verdicts that are compared rest on judges.

    Of one scorer's verdicts nobody knows it here: then of neither.
    """
    return (False, False) if of.scorer is not None else (of.a.judged, of.b.judged)


def compared_columns(
    rows: Sequence[ComparisonRow], judged: tuple[bool, bool] = (False, False)
) -> list[TableColumn]:
    """Return the columns of a comparison: a row for each pair of columns.

    Args:
        rows: The rows.
        judged: Of either side whether its verdicts rest on judges.
    """
    known = [row.difference for row in rows]
    return [
        TableColumn("target", [row_name(row) for row in rows], left=True),
        TableColumn("pairs", [number(row.n) for row in rows]),
        TableColumn("A", [rate(row.rate_a, judged[0]) for row in rows]),
        TableColumn("B", [rate(row.rate_b, judged[1]) for row in rows]),
        TableColumn("points", ["" if one is None else points(one.diff) for one in known]),
        TableColumn(
            "95%", ["" if one is None else points_interval(one.interval95) for one in known]
        ),
        TableColumn("p", [p_value(row.p_holm) for row in rows]),
        TableColumn("worse", [number(row.pairs.worse) for row in rows]),
        TableColumn("better", [number(row.pairs.better) for row in rows]),
        TableColumn("B is", [row.word for row in rows], left=True),
    ]


def _group_columns(of: RunComparison) -> list[TableColumn]:
    rows = [(name, row) for name, rows in of.groups.items() for row in rows]
    several = len(of.rows) > 1
    titles = [f"{name}, {row_name(row)}" if several else name for name, row in rows]

    return [
        TableColumn("group", titles, left=True),
        TableColumn("pairs", [number(row.n) for _, row in rows]),
        TableColumn("A", [group_rate(row.rate_a, row) for _, row in rows]),
        TableColumn("B", [group_rate(row.rate_b, row) for _, row in rows]),
        TableColumn(
            "points",
            [
                "" if row.difference is None or row.n < SMALL_GROUP else points(row.difference.diff)
                for _, row in rows
            ],
        ),
        TableColumn("p", [p_value(row.p_holm) for _, row in rows]),
        TableColumn("worse", [number(row.pairs.worse) for _, row in rows]),
        TableColumn("better", [number(row.pairs.better) for _, row in rows]),
        TableColumn("B is", [row.word for _, row in rows], left=True),
    ]


def group_rate(share: float | None, row: ComparisonRow) -> str:
    """Return a rate of a group; of few cases how many they are."""
    if share is None or row.n >= SMALL_GROUP:
        return percent(share)
    return f"{share * row.n:g}/{row.n}"


def seen(row: ComparisonRow) -> str:
    """Say how many pairs there are, and how small a difference could have been seen."""
    if row.n == 0:
        return "no case has a result on both sides: nothing is compared"
    differ = f"{many(row.n, 'pair')}, {number(row.pairs.worse + row.pairs.better)} differ"
    mde = None if row.difference is None else row.difference.mde
    if mde is None:
        return f"{differ}: too few to say how large a difference could have been seen"
    if mde >= 1:
        return f"{differ}: too few, a difference of any size may be missed"
    return f"{differ}; a difference under {mde * 100:.1f} points would be missed one time in five"


def equivalent(margin: float) -> str:
    """Say what an equivalent row is."""
    return f"equivalent: with 90% confidence within ±{margin * 100:g} points"


def said_of(row: ComparisonRow, of: ComparedRows) -> Iterator[str]:
    """Say what a row's figures do not: how far its word reaches, and what is not compared."""
    yield from _unclear(row, of.margin)
    yield from not_compared(row, of)


def _unclear(row: ComparisonRow, margin: float) -> Iterator[str]:
    if row.n == 0 or row.word is Word.UNCLEAR:
        yield seen(row)
    elif row.word is Word.EQUIVALENT:
        yield equivalent(margin)


def not_compared(row: ComparisonRow, of: ComparedRows) -> Iterator[str]:
    """Say which cases are not compared, and which of those that are share something."""
    columns, a, b = row.columns, of.a.name, of.b.name
    if a == b:
        a, b = columns.a, columns.b
    said = (
        (columns.changed, "case", "changed: not compared"),
        (columns.only_a, "case", f"only in {a}"),
        (columns.only_b, "case", f"only in {b}"),
        (columns.left_out_a, "case", f"without a result in {a}"),
        (columns.left_out_b, "case", f"without a result in {b}"),
        (columns.shared, "pair", "of the very same output"),
        (columns.by_hand_a, "pair", f"graded by hand in {a}"),
        (columns.by_hand_b, "pair", f"graded by hand in {b}"),
    )
    parts = [f"{many(count, noun)} {what}" for count, noun, what in said if count]
    clusters = None if row.difference is None else row.difference.clusters
    if clusters is not None:
        parts.append(f"errors over {many(clusters, 'cluster')}")
    if parts:
        yield "; ".join(parts)
    if bool(columns.by_hand_a) is not bool(columns.by_hand_b):
        yield "graded by hand on one side alone: the difference may be that of people and scorer"


def unfinished(of: RunComparison) -> Iterator[str]:
    """Say which runs have not come to their end."""
    names = dict.fromkeys(side.name for side in (of.a, of.b) if not side.finished)
    if names:
        listed = " and ".join(names)
        yield f"{listed} not finished: so far, and what ends early is no fair sample of all"


def scorer_notes(of: ComparedRows) -> Iterator[str]:
    """Say which scorers are not the same on both sides, and what makes them so."""
    if not of.scorers_differ:
        return
    names = ", ".join(of.scorers_differ)
    hint = f"`tui-eval rescore {of.a.name} --suite FILE` with that of {of.b.name} makes them equal"
    yield f"not scored alike ({names}): {hint}"


def _flips(of: RunComparison, ink: AnsiStyle) -> list[str]:
    if not of.flips:
        return []
    worse = of.flips.worse
    head = f"{many(worse, 'case')} worse, {number(len(of.flips) - worse)} better"
    lines = ["", ink.bold(head)]
    shown = of.flips[:_FLIPS_SHOWN]
    several = len(of.rows) > 1
    for flip in shown:
        where = f"  {row_name(of.rows[flip.row])}" if several else ""
        said = visible_line(f"{flip.case_id}{where}", 70)
        change = f"{outcome_words(flip.a)} → {outcome_words(flip.b)}"
        lines.append(f"  {ink.bad(change) if flip.b < flip.a else ink.good(change)}  {said}")
    if len(of.flips) > len(shown):
        lines.append(f"  … {number(len(of.flips) - len(shown))} more: --json has all")
    return lines


def outcome_words(value: float) -> str:
    """Return what a case came to: `pass`, `fail`, or a value where its epochs differ."""
    said = outcome(value)
    return said if isinstance(said, str) else decimal(said)
