"""The JSON document of a run: what `--json` prints, from the store."""

import sqlite3
from collections.abc import Sequence

from tui_eval.format import Spent, counted
from tui_eval.model.json import Json, JsonObject
from tui_eval.reports.agreement.agreement_document import corrected_document
from tui_eval.reports.column_results import ColumnResults
from tui_eval.reports.comparison.comparison_document import row_document
from tui_eval.reports.json_output import bounds, dollars, rounded
from tui_eval.reports.judging import judge_report
from tui_eval.reports.programs.program_document import program_document
from tui_eval.reports.rates.run_rates import Rates, ReducedRates
from tui_eval.reports.rates.scorer_rates import ScorerTally
from tui_eval.reports.results import Results, results
from tui_eval.store.read.consignment_queries import ConsignmentRow
from tui_eval.store.read.report_queries import ErrorRow
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.read.run_parts import RunParts
from tui_eval.store.read.trials.conversation_queries import ConversationFigures

_ERRORS = 100
"""Distinct errors that are named, the most frequent ones."""


def document(db: sqlite3.Connection, run_id: int) -> JsonObject:
    """Return a run's document.

    Raises:
        UnknownRunError: there is no such run.
    """
    return of_results(results(db, run_id, reasons=False))


def of_results(of: Results, *, groups: bool = True) -> JsonObject:
    """Return the document of results that were read already.

    Args:
        of: The results.
        groups: Whether scorers, tags and the baseline are in it; a list of runs leaves them out.
    """
    whole: JsonObject = {
        **_run(of),
        "counts": _counts(of.counts),
        "targets": {
            column.column.name: _target(of, column) | (_vs_baseline(of, column) if groups else {})
            for column in of.columns
        },
    }
    if groups:
        whole["baseline"] = _baseline(of)
        whole["scorers"] = {
            name: _scorer(name, tally, of.columns) for name, tally in of.scorers.items()
        }
        whole["tags"] = {tag: _tag(tag, of.columns) for tag in of.tags}
    caps = of.spending.caps
    return whole | {
        "requests": _requests(of),
        "judges": judge_report.judges(of.judges),
        "cost_usd": {
            **_cost(of.counts, judge_report.totals(of.judges), of.conversations),
            "target_expected": dollars(of.spending.expected_usd),
        },
        "caps": {
            "max_cost_usd": caps.cost_usd,
            "max_tokens": caps.tokens,
            "max_errors": caps.errors,
        },
        "throughput": {"answered": of.counts.answered, "answers_s": rounded(of.answers_s)},
        "programs": program_document(of.programs),
        "gate": _gate(of),
        "sweep": None if of.sweep is None else of.sweep.as_json(),
        "bulk": [_consignment(one) for one in of.consignments],
        "errors": [_error(error, of.columns) for error in of.errors[:_ERRORS]],
    }


def _run(of: Results) -> JsonObject:
    run = of.run
    return {
        "run": run.name,
        "suite": run.suite,
        "label": run.label,
        "state": of.state,
        "stopped_by": run.stopped_by,
        "reason": run.reason,
        "exit_code": of.exit_code,
        "created_at": run.created_at,
        "wall_s": round(run.wall(of.at), 3),
        "kind": "sweep" if run.is_sweep else "run",
        "partial": run.partial,
        "dataset": of.suite.dataset.hub,
        "parts": None if of.parts is None else parts_document(of.parts),
    }


def _consignment(one: ConsignmentRow) -> JsonObject:
    return {
        "asked": one.asked,
        "target": one.target,
        "number": one.number,
        "state": one.state,
        "provider_id": one.provider_id,
        "requests": one.requests,
        "done": one.done,
        "unknown": one.unknown,
        "problem": one.problem,
        "sent_at": one.sent_at,
        "ends_by": one.ends_by,
        "taken_at": one.taken_at,
    }


def parts_document(parts: RunParts) -> JsonObject:
    """Return what a run has of a whole that is run in parts."""
    return {
        "there": list(parts.numbers),
        "missing": list(parts.missing),
        "of": parts.of,
        "cases": parts.cases,
        "of_cases": parts.of_cases,
    }


def _counts(counts: Counts) -> JsonObject:
    return {
        "total": counts.total,
        "queued": counts.queued,
        "running": counts.running,
        "scoring": counts.scoring,
        "done": counts.done,
        "error": counts.error,
        "cancelled": counts.cancelled,
        "passed": counts.passed,
        "failed": counts.failed,
        "ungraded": counts.ungraded,
    }


def _requests(of: Results) -> JsonObject:
    counts = of.counts
    return {
        "target": counts.attempts + of.conversations.further_calls,
        "target_retries": counts.retries,
        "target_lost": counts.lost,
        "judge": sum(one.asked.calls for one in of.judges),
        "judge_lost": sum(one.asked.lost for one in of.judges),
        "judge_items": sum(one.asked.items for one in of.judges),
        "user": of.conversations.user_calls,
        "cached_outputs": counts.cached,
        "cached_scores": of.cached_scores,
    }


def _error(error: ErrorRow, columns: Sequence[ColumnResults]) -> JsonObject:
    names = {of.column.index: of.column.name for of in columns}
    there: JsonObject = {names[col]: n for col, n in sorted(error.by_column.items())}
    return {"kind": error.kind, "message": error.message, "n": error.n, "targets": there}


def _cost(target: Spent, judge: Spent, user: ConversationFigures) -> JsonObject:
    """Return the money of targets, judges and the user apart; a total only where all is known."""
    parts = [target.cost_usd, judge.cost_usd, *([user.cost_usd] if user.user_calls else [])]
    known = [usd for usd in parts if usd is not None]
    total = sum(known) if len(known) == len(parts) else None
    return {
        "target": dollars(target.cost_usd),
        "judge": dollars(judge.cost_usd),
        "user": dollars(user.cost_usd) if user.user_calls else None,
        "total": dollars(total),
        "target_known": dollars(target.known_usd),
        "target_about": dollars(target.about_usd),
        "judge_about": dollars(judge.about_usd),
        "user_about": dollars(user.about_usd),
    }


def _target(whole: Results, of: ColumnResults) -> JsonObject:
    return {
        "model": of.column.model,
        "prompt": of.column.prompt,
        "kind": of.column.kind,
        "version": of.column.version,
        **_rates(of.rates),
        "corrected": corrected_document(whole.corrected(of)),
        "by_hand": whole.people.by_hand.get(of.column.index, 0),
        "cut_short": of.cut_short,
        "filtered": of.filtered,
        "latency_s": {"p50": rounded(of.p50_s), "p95": rounded(of.p95_s)},
        "tokens": {
            "input": counted(of.counts.input_tokens),
            "output": counted(of.counts.output_tokens),
        },
        "cost_usd": dollars(of.counts.cost_usd),
        "cost_about_usd": dollars(of.counts.about_usd),
    }


def _scorer(name: str, tally: ScorerTally, columns: Sequence[ColumnResults]) -> JsonObject:
    there = {of.column.name: of.scorers[name] for of in columns if name in of.scorers}
    targets: JsonObject = {
        column: {
            **_scored(of),
            "pass_rate": rounded(of.pass_rate),
            "reduced": {name: {"pass_rate": rounded(one.mean)} for name, one in of.reduced.items()},
        }
        for column, of in there.items()
    }
    return {**_scored(tally), "targets": targets}


def _scored(of: ScorerTally) -> JsonObject:
    return {
        "n": of.n,
        "passed": of.passed,
        "failed": of.failed,
        "ungraded": of.ungraded,
        "mean": rounded(of.mean),
    }


def _rates(rates: Rates) -> JsonObject:
    return {
        "n": rates.n,
        "cases": rates.cases,
        "cases_rated": rates.rated,
        "cases_left_out": rates.cases_left_out,
        "passed": rates.passed,
        "failed": rates.failed,
        "errors": rates.error,
        "left_out": {  # errors are in n where the suite counts them as failed
            "error": rates.left_out - rates.cancelled - rates.ungraded,
            "cancelled": rates.cancelled,
            "ungraded": rates.ungraded,
        },
        "pass_rate": rounded(rates.pass_rate),
        "pass_rate_ci95": bounds(rates.interval),
        "pass_rate_if_left_out": bounds(rates.bounds),
        "mean_score": rounded(rates.mean_score),
        "stderr": rounded(rates.stderr),
        "stderr_clustered": rounded(rates.stderr_clustered),
        "clusters": rates.clusters,
        "reduced": {name: _reduced(one) for name, one in rates.reduced.items()},
    }


def _reduced(rates: ReducedRates) -> JsonObject:
    return {
        "cases_rated": rates.rated,
        "cases_left_out": rates.cases_left_out,
        "pass_rate": rounded(rates.pass_rate),
        "pass_rate_ci95": bounds(rates.interval),
        "mean_score": rounded(rates.mean_score),
        "stderr": rounded(rates.stderr),
        "stderr_clustered": rounded(rates.stderr_clustered),
        "clusters": rates.clusters,
    }


def _tag(tag: str, columns: Sequence[ColumnResults]) -> JsonObject:
    there = {of.column.name: of.tags[tag] for of in columns if tag in of.tags}
    rates = list(there.values())
    return {
        "n": sum(of.n for of in rates),
        "passed": sum(of.passed for of in rates),
        "failed": sum(of.failed for of in rates),
        "ungraded": sum(of.ungraded for of in rates),
        "error": sum(of.error for of in rates),
        "targets": {name: _rates(of) for name, of in there.items()},
    }


def _baseline(of: Results) -> Json:
    """Return what the run is compared with; null: nothing, or it has not finished."""
    if of.base is None or of.base.base.name is None:
        return None
    base, found = of.base.base, of.base.comparison
    differing: list[Json] = [] if found is None else [*found.scorers_differ]
    return {
        "name": base.name,
        "run": None if base.run is None else base.run.name,
        "why": of.base.why,
        "scorers_differ": differing,
    }


def _vs_baseline(of: Results, column: ColumnResults) -> JsonObject:
    row = None if of.base is None else of.base.rows.get(column.column.name)
    return {"vs_baseline": None if row is None else row_document(row)}


def _gate(of: Results) -> Json:
    if of.suite.gate is None:
        return None
    if of.missed is None:  # not decided before the run has finished
        return {"holds": None, "failed": [], "baseline": {}}
    return {
        "holds": not of.missed,
        "failed": [missed.as_json() for missed in of.missed],
        "baseline": {one.column: one.as_json() for one in of.against},
    }
