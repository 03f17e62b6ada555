"""How many requests to judges it takes to score trials, before anybody is asked."""

from collections.abc import Mapping
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # slow to load, and the app asks too
    from tui_eval.suites.spec import Suite


def batches(suite: "Suite") -> dict[str, float]:
    """Give the judge calls for each trial, by the names of the scorers that ask a judge."""
    sizes = {judge.name: judge for judge in suite.judges}
    return {
        scorer.name: sum(
            sizes[name].repeats / sizes[name].batch_size
            for name in ([scorer.judge] if isinstance(scorer.judge, str) else scorer.judge or [])
            if name in sizes
        )
        for scorer in suite.scorers
        if scorer.kind == "judge"
    }


def judge_calls(known: Mapping[str, float], scorers: object, trials: int) -> int:
    """Give about how many judge calls it takes to score so many trials.

    Args:
        known: Calls for each trial, see `batches`.
        scorers: The names of those that grade; none: all.
        trials: How many trials.
    """
    named = [str(name) for name in scorers] if isinstance(scorers, list | tuple) else []
    return sum(ceil(trials * known[name]) for name in named or known if name in known)
