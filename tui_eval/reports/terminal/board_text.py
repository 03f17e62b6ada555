"""What a board says, as text for a terminal."""

from tui_eval.format import age, clock, money, number
from tui_eval.model.visible import visible_line
from tui_eval.reports.board import Board, BoardEntry
from tui_eval.reports.terminal.tables import AnsiStyle, TableColumn, folded, table


def board_text(of: Board, now: float, width: int, ink: AnsiStyle) -> str:
    """Return one row a run, and their sum.

    Args:
        of: The board.
        now: Unix seconds.
        width: Columns of the terminal.
        ink: Colours, or none.
    """
    if not of.entries:
        lines = ["no run has posted here yet; `tui-eval run SUITE --board DIR` does"]
    else:
        lines = table(_columns(of, now), width, ink)
    for one in of.unreadable:
        lines += folded(visible_line(f"no post: {one}", 200), width)
    return "\n".join(lines)


def _columns(of: Board, now: float) -> list[TableColumn]:
    posts = [one.post for one in of.entries]

    def counted(title: str, name: str) -> TableColumn:
        cells = [number(int(getattr(post, name))) for post in posts]
        return TableColumn(title, [*cells, number(of.sum(name))])

    settled, total = of.sum("settled"), of.sum("total")
    columns = [
        TableColumn("run", [*(post.run for post in posts), "all"], left=True),
        TableColumn("part", [*(post.part or "" for post in posts), ""], left=True),
        TableColumn("host", [*(post.host for post in posts), ""], left=True),
        TableColumn("state", [*map(_state, of.entries), ""], left=True),
        TableColumn(
            "settled",
            [*(_of(post.settled, post.total) for post in posts), _of(settled, total)],
        ),
        counted("passed", "passed"),
        counted("failed", "failed"),
        counted("errors", "errors"),
        counted("ungraded", "ungraded"),
        TableColumn("cost", [*(money(post.cost_usd) for post in posts), money(of.cost_usd)]),
        TableColumn("worked", [*(clock(post.wall_s) for post in posts), ""]),
        TableColumn("told", [*(age(post.at, now) for post in posts), ""]),
    ]
    return [column for column in columns if any(column.cells)]


def _state(entry: BoardEntry) -> str:
    return entry.post.state if entry.silent_s is None else f"{entry.post.state}? silent"


def _of(settled: int, total: int) -> str:
    return f"{number(settled)}/{number(total)}"
