"""What three grades of each output, one of a batch and two alone, say of batching."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.judge_quality import Audit
from tui_eval.statistics.agreement import cohen_kappa, excess, spearman
from tui_eval.store.write.judges.measured_judges import ItemTokens
from tui_eval.suites.spec import JudgeSpec


@dataclass(frozen=True, slots=True)
class AuditTriple:
    """Value and verdict of one output in the batch, alone, and alone again."""

    batch: tuple[float, bool]
    first: tuple[float, bool]
    second: tuple[float, bool]


def audit_of(
    threes: Sequence[AuditTriple],
    positions: Sequence[tuple[int, float]],
    tokens: ItemTokens,
    spec: JudgeSpec,
    *,
    scaled: bool,
) -> Audit:
    """Say what batching changes.

    Args:
        threes: What the judge said in the batch, alone and alone again; at least one.
        positions: How many outputs stood at each place of a batch, with their mean score.
        tokens: What an output took.
        spec: The judge.
        scaled: Whether values are more than verdicts.
    """
    flips = excess([(one.batch[1], one.first[1], one.second[1]) for one in threes])
    assert flips is not None
    against = [(one.batch, other) for one in threes for other in (one.first, one.second)]
    alone = [(one.first, one.second) for one in threes]
    return Audit(
        n=len(threes),
        batch_size=spec.batch_size,
        max_excess_flips=spec.max_excess_flips,
        flips_batched=flips.flips,
        flips_alone=flips.noise,
        excess=flips.excess,
        low=flips.low,
        high=flips.high,
        kappa_batched=cohen_kappa([(a[1], b[1]) for a, b in against]),
        kappa_alone=cohen_kappa([(a[1], b[1]) for a, b in alone]),
        spearman_batched=_rank_correlation(against) if scaled else None,
        spearman_alone=_rank_correlation(alone) if scaled else None,
        positions=tuple(positions),
        tokens_batched=tokens.batched,
        tokens_alone=tokens.alone,
    )


def _rank_correlation(
    pairs: Sequence[tuple[tuple[float, bool], tuple[float, bool]]],
) -> float | None:
    return spearman([a[0] for a, _ in pairs], [b[0] for _, b in pairs])
