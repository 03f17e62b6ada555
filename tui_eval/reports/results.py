"""Everything a report says of a run, read in one moment; the document and the summary show it."""

import sqlite3
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from tui_eval.engine.settings import caps_in_force
from tui_eval.format import estimated_usd
from tui_eval.model.exit_code import ExitCode
from tui_eval.model.finish import Ending
from tui_eval.model.states import RunState, StartRefusal
from tui_eval.reports import gate
from tui_eval.reports.gate import GateMeasures, MissedThreshold, TargetMeasures
from tui_eval.reports.rates.pass_rates import rests_on_judges
from tui_eval.reports.rates.run_rates import Rates, rates
from tui_eval.reports.rates.scorer_rates import ScorerTally, add, scorer_tallies
from tui_eval.reports.spending import Spending, spending
from tui_eval.reports.throughput import mean_rate
from tui_eval.statistics.estimates import percentile
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.conversation_queries import ConversationFigures, conversation_figures
from tui_eval.store.read.judges.judge_figures import JudgeFigures, judge_figures
from tui_eval.store.read.program_figures import ProgramFigures, program_figures
from tui_eval.store.read.report_queries import ErrorRow, UngradedRow
from tui_eval.store.read.run_counts import Counts, board
from tui_eval.store.rows import ColumnRow, RunRow
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.spec import Gate, Suite, Thresholds

_REFUSALS = frozenset(StartRefusal)


@dataclass(frozen=True, slots=True)
class ColumnResults:
    """One row of a summary."""

    column: ColumnRow
    counts: Counts
    rates: Rates
    p50_s: float | None
    """Median of the calls; None: no call was timed."""
    p95_s: float | None
    cut_short: int
    """Outputs that ended before the model did."""
    filtered: int
    """Outputs that the endpoint's content filter took away."""
    scorers: Mapping[str, ScorerTally]
    tags: Mapping[str, Rates]


@dataclass(frozen=True)
class Results:
    """A run as it stood at one moment."""

    run: RunRow
    suite: Suite
    at: float
    """When it was read (Unix seconds)."""
    counts: Counts
    columns: Sequence[ColumnResults]
    errors: Sequence[ErrorRow]
    ungraded: Sequence[UngradedRow]
    """Why grades are missing."""
    judges: Sequence[JudgeFigures]
    """What each judge did for each scorer; empty: none was needed."""
    rests_on_judges: bool
    """Whether verdicts depend on what judges say."""
    cached_scores: int
    programs: ProgramFigures | None
    """What programs took and changed; None: it ran none."""
    conversations: ConversationFigures
    """What calls there were beside one an attempt, and what the simulated user took."""
    missed: Sequence[MissedThreshold] | None
    """Thresholds that do not hold; None: there is no gate, or the run has not finished."""

    @property
    def state(self) -> RunState:
        """The run's state; one that is said to run while its engine is gone is interrupted."""
        return effective_state(self.run)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.state in (RunState.DONE, RunState.CANCELLED)

    @property
    def resumable(self) -> bool:
        """Whether there is something to resume, and nobody at it."""
        return not self.finished and not self.run.live

    @property
    def spending(self) -> Spending:
        """What its targets cost and will have cost, and its caps."""
        columns = [of.counts for of in self.columns]
        caps = caps_in_force(self.suite.run.model_dump(mode="json"), self.run.settings)
        return spending(self.run, self.counts, columns, caps)

    @property
    def answers_s(self) -> float | None:
        """Answers a second over all the time engines worked; None: too early to say."""
        return mean_rate(self.counts.answered, self.run.wall(self.at))

    @cached_property
    def exit_code(self) -> int | None:
        """The exit code the run ends with; None while an engine may still change it."""
        if self.state is RunState.INTERRUPTED:
            refused = self.run.stopped_by in _REFUSALS
            return ExitCode.NOT_STARTED if refused else ExitCode.INTERRUPTED
        if not self.finished:
            return (
                ExitCode.INCOMPLETE if self.state is RunState.PAUSED and not self.run.live else None
            )
        if self.missed:
            return ExitCode.GATE_MISSED
        return ExitCode.INCOMPLETE if any(map(self._unspoken, self.columns)) else ExitCode.PASSED

    def _unspoken(self, of: ColumnResults) -> bool:
        """Whether a column has errors, or ungraded trials, of which no gate speaks."""
        names = (of.column.name, of.column.target)
        return any(
            number and not gate.speaks_of(self.suite.gate, threshold, *names)
            for number, threshold in (
                (of.rates.error, "max_error_rate"),
                (of.rates.ungraded, "max_ungraded_rate"),
            )
        )

    @property
    def scorers(self) -> dict[str, ScorerTally]:
        """What each scorer said, over all columns, in the order they first graded."""
        names = dict.fromkeys(name for of in self.columns for name in of.scorers)
        return {
            name: add([of.scorers[name] for of in self.columns if name in of.scorers])
            for name in names
        }

    @property
    def tags(self) -> list[str]:
        """All tags, in the order they turn up."""
        return list(dict.fromkeys(tag for of in self.columns for tag in of.tags))


def effective_state(run: RunRow) -> RunState:
    """Return a run's state; one that is said to run while its engine is gone is interrupted."""
    abandoned = run.state is RunState.RUNNING and not run.live
    return RunState.INTERRUPTED if abandoned else run.state


def results(db: sqlite3.Connection, run_id: int) -> Results:
    """Read all that a report says of a run.

    Raises:
        UnknownRunError: there is no such run.
    """
    with report_queries.moment(db):
        run = run_queries.run(db, run_id)
        suite = frozen_suite(db, run_id)
        whole, by_column = board(db, run_id)
        columns = list(_columns(db, run_id, suite, by_column))
        missed = None
        if suite.gate is not None and effective_state(run) in (RunState.DONE, RunState.CANCELLED):
            missed = _missed(db, run, suite.gate, columns)
        return Results(
            run=run,
            suite=suite,
            at=time.time(),
            counts=whole,
            columns=columns,
            errors=report_queries.errors(db, run_id),
            ungraded=report_queries.ungraded(db, run_id),
            judges=judge_figures(db, run_id),
            rests_on_judges=rests_on_judges(db, run_id),
            cached_scores=report_queries.copied_scores(db, run_id),
            programs=program_figures(db, run_id),
            conversations=conversation_figures(db, run_id),
            missed=missed,
        )


def missed_so_far(db: sqlite3.Connection, run_id: int) -> list[MissedThreshold] | None:
    """Return the thresholds that do not hold by what is settled so far.

    None: there is no gate, or nobody knows yet which columns the run has.

    A few reads in a row: put them in a `report_queries.moment`.

    Raises:
        UnknownRunError: there is no such run.
    """
    run = run_queries.run(db, run_id)
    suite = frozen_suite(db, run_id)
    if suite.gate is None:
        return None
    columns = list(_columns(db, run_id, suite, board(db, run_id)[1]))
    if not columns:
        return None
    return _missed(db, run, suite.gate, columns)


def _missed(
    db: sqlite3.Connection, run: RunRow, asked: Gate, columns: Sequence[ColumnResults]
) -> list[MissedThreshold]:
    """Hold columns against a gate; of a partial run those that have trials."""
    measured = [
        _measures(db, run.id, of, asked.tags)
        for of in columns
        if of.rates.trials or not run.partial
    ]
    return gate.judge(asked, measured, partial=run.partial)


def _columns(
    db: sqlite3.Connection, run_id: int, suite: Suite, counts: Mapping[int, Counts]
) -> Iterator[ColumnResults]:
    of_run = rates(db, run_id, suite.run)
    ends = report_queries.endings(db, run_id)
    scored = scorer_tallies(db, run_id, suite.run)
    for column in run_queries.columns(db, run_id):
        col = column.index
        calls = report_queries.latencies(db, run_id, col)
        yield ColumnResults(
            column=column,
            counts=counts[col],
            rates=of_run.columns[col],
            p50_s=percentile(calls, 0.5),
            p95_s=percentile(calls, 0.95),
            cut_short=ends[col][Ending.CUT],
            filtered=ends[col][Ending.FILTERED],
            scorers=scored.get(col, {}),
            tags={tag: of_tag[col] for tag, of_tag in of_run.tags.items() if col in of_tag},
        )


def _measures(
    db: sqlite3.Connection, run_id: int, of: ColumnResults, gated_tags: Mapping[str, Thresholds]
) -> TargetMeasures:
    def of_rates(rates: Rates, p95_s: float | None, cost_usd: float | None) -> GateMeasures:
        return GateMeasures(
            trials=rates.trials - rates.cancelled,
            pass_rate=rates.pass_rate,
            mean_score=rates.mean_score,
            errors=rates.error,
            ungraded=rates.ungraded,
            p95_latency_s=p95_s,
            cost_usd=cost_usd,
        )

    col = of.column.index
    free = of.counts.cost_usd == 0
    return TargetMeasures(
        column=of.column.name,
        target=of.column.target,
        whole=of_rates(of.rates, of.p95_s, estimated_usd(of.counts)),
        scorers={
            name: GateMeasures(
                trials=tally.n + tally.ungraded,
                pass_rate=tally.pass_rate,
                mean_score=tally.mean,
                ungraded=tally.ungraded,
            )
            for name, tally in of.scorers.items()
        },
        tags={
            tag: of_rates(
                of.tags[tag],
                percentile(report_queries.latencies(db, run_id, col, tag), 0.95),
                # where all calls are free, so are those that were never answered
                0.0 if free else report_queries.cost_of_tag(db, run_id, col, tag),
            )
            for tag in gated_tags
            if tag in of.tags
        },
    )
