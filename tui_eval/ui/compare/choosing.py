"""What a run is compared with: its base, another run of its suite, a column of it, a file."""

import sqlite3
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations, islice
from pathlib import Path
from typing import TypeAlias

from tui_eval.format import age, rates
from tui_eval.model.home import from_home
from tui_eval.reports.comparison.baseline.base import run_base
from tui_eval.store.read import run_queries
from tui_eval.store.rows import RunRow
from tui_eval.ui.compare.comparison_reading import ComparedSides, side_columns
from tui_eval.ui.compare.sources import FileSource, KeptFileSource, RunSource, SideSource
from tui_eval.ui.dialogs.menu import Choice, Menu
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.screens.base.base_screen import BaseScreen

_MOST_RUNS = 30
"""Earlier and later runs of the suite that are offered, the newest."""
_MOST_PAIRS = 28
"""Pairs of columns that are offered: those of eight."""


_Chosen: TypeAlias = Callable[[], Awaitable[ComparedSides | None]]
"""What a line of the menu comes to; may ask on."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What a run can be compared with."""

    run: RunRow
    base: SideSource | None
    """What it is compared with unasked; None: there is nothing."""
    base_name: str
    runs: Sequence[RunRow]
    """Others of its suite, newest first."""
    columns: Sequence[str]
    """Its own."""


def offer(db: sqlite3.Connection, run_id: int) -> Offer:
    """Read what a run can be compared with; raises `UnknownRunError`."""
    run = run_queries.run(db, run_id)
    base = run_base(db, run)
    source: SideSource | None = None
    if base.side is not None:
        source = KeptFileSource(run_id) if base.run is None else RunSource(base.run.id)
    others = [
        one
        for one in run_queries.runs(db)
        if one.suite == run.suite
        and one.id != run_id
        and one.staged
        and one.stopped_by != "deletion"
    ]
    columns = [column.name for column in run_queries.columns(db, run_id)]
    return Offer(run, source, base.name or "", others[:_MOST_RUNS], columns)


async def choose_sides(
    screen: BaseScreen, run_id: int, *, now: ComparedSides | None = None
) -> ComparedSides | None:
    """Return what a run is compared with: its base, or what a person chooses; None: nothing.

    Args:
        screen: Where the person is asked.
        run_id: The run.
        now: What is compared now, and is to be changed; then one is asked even if there is a base.
    """
    context = screen.context
    with context.keys_wait():
        found = await context.client.ponder(offer, run_id)
    if found.base is not None and now is None:
        return ComparedSides(found.base, RunSource(run_id))
    choices = list(_choices(found, screen))
    if now is not None:
        choices.append(Choice("other targets of these two…", partial(choose_rows, screen, now)))
    choices.append(Choice("a baseline file…", partial(_choose_file, screen, run_id)))
    menu = Menu(f"compare {found.run.name} with", choices, context.glyphs)
    chosen = await screen.app.push_screen_wait(menu)
    return None if chosen is None else await chosen()


def two_runs(one: int, other: int) -> ComparedSides:
    """Return two runs as sides: the later one is B."""
    return ComparedSides(RunSource(min(one, other)), RunSource(max(one, other)))


async def choose_rows(screen: BaseScreen, sides: ComparedSides) -> ComparedSides | None:
    """Return two sides with the target of each that a person wants to compare; None: none."""
    context = screen.context
    with context.keys_wait():
        of_a, of_b = await context.client.ponder(side_columns, sides)
    choices = [
        Choice(f"{a} {context.glyphs.arrow} {b}", replace(sides, rows={a: b}))
        for a in of_a
        for b in of_b
    ]
    every = [name for name in of_a if name in of_b]
    if len(every) > 1:
        choices.insert(0, Choice("all of one name", replace(sides, rows={})))
    menu = Menu("compare A's target with B's", choices, context.glyphs)
    return await screen.app.push_screen_wait(menu)


async def _choose_file(screen: BaseScreen, run_id: int) -> ComparedSides | None:
    hint = "as `tui-eval baseline SUITE --write FILE` writes it"
    dialog = NameDialog("Compare with the baseline file", "", hint, _why_no_file, yes="compare")
    name = await screen.app.push_screen_wait(dialog)
    return None if name is None else ComparedSides(FileSource(_path(name)), RunSource(run_id))


def _why_no_file(name: str) -> str | None:
    if not name.strip():
        return "give the file's name"
    return None if _path(name).is_file() else f"{_path(name)}: no such file"


def _path(name: str) -> Path:
    return from_home(name.strip())


async def _these(sides: ComparedSides) -> ComparedSides | None:
    return sides


def _choices(found: Offer, screen: BaseScreen) -> Iterator[Choice[_Chosen]]:
    """Yield what is offered, what one wants most first."""
    this, arrow = RunSource(found.run.id), screen.context.glyphs.arrow
    if found.base is not None:
        base = ComparedSides(found.base, this)
        yield Choice(found.base_name, partial(_these, base), "its baseline")
    now = time.time()
    for run in found.runs:
        source = RunSource(run.id)
        if source == found.base:
            continue
        known = screen.context.rates.of(run.id)
        rate = "" if known is None else rates(known.shares, known.judged)
        partial_words = "partial" if run.partial else ""
        note = "  ".join(filter(None, (partial_words, rate, age(run.created_at, now))))
        yield Choice(run.name, partial(_these, two_runs(run.id, found.run.id)), note)
    for a, b in islice(combinations(found.columns, 2), _MOST_PAIRS):
        pair = ComparedSides(RunSource(this.run, a), RunSource(this.run, b))
        yield Choice(f"{a} {arrow} {b}", partial(_these, pair), "targets of this run")
