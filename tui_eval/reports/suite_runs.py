"""Suites that one command runs: what became of each, and the mean over them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.exit_code import worst
from tui_eval.model.json import Json, JsonObject
from tui_eval.reports.column_results import ColumnResults
from tui_eval.reports.document import of_results
from tui_eval.reports.json_output import bounds, rounded
from tui_eval.reports.results import Results
from tui_eval.statistics.intervals import Interval, mean_interval


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """What became of one of the suites."""

    file: Path
    code: int
    """Its exit code."""
    results: Results | None = None
    """None: it has no run, or none that could be read."""
    reason: str | None = None
    """Why it has none."""


@dataclass(frozen=True, slots=True)
class SuiteMean:
    """A target's mean over suites, each of which weighs the same."""

    target: str
    suites: int
    """Suites it is over: finished, with a pass rate of this target."""
    pass_rate: float
    interval: Interval | None
    """95%; None where a suite has none."""
    mean_score: float | None
    """None where a suite has none."""
    rests_on_judges: bool
    simulated: bool
    """Whether a suite has simulated outputs of it."""


def suite_means(runs: Sequence[SuiteRun]) -> list[SuiteMean]:
    """Return the mean of each target that has a pass rate in a finished suite, in their order."""
    found: dict[str, list[tuple[Results, ColumnResults]]] = {}
    for results in (run.results for run in runs if run.results is not None):
        for column in results.columns if results.finished else ():
            if column.rates.pass_rate is not None:
                there = found.setdefault(column.column.name, [])
                there.append((results, column))
    return [_mean(target, there) for target, there in found.items()]


def _mean(target: str, there: Sequence[tuple[Results, ColumnResults]]) -> SuiteMean:
    n = len(there)
    found = [column.rates for _, column in there]
    rates = [of.pass_rate for of in found if of.pass_rate is not None]
    within = [of.interval for of in found if of.interval is not None]
    scores = [of.mean_score for of in found if of.mean_score is not None]
    return SuiteMean(
        target,
        n,
        sum(rates) / n,
        mean_interval(rates, within) if len(within) == n else None,
        sum(scores) / n if len(scores) == n else None,
        any(results.rests_on_judges for results, _ in there),
        any(column.column.source is AnswerSource.SIMULATED for _, column in there),
    )


def suites_document(runs: Sequence[SuiteRun]) -> JsonObject:
    """Return the document of all: that of each run, what has none, the means, the exit code."""
    documents: list[Json] = [
        {**of_results(run.results), "exit_code": run.code}
        for run in runs
        if run.results is not None
    ]
    without: list[Json] = [
        {"file": str(run.file), "exit_code": run.code, "reason": run.reason}
        for run in runs
        if run.results is None
    ]
    means: JsonObject = {
        mean.target: {
            "suites": mean.suites,
            "pass_rate": rounded(mean.pass_rate),
            "pass_rate_ci95": bounds(mean.interval),
            "mean_score": rounded(mean.mean_score),
        }
        for mean in suite_means(runs)
    }
    return {
        "runs": documents,
        "not_run": without,
        "means": means,
        "exit_code": worst(run.code for run in runs),
    }
