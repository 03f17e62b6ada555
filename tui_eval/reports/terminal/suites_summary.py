"""What several suites of one command came to, as a table for a person."""

from collections.abc import Iterator, Sequence

from tui_eval.format import UNKNOWN, cost, decimal, many, rate
from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.exit_code import worst
from tui_eval.reports.column_results import ColumnResults
from tui_eval.reports.results import Results
from tui_eval.reports.suite_runs import SuiteMean, SuiteRun, suite_means
from tui_eval.reports.terminal.rate_tables import interval_cell, rate_interval, target_cell
from tui_eval.reports.terminal.tables import AnsiStyle, TableColumn, folded, table

_TITLES = ("run", "target", "state", "gate", "exit", "pass", "95%", "n", "errors", "ungraded",
           "mean", "cost")  # fmt: skip
_LEFT = ("run", "target", "state", "gate")
_FIGURES = _TITLES[5:]


def suites_summary(runs: Sequence[SuiteRun], *, width: int, ink: AnsiStyle) -> str:
    """Return the table of several suites, with the mean of each target that several have.

    Args:
        runs: What became of each.
        width: Cells of a line.
        ink: Colours or none.
    """
    rows = [row for run in runs for row in _rows(run)]
    rows += [_mean_row(mean, len(runs)) for mean in suite_means(runs) if mean.suites > 1]
    columns = [
        TableColumn(title, cells, left=title in _LEFT)
        for title, cells in zip(_TITLES, zip(*rows, strict=True), strict=True)
    ]
    code = worst(run.code for run in runs)
    lines = [*table(columns, width, ink), "", *folded(_said(runs, code), width)]
    return "\n".join(lines)


def _rows(run: SuiteRun) -> Iterator[tuple[str, ...]]:
    """Yield a row for each target; state, gate and exit code are the run's."""
    of = run.results
    unknown = (UNKNOWN,) * len(_FIGURES)
    if of is None:
        yield (str(run.file), "", "not run", UNKNOWN, str(run.code), *unknown)
        return
    ended = (_state(of), _gate(of), str(run.code))
    if not of.columns:
        yield (of.run.name, "", *ended, *unknown)
    for column in of.columns:
        simulated = column.column.source is AnswerSource.SIMULATED
        name = target_cell(column.column.name, simulated)
        yield (of.run.name, name, *ended, *_figures(of, column))
        ended = ("", "", "")


def _state(of: Results) -> str:
    return f"{of.state}, partial" if of.run.partial else str(of.state)


def _figures(of: Results, column: ColumnResults) -> tuple[str, ...]:
    rates = column.rates
    return (
        rate(rates.pass_rate, of.rests_on_judges),
        rate_interval(rates),
        f"{rates.n:,}",
        f"{rates.error:,}",
        f"{rates.ungraded:,}",
        decimal(rates.mean_score),
        cost(column.counts),
    )


def _gate(of: Results) -> str:
    if of.missed is None:
        return UNKNOWN
    if of.missed:
        return "missed"
    return "unclear" if of.gate_unclear else "holds"


def _mean_row(mean: SuiteMean, suites: int) -> tuple[str, ...]:
    return (
        f"mean of {mean.suites} of {many(suites, 'suite')}",
        target_cell(mean.target, mean.simulated),
        *("", "", ""),
        rate(mean.pass_rate, mean.rests_on_judges),
        interval_cell(mean.interval),
        *("", "", ""),
        decimal(mean.mean_score),
        "",
    )


def _said(runs: Sequence[SuiteRun], code: int) -> str:
    """Return the last line: how many ended how, and the exit code of all."""
    codes = [run.code for run in runs]
    ended = ", ".join(f"{codes.count(one):,} with {one}" for one in sorted(set(codes)))
    return f"{many(len(runs), 'suite')}: {ended}; exit code {code}"
