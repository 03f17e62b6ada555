"""The head of the Run screen: what the run comes to so far, one line a target."""

import time
from collections.abc import Sequence, Set
from dataclasses import replace
from itertools import islice

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical

from tui_eval.format import (
    UNKNOWN,
    clock,
    estimated_usd,
    interval,
    many,
    number,
    per_second,
    seconds,
)
from tui_eval.format import rate as rate_words
from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.states import RunState
from tui_eval.reports.live_results import LiveResults
from tui_eval.reports.spending import Spending
from tui_eval.reports.throughput import mean_rate
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.rows import ColumnRow
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.cluster_line import cluster_line
from tui_eval.ui.run.gate import gate_line
from tui_eval.ui.run.judge_status import (
    judge_groups,
    judged_groups,
    measuring_words,
    quality_is_poor,
    trust_line,
)
from tui_eval.ui.run.monitor import ColumnDifferences, Figures, RunMonitor, Snapshot
from tui_eval.ui.run.notice import abandoned, awaits_cap, notices, unstarted
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.pace import RunPace, sparkline
from tui_eval.ui.run.people_status import people_words
from tui_eval.ui.text.prose import fold
from tui_eval.ui.theme.glyphs import UNICODE, Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.bar import Bar, Lines
from tui_eval.ui.widgets.fields import Field, lay_out
from tui_eval.ui.widgets.rate_bar import rate_bar
from tui_eval.ui.widgets.toned import Piece, fit, width_of

_RATE_CELLS = 6
_SPARK_CELLS = 16
_MARGIN = "  "
_NOTICE_LINES = 3
_UNSEEN_S = 3.0
"""Seconds after which the pace is asked of the store: the screen was covered, or suspended."""
_LEAST_ROOM = 2
"""Targets that have a line of their own on the lowest screens: then only what is amiss is told."""
KEPT_OF_TARGET = 6
"""Cells at the end of a target's name that stay where it is cut: its prompt's."""
_FIELDS = (
    Field("target · prompt", 12, share=1, keep=KEPT_OF_TARGET),
    Field("pass", 7, right=True),
    Field("", 12, drop=7),
    Field("95%", 10, right=True, drop=3),
    Field("n", 5, right=True),
    Field("?", 3, right=True),
    Field("!", 3, right=True),
    Field("truncated", 9, right=True, drop=1),
    Field("p50", 6, right=True, drop=2),
)
_BAR_AT, _N_AT, _VERSUS_AT = 2, 4, 5
_VERSUS_FIELDS = (
    *_FIELDS[:_VERSUS_AT],
    Field("vs base", 16, drop=4),
    *_FIELDS[_VERSUS_AT:-2],
    replace(_FIELDS[-2], drop=5),
    replace(_FIELDS[-1], drop=6),
)
"""With how targets differ: that one target is better matters more than how long its calls take."""
_LONGEST_NAME = 24
"""Cells of a target's name that leave room for how it differs, or take it."""


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
        self._pace.see(now, total.settled, total.answered, estimated_usd(total))
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
        self._title.show(*_title(run, pace, spent, self._glyphs, now, self._wide))
        self._monitor.want_differences(has_room_for_versus(run, self._room, width))
        differences = self._run.differences
        self._targets.show(
            target_lines(run, results, figures, self._room, width, differences, self._glyphs)
        )
        columns = len(run.columns)
        gate = None if results is None else results.gate
        gate_lines = [gate_line(gate, columns, width - 1, self._glyphs)] if run.gated else []
        if results is not None and self._room > _LEAST_ROOM:
            gate_lines += [line] if (line := cluster_line(results.rates, width - 1)) else []
        self._gate.show(gate_lines)
        judges = () if figures is None else figures.judges
        names = {column.index: column.name for column in run.columns}
        people = [*people_words(None if figures is None else figures.people, names, self._glyphs)]
        poor = quality_is_poor(judges) or any(tone is None for tone, _ in people)
        if self._room > _LEAST_ROOM or poor:
            line = trust_line(judges, width - 1, self._glyphs, people)
            self._trust.show([line] if line else [])
        else:
            self._trust.show([])
        self._pace_line.show(pace_line(run, figures, pace, spent, self._glyphs, width))
        said = fold(notices(run, now), width - 2 * len(_MARGIN))
        self._notice.show(
            [[Piece(_MARGIN), Piece(line, tone)] for line, tone in islice(said, _NOTICE_LINES)]
        )

    @property
    def _room(self) -> int:
        """Targets that have a line of their own."""
        height = self.app.size.height
        return _LEAST_ROOM if height < 24 else 3 if height < 36 else 8

    @property
    def _wide(self) -> bool:
        return self.app.size.width >= 80


def state_words(run: Snapshot, now: float) -> tuple[str, Tone]:
    """Say where a run stands."""
    row = run.run
    if row.live:
        words = measuring_words(run) or str(row.state)
        if not row.staged and row.state is RunState.RUNNING:
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
    run: Snapshot, pace: RunPace, spent: Spending, glyphs: Glyphs, now: float, wide: bool
) -> tuple[list[Piece], list[Piece]]:
    row, total = run.run, run.total
    left = [Piece(_MARGIN)]
    if wide:
        left += [Piece(row.suite, "dim"), Piece(f" {glyphs.arrow} ", "dim")]
    left.append(Piece(row.name, "strong"))
    if row.label:
        left.append(Piece(f" {row.label}", "dim"))
    if row.partial:
        left.append(Piece("  sweep" if row.is_sweep else "  partial", "ungraded"))
    if run.pinned:
        left.append(Piece("  baseline", "accent"))
    words, tone = state_words(run, now)
    act = "screen.pause" if row.live else "screen.resume"
    right = [
        Piece(f" {glyphs.run(row.state, row.live)} {words} ", tone, act, filled=True),
        Piece(f" {clock(row.wall(now))}   "),
        Piece(f"{number(total.settled)}/{number(total.total)} ", "strong"),
    ]
    open_trials = total.total - total.settled
    if row.live and row.state is RunState.RUNNING and open_trials:
        eta = pace.left(open_trials)
        right.append(Piece(f" about {clock(eta)} " if eta is not None else "", "dim"))
    if (money := spent.so_far) and (total.attempts or total.lost):
        at_cap = awaits_cap(row)
        right.append(Piece(f" {money} ", "ungraded" if at_cap else "plain", "screen.resume"))
    return left, right


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
        return _whole_pace(run, figures, spent, glyphs, width)
    spark = sparkline(pace.history(time.monotonic(), _SPARK_CELLS), glyphs.levels)
    apart = Piece("   ")
    # as wide as it gets from the start: what is clicked beside it stays under the pointer
    rate = f"{_MARGIN}{per_second(pace.per_second()):<{_RATE_CELLS}} "
    groups = [[Piece(rate), Piece(spark.ljust(_SPARK_CELLS), "accent")]]
    endpoints = {column.endpoint for column in run.columns}  # judges have limits of their own
    slots = sum(limit.concurrency for name, limit in run.limits.items() if name in endpoints)
    if slots:
        # who waits for another attempt is running, and holds no slot
        waiting = figures.backing_off if figures is not None else 0
        held = min(max(total.running - waiting, 0), slots)
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


def as_fits(groups: Sequence[Sequence[Piece]], width: int) -> list[Piece]:
    """Put groups beside each other until one does not fit."""
    pieces: list[Piece] = []
    for group in groups:
        if sum(width_of(piece.text) for piece in [*pieces, *group]) > width:
            break
        pieces += group
    return pieces


def _whole_pace(
    run: Snapshot, figures: Figures | None, spent: Spending, glyphs: Glyphs, width: int
) -> list[Piece]:
    """Return the pace of a run that nobody works on: over all its time."""
    row, total = run.run, run.total
    if not total.total:
        return []
    groups = []
    if total.answered and (rate := mean_rate(total.answered, row.wall(0.0))) is not None:
        spark = "" if figures is None else sparkline(figures.history, glyphs.levels)
        groups.append([Piece(f"{per_second(rate)} {spark}   ", "dim")])
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
    return [Piece(_MARGIN), *as_fits(groups, width - len(_MARGIN))]


def target_lines(
    run: Snapshot,
    of: LiveResults | None,
    figures: Figures | None,
    room: int,
    width: int,
    differences: ColumnDifferences | None = None,
    glyphs: Glyphs = UNICODE,
) -> list[list[Piece]]:
    """Return the lines of the targets under their head; more than there is room for are folded.

    What is wrong with none of a target's trials is left blank.
    """
    columns = run.columns
    if not columns:
        return []
    compared = differences if has_room_for_versus(run, room, width) else None
    if compared is not None and not compared.by_column:
        compared = None
    fields = _fields(run, room, compared=compared is not None)
    shown = columns[:room]
    folded = f", {room} of {len(columns)}" if len(columns) > room else ""
    widths = _widths(fields, run, room, width)
    first, *rest = (field.title for field in fields)
    if len(first) + len(folded) > widths[0]:
        first = "target"
    heads: list[tuple[str, Tone]] = [(f"{first}{folded}", "dim"), *((one, "dim") for one in rest)]
    lines = [_line(heads, fields, widths, [])]
    for column in shown:
        cells = _target(column, run, of, figures)
        is_first = False
        if compared is not None:
            cells.insert(_VERSUS_AT, _versus(column.index, compared))
            is_first = compared.base is None and column is columns[0]
        rated = None if of is None or run.run.is_sweep else of.rates.get(column.index)
        rate = None if rated is None else rated.rate
        bar = rate_bar(rate, widths[_BAR_AT], glyphs)
        lines.append(_line(cells, fields, widths, bar, mark="B" if is_first else ""))
    return lines


def has_room_for_versus(run: Snapshot, room: int, width: int) -> bool:
    """Return whether the lines of the targets have room for how they differ."""
    if not run.columns:
        return False
    return _widths(_fields(run, room, compared=True), run, room, width)[_VERSUS_AT] > 0


def _fields(run: Snapshot, room: int, *, compared: bool) -> Sequence[Field]:
    """Return the table's columns, wide enough for what they are to hold."""
    named, *others = _VERSUS_FIELDS if compared else _FIELDS
    if compared:
        longest = max(width_of(_named(column)) for column in run.columns[:room])
        named = replace(named, least=max(named.least, min(longest, _LONGEST_NAME)))
    most = max((counts.total for counts in run.by_column.values()), default=0)
    n = others[_N_AT - 1]
    others[_N_AT - 1] = replace(n, least=max(n.least, len(number(most))))
    return [named, *others]


def _widths(fields: Sequence[Field], run: Snapshot, room: int, width: int) -> Sequence[int]:
    columns = run.columns
    folded = f", {room} of {len(columns)}" if len(columns) > room else ""
    longest = max(width_of(_named(column)) for column in columns[:room])
    least = sum(field.least + 2 for field in fields[1:])
    least_name = len(fields[0].title) + len(folded)
    return lay_out(fields, min(width - 2 * len(_MARGIN), max(longest, least_name) + least))


def _line(
    cells: Sequence[tuple[str, Tone]],
    fields: Sequence[Field],
    widths: Sequence[int],
    bar: Sequence[Piece],
    mark: str = "",
) -> list[Piece]:
    pieces = [Piece(mark.ljust(len(_MARGIN)), "dim")]
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


def _named(column: ColumnRow) -> str:
    made_up = column.source is AnswerSource.SIMULATED
    return f"{column.name} (simulated)" if made_up else column.name


def _target(
    column: ColumnRow, run: Snapshot, of: LiveResults | None, figures: Figures | None
) -> list[tuple[str, Tone]]:
    cut = figures.cut.get(column.index, 0) if figures is not None else None
    p50 = figures.p50.get(column.index) if figures is not None else None
    return [
        (_named(column), "plain"),
        *_rated(column.index, run, of),
        (number(cut) if cut != 0 else "", "ungraded"),
        (seconds(p50), "plain" if p50 is not None else "dim"),
    ]


def _rated(column: int, run: Snapshot, of: LiveResults | None) -> list[tuple[str, Tone]]:
    """Return a column's rate, what stands beside it, what it is over, and what it is not over."""
    rate = None if of is None else of.rates.get(column)
    unknown: tuple[str, Tone] = (UNKNOWN, "dim")
    if of is None or rate is None:
        return [unknown, ("", "dim"), ("", "dim"), unknown, unknown, unknown]
    counts = of.by_column.get(column, Counts())
    beside = "" if rate.interval is None else interval(rate.interval)
    if rate.open or not run.run.staged:
        beside = "so far" if rate.n else ""
    passed: list[tuple[str, Tone]] = [
        (rate_words(rate.rate, of.judged), "strong"),
        ("", "dim"),
        (beside, "dim"),
        (number(rate.n), "plain"),
    ]
    if run.run.is_sweep:  # nothing is scored
        passed = [unknown, ("", "dim"), ("", "dim"), unknown]
    return [
        *passed,
        (number(counts.ungraded) if counts.ungraded else "", "ungraded"),
        (number(counts.error) if counts.error else "", "error"),
    ]


def _short_endpoint(endpoints: Set[str]) -> str:
    """Name where calls go: its host, or how many endpoints there are."""
    if len(endpoints) != 1:
        return f"at {many(len(endpoints), 'endpoint')}"
    (name,) = endpoints
    host = name.partition("://")[2].partition("/")[0].partition("|")[0]
    return host or " ".join(filter(None, name.split("|")[:2]))  # without its key's name
