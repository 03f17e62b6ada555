"""What a case comes to in one column: its epochs, made one value."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, Protocol

from tui_eval.model.reduction import Reduce
from tui_eval.model.states import TrialState, Verdict
from tui_eval.statistics.estimates import reduce_passes, reduce_values

_GRADED = {Verdict.PASS: "passed", Verdict.FAIL: "failed", Verdict.UNGRADED: "ungraded"}


class GradedTrial(Protocol):
    """What a result needs of a trial."""

    @property
    def state(self) -> TrialState:
        """Where it stands."""

    @property
    def verdict(self) -> Verdict | None:
        """What came of it; None: nothing yet."""

    @property
    def score(self) -> float | None:
        """Its score; None: it has none."""


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """What the epochs of one case in one column come to."""

    fates: Counter[str]
    """How many are `passed`, `failed`, `ungraded`, `error`, `cancelled` or `open`; not changed."""
    n: int
    """Those that count: passed, failed, and errored ones where they count as failed."""
    value: float | None
    """In 0..1, as they are reduced; None: too few of them are graded."""
    least: float
    """The value if all that was left out had failed."""
    most: float
    """The value if all that was left out had passed.

    A case without a value is within 0..1, even where its epochs narrow that: it is left out as a
    whole, and a rate that it would lift if they had failed is not outside its bounds.
    """


def fate(trial: GradedTrial) -> str:
    """Return what became of a trial, as one word of `CaseVerdict.fates`."""
    state, verdict = trial.state, trial.verdict
    if state is TrialState.DONE and verdict is not None:
        return _GRADED[verdict]
    return str(state) if state.settled else "open"


@lru_cache(maxsize=4096)
def case_verdict(
    fates: tuple[str, ...], errors: Literal["leave_out", "fail"], reduction: Reduce
) -> CaseVerdict:
    """Make one result of a case's trials in one column.

    Args:
        fates: What became of each of its epochs, see `fate`.
        errors: Whether errored ones are left out, or count as failed.
        reduction: How epochs are reduced.
    """
    of = Counter(fates)
    passed = of["passed"]
    n = passed + of["failed"] + (of["error"] if errors == "fail" else 0)
    value = reduce_passes(passed, n, reduction)
    if value is None:
        return CaseVerdict(of, n, None, 0.0, 1.0)
    left_out = len(fates) - of["open"] - n
    least = reduce_passes(passed, n + left_out, reduction)
    most = reduce_passes(passed + left_out, n + left_out, reduction)
    return CaseVerdict(
        of, n, value, value if least is None else least, value if most is None else most
    )


def graded_scores(trials: Sequence[GradedTrial], fates: Sequence[str]) -> list[float]:
    """Return the scores of those trials that passed or failed and have one."""
    return [
        trial.score
        for trial, word in zip(trials, fates, strict=True)
        if word in ("passed", "failed") and trial.score is not None
    ]


def case_score(scores: Sequence[float], verdict: CaseVerdict, reduction: Reduce) -> float | None:
    """Make one score of a case's trials; those that errored and count as failed have scored 0."""
    failed = verdict.n - verdict.fates["passed"] - verdict.fates["failed"]
    return reduce_values([*scores, *[0.0] * failed], reduction)
