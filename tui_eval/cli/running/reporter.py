"""What is said of a run while it goes on, and at its end."""

import sqlite3
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from pathlib import Path

from tui_eval.cli import streams
from tui_eval.model.json import JsonObject
from tui_eval.model.runs.endpoint_event import EndpointEventKind
from tui_eval.model.visible import visible_line
from tui_eval.reports import json_output
from tui_eval.reports.results import Results
from tui_eval.reports.run_events import RunChange, RunEvents, event, look, outcome_document
from tui_eval.reports.suite_runs import SuiteRun, suites_document
from tui_eval.reports.sweep_report import SweepReport
from tui_eval.reports.terminal.progress import Progress
from tui_eval.reports.terminal.suites_summary import suites_summary
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.sweep_text import level_line, under_way_line
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.follow import Pulse
from tui_eval.store.location import naming
from tui_eval.store.read.consignment_queries import progress_forms
from tui_eval.store.rows import LimitRow, RunRow

_RATES_SHARE = 20
"""Rates that take a second to work out are worked out every twenty."""


class OutputForm(Enum):
    """What stdout gets."""

    TEXT = "text"
    """The summary at the end."""
    JSON = "json"
    """The document at the end."""
    EVENTS = "events"
    """A line of JSON for all that happens, the document last."""
    NOTHING = "nothing"
    """Nothing: the results are told with those of other runs."""


class Reporter:
    """Tells of one run: progress to stderr, results to stdout in the form that was asked for."""

    def __init__(self, form: OutputForm, store: Path, *, follows: bool = False) -> None:
        """Make one.

        Args:
            form: What stdout gets.
            store: The store that commands are to name.
            follows: Whether stdout has a summary already: then a blank line parts them.
        """
        self.form = form
        self._store = store
        self.of_store = naming(store)
        """What commands end with that are to be typed."""
        self._parting = "\n" if follows else ""
        drawn = streams.redrawable(sys.stderr)
        self._progress = Progress(
            streams.write_to_stderr, (lambda: streams.width(sys.stderr)) if drawn else None
        )
        self.unheard = False
        """Whether results could not be written although somebody wants them."""
        self._events = RunEvents()
        self._left_alone: set[str] = set()
        self._rates: Sequence[float | None] = ()
        self._rates_again_at = 0.0
        """Not looked at before, on the monotonic clock: what takes long is looked at seldom."""
        self._workers_told: int | None = None
        """Events of workers that were told; None: none was looked at."""
        self._placed = False
        """Whether the last one that was told says that one is ready."""
        self._levels_told: int | None = 0
        """Levels of a sweep that were told; None: those of earlier engines are no news."""

    @property
    def events(self) -> bool:
        """Whether each thing that happens is told on stdout."""
        return self.form is OutputForm.EVENTS

    def look(self, db: sqlite3.Connection, run_id: int, pulse: Pulse) -> RunChange:
        """Read what is to be told after a pulse."""
        began = time.monotonic()
        rated = began >= self._rates_again_at
        found = look(db, run_id, pulse, events=self.events, rated=rated)
        if rated:
            now = time.monotonic()
            self._rates_again_at = now + (now - began) * _RATES_SHARE
        return found

    def begin(self, run: RunRow, limits: Mapping[str, LimitRow]) -> None:
        """Tell which run it is, once that is sure; what an earlier engine left behind is no news.

        Args:
            run: The run before anything happens.
            limits: The limits there are.
        """
        if run.started_at is not None:
            self._levels_told = None
        self._events.begin(run, limits)
        self._tell_all(self._events.named(run))

    def update(self, seen: RunChange) -> None:
        """Tell what a look found."""
        self._tell_all(self._events.named(seen.run))
        if seen.sweep is not None:
            self._tell_of_levels(seen.sweep)
        elif seen.run.staged:
            wall_s = seen.run.wall(time.time())
            self._rates = self._rates if seen.rates is None else seen.rates
            now = time.monotonic()
            bulk = progress_forms(seen.bulk)
            self._progress.update(seen.counts, seen.columns, self._rates, wall_s, now, bulk)
        self._tell_of_rests(seen)
        self._tell_of_workers(seen)
        self._tell_all(self._events.of(seen))

    def _tell_of_levels(self, of: SweepReport) -> None:
        """Say what each level came to as it ends, and how far the present one is."""
        known = len(of.levels)
        for load in of.levels[known if self._levels_told is None else self._levels_told :]:
            self.say(level_line(load))
        self._levels_told = known
        if (now := of.under_way) is not None and now.ended < now.calls:
            self._progress.show(under_way_line(now), time.monotonic())

    def _tell_of_rests(self, seen: RunChange) -> None:
        """Say which endpoints are left alone, and which no more."""
        for endpoint, limit in seen.pauses.items():
            if limit.event.leaves_alone is (endpoint in self._left_alone):
                continue
            if limit.event.kind is not EndpointEventKind.START:
                self.say(f"{_named(endpoint)} {visible_line(limit.event.words)}")
            self._left_alone ^= {endpoint}

    def _tell_of_workers(self, seen: RunChange) -> None:
        """Say what becomes of those who make attempts; of several that begin, the first alone."""
        began = seen.run.active_since
        for one in seen.workers[self._workers_told :]:
            placed = one.event.kind is EndpointEventKind.PLACED
            if began is not None and one.at >= began and not (placed and self._placed):
                self.say(f"workers: {visible_line(one.event.words, 500)}")
                self._placed = placed
        self._workers_told = len(seen.workers)

    def _tell_all(self, events: Iterable[JsonObject]) -> None:
        """Tell of events: those that a person waits for in words, and each where all are wanted."""
        for one in events:
            if one["event"] == "started":
                streams.tell(f"run {one['run']}")
            elif one["event"] == "paused":
                self.say(f"paused: {visible_line(str(one['reason'] or 'by a person'), 500)}")
            if self.events:
                self._emit(json_output.dumps(one))

    def say(self, text: str) -> None:
        """Say something beside the progress."""
        self._progress.clear()
        streams.tell(text)

    def finished(self, of: Results, code: int) -> None:
        """Tell what the run came to.

        Args:
            of: The results.
            code: The exit code.
        """
        self._tell_all(self._events.untold(of))
        self._progress.clear()
        match self.form:
            case OutputForm.TEXT:
                ink = AnsiStyle(streams.coloured())
                said = summary(of, width=streams.width(), ink=ink, store=self._store)
                self._emit(f"{self._parting}{said}")
            case OutputForm.JSON:
                self._emit(json_output.dumps(outcome_document(of, code), indent=2))
            case OutputForm.EVENTS:
                self._tell_all(self._events.finished(of, code))
            case OutputForm.NOTHING:
                pass

    def finished_all(self, runs: Sequence[SuiteRun]) -> None:
        """Tell what several suites came to, after each was told of."""
        match self.form:
            case OutputForm.TEXT:
                ink = AnsiStyle(streams.coloured())
                said = suites_summary(runs, width=streams.width(), ink=ink)
                self._emit(f"{self._parting}{said}")
            case OutputForm.JSON:
                self._emit(json_output.dumps(suites_document(runs), indent=2))
            case OutputForm.EVENTS:
                self._emit(json_output.dumps(event("all_finished", **suites_document(runs))))

    def _emit(self, text: str) -> None:
        try:
            streams.say(text)
        except OSError as error:
            streams.silence()  # the run matters more than who listens
            if not streams.nobody_listens(error):
                self.unheard = True
                self.say(f"error: the results could not be written: {error.strerror}")


def _named(endpoint: str) -> str:
    """Return an endpoint as a person knows it: preset and address, without its key's name."""
    return visible_line(" ".join(filter(None, endpoint.split("|")[:2]))) + ":"
