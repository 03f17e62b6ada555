"""What is asked of a run, as questions, and what became of it, as words."""

from dataclasses import replace
from pathlib import Path

from tests.support import output, reading
from tests.ui.playing import by_hand, plain_run
from tui_eval.engine.preflight.request_forecast import RequestForecast
from tui_eval.model.case import Case
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb
from tui_eval.store.rows import RequestRow
from tui_eval.ui.run.actions import commands


def request(
    verb: Verb, args: dict[str, object], outcome: str | None, detail: str | None
) -> RequestRow:
    return RequestRow(1, verb, args, "process 1", 0.0, outcome, detail, None)  # type: ignore[arg-type]


def test_one_trial_is_asked_about_without_a_question_and_many_with_their_number() -> None:
    assert commands.about_trials(Verb.RETRY, [7]).question is None
    many = commands.about_trials(Verb.RETRY, [7, 8, 9])
    assert many.question == "Retry 3 trials?"
    taken = RequestForecast(3, calls=3, usd=0.12, judge_calls=2, judge_usd=None)
    asked = commands.about_trials(Verb.RETRY, [7, 8, 9], taken)
    assert asked.more.startswith(
        "3 calls at least, about $0.12, about 2 judge calls, cost unknown; their"
    )
    one = commands.about_trials(Verb.RETRY, [7], taken, lost="france")
    assert one.question == "Retry france?"
    assert commands.about_trials(Verb.CANCEL, [1, 2]).question == "Cancel 2 trials?"
    assert commands.about_trials(Verb.RESCORE, [1, 2]).question == "Score 2 trials again?"
    assert commands.retry_all(3, 1).question == "Retry 4 trials?"
    assert commands.retry_all(3, 1).args == {"which": ["errors", "ungraded"]}


def test_answers_are_told_in_words() -> None:
    assert commands.answer_words(request(Verb.RETRY, {}, "accepted", "3 trials"), ()) == (
        "on its way again: 3 trials",
        True,
    )
    assert commands.answer_words(
        request(Verb.CANCEL, {}, "already", "it is settled already"), ()
    ) == (
        "cancel: it is settled already",
        False,
    )
    assert commands.answer_words(request(Verb.PAUSE, {}, "closed", None), ()) == (
        "pause: closed",
        False,
    )


def test_an_answer_names_its_trial_and_how_it_is_undone() -> None:
    cancelled = request(Verb.CANCEL, {"trials": [7]}, "accepted", "1 trial")
    words = commands.answer_words(cancelled, (), "fr\x1b[31m · one")
    assert words == ("cancelled: fr␛[31m · one; U undoes it", True)
    inverse = commands.inverse_of(cancelled, "fr · one")
    assert inverse is not None
    assert inverse.words == "cancelling fr · one"
    several = request(Verb.RESCORE, {}, "accepted", "2 trials; 1 of 3 not: no output to score")
    assert commands.answer_words(several, ()) == (
        "being scored again: 2 trials; 1 of 3 not: no output to score; U undoes it",
        True,
    )


def test_another_concurrency_names_who_asks_at_the_endpoint(store: Path) -> None:
    made = by_hand(store, [Case(0, "c", {})], answers=[output("a")] * 2, columns=["one", "two"])
    with reading(store) as db:
        columns = run_queries.columns(db, made.run)
    asked = {"endpoint": columns[0].endpoint, "by": 1}
    words, _ = commands.answer_words(request(Verb.SET_LIMIT, asked, "accepted", "3 → 4"), columns)
    assert words == "concurrency of one and 1 more: 3 → 4"
    other = [replace(columns[0], endpoint="other"), columns[1]]
    words, _ = commands.answer_words(request(Verb.SET_LIMIT, asked, "accepted", "3 → 4"), other)
    assert words == "concurrency of two: 3 → 4"


def test_a_request_that_several_people_made_is_said_once() -> None:
    assert commands.for_run([request(Verb.RESUME, {}, None, None)] * 3) == ["resuming…"]


def test_pending_requests_are_shown_where_they_belong(store: Path) -> None:
    made = plain_run(store, 4, failing=(1,))
    with reading(store) as db:
        trials = trial_rows.trials_from(db, made.run, 0, 4)
    pending = [
        request(Verb.CANCEL, {"trials": [trials[0].id]}, None, None),
        request(Verb.RETRY, {"which": ["errors", "failed"]}, None, None),
        request(Verb.RESCORE, {"which": "all", "cases": ["case-003"]}, None, None),
        request(Verb.PAUSE, {}, None, None),
    ]
    asked = commands.PendingRequests(pending)
    words = [asked.words(trial) for trial in trials]
    assert words == ["cancelling…", "retrying…", None, "rescoring…"]
    pending = pending[-1:]
    assert commands.for_run(pending) == ["pausing…"]
    for verb in Verb:
        assert verb in commands.DOING
