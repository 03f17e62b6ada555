"""What of a suite a sweep needs, and why a target cannot be swept."""

from collections.abc import Iterator, Sequence
from typing import Final

from tui_eval.engine.settings import Settings
from tui_eval.model.answer_source import AnswerSource
from tui_eval.model.runs.sweep_plan import SweepPlan
from tui_eval.suites.spec import AskedSpec, Suite
from tui_eval.targets.base import at_most

_NOT_SCORED: Final[dict[str, object]] = {"scorers": (), "gate": None, "scorer_code": {}}
"""Judges stay: rows may name them, though nobody asks them."""


def sweep_suite(suite: Suite, target: str) -> Suite:
    """Return a suite that asks one target, once each time, and scores nothing.

    Budgets (`rpm`, `tpm`) and the concurrency it names are not held, see `SteadyLimiter`.
    """
    run = suite.run.model_copy(
        update={"retries": 0, "epochs": 1, "reduce": "mean", "cache": False, "max_errors": None}
    )
    targets = tuple(one for one in suite.targets if one.name == target)
    return suite.model_copy(update={**_NOT_SCORED, "targets": targets, "run": run})


def sweep_settings(plan: SweepPlan, target: str, max_cost_usd: float | None) -> Settings:
    """Return the choices of a launch that make its run a sweep."""
    return Settings(
        targets=(target,), fresh=True, no_judge=True, max_cost_usd=max_cost_usd, sweep=plan
    )


def why_not_swept(spec: AskedSpec, most: int, levels: Sequence[int]) -> str | None:
    """Say why a target cannot be swept; None: it can.

    Args:
        spec: The target, as the suite has it.
        most: How many calls to it may be in flight at all.
        levels: How many are wanted.
    """
    if spec.SOURCE is AnswerSource.RECORDED:
        return f"target {spec.name!r} has recorded answers: no API calls (replay)"
    if levels[-1] > most:
        return f"target {spec.name!r}: {at_most(most)}; give lower --levels"
    return None


def unheld(spec: AskedSpec) -> Iterator[str]:
    """Say which limits of a target a sweep leaves out of account."""
    rates = spec.call_rates()
    for name, value in (("rpm", rates.rpm), ("tpm", rates.tpm)):
        if value is not None:
            yield f"{name} = {value} of target {spec.name!r} is not held: it would be measured"
