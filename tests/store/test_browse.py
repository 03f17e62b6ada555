import sqlite3

import pytest

from tests.store.test_reader import finish
from tests.support import ODD_TEXTS, Staged, case, do, joined, new_run, output, score, staged
from tui_eval.model.case import Case
from tui_eval.model.output import Failure
from tui_eval.model.score import Tally
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store import browse, reader, record, runs
from tui_eval.store.browse import Order, View, Which
from tui_eval.store.runs import NewTrial
from tui_eval.store.tx import Tx

PASSED, FAILED, UNGRADED, ERROR, CANCELLED, RUNNING, QUEUED = range(7)


@pytest.fixture
def made(db: sqlite3.Connection) -> Staged:
    """Seven trials, one of each fate, by place."""
    made = staged(db, 7)
    finish(db, made.trials[PASSED], score(), text="Paris", cost=0.3, latency_s=2.0)
    finish(db, made.trials[FAILED], score(False), text="100%_sure", cost=0.1, latency_s=1.0)
    finish(db, made.trials[UNGRADED], score(None), text="Lo", cost=None, finish_reason="length")
    failure = Failure("timeout", "no answer within 300 s")
    do(db, lambda tx: record.fail_trial(tx, made.trials[ERROR], failure))
    do(db, lambda tx: record.cancel(tx, made.trials[CANCELLED]))
    do(db, lambda tx: record.start_attempt(tx, made.trials[RUNNING], queue_s=None, wait_s=None))
    return made


def places(db: sqlite3.Connection, made: Staged, **view: object) -> list[int]:
    found = list(browse.places(db, made.run, View(**view)))  # type: ignore[arg-type]
    assert browse.count(db, made.run, View(**view)) == len(found)  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize(
    ("which", "expected"),
    [
        (None, [0, 1, 2, 3, 4, 5, 6]),
        (Which.PASSED, [PASSED]),
        (Which.FAILED, [FAILED]),
        (Which.UNGRADED, [UNGRADED]),
        (Which.ERRORS, [ERROR]),
        (Which.CANCELLED, [CANCELLED]),
        (Which.CUT, [UNGRADED]),
        (Which.OPEN, [RUNNING, QUEUED]),
        (Which.UNMET, [FAILED, UNGRADED, ERROR]),
    ],
)
def test_a_list_is_narrowed_to_how_trials_stand(
    db: sqlite3.Connection, made: Staged, which: Which | None, expected: list[int]
) -> None:
    assert places(db, made, which=which) == expected


@pytest.mark.parametrize(
    ("order", "first"),
    [
        (Order.PLACE, [0, 1, 2]),
        (Order.VERDICT, [ERROR, FAILED, UNGRADED, CANCELLED, RUNNING, QUEUED, PASSED]),
        (Order.SCORE, [FAILED, PASSED]),
        (Order.COST, [PASSED, FAILED]),
        (Order.CHANGED, [RUNNING, CANCELLED, ERROR, UNGRADED, FAILED, PASSED, QUEUED]),
    ],
)
def test_a_list_is_sorted(
    db: sqlite3.Connection, made: Staged, order: Order, first: list[int]
) -> None:
    assert places(db, made, order=order)[: len(first)] == first


def test_what_is_unknown_comes_last_either_way(db: sqlite3.Connection, made: Staged) -> None:
    for order in (Order.SCORE, Order.LATENCY):
        for reverse in (False, True):
            last = places(db, made, order=order, reverse=reverse)[-4:]
            assert set(last) == {ERROR, CANCELLED, RUNNING, QUEUED}
    assert places(db, made, order=Order.COST, reverse=True)[-1] == UNGRADED


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("paris", [PASSED]),
        ("PARIS", [PASSED]),
        ("300 s", [ERROR]),
        ("case-4", [CANCELLED]),
        ("case-", [0, 1, 2, 3, 4, 5, 6]),
        ("100%_", [FAILED]),
        ("100__", []),
        ("%", [FAILED]),
        ("\\", []),
    ],
)
def test_text_is_found_in_ids_errors_and_outputs_to_the_letter(
    db: sqlite3.Connection, made: Staged, text: str, expected: list[int]
) -> None:
    assert places(db, made, text=text) == expected


@pytest.mark.parametrize("text", [text for text in ODD_TEXTS if text])
def test_any_text_may_be_looked_for(db: sqlite3.Connection, made: Staged, text: str) -> None:
    places(db, made, text=text)


@pytest.mark.parametrize("text", ["\ud800", "x\udc00y", "é😀\u202e", "a\nb\r\n\tc"])
def test_odd_text_is_found_where_it_stands(db: sqlite3.Connection, text: str) -> None:
    run = new_run(db)
    do(db, lambda tx: runs.add_cases(tx, run, [Case(0, f"a{text}b", {}), case(1)]))
    do(db, lambda tx: runs.add_trials(tx, run, [NewTrial(i, i, 0, 0, b"k") for i in range(2)]))
    assert list(browse.places(db, run, View(text=text))) == [0]


def test_scorers_errors_and_columns_narrow_too(db: sqlite3.Connection, made: Staged) -> None:
    assert places(db, made, scorer="exact") == [FAILED]
    assert places(db, made, scorer="regex") == []
    assert places(db, made, error="timeout") == [ERROR]
    assert places(db, made, error="bug") == []
    assert places(db, made, column=1) == []
    assert places(db, made, column=0, which=Which.FAILED, text="sure") == [FAILED]


@pytest.mark.parametrize("tag", ["hard", *ODD_TEXTS[1:]])
def test_tags_narrow_and_are_counted(db: sqlite3.Connection, tag: str) -> None:
    cases = [Case(i, f"c{i}", {}, tags=(tag, "all") if i < 2 else ("all",)) for i in range(5)]

    run = new_run(db, columns=1)

    def unit(tx: Tx) -> None:
        runs.add_cases(tx, run, [*cases, Case(5, "untagged", {})])
        runs.add_trials(tx, run, [NewTrial(i, i, 0, 0, None) for i in range(6)])

    do(db, unit)
    tag = joined(tag)
    assert browse.tags(db, run, 10) == [("all", 5), (tag, 2)]
    assert browse.tags(db, run, 1) == [("all", 5)]
    assert list(browse.places(db, run, View(tag=tag))) == [0, 1]
    assert list(browse.places(db, run, View(tag="nobody"))) == []


def test_a_view_knows_whether_it_leaves_anything_out() -> None:
    assert View().plain
    assert not View().narrowed
    assert not View(reverse=True).plain
    assert not View(order=Order.SCORE).narrowed
    assert View(text="x").narrowed


def test_the_next_failure_goes_round(db: sqlite3.Connection, made: Staged) -> None:
    view = View(which=Which.UNMET)
    seen, place = [], -1
    for _ in range(4):
        found = browse.next_place(db, made.run, view, place)
        assert found is not None
        place = found
        seen.append(place)
    assert seen == [FAILED, UNGRADED, ERROR, FAILED]
    assert browse.next_place(db, made.run, view, FAILED, back=True) == ERROR
    assert browse.next_place(db, made.run, View(error="none"), 0) is None


def test_a_scorer_that_was_taken_away_fails_nobody(db: sqlite3.Connection) -> None:
    made = staged(db, 1)
    (trial,) = made.trials
    finish(db, trial, score(False, "old"), score(False, "new"))
    assert browse.failing(db, made.run) == [("new", 1), ("old", 1)]
    do(db, lambda tx: record.rescore(tx, trial))
    do(db, lambda tx: record.add_scores(tx, trial, [score(False, "new")], fresh=False))
    do(db, lambda tx: record.settle(tx, trial, Tally(Verdict.FAIL, 0.0)))
    assert browse.failing(db, made.run) == [("new", 1)]
    assert places(db, made, scorer="old") == []


def test_errors_are_counted_by_kind(db: sqlite3.Connection, made: Staged) -> None:
    assert browse.error_kinds(db, made.run) == [("timeout", 1)]


def test_trials_that_back_off_are_counted(db: sqlite3.Connection, made: Staged) -> None:
    assert browse.backing_off(db, made.run) == 0
    do(db, lambda tx: record.wait(tx, made.trials[RUNNING], "429", None))
    assert browse.backing_off(db, made.run) == 1


def test_the_median_latency_is_of_what_is_done(db: sqlite3.Connection, made: Staged) -> None:
    assert browse.median_latency(db, made.run, 0) == 1.0
    db.execute("UPDATE trials SET latency_s = NULL WHERE place = ?", (UNGRADED,))
    assert browse.median_latency(db, made.run, 0) == 1.5
    assert browse.median_latency(db, made.run, 1) is None


def test_a_trial_is_given_with_everything(db: sqlite3.Connection, made: Staged) -> None:
    found = browse.whole(db, made.run, made.trials[PASSED])
    assert found is not None
    assert found.case == case(PASSED)
    assert found.output == output("Paris", cost=0.3, latency_s=2.0)
    assert found.trial.state is TrialState.DONE
    assert (len(found.scores), len(found.attempts)) == (1, 1)
    assert browse.whole(db, made.run, 10**6) is None


def test_ids_are_those_at_places(db: sqlite3.Connection, made: Staged) -> None:
    assert set(browse.ids_at(db, made.run, [0, 3, 99])) == {made.trials[0], made.trials[3]}
    assert reader.trials_at(db, made.run, [3])[0].id == made.trials[3]
