"""Everything a report says of a run, read in one moment; the document and the summary show it."""

import sqlite3
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from tui_eval.engine.settings import caps_in_force
from tui_eval.model.exit_code import ExitCode
from tui_eval.model.states import BULK, RunState, StartRefusal
from tui_eval.reports.agreement.corrected_rates import NOBODY, CorrectedPassRate
from tui_eval.reports.agreement.run_agreement import PeoplesWord, peoples_word
from tui_eval.reports.column_results import (
    ColumnResults,
    column_results,
    counts_of_sweep,
    of_sweep,
)
from tui_eval.reports.comparison.baseline.base import BaseComparison, base_comparison
from tui_eval.reports.comparison.baseline.baseline_gate import (
    ColumnAgainstBaseline,
    GateWord,
)
from tui_eval.reports.gates import gate
from tui_eval.reports.gates.gate import Missed
from tui_eval.reports.gates.gate_standing import gate_standing
from tui_eval.reports.rates import trial_figures
from tui_eval.reports.rates.pass_rates import rests_on_judges
from tui_eval.reports.rates.scorer_rates import ScorerTally, add
from tui_eval.reports.spending import Spending, spending
from tui_eval.reports.sweep_report import SweepReport, sweep_report
from tui_eval.reports.throughput import mean_rate
from tui_eval.store.read import report_queries, run_queries
from tui_eval.store.read.consignment_queries import (
    BulkProgress,
    ConsignmentRow,
    bulk_progress,
    consignments,
)
from tui_eval.store.read.figures.program_figures import ProgramFigures, program_figures
from tui_eval.store.read.figures.ungraded_reasons import UngradedReasons, ungraded_reasons
from tui_eval.store.read.judges.judge_figures import JudgeFigures, judge_figures
from tui_eval.store.read.report_queries import ErrorRow
from tui_eval.store.read.run_counts import Counts, board
from tui_eval.store.read.run_parts import RunParts, run_parts
from tui_eval.store.read.trials.conversation_queries import (
    ConversationFigures,
    conversation_figures,
)
from tui_eval.store.rows import RunRow
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.spec import Suite

_REFUSALS = frozenset(StartRefusal)
_REASONS: Final = 5
"""Reasons for missing grades that are told one by one."""


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
    ungraded: UngradedReasons
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
    sweep: SweepReport | None
    """What was measured at each level; None: it is no sweep."""
    parts: RunParts | None
    """What it has of a whole that is run in parts; None: it is no part of anything."""
    people: PeoplesWord
    """What people's grades say of judges and rates."""
    missed: Sequence[Missed] | None
    """Thresholds that do not hold; None: there is no gate, or the run has not finished."""
    base: BaseComparison | None = None
    """How it differs from its baseline; None: it has not finished, or nobody asked."""
    consignments: Sequence[ConsignmentRow] = ()
    """What providers were asked in bulk."""
    bulk: Sequence[BulkProgress] = ()
    """How far is what of that is still under way."""
    against: Sequence[ColumnAgainstBaseline] = ()
    """What `[gate.baseline]` comes to; empty: there is none, or the run has not finished."""

    @property
    def state(self) -> RunState:
        """The run's state; one that is said to run while its engine is gone is interrupted."""
        return effective_state(self.run)

    @property
    def finished(self) -> bool:
        """Whether nothing is left to do."""
        return self.state in (RunState.DONE, RunState.CANCELLED)

    @property
    def left_out(self) -> str | None:
        """What of its suite the run leaves out, in words; None: nothing."""
        if not self.run.partial or self.sweep is not None:
            return None
        if self.parts is not None and not self.parts.whole:
            return self.parts.words
        return "partial: a filter or a limit was set"

    @property
    def resumable(self) -> bool:
        """Whether there is something to resume, and nobody at it."""
        return not self.finished and not self.run.live

    @property
    def calls_functions(self) -> bool:
        """Whether functions of a Python program are called, so that only such a one goes on."""
        return bool(self.suite.given_functions)

    @property
    def gate_unclear(self) -> bool:
        """Whether the gate holds although nobody can tell of some column against its baseline."""
        return not self.missed and any(one.word is GateWord.UNCLEAR for one in self.against)

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
            if self.state is not RunState.PAUSED or self.run.live:
                return None
            # it was to be left while providers go on with it
            return ExitCode.PASSED if self.run.stopped_by == BULK else ExitCode.INCOMPLETE
        if self.sweep is not None:  # its errors are what was measured
            return ExitCode.INCOMPLETE if self.sweep.knee is None else ExitCode.PASSED
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

    def corrected(self, of: ColumnResults) -> CorrectedPassRate | None:
        """Return a column's rate as people would have given it; None: it rests on no judge."""
        known = self.people.corrected.get(of.column.index)
        return known or (CorrectedPassRate(why=NOBODY) if self.rests_on_judges else None)

    @property
    def tags(self) -> list[str]:
        """All tags, in the order they turn up."""
        return list(dict.fromkeys(tag for of in self.columns for tag in of.tags))


def effective_state(run: RunRow) -> RunState:
    """Return a run's state; one that is said to run while its engine is gone is interrupted."""
    abandoned = run.state is RunState.RUNNING and not run.live
    return RunState.INTERRUPTED if abandoned else run.state


def results(
    db: sqlite3.Connection, run_id: int, *, compared: bool = True, reasons: bool = True
) -> Results:
    """Read all that a report says of a run.

    Args:
        db: The connection.
        run_id: The run.
        compared: Whether it is compared with its baseline where its gate does not ask for that.
        reasons: Whether why scores are missing is read: a large run has many reasons.

    Raises:
        UnknownRunError: there is no such run.
    """
    with report_queries.moment(db):
        run = run_queries.run(db, run_id)
        suite = frozen_suite(db, run_id)
        whole, by_column = board(db, run_id)
        columns = list(column_results(db, run_id, suite, by_column))
        standing, base = None, None
        if run.is_sweep:
            whole, columns = counts_of_sweep(whole), [of_sweep(of) for of in columns]
        elif effective_state(run) in (RunState.DONE, RunState.CANCELLED):
            gated = suite.gate is not None and suite.gate.baseline is not None
            base = base_comparison(db, run) if compared or gated else None
            if suite.gate is not None:
                standing = gate_standing(db, run, suite.gate, columns, base)
        return Results(
            run=run,
            suite=suite,
            at=time.time(),
            counts=whole,
            columns=columns,
            errors=report_queries.errors(db, run_id),
            ungraded=ungraded_reasons(db, run_id, _REASONS) if reasons else UngradedReasons(),
            judges=judge_figures(db, run_id),
            rests_on_judges=rests_on_judges(db, run_id),
            cached_scores=trial_figures.copied_scores(db, run_id),
            programs=program_figures(db, run_id),
            conversations=conversation_figures(db, run_id),
            sweep=sweep_report(db, run),
            consignments=consignments(db, run.id),
            bulk=bulk_progress(db, run.id),
            parts=run_parts(db, run_id),
            people=peoples_word(db, run_id),
            missed=None if standing is None else standing.missed,
            base=base,
            against=() if standing is None else standing.against,
        )
