"""How far scorers agree with people, as JSON."""

from collections.abc import Mapping, Sequence

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import Verdict
from tui_eval.reports.agreement.corrected_rates import CorrectedPassRate
from tui_eval.reports.agreement.measures import AgreementMeasures, PeopleAgreement
from tui_eval.reports.agreement.run_agreement import ScorerAgreement
from tui_eval.reports.json_output import bounds, rounded
from tui_eval.store.rows import ColumnRow

_VERDICTS = (Verdict.PASS, Verdict.FAIL)


def agreement_document(of: Sequence[ScorerAgreement], columns: Sequence[ColumnRow]) -> JsonObject:
    """Return what `agreement --json` prints.

    Args:
        of: The scorers.
        columns: The run's columns.
    """
    names = {column.index: column.name for column in columns}
    return {"scorers": {one.scorer: _scorer(one, names) for one in of}}


def corrected_document(of: CorrectedPassRate | None) -> Json:
    """Return a corrected rate, or why there is none; null where none can be meant."""
    if of is None:
        return None
    return {
        "by": of.by,
        "rate": rounded(of.rate),
        "ci95": bounds(of.interval),
        "n": of.n,
        "chosen": of.chosen,
        "why": of.why,
    }


def _scorer(of: ScorerAgreement, names: Mapping[int, str]) -> JsonObject:
    ceiling = of.people.ceiling
    return {
        "judge": ", ".join(of.judges) or None,
        "columns": {
            names[col]: {
                **_measures(one, ceiling),
                "corrected": corrected_document(of.corrected[col]),
            }
            for col, one in of.columns.items()
        },
        "pooled": _measures(of.pooled, ceiling),
        "people": _people(of.people),
        "gold": {judge: gold.as_json() for judge, gold in of.gold.items()},
    }


def _measures(of: AgreementMeasures, ceiling: float | None) -> JsonObject:
    return {
        "n": of.n,
        "table": {
            judged: {person: of.table.get((judged, person), 0) for person in _VERDICTS}
            for judged in _VERDICTS
        },
        "agreement": rounded(of.agreement),
        "agreement_ci95": bounds(of.interval),
        "kappa": rounded(of.kappa),
        "kappa_ci95": bounds(of.kappa_interval),
        "spearman": rounded(of.spearman),
        "spearman_ci95": bounds(of.spearman_interval),
        "cannot_tell": of.cannot_tell,
        "trusted": of.trusted(ceiling),
        "why": of.why,
    }


def _people(of: PeopleAgreement) -> JsonObject:
    return {
        "n": of.n,
        "kappa": {names: rounded(kappa) for names, kappa in of.kappa.items()},
        "alpha_nominal": rounded(of.alpha_nominal),
        "alpha_interval": rounded(of.alpha_interval),
    }
