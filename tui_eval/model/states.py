"""The states of trials and runs, and the only table of legal moves between them."""

from enum import StrEnum
from typing import Final


class TrialState(StrEnum):
    """Where a trial stands."""

    QUEUED = "queued"
    RUNNING = "running"
    SCORING = "scoring"
    DONE = "done"
    ERROR = "error"
    CANCELLED = "cancelled"

    @property
    def settled(self) -> bool:
        """Whether nothing more will happen unless somebody asks."""
        return self in (TrialState.DONE, TrialState.ERROR, TrialState.CANCELLED)


class Verdict(StrEnum):
    """What a score, or all required scores of a trial together, say of an output."""

    PASS = "pass"  # noqa: S105 - a verdict, not a password
    FAIL = "fail"
    UNGRADED = "ungraded"


class RunState(StrEnum):
    """Where a run stands."""

    PENDING = "pending"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    INTERRUPTED = "interrupted"
    CANCELLED = "cancelled"

    @property
    def settled(self) -> bool:
        """Whether no engine has anything left to do for it unless somebody asks."""
        return self in (RunState.DONE, RunState.INTERRUPTED, RunState.CANCELLED)


BULK: Final = "bulk"
"""The word of `stopped_by` for a run that is left while providers go on with what it was asked in
bulk."""


class StartRefusal(StrEnum):
    """Why an engine did not begin a run: a word of `stopped_by`."""

    TRUST = "trust"
    UNREADY = "unready"
    """What it needs is missing."""
    DATA = "data"
    """Its data was changed after it was launched, before its cases were copied."""
    VERSION = "version"
    """A program prints another version than when the run began."""
    SUITE = "suite"
    """Its data has mistakes, or a target cannot be described."""


_T = TrialState
TRIAL_MOVES: dict[TrialState, frozenset[TrialState]] = {
    # a cached output leads straight to scoring
    _T.QUEUED: frozenset({_T.RUNNING, _T.SCORING, _T.ERROR, _T.CANCELLED}),
    # back to queued only after a crash or a stop: what was in flight is lost, not failed; to done
    # where the scores are written with the output that they are of
    _T.RUNNING: frozenset({_T.SCORING, _T.DONE, _T.QUEUED, _T.ERROR, _T.CANCELLED}),
    _T.SCORING: frozenset({_T.DONE, _T.ERROR, _T.CANCELLED}),
    # settled: retry leads to queued; rescore, where there is an output, to scoring
    _T.DONE: frozenset({_T.QUEUED, _T.SCORING}),
    _T.ERROR: frozenset({_T.QUEUED, _T.SCORING}),
    _T.CANCELLED: frozenset({_T.QUEUED, _T.SCORING}),
}

_R = RunState
RUN_MOVES: dict[RunState, frozenset[RunState]] = {
    _R.PENDING: frozenset({_R.RUNNING, _R.INTERRUPTED, _R.CANCELLED}),
    _R.RUNNING: frozenset({_R.PAUSED, _R.DONE, _R.INTERRUPTED, _R.CANCELLED}),
    _R.PAUSED: frozenset({_R.RUNNING, _R.DONE, _R.INTERRUPTED, _R.CANCELLED}),
    # retry, rescore and resume take a settled run back to running; a cancelled one only a retry
    _R.DONE: frozenset({_R.RUNNING}),
    _R.INTERRUPTED: frozenset({_R.RUNNING, _R.CANCELLED}),
    _R.CANCELLED: frozenset({_R.RUNNING}),
}
