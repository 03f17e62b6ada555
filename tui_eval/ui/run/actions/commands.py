"""What can be asked of a run: the question before it, its name while it waits, how it ended."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_eval.format import many
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import TrialState, Verdict
from tui_eval.model.visible import visible_line
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.rows import ColumnRow, RequestRow, TrialRow
from tui_eval.ui.keys.shown_keys import key

if TYPE_CHECKING:
    from tui_eval.engine.preflight.request_forecast import RequestForecast

DOING = {
    Verb.CANCEL: "cancelling…",
    Verb.RETRY: "retrying…",
    Verb.RESCORE: "rescoring…",
    Verb.PAUSE: "pausing…",
    Verb.CONTINUE: "resuming…",
    Verb.STOP: "stopping…",
    Verb.CANCEL_RUN: "cancelling the run…",
    Verb.RESUME: "resuming…",
    Verb.SET_LIMIT: "setting concurrency…",
    Verb.UNCANCEL: "undoing the cancel…",
    Verb.WITHDRAW: "withdrawing scores…",
    Verb.GRADE: "grading…",
}
"""What a request is called while it waits for its answer."""
_LONGEST_ABOUT = 80
"""Characters of a trial's name in an answer."""
_WITHDRAWN = "grade by hand withdrawn"
_DONE = {
    Verb.CANCEL: "cancelled",
    Verb.RETRY: "on its way again",
    Verb.RESCORE: "being scored again",
    Verb.PAUSE: "paused: what is in flight ends, nothing new starts",
    Verb.CONTINUE: "resumed",
    Verb.STOP: "stopping: what is in flight ends, nothing new starts",
    Verb.CANCEL_RUN: "the run is cancelled",
    Verb.RESUME: "resumed",
    Verb.SET_LIMIT: "concurrency",
    Verb.UNCANCEL: "cancelled no more",
    Verb.WITHDRAW: "what was graded before counts again",
    Verb.GRADE: "graded by hand",
}


@dataclass(frozen=True, slots=True)
class Command:
    """Something to ask of a run, and the question that comes before it."""

    verb: Verb
    args: JsonObject
    question: str | None = None
    """What the person is asked first; None: nothing."""
    yes: str = ""
    """What `enter` does then, as its button names it: `Cancel 3 trials`."""
    no: str = ""
    """What `esc` leaves, likewise: `Keep them`."""
    more: str = ""
    """What follows from it."""
    about: str = ""
    """The one trial it is about, as its answer names it; foreign. Empty: it is about others."""


def forecast_words(
    db: sqlite3.Connection, run: int, verb: Verb, args: JsonObject
) -> "RequestForecast":
    """Return what a request about trials takes; in a thread."""
    # imported late: the suite's format is slow to load, and the first picture needs none of it
    from tui_eval.engine.preflight.request_forecast import request_forecast

    return request_forecast(db, run, verb, args)


def trial_args(trials: Sequence[int]) -> JsonObject:
    """Return the arguments of a request about trials by their ids."""
    ids: list[Json] = list(trials)
    return {"trials": ids}


def about_trials(
    verb: Verb,
    trials: Sequence[int],
    taken: "RequestForecast | None" = None,
    lost: str | None = None,
) -> Command:
    """Return the command about trials by their ids; it has a question where they are several.

    Args:
        verb: What is asked.
        trials: Their ids.
        taken: What it takes; None: not known.
        lost: The case of a single one whose answer is superseded for good: then it has one too.
    """
    args = trial_args(trials)
    if len(trials) == 1 and lost is None:
        return Command(verb, args)
    count = lost if lost is not None else many(len(trials), "trial")
    cost = "" if taken is None else f"{taken.words()}; "
    match verb:
        case Verb.CANCEL:
            return Command(
                verb,
                args,
                f"Cancel {count}?",
                f"Cancel {count}",
                "Keep them",
                f"What they have produced is kept; {key('run.undo', 'U')} undoes it.",
            )
        case Verb.RETRY:
            whose = "its output and scores" if lost is not None else "their outputs and scores"
            more = f"{cost}{whose} are superseded, which cannot be undone."
            return Command(
                verb, args, f"Retry {count}?", f"Retry {count}", "Keep them", sentence(more)
            )
        case _:
            more = f"{cost}no target is asked; {key('run.undo', 'U')} undoes it."
            question = f"Score {count} again?"
            return Command(
                verb, args, question, f"Score {count}", "Keep the scores", sentence(more)
            )


def retry_all(errors: int, ungraded: int, taken: "RequestForecast | None" = None) -> Command:
    """Return the command that retries everything errored or ungraded, which takes so much."""
    count = many(errors + ungraded, "trial")
    parts = [f"{n:,} {word}" for n, word in ((errors, "errored"), (ungraded, "ungraded")) if n]
    cost = "" if taken is None else f": {taken.words()}"
    return Command(
        Verb.RETRY,
        {"which": ["errors", "ungraded"]},
        f"Retry {count}?",
        f"Retry {count}",
        "Keep what is there",
        f"{', '.join(parts)}{cost}. Outputs of those ungraded are superseded.",
    )


@dataclass(frozen=True, slots=True)
class InverseCommand:
    """The command that undoes what a request did."""

    words: str
    """What it did, as after “undone: ”."""
    command: Command


def inverse_of(request: RequestRow, about: str = "") -> InverseCommand | None:
    """Return how to undo what a request did; None: it cannot be undone, or did nothing.

    Args:
        request: The request.
        about: See `Command`.
    """
    if request.outcome != Outcome.ACCEPTED:
        return None
    args: JsonObject = {"request": request.id}
    what = _name(about) or (request.detail or "").partition(";")[0]
    match Verb(request.verb):
        case Verb.CANCEL:
            return InverseCommand(f"cancelling {what}", Command(Verb.UNCANCEL, args))
        case Verb.RESCORE:
            return InverseCommand(f"scoring {what} again", Command(Verb.WITHDRAW, args))
        case Verb.GRADE:
            return InverseCommand(f"grading {what}", Command(Verb.WITHDRAW, args))
        case _:
            return None


def sentence(text: str) -> str:
    """Return a text with its first letter large."""
    return f"{text[0].upper()}{text[1:]}"


def stop(open_trials: int) -> Command:
    """Return the command that stops the run."""
    return Command(
        Verb.STOP,
        {},
        "Stop the run?",
        "Stop the run",
        "Let it run",
        f"{many(open_trials, 'trial')} stay open; {key('run.resume', 'u')} resumes it and calls "
        "nothing twice.",
    )


def answer_words(
    request: RequestRow, columns: Sequence[ColumnRow], about: str = ""
) -> tuple[str, bool]:
    """Say how a request ended, and whether it did what was asked.

    Args:
        request: The request.
        columns: Those of the run: an endpoint is named by them.
        about: See `Command`.
    """
    verb = Verb(request.verb)
    accepted = request.outcome == Outcome.ACCEPTED
    detail = request.detail or ""
    if verb in (Verb.RESUME, Verb.STOP) and accepted:
        return _DONE[verb], True  # the rest is seen at once
    if not accepted:
        asked = "not undone" if verb in (Verb.UNCANCEL, Verb.WITHDRAW) else str(verb)
        return f"{asked}: {detail or request.outcome}", False
    if verb is Verb.SET_LIMIT and (asking := columns_at(request.args.get("endpoint"), columns)):
        return f"concurrency of {asking}: {detail}", True
    done = _WITHDRAWN if verb is Verb.GRADE and _withdraws(request.args) else _DONE[verb]
    moved, sign, more = detail.partition("; ")
    detail = f"{_name(about) or moved}{sign}{more}"
    undo = "" if inverse_of(request) is None else f"; {key('run.undo', 'U')} undoes it"
    return f"{done}: {detail}{undo}" if detail else f"{done}{undo}", True


def _name(about: str) -> str:
    return visible_line(about, _LONGEST_ABOUT)


def columns_at(endpoint: Json, columns: Sequence[ColumnRow]) -> str:
    """Name the columns that ask at an endpoint; empty: there is none."""
    asking = [column.name for column in columns if column.endpoint == endpoint]
    more = f" and {len(asking) - 1} more" if len(asking) > 1 else ""
    return f"{asking[0]}{more}" if asking else ""


def _withdraws(args: JsonObject) -> bool:
    """Whether a request about grades by hand gives none."""
    grades = args.get("grades")
    return isinstance(grades, list) and not any(
        isinstance(one, dict) and "verdict" in one for one in grades
    )


class PendingRequests:
    """What is asked of trials and not answered yet."""

    def __init__(self, requests: Sequence[RequestRow] = ()) -> None:
        self._requests = tuple(request.id for request in requests)
        self._named: dict[int, str] = {}
        """By trial."""
        self._alike: list[tuple[str, JsonObject]] = []
        """Words for trials that stand so, with what says which they are."""
        for request in requests:
            words, trials = DOING[Verb(request.verb)], request.args.get("trials")
            if isinstance(trials, list):
                self._named.update((trial, words) for trial in trials if isinstance(trial, int))
            elif "which" in request.args:
                self._alike.append((words, request.args))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PendingRequests) and self._requests == other._requests

    __hash__ = None  # type: ignore[assignment]  # nobody needs it in a set

    def words(self, trial: TrialRow) -> str | None:
        """Say what is asked of a trial; None: nothing."""
        named = self._named.get(trial.id)
        if named is not None:
            return named
        return next((words for words, args in self._alike if _applies_to(trial, args)), None)


def _applies_to(trial: TrialRow, args: JsonObject) -> bool:
    """Whether a request is about a trial as it stands now, see `store.requests.ask`."""
    cases, which = args.get("cases"), args["which"]
    if isinstance(cases, list) and trial.case_id not in cases:
        return False
    stands = {
        "all": True,
        "open": not trial.state.settled,
        "errors": trial.state is TrialState.ERROR,
        "failed": trial.verdict is Verdict.FAIL,
        "ungraded": trial.verdict is Verdict.UNGRADED,
        "cancelled": trial.state is TrialState.CANCELLED,
    }
    return any(stands.get(str(word), False) for word in _words(which))


def _words(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [value]


def for_run(pending: Sequence[RequestRow]) -> list[str]:
    """Return the words for what is asked of the run as a whole, each once."""
    asked = [DOING[Verb(request.verb)] for request in pending if "trials" not in request.args]
    return list(dict.fromkeys(asked))
