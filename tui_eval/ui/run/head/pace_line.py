"""The line of the pace: how fast, over how many slots, at what price, and how judging goes."""

import time
from collections.abc import Sequence, Set

from tui_eval.format import endpoint_host, many, number, per_second
from tui_eval.model.states import RunState
from tui_eval.reports.spending import Spending
from tui_eval.store.read.consignment_queries import progress_forms
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.figures import Figures
from tui_eval.ui.run.head.judge_status import judge_groups, judged_groups
from tui_eval.ui.run.head.pace import RunPace, sparkline
from tui_eval.ui.run.head.target_table import MARGIN
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.widgets.toned import Piece, width_of

_RATE_CELLS = 6
_SPARK_CELLS = 16


def pace_line(
    run: Snapshot,
    figures: Figures | None,
    pace: RunPace,
    spent: Spending,
    glyphs: Glyphs,
    width: int,
) -> list[Piece]:
    """Return the line of the pace; what matters least is left out where there is little room."""
    row, total = run.run, run.total
    if not row.live:
        return _all_calls(run, figures, spent, width)
    spark = sparkline(pace.history(time.monotonic(), _SPARK_CELLS), glyphs.levels)
    apart = Piece("   ")
    # as wide as it gets from the start: what is clicked beside it stays under the pointer
    rate = f"{MARGIN}{per_second(pace.per_second()):<{_RATE_CELLS}} "
    groups = [[Piece(rate), Piece(spark.ljust(_SPARK_CELLS), "accent")]]
    if _all_in_bulk(run) and not spark:  # no call is made: what the provider has done is the pace
        groups, apart = [], Piece(MARGIN)
    endpoints = {column.endpoint for column in run.columns}  # judges have limits of their own
    slots = sum(limit.concurrency for name, limit in run.limits.items() if name in endpoints)
    taken = sum(width_of(piece.text) for group in groups for piece in [*group, apart])
    if bulk := _bulk(run, width - 1 - taken):
        groups.append([apart, Piece(bulk, "accent")])
        apart = Piece("   ")
    if slots and not _all_in_bulk(run):
        # who waits for another attempt, or for a provider, is running, and holds no slot
        waiting = figures.backing_off if figures is not None else 0
        held = min(max(total.running - waiting - _in_bulk(run), 0), slots)
        groups.append(
            [
                apart,
                Piece(f"{held:>{len(number(slots))}} of {many(slots, 'slot')}"),
                Piece(" -", "accent", "screen.limit(-1)"),
                Piece(" +", "accent", "screen.limit(1)"),
                Piece(f" {_short_endpoint(endpoints)}", "dim"),
            ]
        )
    if figures is not None and figures.backing_off and total.running:
        groups.append([apart, Piece(f"{figures.backing_off} backing off", "ungraded")])
    if coming := spent.to_come:
        groups.append([apart, Piece(coming, "dim")])
    judging = list(judge_groups(run, figures))
    if judging:
        judging[0].insert(0, apart)
    groups += judging
    return as_fits(groups, width - 1)


def _bulk(run: Snapshot, room: int) -> str | None:
    """Say how far what is asked in bulk is, in the longest form there is room for, else briefly."""
    forms = progress_forms(run.bulk)
    return _longest(forms, room) if forms else None


def _longest(forms: Sequence[str], room: int) -> str:
    """Return the first of ever shorter forms that there is room for, else the last."""
    return next((form for form in forms if width_of(form) <= room), forms[-1])


def _all_in_bulk(run: Snapshot) -> bool:
    """Whether all that runs is at providers, and holds no slot."""
    return any(one.asked == "target" for one in run.bulk) and run.total.running <= _in_bulk(run)


def _in_bulk(run: Snapshot) -> int:
    """Return how many trials wait for providers; results that are being taken count with them."""
    return sum(one.requests for one in run.bulk if one.asked == "target")


def as_fits(groups: Sequence[Sequence[Piece]], width: int) -> list[Piece]:
    """Put groups beside each other until one does not fit."""
    pieces: list[Piece] = []
    for group in groups:
        if sum(width_of(piece.text) for piece in [*pieces, *group]) > width:
            break
        pieces += group
    return pieces


def _all_calls(run: Snapshot, figures: Figures | None, spent: Spending, width: int) -> list[Piece]:
    """Return what a run took that nobody works on: its duration stands in the title."""
    row, total = run.run, run.total
    if not total.total:
        return []
    groups = []
    if bulk := _bulk(run, width - len(MARGIN)):
        groups.append([Piece(f"{bulk}   " if width_of(bulk) + 3 < width else bulk, "accent")])
    if run.parts is not None and not run.parts.whole:
        said = _longest(run.parts.forms, width - len(MARGIN) - 3)
        groups.append([Piece(f"{said}   ", "ungraded")])
    if coming := spent.to_come:
        groups.append([Piece(f"{coming}   ", "dim")])
    if row.state is RunState.INTERRUPTED and row.stopped_by == "person":
        resume = key("run.resume", "u")
        groups.append([Piece(f"{row.reason or 'stopped'}; {resume} resumes it   ", "ungraded")])
    elif row.state is RunState.CANCELLED:
        groups.append([Piece(f"{row.reason or 'cancelled'}   ", "ungraded")])
    again = f", {many(total.retries, 'retry', 'retries')}" if total.retries else ""
    lost = f", {number(total.lost)} may have been sent" if total.lost else ""
    groups.append([Piece(f"{many(total.attempts, 'attempt')}{again}{lost}", "dim")])
    if total.cached:
        groups.append([Piece(f", {number(total.cached)} from the cache", "dim")])
    groups += judged_groups(figures)
    return [Piece(MARGIN), *as_fits(groups, width - len(MARGIN))]


def _short_endpoint(endpoints: Set[str]) -> str:
    """Name where calls go: its host, or how many endpoints there are."""
    if len(endpoints) != 1:
        return f"at {many(len(endpoints), 'endpoint')}"
    (name,) = endpoints
    return endpoint_host(name)
