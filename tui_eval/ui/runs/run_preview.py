"""The preview of the run under the cursor: what it comes to, and its first failures."""

import asyncio
import sqlite3
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual import events, work
from textual.app import ComposeResult
from textual.containers import Vertical

from tui_eval.format import clock, interval, many, number, percent
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read.consignment_queries import progress_forms
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.search.views import UNMET, next_place
from tui_eval.ui.context import AppContext
from tui_eval.ui.runs.run_list import ListedRun
from tui_eval.ui.store_access.rate_book import ColumnRates
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.bar import Bar, Lines
from tui_eval.ui.widgets.rate_bar import rate_bar
from tui_eval.ui.widgets.toned import Piece, fit, width_of

_REST_S = 0.15
"""The cursor rests so long on a run before its failures are read."""
_MOST = 20
"""Failures that are read: more has room on few screens."""
_NAME, _BAR = 28, 12
"""Cells of a target's name, and of its bar where there are no more."""
_BAR_FROM = 76
"""Cells of a line that has room for the bar beside interval and n."""
_TONES: dict[Verdict | None, Tone] = {Verdict.FAIL: "fail", Verdict.UNGRADED: "ungraded"}
_TARGETS = 4
"""Targets that have a line."""


@dataclass(frozen=True, slots=True)
class FailedTrial:
    """One trial that did not pass; its texts are foreign."""

    case_id: str
    column: str
    verdict: Verdict | None
    state: TrialState
    why: str


def first_failures(db: sqlite3.Connection, run: int) -> tuple[FailedTrial, ...]:
    """Read the first trials in dataset order that did not pass, each with its reason."""
    places: list[int] = []
    at: int | None = -1
    while at is not None and len(places) < _MOST:
        at = next_place(db, run, (UNMET,), at)
        if at is None or (places and at <= places[-1]):
            break  # it goes round
        places.append(at)
    trials = trial_rows.trials_at(db, run, places)
    reasons = trial_rows.reasons(db, [trial.id for trial in trials])
    return tuple(
        FailedTrial(
            trial.case_id,
            trial.column,
            trial.verdict,
            trial.state,
            reasons.get(trial.id) or trial.error_message or "",
        )
        for trial in trials
    )


class RunPreview(Vertical):
    """Shows a run's head and its first failures."""

    def __init__(self, context: AppContext) -> None:
        super().__init__(id="preview")
        self._app_context = context
        self._rule = Bar(id="rule", fill=context.glyphs.rule, frame=True)
        self._lines = Lines()
        self._shown: ListedRun | None = None
        self._failures: tuple[FailedTrial, ...] | None = None
        """None: still being read."""
        self._read_of: tuple[int, int] | None = None
        """The run they were read of, and its last change then."""

    def compose(self) -> ComposeResult:
        """Lay the parts out."""
        yield self._rule
        yield self._lines

    def on_resize(self, event: events.Resize) -> None:
        """Fill the new width."""
        self._draw()

    def show(self, listed: ListedRun | None) -> None:
        """Show a run; its failures follow once the cursor rests."""
        before, self._shown = self._shown, listed
        if listed is None or before is None or before.run.id != listed.run.id:
            self._failures, self._read_of = None, None
        self._draw()
        if listed is not None and self._read_of != (listed.run.id, listed.stamp):
            self._read(listed)

    @work(exclusive=True, group="preview")
    async def _read(self, listed: ListedRun) -> None:
        await asyncio.sleep(_REST_S)
        if not self.display:
            return
        found = await self._app_context.client.survey(first_failures, listed.run.id)
        self._failures, self._read_of = found, (listed.run.id, listed.stamp)
        self._draw()

    def _draw(self) -> None:
        listed = self._shown
        glyphs = self._app_context.glyphs
        if listed is None:
            self._rule.show([])
            self._lines.show([])
            return
        run = listed.run
        made = time.strftime("%Y-%m-%d %H:%M", time.localtime(run.created_at))
        left = [Piece(" "), Piece(run.name, "strong"), Piece(" ")]
        if run.label:
            left += [Piece(f"{glyphs.rule} ", "dim"), Piece(f"{run.label} ")]
        right = [
            Piece(f" {made}, {clock(run.wall(time.time()))} ", "dim"),
            Piece(glyphs.rule, "dim"),
        ]
        self._rule.show(left, right)
        rated = self._app_context.rates.of(run.id)
        lines = list(preview_lines(listed, rated, self._failures, glyphs, self.size.width))
        self._lines.show(lines)


def preview_lines(
    listed: ListedRun,
    rated: ColumnRates | None,
    failures: Sequence[FailedTrial] | None,
    glyphs: Glyphs,
    width: int,
) -> Iterator[list[Piece]]:
    """Yield the lines of a preview.

    Args:
        listed: The run.
        rated: Its rates and gate; None: still being worked out.
        failures: Its first failures; None: still being read.
        glyphs: The shapes.
        width: Cells of a line.
    """
    if listed.run.is_sweep:
        yield [Piece("  a sweep scores nothing; its charts show what it measured", "dim")]
        return
    yield from _targets(listed, rated, glyphs, width)
    yield from _gate(rated, glyphs)
    total = listed.total
    unmet = total.failed + total.error + total.ungraded
    if forms := progress_forms(listed.bulk):
        fitting = (form for form in forms if width_of(form) <= width - 2)
        yield [Piece(f"  {next(fitting, forms[-1])}", "accent")]
    if not unmet:
        yield [Piece("  no failures" if total.settled == total.total else _so_far(total), "dim")]
        return
    yield [Piece(f"  first of {many(unmet, 'failure')}" if unmet > 1 else "  1 failure", "dim")]
    yield from _failures(failures or (), len(listed.columns) > 1, glyphs, width)


def _so_far(total: Counts) -> str:
    if not total.done:
        return "  nothing is scored yet"
    return f"  no failures so far: {number(total.settled)} of {many(total.total, 'trial')}"


def _failures(
    failures: Sequence[FailedTrial], several: bool, glyphs: Glyphs, width: int
) -> Iterator[list[Piece]]:
    """Yield a line each; names have what they need, as far as the reason keeps most of the line."""
    longest = max((width_of(one.case_id) for one in failures), default=0)
    case = min(longest, max(width // 4, 8))
    longest = max((width_of(one.column) for one in failures), default=0)
    target = min(longest, max(width // 6, _NAME // 2))
    for one in failures:
        tone: Tone = (
            "fail" if one.verdict is Verdict.FAIL else "ungraded" if one.verdict else "error"
        )
        column = f"  {fit(one.column, target, keep=6)}" if several else ""
        yield [
            Piece(f"  {glyphs.trial(one.state, one.verdict)} ", tone),
            Piece(fit(one.case_id, case, keep=6)),
            Piece(column, "dim"),
            Piece(f"  {one.why}"),
        ]


def _targets(
    listed: ListedRun, rated: ColumnRates | None, glyphs: Glyphs, width: int
) -> Iterator[list[Piece]]:
    mark = "~" if rated is not None and rated.judged else ""
    bar = max(_BAR, width // 6)
    for index, name in enumerate(listed.columns[:_TARGETS]):
        of = None if rated is None else rated.columns.get(index)
        share = None if of is None else of.rate
        shown = "" if of is None else f"{mark}{percent(share)}"
        more = "" if of is None else "so far" if of.open else interval(of.interval)
        yield [
            Piece(f"  {fit(name, _NAME, keep=6)}  "),
            *(rate_bar(share, bar, glyphs) if width >= _BAR_FROM else ()),
            Piece(f"  {shown:>7}  ", "strong"),
            Piece(f"{more:<9}  " if share is not None else " " * 11, "dim"),
            Piece("" if of is None else f"n {number(of.n)}", "dim"),
        ]
    if len(listed.columns) > _TARGETS:
        yield [Piece(f"  +{len(listed.columns) - _TARGETS} more targets", "dim")]


def _gate(rated: ColumnRates | None, glyphs: Glyphs) -> Iterator[list[Piece]]:
    gate = None if rated is None else rated.gate
    if gate is None:
        return
    if gate.missed:
        so_far = "" if gate.settled else " so far"
        more = f", and {len(gate.missed) - 1} more" if len(gate.missed) > 1 else ""
        first = gate.missed[0]
        yield [
            Piece(f"  gate {glyphs.failed} fails{so_far}", "fail"),
            Piece(f"  {first.column} {first.in_short()}{more}"),
        ]
    elif gate.settled and gate.unclear:
        yield [Piece(f"  gate {glyphs.ungraded} unclear against the baseline", "ungraded")]
    elif gate.settled:
        yield [Piece(f"  gate {glyphs.passed} holds", "pass")]
