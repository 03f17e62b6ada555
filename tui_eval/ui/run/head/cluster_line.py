"""What intervals are over in the head where cases are not independent, and both errors."""

from collections.abc import Mapping, Sequence

from tui_eval.format import UNKNOWN, many
from tui_eval.reports.rates.pass_rates import ColumnPassRate
from tui_eval.ui.widgets.toned import Piece, width_of


def cluster_line(rates: Mapping[int, ColumnPassRate], width: int) -> list[Piece]:
    """Return the line; empty: every case is for itself, or trials are open.

    Args:
        rates: What each column comes to, by its index.
        width: Cells there are.
    """
    known = [one for one in rates.values() if one.clusters is not None]
    if not known:
        return []
    counts = sorted({one.clusters or 0 for one in known})
    over = many(counts[-1], "cluster") if len(counts) == 1 else f"{counts[0]}–{counts[-1]} clusters"
    left = f"  95% is over {over}"
    clustered = _points([one.stderr_clustered for one in known])
    alone = _points([one.stderr for one in known])
    more = f"   standard error {clustered} points; {alone} were all cases independent"
    fits = width_of(left + more) <= width
    return [Piece(left + more if fits else left, "dim")]


def _points(errors: Sequence[float | None]) -> str:
    return " ".join(UNKNOWN if one is None else f"{one * 100:.1f}" for one in errors)
