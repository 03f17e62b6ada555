"""What a board says, as text for a terminal."""

from collections.abc import Sequence
from typing import Final

from tui_eval.format import age, clock, cost, number
from tui_eval.model.visible import visible_line
from tui_eval.reports.board import Board, BoardEntry
from tui_eval.reports.terminal.tables import GAP, AnsiStyle, TableColumn, folded, table

_LEAST_TOLD: Final = ("host", "worked", "told", "cost", "part", "ungraded", "failed", "passed")
"""Columns that are left out where a screen is narrow, the first one first."""
_BESIDE: Final = 3
"""Lines of a screen beside the rows of runs: titles, sum, and how many are left out."""


def board_text(of: Board, now: float, width: int, ink: AnsiStyle, height: int | None = None) -> str:
    """Return one row a run, and their sum.

    Args:
        of: The board.
        now: Unix seconds.
        width: Columns of the terminal.
        ink: Colours, or none.
        height: Lines of the screen that it has to fit: what matters least is left out, of runs
            those that have ended before others; None: all is told.
    """
    unreadable = [
        line
        for one in of.unreadable
        for line in folded(visible_line(f"not read: {one}", 200), width)
    ]
    if not of.entries:
        lines = folded("no run has written here yet; `tui-eval run SUITE --board DIR` does", width)
    elif height is None:
        lines = table(_columns(of, of.entries, now), width, ink)
    else:
        lines = _on_screen(of, now, width, ink, max(1, height - len(unreadable) - _BESIDE))
    return "\n".join([*lines, *unreadable])


def _on_screen(of: Board, now: float, width: int, ink: AnsiStyle, rows: int) -> list[str]:
    entries = of.entries
    if len(entries) > rows:
        going_on_first = sorted(range(len(entries)), key=lambda n: (entries[n].over, n))
        entries = [entries[n] for n in sorted(going_on_first[:rows])]
    columns = _columns(of, entries, now)
    for title in _LEAST_TOLD:
        if len(GAP) * (len(columns) - 1) + sum(one.width for one in columns) <= width:
            break
        columns = [one for one in columns if one.title != title]
    lines = table(columns, width, ink)
    if left := len(of.entries) - len(entries):
        lines.append(f"{left:,} more, {sum(one.over for one in of.entries):,} of all have ended")
    return lines


def _columns(of: Board, entries: Sequence[BoardEntry], now: float) -> list[TableColumn]:
    """Return the columns of some entries of a board, and of the sum of all."""
    posts = [one.post for one in entries]

    def counted(title: str, name: str) -> TableColumn:
        cells = [number(int(getattr(post, name))) for post in posts]
        return TableColumn(title, [*cells, number(of.sum(name))])

    settled, total = of.sum("settled"), of.sum("total")
    columns = [
        TableColumn("run", [*(post.run for post in posts), "all"], left=True),
        TableColumn("part", [*(post.part or "" for post in posts), ""], left=True),
        TableColumn("host", [*(post.host for post in posts), ""], left=True),
        TableColumn("state", [*map(_state, entries), ""], left=True),
        TableColumn(
            "settled",
            [*(_of(post.settled, post.total) for post in posts), _of(settled, total)],
        ),
        counted("passed", "passed"),
        counted("failed", "failed"),
        counted("errors", "errors"),
        counted("ungraded", "ungraded"),
        TableColumn("cost", [*map(cost, posts), cost(of)]),
        TableColumn("worked", [*(clock(post.wall_s) for post in posts), ""]),
        TableColumn("told", [*(age(post.at, now) for post in posts), ""]),
    ]
    return [column for column in columns if any(column.cells)]


def _state(entry: BoardEntry) -> str:
    if entry.run_again:
        return "run again"
    return entry.post.state if entry.silent_s is None else f"{entry.post.state}? silent"


def _of(settled: int, total: int) -> str:
    return f"{number(settled)}/{number(total)}"
