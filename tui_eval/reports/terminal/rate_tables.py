"""Tables of rates: cells of targets, and a row for each scorer and each tag."""

from collections.abc import Iterator, Sequence

from tui_eval.format import (
    UNKNOWN,
    cost,
    counted,
    decimal,
    interval,
    number,
    rate,
    seconds,
)
from tui_eval.model.answer_source import AnswerSource
from tui_eval.reports.column_results import ColumnResults
from tui_eval.reports.rates.run_rates import SMALL_GROUP, Rates
from tui_eval.reports.results import Results
from tui_eval.reports.terminal.tables import AnsiStyle, TableColumn, folded, table
from tui_eval.statistics.intervals import Interval


def target_cell(name: str, simulated: bool) -> str:
    """Return a target's name for a cell; what is simulated says so."""
    return f"{name} (simulated)" if simulated else name


def rate_columns(rates: Sequence[Rates], judged: bool = False) -> list[TableColumn]:
    """Return the columns of pass rates; with `~` where they rest on a judge."""
    return [
        TableColumn("pass", [rate(of.pass_rate, judged) for of in rates]),
        TableColumn("95%", [rate_interval(of) for of in rates]),
        *_reduced_columns(rates, judged),
        TableColumn("n", [f"{of.n:,}" for of in rates]),
    ]


def _reduced_columns(rates: Sequence[Rates], judged: bool) -> Iterator[TableColumn]:
    """Yield the columns of the further reducers."""
    for name in rates[0].reduced if rates else ():
        found = [of.reduced[name] for of in rates]
        yield TableColumn(name, [rate(of.pass_rate, judged) for of in found])
        yield TableColumn("95%", [interval_cell(of.interval) for of in found])


def rate_interval(of: Rates) -> str:
    """Return the interval of a pass rate for a cell; `so far` while trials are open."""
    return "so far" if of.open else interval_cell(of.interval)


def interval_cell(of: Interval | None) -> str:
    """Return an interval of shares for a cell: `66.1–77.4%`."""
    return UNKNOWN if of is None else f"{interval(of)}%"


def counted_cell(n: int) -> str:
    """Return a number for a cell."""
    return f"{n:,}"


def target_columns(columns: Sequence[ColumnResults], judged: bool) -> list[TableColumn]:
    """Return the columns of a run's summary: a row for each target.

    Args:
        columns: The targets.
        judged: Whether verdicts rest on judges.
    """
    rates = [of.rates for of in columns]
    names = [
        target_cell(of.column.name, of.column.source is AnswerSource.SIMULATED) for of in columns
    ]
    return [
        TableColumn("target", names, left=True),
        *rate_columns(rates, judged),
        TableColumn("errors", [counted_cell(of.error) for of in rates]),
        TableColumn("ungraded", [counted_cell(of.ungraded) for of in rates]),
        TableColumn("truncated", [counted_cell(of.cut_short) for of in columns]),
        TableColumn("mean", [decimal(of.mean_score) for of in rates]),
        TableColumn("p50", [seconds(of.p50_s) for of in columns]),
        TableColumn("p95", [seconds(of.p95_s) for of in columns]),
        TableColumn(
            "tokens in/out",
            [
                f"{number(counted(of.counts.input_tokens))}/{number(counted(of.counts.output_tokens))}"
                for of in columns
            ],
        ),
        TableColumn("cost", [cost(of.counts) for of in columns]),
    ]


def scorer_table(of: Results, width: int, ink: AnsiStyle) -> list[str]:
    """Return the lines of a table with a row for each scorer of each target."""
    rows = [
        (column, name, tally) for column in of.columns for name, tally in column.scorers.items()
    ]
    if not rows:
        return []
    rows.sort(key=lambda row: not row[2].required)  # what decides first
    names = [name if tally.required else f"{name} (reported)" for _, name, tally in rows]
    columns = [
        TableColumn("scorer", names, left=True),
        TableColumn("target", [column.column.name for column, _, _ in rows], left=True),
        TableColumn(
            "pass",
            [_scorer_rate(of, column, name, tally.pass_rate) for column, name, tally in rows],
        ),
        *(
            TableColumn(
                one.name,
                [
                    _scorer_rate(of, column, name, tally.reduced[one.name].mean)
                    for column, name, tally in rows
                ],
            )
            for one in of.suite.run.reductions[1:]
        ),
        TableColumn("passed", [counted_cell(tally.passed) for _, _, tally in rows]),
        TableColumn("failed", [counted_cell(tally.failed) for _, _, tally in rows]),
        TableColumn("ungraded", [counted_cell(tally.ungraded) for _, _, tally in rows]),
        TableColumn("mean", [decimal(tally.mean) for _, _, tally in rows]),
    ]
    return ["", *table(columns, width, ink)]


def _scorer_rate(of: Results, column: ColumnResults, name: str, share: float | None) -> str:
    """Return the share of cases a scorer passes."""
    return _unless_few(column.rates, share, any(one.scorer == name for one in of.judges))


def _unless_few(over: Rates, share: float | None, judged: bool) -> str:
    """Return a rate for a cell; so few cases carry none."""
    return "few" if over.small else rate(share, judged)


def tag_table(of: Results, width: int, ink: AnsiStyle) -> list[str]:
    """Return the lines of a table with a row for each tag of each target."""
    rows = [(column, tag, column.tags[tag]) for tag in of.tags for column in of.columns
            if tag in column.tags]  # fmt: skip
    if not rows:
        return []
    judged = of.rests_on_judges
    rates = [one for _, _, one in rows]
    columns = [
        TableColumn("tag", [tag for _, tag, _ in rows], left=True),
        TableColumn("target", [column.column.name for column, _, _ in rows], left=True),
        TableColumn("pass", [_unless_few(one, one.pass_rate, judged) for one in rates]),
        TableColumn("95%", ["" if one.small else rate_interval(one) for one in rates]),
        *(
            TableColumn(
                name, [_unless_few(one, one.reduced[name].pass_rate, judged) for one in rates]
            )
            for name in rates[0].reduced
        ),
        TableColumn("passed", [counted_cell(one.passed) for one in rates]),
        TableColumn("failed", [counted_cell(one.failed) for one in rates]),
        TableColumn("errors", [counted_cell(one.error) for one in rates]),
        TableColumn("ungraded", [counted_cell(one.ungraded) for one in rates]),
    ]
    lines = ["", *table(columns, width, ink)]
    if any(one.small for one in rates):
        why = f"few: under {SMALL_GROUP} cases, so counts and no rate"
        lines += [ink.dim(line) for line in folded(why, width)]
    return lines
