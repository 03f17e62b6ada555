"""What a case comes to in one column: its epochs, made one value."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.states import TrialState, Verdict
from tui_eval.statistics.estimates import reduce_passes, reduce_values
from tui_eval.store.read.report_queries import GradeRow
from tui_eval.suites.spec.run import Reduce, RunSettings

_FATES = {Verdict.PASS: "passed", Verdict.FAIL: "failed", Verdict.UNGRADED: "ungraded"}


@dataclass(frozen=True, slots=True)
class CaseResult:
    """The epochs of one case in one column."""

    fates: Counter[str]
    """How many of them are `passed`, `failed`, `ungraded`, `error`, `cancelled` or `open`."""
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
    score: float | None
    """Their scores reduced; None: there is none."""
    unjudged: int
    """Those that passed because nothing was required of their outputs: they have no score."""


def fate(trial: GradeRow) -> str:
    """Return what became of a trial, as one word of `CaseResult.fates`."""
    if trial.state is TrialState.DONE and trial.verdict is not None:
        return _FATES[trial.verdict]
    return str(trial.state) if trial.state.settled else "open"


def case_result(trials: Sequence[GradeRow], rules: RunSettings, reduction: Reduce) -> CaseResult:
    """Make one result of a case's trials in one column.

    Args:
        trials: Its epochs.
        rules: The run's rules.
        reduction: Their reduction, parsed.
    """
    words = [fate(trial) for trial in trials]
    fates = Counter(words)
    passed, graded = fates["passed"], fates["passed"] + fates["failed"]
    n = graded + (fates["error"] if rules.errors == "fail" else 0)
    value = reduce_passes(passed, n, reduction)
    least, most = 0.0, 1.0
    if value is not None:
        left_out = len(words) - fates["open"] - n
        fallen = reduce_passes(passed, n + left_out, reduction)
        lifted = reduce_passes(passed + left_out, n + left_out, reduction)
        least = value if fallen is None else fallen
        most = value if lifted is None else lifted
    scores = [
        trial.score
        for trial, word in zip(trials, words, strict=True)
        if word in ("passed", "failed") and trial.score is not None
    ]
    unjudged = graded - len(scores)
    scores += [0.0] * (n - graded)  # errored ones, where they count as failed
    return CaseResult(fates, n, value, least, most, reduce_values(scores, reduction), unjudged)
