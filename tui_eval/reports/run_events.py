"""What happens to a run, as events: the lines of `--events`, and what Python code follows."""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import RunState
from tui_eval.reports.document import of_results
from tui_eval.reports.exports.trial_line import TrialLines
from tui_eval.reports.rates.pass_rates import pass_rates
from tui_eval.reports.results import Results
from tui_eval.reports.sweep_report import SweepReport, sweep_report
from tui_eval.store.follow import Pulse
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.consignment_queries import BulkProgress, bulk_progress
from tui_eval.store.read.run_counts import Counts, board
from tui_eval.store.read.trials import trial_queries
from tui_eval.store.rows import LimitRow, RunRow


@dataclass(frozen=True, slots=True)
class RunChange:
    """A run at one moment, and what happened since the last look."""

    run: RunRow
    counts: Counts
    columns: Sequence[Counts]
    rates: Sequence[float | None] | None
    """Pass rates, of the same moment; None: not looked at."""
    limits: Mapping[str, LimitRow]
    pauses: Mapping[str, LimitRow]
    """By endpoint, the last event of this engine that says whether it is left alone."""
    sweep: SweepReport | None
    """What a sweep has come to; None: the run is none."""
    workers: Sequence[LimitRow]
    """What became of those who make its attempts, all there is; empty where the engine does."""
    settled: Sequence[JsonObject]
    """The trials that settled; empty where nobody wants them."""
    bulk: tuple[BulkProgress, ...] = ()
    """How far is what providers are asked in bulk; None: they are not."""


def look(
    db: sqlite3.Connection, run_id: int, pulse: Pulse, *, events: bool, rated: bool
) -> RunChange:
    """Read what is to be told after a pulse.

    Args:
        db: The connection.
        run_id: The run.
        pulse: What changed.
        events: Whether each trial that settled is wanted.
        rated: Whether pass rates are: they may take a pass over the trials.
    """
    run = run_queries.run(db, run_id)
    settled = []
    if events:
        made = TrialLines(db, run_id)  # anew each time: a rescore may bring other scorers
        for line in report_queries.lines_settled(db, run_id, pulse.before, pulse.change):
            settled.append(event("trial", **made.json(line)))
    limits = run_queries.limits(db, run_id) if events else {}
    pauses = {
        endpoint: limit
        for endpoint, limit in trial_queries.pauses(db, run_id).items()
        if run.active_since is not None and limit.at >= run.active_since
    }
    with report_queries.moment(db):
        counts, by_column = board(db, run_id)
        known = pass_rates(db, run_id) if rated else None
    columns = sorted(by_column)
    return RunChange(
        run,
        counts,
        [by_column[col] for col in columns],
        None if known is None else [known[col].rate if col in known else None for col in columns],
        limits,
        pauses,
        sweep_report(db, run),
        run_queries.worker_events(db, run_id),
        settled,
        bulk_progress(db, run_id),
    )


class RunEvents:
    """Turns what is seen of a run into events, each told once."""

    def __init__(self) -> None:
        self._limits: dict[str, LimitRow] = {}
        self._state: RunState | None = None
        self._named = False
        self._paused = False

    def begin(self, run: RunRow, limits: Mapping[str, LimitRow]) -> None:
        """Take what an earlier engine left behind, which is no news.

        Args:
            run: The run before anything happens.
            limits: The limits there are.
        """
        if not run.live:
            self._state = run.state
            self._limits.update(limits)

    def named(self, run: RunRow) -> Iterator[JsonObject]:
        """Yield which run it is, once that is sure: mistakes in its data may still undo it."""
        if self._named or not run.total:
            return
        self._named = True
        yield event("started", run=run.name, suite=run.suite, label=run.label, partial=run.partial)

    def of(self, seen: RunChange) -> Iterator[JsonObject]:
        """Yield what a look found."""
        yield from self.named(seen.run)
        if seen.run.state is not self._state:
            self._state = seen.run.state
            if self._state is RunState.PAUSED:
                yield self._pause(seen.run)
        for endpoint, limit in seen.limits.items():
            if self._limits.get(endpoint) != limit:
                self._limits[endpoint] = limit
                yield event(
                    "limit",
                    endpoint=endpoint,
                    concurrency=limit.concurrency,
                    kind=limit.event.kind,
                    reason=limit.event.words,
                )
        yield from seen.settled

    def untold(self, of: Results) -> Iterator[JsonObject]:
        """Yield what no look has found, once nothing goes on any more."""
        yield from self.named(of.run)
        if of.state is RunState.PAUSED and not self._paused:
            yield self._pause(of.run)  # as it was before: nobody has seen it go on in between

    def finished(self, of: Results, code: int | None) -> Iterator[JsonObject]:
        """Yield what no look has found, then what the run came to.

        Args:
            of: The results.
            code: The exit code.
        """
        yield from self.untold(of)
        yield event("finished", **outcome_document(of, code))

    def _pause(self, run: RunRow) -> JsonObject:
        self._paused = True
        return event("paused", reason=run.reason, stopped_by=run.stopped_by)


def outcome_document(of: Results, code: int | None) -> JsonObject:
    """Return the document of a run that was seen to its end, with the exit code."""
    return {**of_results(of), "exit_code": code}


def event(kind: str, /, **fields: Json) -> JsonObject:
    """Return an event of now."""
    return {"event": kind, "at": round(time.time(), 3), **fields}
