"""How far a scorer agrees with people, and people with each other."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Final

from tui_eval.format import number
from tui_eval.model.judge_quality import ENOUGH
from tui_eval.model.states import Verdict
from tui_eval.reports.agreement.graded_outputs import GradedOutput, GradedOutputs
from tui_eval.statistics.agreement import (
    cohen_kappa,
    effective_n,
    interval_distance,
    kappa_interval,
    krippendorff_alpha,
    nominal_distance,
    spearman,
    spearman_interval,
)
from tui_eval.statistics.intervals import Interval, wilson

TRUSTED_FROM: Final = 0.80
"""The least agreement beyond chance with which a judge is to be trusted, unless people agree less:
the value from which Krippendorff 2004, "Content Analysis", sec. 11.4.2, relies on a variable."""
LEAST_AMONG_PEOPLE: Final = 0.667
"""The least agreement of people by which anybody is told right from wrong; below it agreeing with
them says little (Krippendorff 2004, likewise: the lowest conceivable limit)."""
TOO_FEW: Final = f"too few to say (under {ENOUGH})"


@dataclass(frozen=True, slots=True)
class AgreementMeasures:
    """How far a scorer agrees with people, in the shares that its verdicts have in the run."""

    n: int
    """Outputs that both passed or failed."""
    table: Mapping[tuple[Verdict, Verdict], int] = field(default_factory=dict)
    """How many of them by the scorer's verdict and people's; not weighed."""
    agreement: float | None = None
    """The share of equal verdicts; None: there are none to compare."""
    interval: Interval | None = None
    kappa: float | None = None
    """Cohen's; None: all verdicts are alike."""
    kappa_interval: Interval | None = None
    ranked: int = 0
    """Outputs that both gave a value of a scale."""
    spearman: float | None = None
    """None: no scale, or no spread."""
    spearman_interval: Interval | None = None
    cannot_tell: int = 0
    """Outputs that people looked at and could not grade; in no figure."""
    why: str | None = None
    """What is to be known before the figures are believed; None: nothing."""

    @property
    def by_rank(self) -> bool:
        """Whether its grades are of a scale: then their order says how good it is, else κ."""
        return 2 * self.ranked > self.n

    @property
    def beyond_chance(self) -> float | None:
        """What says how good it is; None: unknown."""
        return self.spearman if self.by_rank else self.kappa

    def trusted(self, ceiling: float | None) -> bool | None:
        """Say whether it agrees enough; None: that is not known.

        Where people agree too little with each other (`LEAST_AMONG_PEOPLE`), nobody can be known to
        be right, but it can agree less than they do.

        Args:
            ceiling: How far people agree with each other; None: not known well.
        """
        found = self.beyond_chance
        if self.n < ENOUGH or found is None:
            return None
        if ceiling is None:
            return found >= TRUSTED_FROM
        if found < min(TRUSTED_FROM, ceiling):
            return False
        return True if ceiling >= LEAST_AMONG_PEOPLE else None


@dataclass(frozen=True, slots=True)
class PeopleAgreement:
    """How far people agree with each other."""

    n: int
    """Outputs that two or more graded."""
    kappa: Mapping[str, float | None]
    """Cohen's of each two who graded any output both, by their names; None: all alike."""
    alpha_nominal: float | None
    """Krippendorff's, of verdicts; None: nothing to compare, or all alike."""
    alpha_interval: float | None
    """Likewise of values; None too where there is no scale."""

    @property
    def ceiling(self) -> float | None:
        """What no judge can be expected to exceed; None: too few outputs to say."""
        if self.n < ENOUGH:
            return None
        return self.alpha_nominal if self.alpha_interval is None else self.alpha_interval


def agreement_measures(of: GradedOutputs, col: int | None) -> AgreementMeasures:
    """Say how far a scorer agrees with people in one column; None: in all together."""
    outputs = of.verdicts_of(col)
    unsure = of.cannot_tell[col] if col is not None else of.cannot_tell.total()
    if not outputs:
        return AgreementMeasures(0, cannot_tell=unsure, why="nobody has graded its outputs")
    weights = of.weights(outputs)
    pairs = [(one.judged, one.person) for one in outputs]
    equal = sum(w for w, (judged, person) in zip(weights, pairs, strict=True) if judged is person)
    share = equal / sum(weights)
    ranked, rho, rho_interval = _ranks(outputs, weights)
    return AgreementMeasures(
        n=len(outputs),
        table=Counter(pairs),
        agreement=share,
        interval=wilson(share, effective_n(weights)),
        kappa=cohen_kappa(pairs, weights),
        kappa_interval=kappa_interval(pairs, weights),
        ranked=ranked,
        spearman=rho,
        spearman_interval=rho_interval,
        cannot_tell=unsure,
        why=_why(of, outputs, col),
    )


def _ranks(
    outputs: Sequence[GradedOutput], weights: Sequence[float]
) -> tuple[int, float | None, Interval | None]:
    both = [
        (one.judged_value, one.person_value, weight)
        for one, weight in zip(outputs, weights, strict=True)
        if one.judged_value is not None and one.person_value is not None
    ]
    by = [weight for _, _, weight in both]
    rho = spearman([judged for judged, _, _ in both], [person for _, person, _ in both], by)
    return len(both), rho, None if rho is None else spearman_interval(rho, effective_n(by))


def _why(of: GradedOutputs, outputs: Sequence[GradedOutput], col: int | None) -> str | None:
    there = {(one.col, one.judged) for one in outputs}
    unseen = Counter(
        {
            verdict: sum(
                n
                for key, n in of.shares.items()
                if key[1] is verdict and key not in there and col in (None, key[0])
            )
            for verdict in (Verdict.PASS, Verdict.FAIL)
        }
    )
    said = [TOO_FEW] if len(outputs) < ENOUGH else []
    for verdict, words in ((Verdict.PASS, "passed"), (Verdict.FAIL, "failed")):
        if unseen[verdict]:
            said.append(f"none of {number(unseen[verdict])} that it {words} is graded")
    moved = of.otherwise[col] if col is not None else of.otherwise.total()
    if moved:
        said.append(
            f"drawn by earlier verdicts: of {number(moved)} it said otherwise then, so the figures "
            "are not those of the run"
        )
    return "; ".join(said) or None


def people_agreement(of: GradedOutputs) -> PeopleAgreement:
    """Say how far people agree with each other about the outputs that several graded."""
    graded = Counter(trial for said in of.people.values() for trial in said)
    several = [trial for trial, n in graded.items() if n > 1]
    kappa: dict[str, float | None] = {}
    for a, b in combinations(sorted(of.people), 2):
        both = [
            (of.people[a][trial].verdict, of.people[b][trial].verdict)
            for trial in several
            if trial in of.people[a] and trial in of.people[b]
        ]
        if both:
            kappa[f"{a},{b}"] = cohen_kappa(both)
    verdicts = [
        [float(said[trial].verdict is Verdict.PASS) for said in of.people.values() if trial in said]
        for trial in several
    ]
    values = [
        [
            value
            for said in of.people.values()
            if trial in said and (value := said[trial].value) is not None
        ]
        for trial in several
    ]
    return PeopleAgreement(
        n=len(several),
        kappa=kappa,
        alpha_nominal=krippendorff_alpha(verdicts, nominal_distance),
        alpha_interval=krippendorff_alpha(values, interval_distance),
    )
