"""How far scorers agree with people, as text for a person."""

from collections.abc import Iterator, Mapping, Sequence

from tui_eval.format import decimal, interval, many, number, percent
from tui_eval.model.states import Verdict
from tui_eval.model.visible import visible_line
from tui_eval.reports.agreement.corrected_rates import CorrectedPassRate
from tui_eval.reports.agreement.measures import (
    LEAST_AMONG_PEOPLE,
    TRUSTED_FROM,
    AgreementMeasures,
    PeopleAgreement,
)
from tui_eval.reports.agreement.run_agreement import ScorerAgreement
from tui_eval.reports.terminal.tables import AnsiStyle, TableColumn, folded, table
from tui_eval.statistics.intervals import Interval
from tui_eval.store.rows import ColumnRow

_ALL = "all together"
_VERDICTS = (Verdict.PASS, Verdict.FAIL)
_SIGNS = "++ both pass, +- only the scorer does, -+ only people do, -- neither does"


def agreement_text(
    of: Sequence[ScorerAgreement], columns: Sequence[ColumnRow], *, width: int, ink: AnsiStyle
) -> str:
    """Return how far each scorer agrees with people.

    Args:
        of: The scorers.
        columns: The run's columns.
        width: Cells of a line.
        ink: Colours or none.
    """
    names = {column.index: column.name for column in columns}
    lines: list[str] = []
    for one in of:
        lines += [""] if lines else []
        lines += _scorer(one, names, width, ink)
    return "\n".join(lines)


def _scorer(of: ScorerAgreement, names: Mapping[int, str], width: int, ink: AnsiStyle) -> list[str]:
    judge = f" by {', '.join(of.judges)}" if of.judges else ""
    lines = [ink.bold(visible_line(f"{of.scorer}{judge}, beside people's grades"))]
    rows = [(names[col], one) for col, one in of.columns.items()]
    if len(rows) > 1:
        rows.append((_ALL, of.pooled))
    lines += table(_columns(rows), width, ink)
    lines.append(ink.dim(_SIGNS))
    if any(one.known for one in of.corrected.values()):
        lines += ["", *table(_corrected_columns(of.corrected, names), width, ink)]
    for said in scorer_lines(of, names):
        lines += folded(visible_line(said), width)
    return lines


def scorer_lines(of: ScorerAgreement, names: Mapping[int, str]) -> Iterator[str]:
    """Say what is to be known beside the figures: what is missing, people's ceiling, trust."""
    for col, one in of.columns.items():
        if one.why is not None:
            yield f"{names[col]}: {one.why}"
        elif (why := of.corrected[col].why) is not None:
            yield f"{names[col]}: no corrected rate: {why}"
        elif said := chosen_words(of.corrected[col]):
            yield f"{names[col]}: {said}"
    unsure = of.pooled.cannot_tell
    if unsure:
        yield f"{many(unsure, 'output')} people could not grade: in no figure"
    if len(of.columns) > 1 and of.pooled.n:
        yield f"{_ALL}: telling good targets from bad is not yet grading; read it by target"
    yield from people_lines(of.people)
    yield from trust_words(of, names)


def people_summary(of: ScorerAgreement, names: Mapping[int, str]) -> Iterator[str]:
    """Say in a line or two how far a scorer agrees with people, by target."""
    each = (f"{names[col]} {briefly(one)}" for col, one in of.columns.items() if one.n)
    yield visible_line(f"  {of.scorer} beside people's grades: {'; '.join(each)}")
    short = [names[col] for col in untrusted(of)]
    if short:
        yield visible_line(
            f"  {of.scorer}: the judge is not yet to be trusted with {', '.join(short)} "
            f"(under {_bar(of.people)})"
        )


def briefly(of: AgreementMeasures) -> str:
    """Say in a few words how far a scorer agrees with people."""
    few = "" if of.why is None else f", {of.why}"
    return f"{beyond_chance_words(of)} of {of.n:,}{few}"


def people_lines(of: PeopleAgreement) -> Iterator[str]:
    """Say how far people agree with each other; nothing where no two graded the same."""
    if not of.n:
        return
    kappas = [f"{names.replace(',', ' and ')} κ {decimal(k)}" for names, k in of.kappa.items()]
    alphas = [f"α {decimal(of.alpha_nominal)} of verdicts"] + (
        [] if of.alpha_interval is None else [f"α {decimal(of.alpha_interval)} of values"]
    )
    few = "; too few to say how far a judge can get" if of.ceiling is None else ""
    if of.ceiling is not None and of.ceiling < LEAST_AMONG_PEOPLE:
        few = "; too little to call a judge right that agrees with them"
    said = ", ".join([*kappas, *alphas])
    yield f"people agree with each other on {many(of.n, 'output')}: {said}{few}"


def trust_words(of: ScorerAgreement, names: Mapping[int, str]) -> Iterator[str]:
    """Say in which columns a scorer is not yet to be trusted, and by what."""
    short = [f"{names[col]} {beyond_chance_words(of.columns[col])}" for col in untrusted(of)]
    if short:
        yield f"not yet to be trusted: {', '.join(short)} (under {_bar(of.people)})"


def untrusted(of: ScorerAgreement) -> list[int]:
    """Return the columns in which a scorer is not yet to be trusted."""
    ceiling = of.people.ceiling
    return [col for col, one in of.columns.items() if one.trusted(ceiling) is False]


def _bar(of: PeopleAgreement) -> str:
    """Return what a judge has to reach."""
    if of.ceiling is None or of.ceiling >= TRUSTED_FROM:
        return f"{TRUSTED_FROM:.2f}"
    return f"people's own {of.ceiling:.2f}"


def beyond_chance_words(of: AgreementMeasures) -> str:
    """Say how far a scorer agrees with people beyond chance: by rank on a scale, else by κ."""
    if of.by_rank:
        return f"rank correlation {decimal(of.spearman)}"
    return f"κ {decimal(of.kappa)}"


def _columns(rows: Sequence[tuple[str, AgreementMeasures]]) -> list[TableColumn]:
    measured = [one for _, one in rows]
    ranked = any(one.spearman is not None for one in measured)
    return [
        TableColumn("target", [name for name, _ in rows], left=True),
        TableColumn("n", [number(one.n) for one in measured]),
        TableColumn("agree", [percent(one.agreement) for one in measured]),
        TableColumn("95%", [interval(one.interval) for one in measured]),
        TableColumn("κ", [decimal(one.kappa) for one in measured]),
        TableColumn("95%", [_between(one.kappa_interval) for one in measured]),
        *(
            [
                TableColumn("rank corr.", [decimal(one.spearman) for one in measured]),
                TableColumn("95%", [_between(one.spearman_interval) for one in measured]),
            ]
            if ranked
            else []
        ),
        TableColumn("++ +- -+ --", [_counts(one) for one in measured]),
    ]


def _corrected_columns(
    of: Mapping[int, CorrectedPassRate], names: Mapping[int, str]
) -> list[TableColumn]:
    known = {col: one for col, one in of.items() if one.known}
    return [
        TableColumn("target", [names[col] for col in known], left=True),
        TableColumn("corrected", [percent(one.rate) for one in known.values()]),
        TableColumn("95%", [interval(one.interval) for one in known.values()]),
        TableColumn("by", [f"{one.n:,} of {one.by}" for one in known.values()], left=True),
    ]


def corrected_line(of: CorrectedPassRate) -> str:
    """Say a corrected rate, or why there is none."""
    if not of.known:
        return f"no corrected rate: {of.why}"
    of_what = "grades" if of.by == "grades" else "outputs of gold"
    said = f"people would pass {percent(of.rate)} ({interval(of.interval)}), by {of.n:,} {of_what}"
    return "; ".join(filter(None, (said, chosen_words(of))))


def chosen_words(of: CorrectedPassRate) -> str:
    """Say how far a corrected rate rests on outputs that somebody chose; empty: it does not."""
    if not of.chosen:
        return ""
    which = "all" if of.chosen == of.n else f"{of.chosen:,}"
    return f"{which} of the {of.n:,} graded were not drawn here: right if chosen by chance"


def _counts(of: AgreementMeasures) -> str:
    """Return how many both pass, the scorer alone, people alone, neither."""
    both = ((judged, person) for judged in _VERDICTS for person in _VERDICTS)
    return " ".join(number(of.table.get(pair, 0)) for pair in both) if of.n else ""


def _between(bounds: Interval | None) -> str:
    return "" if bounds is None else f"{bounds[0]:.2f}–{bounds[1]:.2f}"
