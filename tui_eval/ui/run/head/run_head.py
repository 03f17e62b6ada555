"""The head of the Run screen: what the run comes to so far, one line a target."""

import time
from collections.abc import Iterator
from itertools import islice

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical

from tui_eval.format import (
    clock,
    estimated_usd,
    number,
)
from tui_eval.model.states import RunState
from tui_eval.reports.live_results import LiveResults
from tui_eval.reports.spending import Spending
from tui_eval.ui.run.figures import ColumnDifferences, Figures
from tui_eval.ui.run.head.cluster_line import cluster_line
from tui_eval.ui.run.head.gate import gate_line
from tui_eval.ui.run.head.judge_status import (
    measuring_words,
    quality_is_poor,
    trust_line,
)
from tui_eval.ui.run.head.notice import abandoned, awaits_cap, notices, unstarted
from tui_eval.ui.run.head.pace import RunPace
from tui_eval.ui.run.head.pace_line import as_fits, pace_line
from tui_eval.ui.run.head.people_status import people_words
from tui_eval.ui.run.head.target_table import (
    LEAST_ROOM,
    MARGIN,
    all_simulated,
    has_room_for_versus,
    target_lines,
)
from tui_eval.ui.run.monitor import RunMonitor
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.text.prose import fold
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.bar import Bar, Lines
from tui_eval.ui.widgets.toned import Piece, width_of

_NOTICE_LINES = 3
_WIDE = 80
"""Cells of the screen from which on the title begins with the suite."""
_UNSEEN_S = 3.0
"""Seconds after which the pace is asked of the store: the screen was covered, or suspended."""


class RunHead(Vertical):
    """Title, targets, gate, throughput, and what stands in the way."""

    def __init__(self, glyphs: Glyphs, run: ObservedRun, monitor: RunMonitor) -> None:
        """Make the head.

        Args:
            glyphs: The shapes.
            run: What is shown.
            monitor: Asked for the pace of the last minute where nobody has looked at it.
        """
        super().__init__(id="head")
        self._glyphs = glyphs
        self._run = run
        self._monitor = monitor
        self._pace = RunPace()
        self._pace_seen_at: float | None = None
        """When it was looked at last, monotonic; None: never, or no engine works on the run."""
        self._title = Bar(id="title", classes="title")
        self._targets = Lines(id="targets")
        self._gate = Lines(id="gate")
        self._trust = Lines(id="trust")
        self._pace_line = Bar(id="pace")
        self._notice = Lines(id="notice")

    def compose(self) -> ComposeResult:
        """Lay the lines out."""
        yield self._title
        yield self._targets
        yield self._gate
        yield self._trust
        yield self._pace_line
        yield self._notice

    def on_mount(self) -> None:
        """Show whatever is read of the run."""
        self._run.watch(self._see_pace, Snapshot)
        self._run.watch(self.show, Snapshot, Figures, LiveResults, ColumnDifferences)

    def tick(self) -> None:
        """Let the clocks run on."""
        snapshot = self._run.snapshot
        if snapshot is None:
            return
        if snapshot.run.live:
            self._see_pace()
        if snapshot.run.live or not snapshot.run.state.settled or snapshot.pending:
            self.show()

    def _see_pace(self) -> None:
        """Look at how fast the run goes; what nobody looked at is asked of the store."""
        snapshot = self._run.snapshot
        assert snapshot is not None, "there is a run to look at"
        now, before = time.monotonic(), self._pace_seen_at
        if not snapshot.run.live:
            self._pace, self._pace_seen_at = RunPace(), None  # what comes next begins anew
            return
        total = snapshot.total
        self._pace.see(now, total, snapshot.by_column, estimated_usd(total))
        self._pace_seen_at = now
        if before is None or now - before > _UNSEEN_S:
            self._recall_pace()

    @work(exclusive=True, group="pace")
    async def _recall_pace(self) -> None:
        recent = await self._monitor.last_minute()
        self._pace.recall(time.monotonic(), recent)
        self.show()

    def show(self) -> None:
        """Show what is known of the run, as much as there is room for."""
        run, results, figures, pace = (
            self._run.snapshot,
            self._run.results,
            self._run.figures,
            self._pace,
        )
        if run is None:
            return
        now, width = time.time(), self.app.size.width
        spent = run.spending(pace.usd_per_minute())
        self._title.show(*_title(run, pace, spent, self._glyphs, now, width))
        self._monitor.want_differences(has_room_for_versus(run, self._room, width))
        differences = self._run.differences
        before = self._run.rescored_from
        shown = results if before is None else before
        room, glyphs = self._room, self._glyphs
        self._targets.show(
            target_lines(
                run, shown, figures, room, width, differences, glyphs, before=before is not None
            )
        )
        columns = len(run.columns)
        gate = None if shown is None else shown.gate
        gate_lines = [gate_line(gate, columns, width - 1, self._glyphs)] if run.gated else []
        if results is not None and self._room > LEAST_ROOM:
            gate_lines += [line] if (line := cluster_line(results.rates, width - 1)) else []
        self._gate.show(gate_lines)
        judges = () if figures is None else figures.judges
        names = {column.index: column.name for column in run.columns}
        people = [*people_words(None if figures is None else figures.people, names, self._glyphs)]
        poor = quality_is_poor(judges) or any(tone is None for tone, _ in people)
        if self._room > LEAST_ROOM or poor:
            line = trust_line(judges, width - 1, self._glyphs, people)
            self._trust.show([line] if line else [])
        else:
            self._trust.show([])
        self._pace_line.show(pace_line(run, figures, pace, spent, self._glyphs, width))
        said = fold(notices(run, now), width - 2 * len(MARGIN))
        self._notice.show(
            [[Piece(MARGIN), Piece(line, tone)] for line, tone in islice(said, _NOTICE_LINES)]
        )

    @property
    def _room(self) -> int:
        """Targets that have a line of their own; none is left out alone but on the smallest."""
        height, run = self.app.size.height, self._run.snapshot
        if height < 24:
            return LEAST_ROOM
        room = 3 + (height - 24) // 3 if height < 36 else 8
        return room + (run is not None and len(run.columns) == room + 1)


def state_words(run: Snapshot, now: float) -> tuple[str, Tone]:
    """Say where a run stands."""
    row = run.run
    if row.live:
        words = measuring_words(run) or str(row.state)
        if run.stopping:
            words = "stopping"
        elif not row.staged and row.state is RunState.RUNNING:
            words = "staging"
        return words, "accent" if row.state is not RunState.PAUSED else "ungraded"
    if unstarted(run, now):
        return "not started", "error"
    if abandoned(row):
        return "interrupted", "error"
    if row.state is RunState.PENDING:
        return "starting", "accent"
    return str(row.state), "plain" if row.state is RunState.DONE else "ungraded"


def _title(
    run: Snapshot, pace: RunPace, spent: Spending, glyphs: Glyphs, now: float, width: int
) -> tuple[list[Piece], list[Piece]]:
    row, total = run.run, run.total
    left = [Piece(MARGIN)]
    if width >= _WIDE:
        left += [Piece(row.suite, "dim"), Piece(f" {glyphs.arrow} ", "dim")]
    left.append(Piece(row.name, "strong"))
    words, tone = state_words(run, now)
    act = "screen.pause" if row.live else "screen.resume"
    right = [
        Piece(f" {glyphs.run(row.state, row.live)} {words} ", tone, act, filled=True),
        Piece(f" {clock(row.wall(now))}   "),
        Piece(f"{number(total.settled)}/{number(total.total)} ", "strong"),
    ]
    open_trials = total.total - total.settled
    refused = {column.endpoint for column in run.columns} <= run.left_alone.keys()
    if row.live and row.state is RunState.RUNNING and not (run.stopping or refused) and open_trials:
        # when a provider has done what it was asked in bulk nobody knows
        eta = None if run.bulk else pace.left()
        right.append(Piece(f" about {clock(eta)} " if eta is not None else "", "dim"))
    if (money := spent.so_far) and (total.attempts or total.lost):
        at_cap = awaits_cap(row)
        right.append(Piece(f" {money} ", "ungraded" if at_cap else "plain", "screen.resume"))
    room = width - sum(width_of(piece.text) for piece in [*left, *right])
    return [*left, *as_fits([[piece] for piece in _of_its_kind(run)], room)], right


def _of_its_kind(run: Snapshot) -> Iterator[Piece]:
    """Yield what kind of run it is, what matters most first: where there is no room, it goes."""
    row = run.run
    if row.label:
        yield Piece(f" {row.label}", "dim")
    if row.partial:
        yield Piece("  sweep" if row.is_sweep else "  partial", "ungraded")
    if all_simulated(run):
        yield Piece("  simulated", "ungraded")
    if run.pinned:
        yield Piece("  baseline", "accent")
