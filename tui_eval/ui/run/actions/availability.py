"""What can be done with a run now: the one truth behind greyed keys and their answers."""

from dataclasses import dataclass, field

from tui_eval.model.states import RunState, TrialState
from tui_eval.store.read.comparing.baseline_queries import refusal
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.requests import why_not_resumed
from tui_eval.store.rows import RunRow, TrialRow
from tui_eval.ui.keys.shown_keys import key


@dataclass(frozen=True, slots=True)
class Selection:
    """What the keys of the list and of the detail act on, as the screen has it."""

    trial: TrialRow | None = None
    """Under the cursor; None: there is none, or it is still being read."""
    marked: int = 0
    """How many trials are marked."""
    listed: int = 0
    """How many trials the list has."""
    zoomed: bool = False
    """Whether one trial has the whole screen, and the list is hidden."""
    narrowed: bool = False
    """Whether some trials are not listed."""
    workspace: bool | None = None
    """Whether that trial changed anything in a workspace; None: that is still being read."""
    text_hits: bool = False
    """Whether the detail is looked at, and holds what is sought in it."""
    by_case: bool = False
    """Whether a row is a case with all its trials."""


@dataclass(frozen=True, slots=True)
class RunSituation:
    """Everything that decides which actions are available, and nothing that decides nothing.

    Two that are equal grey the same keys: whoever has painted one need not paint the other.
    """

    run_name: str
    live: bool
    """Whether an engine works on it."""
    stopping: bool
    """Whether that engine is about to leave it."""
    state: RunState
    trial: TrialState | None
    """Of the one under the cursor; None: there is none, or it is still being read."""
    has_output: bool
    """Whether that one has an output."""
    workspace: bool | None
    """See `Selection`."""
    marked: int
    """How many trials are marked and acted on: none while one has the whole screen."""
    hidden_marks: int
    """How many trials are marked and not acted on."""
    listed: bool
    """Whether any trial is listed."""
    zoomed: bool
    narrowed: bool
    text_hits: bool
    by_case: bool
    several_columns: bool
    """Whether each case is asked of several columns."""
    several_trials: bool
    """Whether a case has several trials."""
    all_settled: bool
    """Whether no trial is queued, running or being scored."""
    unfinished: bool
    """Whether a resume finds anything to do, or may find it."""
    retriable: bool
    """Whether any trial is errored or ungraded."""
    unmet: bool
    """Whether any trial did not pass."""
    scored: bool
    """Whether any trial is done."""
    graded: bool
    """Whether any trial passed or failed."""
    undoable: bool
    """Whether anything done on the screen can be undone."""
    sweep: bool
    """Whether the run measures an endpoint, and makes each call once."""
    has_file: bool
    """Whether the run came from a suite's file."""
    no_baseline: str | None
    """Why it can be no baseline; None: it can, or is one."""
    offers_changes: bool
    """Whether the suite's file, as it is now, would change verdicts, and the screen says so."""
    no_change: str | None = field(compare=False)
    """Why it would change none; counts on while the file is tried, which greys nothing."""

    @property
    def settling_in(self) -> bool:
        """Whether the trial under the cursor is still being read: in a moment it is known."""
        return self.trial is None and self.listed


def situation(
    run: RunRow,
    total: Counts,
    selection: Selection,
    *,
    columns: int = 1,
    epochs: int = 1,
    undoable: bool = False,
    pinned: bool = False,
    stopping: bool = False,
    no_change: str | None = "not tried",
) -> RunSituation:
    """Derive what decides about actions from the run as it stands and from what is selected.

    Args:
        run: The run.
        total: Its trials.
        selection: What keys act on.
        columns: How many columns the run has.
        epochs: How often each case is asked.
        undoable: See `RunSituation`.
        pinned: Whether it is its suite's baseline.
        stopping: See `RunSituation`.
        no_change: See `RunSituation`.
    """
    trial, zoomed = selection.trial, selection.zoomed
    retriable = total.error + total.ungraded > 0
    return RunSituation(
        run_name=run.name,
        live=run.live,
        stopping=stopping,
        state=run.state,
        trial=None if trial is None else trial.state,
        has_output=trial is not None and trial.output is not None,
        workspace=selection.workspace,
        marked=0 if zoomed else selection.marked,
        hidden_marks=selection.marked if zoomed else 0,
        listed=selection.listed > 0,
        zoomed=zoomed,
        narrowed=selection.narrowed,
        text_hits=selection.text_hits,
        by_case=selection.by_case,
        several_columns=columns > 1,
        several_trials=columns * epochs > 1,
        all_settled=total.settled == total.total,
        unfinished=total.settled < total.total or retriable or not run.staged,
        retriable=retriable,
        unmet=retriable or total.failed > 0,
        scored=total.done > 0,
        graded=total.graded > 0,
        undoable=undoable,
        sweep=run.is_sweep,
        has_file=run.path is not None,
        no_baseline=None if pinned else refusal(run),
        offers_changes=no_change is None,
        no_change=no_change,
    )


_OPEN = (TrialState.QUEUED, TrialState.RUNNING, TrialState.SCORING)
ABOUT_TRIALS = frozenset(("cancel", "retry", "rescore", "note", "grade"))
"""Act on the marked trials, else on the one under the cursor."""
_NEED_TRIAL = ABOUT_TRIALS | {
    "mark",
    "mark_all",
    "copy",
    "diff",
    "history",
    "zoom",
    "limit",
    "workspace",
}
_NOT_OF_SWEEPS = {
    "retry": "a sweep makes each call once",
    "limit": "a sweep sets the concurrency itself, level by level",
}


def why_not(action: str, now: RunSituation | None) -> str | None:
    """Return why an action is not available now; None: it is.

    Args:
        action: The action's name.
        now: What decides; None: the run is still being read.
    """
    if action in ("back", "leave"):
        return None
    if now is None:
        return "the run is still being read"
    if action in ABOUT_TRIALS and now.marked and not (now.sweep and action in _NOT_OF_SWEEPS):
        return None
    if action in _NEED_TRIAL:
        return _why_not_for_trial(action, now)
    return _why_not_for_list(action, now) or _why_not_for_run(action, now)


def _why_not_for_trial(action: str, now: RunSituation) -> str | None:
    if now.trial is None:
        return "it is still being read" if now.listed else "there is no trial here"
    match action:
        case "diff":
            return None if now.has_output else "it has no output to compare"
        case "mark_all":
            return "the list is hidden: esc shows it" if now.zoomed else None
        case "cancel":
            return None if now.trial in _OPEN else f"it is settled already ({now.trial})"
        case "retry" | "limit" if now.sweep:
            return _NOT_OF_SWEEPS[action]
        case "retry":
            return None if now.trial.settled else _on_its_way(now.trial)
        case "rescore":
            return _why_not_rescored(now.trial, has_output=now.has_output)
        case "grade":
            return _why_not_graded(now.trial)
        case "workspace":
            return _why_no_workspace(now)
        case "limit":
            return None if now.live else "no engine works on this run: it has no concurrency"
        case _:
            return None


def _on_its_way(trial: TrialState) -> str:
    return f"it is on its way already ({trial}); {key('run.cancel', 'c')} cancels it first"


def _why_no_workspace(now: RunSituation) -> str | None:
    if now.workspace is not False:
        return None
    if now.trial in (TrialState.QUEUED, TrialState.RUNNING):
        return f"its workspace is listed once it has ended ({now.trial})"
    return "nothing of a workspace was kept: its target has none"


def _why_not_graded(trial: TrialState) -> str | None:
    if trial is TrialState.DONE:
        return None
    if not trial.settled:
        return f"it is not scored yet ({trial})"
    return f"it has no verdict to change ({trial})"


def _why_not_rescored(trial: TrialState, *, has_output: bool) -> str | None:
    if trial is TrialState.SCORING:
        return "it is being scored"
    if not trial.settled:
        return f"it has no output yet ({trial})"
    return None if has_output else "it has no output to score"


def _why_not_for_list(action: str, now: RunSituation) -> str | None:
    match action:
        case "next_unmet" if not now.text_hits:
            return None if now.unmet else "no trial has failed"
        case "drop_filter":
            return None if now.narrowed else "nothing is filtered: all trials are listed"
        case "by_case":
            return None if now.several_trials else "each case is a single trial in this run"
        case "turn_column":
            return _why_not_turned(now)
        case "follow":
            return None if now.live else "no engine works on this run: nothing is being settled"
        case "undo":
            return None if now.undoable else "nothing was done here that can be undone"
        case _:
            return None


def _why_not_turned(now: RunSituation) -> str | None:
    if not now.several_columns:
        return "the run has one target"
    turn = key("run.by-case", "M")
    return None if now.by_case else f"a row is one trial; {turn} lists a case a row"


def _why_not_for_run(action: str, now: RunSituation) -> str | None:
    match action:
        case "stop_run" | "pause" | "resume":
            return _why_not_steered(action, now)
        case "retry_all" if now.sweep:
            return _NOT_OF_SWEEPS["retry"]
        case "retry_all":
            return None if now.retriable else "nothing is errored or ungraded"
        case "grading":
            return None if now.scored else "no trial has been scored yet: there is nothing to grade"
        case "rescore_all":
            return None if now.scored else "no trial has been scored yet"
        case "compare":
            return None if now.graded else "no trial has been graded yet"
        case "baseline":
            return now.no_baseline
        case "edit":
            return None if now.has_file else "the run came from no file"
        case "would_change":
            return now.no_change
        case _:
            return None


def _why_not_steered(action: str, now: RunSituation) -> str | None:
    if now.stopping:
        return "the run is stopping: what is in flight ends first"
    match action:
        case "stop_run":
            return None if now.live else "no engine works on this run: there is nothing to stop"
        case "pause":
            return _why_not_paused(now)
        case _:
            return _why_not_resumed(now)


def _why_not_paused(now: RunSituation) -> str | None:
    if now.live:
        return None
    if _why_not_resumed(now) is not None:
        return "no engine works on this run: there is nothing to pause"
    return f"no engine works on this run; {key('run.resume', 'u')} resumes it"


def _why_not_resumed(now: RunSituation) -> str | None:
    return why_not_resumed(now.state, now.run_name, live=now.live, unfinished=now.unfinished)
