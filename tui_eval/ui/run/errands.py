"""Requests of a run on their way: what they are called while they wait, and how they ended."""

from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.model.json import Json, JsonObject
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.rows import RequestRow
from tui_eval.ui.words import many

DOING = {
    Verb.CANCEL: "cancelling…",
    Verb.RETRY: "retrying…",
    Verb.RESCORE: "rescoring…",
    Verb.PAUSE: "pausing…",
    Verb.CONTINUE: "going on…",
    Verb.STOP: "stopping…",
    Verb.CANCEL_RUN: "cancelling the run…",
    Verb.RESUME: "resuming…",
    Verb.SET_LIMIT: "setting concurrency…",
}
"""What a request is called while it waits for its answer."""
_DONE = {
    Verb.CANCEL: "cancelled",
    Verb.RETRY: "on its way again",
    Verb.RESCORE: "being scored again",
    Verb.PAUSE: "paused: what is in flight ends, nothing new starts",
    Verb.CONTINUE: "going on",
    Verb.STOP: "stopped; u resumes it",
    Verb.CANCEL_RUN: "the run is cancelled",
    Verb.RESUME: "resumed",
    Verb.SET_LIMIT: "concurrency",
}


@dataclass(frozen=True, slots=True)
class Errand:
    """Something to ask of a run, and the question that comes before it."""

    verb: Verb
    args: JsonObject
    question: str | None = None
    """What the person is asked first; None: nothing."""
    yes: str = ""
    """What `enter` does then, as a verb."""
    more: str = ""
    """What follows from it."""


def about_trials(verb: Verb, trials: Sequence[int]) -> Errand:
    """Give the errand about trials by their ids; more than one is asked about first."""
    ids: list[Json] = list(trials)
    args: JsonObject = {"trials": ids}
    if len(trials) == 1:
        return Errand(verb, args)
    count = many(len(trials), "trial")
    match verb:
        case Verb.CANCEL:
            return Errand(
                verb, args, f"Cancel {count}?", "cancel", "What they have produced is kept."
            )
        case Verb.RETRY:
            return Errand(
                verb,
                args,
                f"Retry {count}?",
                "retry",
                f"{many(len(trials), 'call')} at least; their outputs and scores are superseded.",
            )
        case _:
            return Errand(
                verb, args, f"Score {count} again?", "score", "Nobody is asked for an output."
            )


def retry_all(errors: int, ungraded: int) -> Errand:
    """Give the errand to retry everything errored or ungraded."""
    count = many(errors + ungraded, "trial")
    parts = [f"{n:,} {word}" for n, word in ((errors, "errored"), (ungraded, "ungraded")) if n]
    return Errand(
        Verb.RETRY,
        {"which": ["errors", "ungraded"]},
        f"Retry {count}?",
        "retry",
        f"{', '.join(parts)}: {many(errors + ungraded, 'call')} at least.",
    )


def stop(open_trials: int) -> Errand:
    """Give the errand to stop the run."""
    return Errand(
        Verb.STOP,
        {},
        "Stop the run?",
        "stop",
        f"{many(open_trials, 'trial')} stay open; u resumes it and asks for nothing twice.",
    )


def answer_words(request: RequestRow) -> tuple[str, bool]:
    """Say how a request ended, and whether it did what was asked."""
    verb = Verb(request.verb)
    accepted = request.outcome == Outcome.ACCEPTED
    detail = request.detail or ""
    if verb is Verb.RESUME and accepted:
        return _DONE[verb], True  # what it takes up again is seen at once
    if not accepted:
        return f"{verb}: {detail or request.outcome}", False
    return f"{_DONE[verb]}: {detail}" if detail else _DONE[verb], True


def by_trial(pending: Sequence[RequestRow]) -> dict[int, str]:
    """Give the words for trials that something is asked of, by trial id."""
    found: dict[int, str] = {}
    for request in pending:
        trials = request.args.get("trials")
        if isinstance(trials, list):
            words = DOING[Verb(request.verb)]
            found.update((trial, words) for trial in trials if isinstance(trial, int))
    return found


def for_run(pending: Sequence[RequestRow]) -> list[str]:
    """Give the words for what is asked of the run as a whole."""
    return [DOING[Verb(request.verb)] for request in pending if "trials" not in request.args]
