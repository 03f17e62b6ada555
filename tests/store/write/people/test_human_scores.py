import sqlite3
from functools import partial

from tests.store.fates import finish
from tests.store.recounting import recount
from tests.support import Staged, do, score, staged
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read import grade_queries, run_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.requests import Verb, ask
from tui_eval.store.rows import ScoreRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import trial_verbs
from tui_eval.store.write.people import human_scores

BY_HAND = score(True, "good", source="human")


def judged(db: sqlite3.Connection, n: int = 2) -> Staged:
    """Give trials that a judge has failed and a rule has passed."""
    run = staged(db, n)
    for trial in run.trials:
        finish(db, trial, score(True), score(False, "good", source="judge"))
    return run


def output_of(db: sqlite3.Connection, trial: int) -> int:
    row = trial_rows.trial(db, trial)
    assert row is not None
    assert row.output is not None
    return row.output


def by_hand(db: sqlite3.Connection, run: Staged, trial: int) -> int:
    """Let a person pass a trial; give the request."""

    def unit(tx: Tx) -> int:
        request = ask(tx, run.run, Verb.GRADE)
        why = human_scores.grade(tx, trial, output_of(tx.db, trial), BY_HAND, request)
        assert why is None
        return request

    return do(db, unit)


def counting(db: sqlite3.Connection, trial: int) -> dict[str, ScoreRow]:
    rows = [row for row in trial_rows.scores(db, trial) if row.current]
    found = {row.scorer: row for row in rows}
    assert len(found) == len(rows), "one counts of each scorer"
    return found


def verdict(db: sqlite3.Connection, trial: int) -> Verdict | None:
    row = trial_rows.trial(db, trial)
    assert row is not None
    recount(db)  # what triggers keep is what the trials say
    return row.verdict


def test_a_person_outranks_the_judge_and_the_trial_follows_at_once(db: sqlite3.Connection) -> None:
    run = judged(db)
    first, second = run.trials
    before = run_queries.change(db)
    by_hand(db, run, first)
    assert verdict(db, first) is Verdict.PASS
    assert verdict(db, second) is Verdict.FAIL
    assert counting(db, first)["good"].source == "human"
    changed = trial_rows.trials_changed(db, run.run, before)
    assert [trial.id for trial in changed] == [first]
    assert grade_queries.by_hand(db, run.run) == {0: 1}


def test_no_rescore_replaces_it_and_the_judges_word_stays_below_it(db: sqlite3.Connection) -> None:
    run = judged(db)
    first, second = run.trials
    by_hand(db, run, first)
    for trial in run.trials:
        assert do(db, partial(trial_verbs.rescore, trial=trial))
        do(db, lambda tx: trial_verbs.unscore_open(tx, run.run))
    left = {row.source for row in trial_rows.scores(db, first) if not row.superseded}
    assert left == {"human", "judge"}
    assert not any(not row.superseded for row in trial_rows.scores(db, second))


def test_withdrawn_the_judges_last_word_counts_again(db: sqlite3.Connection) -> None:
    run = judged(db)
    first = run.trials[0]
    by_hand(db, run, first)

    def withdraw(tx: Tx) -> str | None:
        return human_scores.withdraw(tx, first, "good", ask(tx, run.run, Verb.GRADE))

    assert do(db, withdraw) is None
    assert verdict(db, first) is Verdict.FAIL
    assert counting(db, first)["good"].source == "judge"
    assert do(db, withdraw) == human_scores.NONE_BY_HAND


def test_each_is_taken_back_the_last_first(db: sqlite3.Connection) -> None:
    run = judged(db)
    first = run.trials[0]
    passed = by_hand(db, run, first)
    failing = score(False, "good", source="human")

    def again(tx: Tx) -> int:
        request = ask(tx, run.run, Verb.GRADE)
        output = output_of(tx.db, first)
        assert human_scores.grade(tx, first, output, failing, request) is None
        assert human_scores.grade(tx, first, output, failing, request) == human_scores.SAME
        return request

    failed = do(db, again)
    assert verdict(db, first) is Verdict.FAIL

    def take_back(request: int) -> str | None:
        return do(
            db,
            lambda tx: human_scores.take_back(tx, first, request, ask(tx, run.run, Verb.WITHDRAW)),
        )

    assert take_back(passed) == "was cancelled, scored or asked again since"
    assert take_back(failed) is None
    assert verdict(db, first) is Verdict.PASS
    assert take_back(passed) is None
    assert verdict(db, first) is Verdict.FAIL
    assert counting(db, first)["good"].source == "judge"


def test_only_the_output_that_was_graded_gets_the_grade(db: sqlite3.Connection) -> None:
    run = judged(db)
    first, second = run.trials

    def grade(tx: Tx, trial: int, output: int) -> str | None:
        return human_scores.grade(tx, trial, output, BY_HAND, ask(tx, run.run, Verb.GRADE))

    assert do(db, lambda tx: grade(tx, first, output_of(db, second))) == human_scores.REPLACED
    do(db, lambda tx: trial_verbs.rescore(tx, first))
    assert do(db, lambda tx: grade(tx, first, output_of(db, first))) == human_scores.NOT_DONE
    do(db, lambda tx: tx.move(first, TrialState.CANCELLED, (TrialState.SCORING,)))
    assert do(db, lambda tx: grade(tx, first, output_of(db, first))) == human_scores.NOT_SCORED
    assert grade_queries.by_hand(db, run.run) == {}
