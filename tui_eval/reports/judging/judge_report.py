"""What a run's judges did, as JSON and in words."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import reduce
from itertools import groupby
from typing import Final

from tui_eval.format import cost, counted, many, percent
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.judge_quality import ENOUGH, Audit, GoldAgreement
from tui_eval.model.visible import visible_line
from tui_eval.reports.json_output import dollars, rounded
from tui_eval.store.read.judges.judge_figures import JudgeFigures, JudgeRequests

_DIFFERENCES: Final = 20
"""Outputs a judge and a person differ about that are listed in words."""


def judges(of: Sequence[JudgeFigures]) -> JsonObject:
    """Return the judges by name: what each was asked, what it took, and what came of it."""
    return {
        judge: {
            "model": group[0].model,
            "models": dict[str, Json](_models(group)),
            "simulated": group[0].simulated,
            "calls": asked.calls,
            "items": asked.items,
            "asked_again": asked.asked_again,
            "failed": asked.failed,
            "lost": asked.lost,
            "tokens": {
                "input": counted(asked.input_tokens),
                "output": counted(asked.output_tokens),
            },
            "cost_usd": dollars(asked.cost_usd),
            "scorers": {
                one.scorer: {
                    "findings": one.findings,
                    "ungraded": one.ungraded,
                    "cached": one.cached,
                    "flaky": one.flaky,
                    "sd": rounded(one.sd),
                    "counted_unmet": one.counted_unmet,
                    "audit": None if one.audit is None else _audit(one.audit),
                    "gold": None if one.gold is None else one.gold.as_json(),
                }
                for one in group
            },
        }
        for judge, group, asked in _by_judge(of)
    }


def totals(of: Sequence[JudgeFigures]) -> JudgeRequests:
    """Return what the judges were asked and took together; of nobody asked, the cost is unknown."""
    asked = reduce(JudgeRequests.__add__, (one.asked for one in of), JudgeRequests())
    return asked if asked.calls else replace(asked, cost_usd=None)


def judge_lines(of: Sequence[JudgeFigures]) -> Iterator[str]:
    """Say of each judge in a line what it did."""
    for judge, group, asked in _by_judge(of):
        model, models = group[0].model, _models(group)
        named = visible_line(judge, 60)
        if group[0].simulated:
            named += " (simulated)"
        elif len(models) > 1:  # not all it was asked went to the one it is now
            each = (f"{visible_line(one, 60)} {many(n, 'call')}" for one, n in models.items())
            named += f" ({', '.join(each)})"
        elif model is not None and model != judge:
            named += f" ({visible_line(model, 60)})"
        parts = [f"{many(asked.calls, 'call')} for {many(asked.items, 'output')}"]
        counted = (
            (asked.asked_again, "asked again"),
            (asked.failed, "failed"),
            (asked.lost, "may have been sent as an engine ended"),
            (sum(one.ungraded for one in group), "ungraded"),
            (sum(one.flaky for one in group), "flaky"),
            (
                sum(one.counted_unmet for one in group),
                "ungraded requirements counted as not met",
            ),
            (sum(one.cached for one in group), "from the cache"),
        )
        parts += [f"{n:,} {what}" for n, what in counted if n]
        if asked.calls:
            parts.append(cost(asked))
        yield f"~ judge {named}: {', '.join(parts)}"
        for one in group:
            yield from trust_lines(one)


def _models(group: Sequence[JudgeFigures]) -> Counter[str]:
    """Return the requests to each model a judge was, whatever they were for."""
    found: Counter[str] = Counter()
    for one in group:
        found.update(one.models)
    return found


def _audit(of: Audit) -> JsonObject:
    return {**of.as_json(), "batching_off": of.batching_off, "tokens_saved": of.tokens_saved}


def trust_lines(of: JudgeFigures) -> Iterator[str]:
    """Say how far a judge is to be trusted with a scorer, where that was measured."""
    scorer = visible_line(of.scorer, 60)
    if of.sd is not None:
        yield f"  {scorer}: repeats of one output differ by sd {of.sd:.3f} (values are 0 to 1)"
    if (audit := of.audit) is not None:
        too_few = "" if audit.enough else f"; too few to say (under {ENOUGH})"
        allowed = f"; batching is off: {100 * audit.max_excess_flips:.1f} points are allowed"
        off = allowed if audit.batching_off else ""
        saved = (
            "" if audit.tokens_saved is None else f"; {percent(audit.tokens_saved)} fewer tokens"
        )
        yield (
            f"  {scorer}: in a batch {percent(audit.flips_batched)} of {audit.n:,} verdicts differ "
            f"from those alone, alone {percent(audit.flips_alone)} among themselves: excess "
            f"{_points(audit.excess)} ({_points(audit.low)} to {_points(audit.high)} points)"
            f"{too_few}{off}{saved}"
        )
    if (gold := of.gold) is not None:
        between = ""
        if gold.low is not None and gold.high is not None:
            between = f" ({100 * gold.low:.1f}–{100 * gold.high:.1f}%)"
        kappa = "" if gold.kappa is None else f", κ {gold.kappa:.2f}"
        rho = "" if gold.spearman is None else f", rank correlation {gold.spearman:.2f}"
        too_few = "" if gold.enough else f"; too few to say (under {ENOUGH})"
        least = [
            *([] if gold.min_agreement is None else [f"at least {percent(gold.min_agreement)}"]),
            *([] if gold.min_spearman is None else [f"a correlation of {gold.min_spearman:.2f}"]),
        ]
        asked = f"; {' and '.join(least)} is asked for" if least else ""
        silent = f"; {gold.ungraded:,} ungraded" if gold.ungraded else ""
        yield (
            f"  {scorer}: agrees with a person on {percent(gold.agreement)} of "
            f"{many(gold.n, 'output')}{between}{kappa}{rho}{asked}{silent}{too_few}"
        )
        yield from _differences(gold)


def _differences(gold: GoldAgreement) -> Iterator[str]:
    """List where a judge differs from a person: what was asked, both grades, the judge's reason."""
    for one in gold.differences[:_DIFFERENCES]:
        yield (
            f"    {visible_line(one.input, 60)} → {visible_line(one.output, 60)}: person "
            f"{one.person}, judge {one.judge}: {visible_line(one.reason, 160)}"
        )
    left = len(gold.differences) - _DIFFERENCES
    if left > 0:
        yield f"    {left:,} more in `show --json`"


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"


def _by_judge(
    of: Sequence[JudgeFigures],
) -> Iterator[tuple[str, list[JudgeFigures], JudgeRequests]]:
    in_order = sorted(of, key=lambda one: (one.judge, one.scorer))
    for judge, figures in groupby(in_order, key=lambda one: one.judge):
        group = list(figures)
        yield (
            judge,
            group,
            reduce(JudgeRequests.__add__, (one.asked for one in group), JudgeRequests()),
        )
