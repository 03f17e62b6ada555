"""Each fact of a trial's life: what it writes, and when it is refused."""

import sqlite3
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from tests.store.recounting import recount
from tests.support import Staged, do, key, output, score, stage, staged
from tui_eval.model.outputs.attempt_record import AttemptProgress, AttemptRecord
from tui_eval.model.outputs.output import Estimate, Failure, Output, Usage
from tui_eval.model.score import Grade, Score, Tally, tally
from tui_eval.model.states import TrialState, Verdict
from tui_eval.store.read import (
    run_counts,
    run_queries,
    suite_queries,
)
from tui_eval.store.read.run_counts import Counts
from tui_eval.store.read.trials import conversation_queries, output_queries, trial_rows
from tui_eval.store.rows import AttemptRow, ScoreRow, TrialRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import (
    attempt_writes,
    conversation_writes,
    run_writes,
    score_writes,
    trial_moves,
    trial_verbs,
    undo,
)
from tui_eval.store.write.run_writes import NewTrial
from tui_eval.store.write.trial_moves import AsTaken, TrialMove

TIMEOUT = Failure("timeout", "no answer within 300 s", retryable=True, status=None, partial="Par")


class Life:
    """A trial, and what a test does to it."""

    def __init__(self, db: sqlite3.Connection, made: Staged, place: int = 0) -> None:
        self.db = db
        self.run = made.run
        self.id = made.trials[place]
        self.key = key("capitals", place, 0, 0)

    @property
    def row(self) -> TrialRow:
        row = trial_rows.trial(self.db, self.id)
        assert row is not None
        return row

    @property
    def state(self) -> TrialState:
        return self.row.state

    @property
    def scores(self) -> list[ScoreRow]:
        return trial_rows.scores(self.db, self.id)

    @property
    def current(self) -> dict[str, ScoreRow]:
        found = [row for row in self.scores if row.current]
        assert len({row.scorer for row in found}) == len(found), "two scores of one scorer count"
        return {row.scorer: row for row in found}

    @property
    def attempts(self) -> list[AttemptRow]:
        return trial_rows.attempts(self.db, self.id)

    @property
    def counts(self) -> Counts:
        return run_counts.board(self.db, self.run)[0]

    def start(self, queue_s: float | None = 0.5, wait_s: float | None = None) -> int | None:
        return do(
            self.db,
            lambda tx: attempt_writes.start_attempt(tx, self.id, queue_s=queue_s, wait_s=wait_s),
        )

    def answer(self, attempt: int | None, said: Output | None = None) -> bool:
        assert attempt is not None
        return do(
            self.db,
            lambda tx: attempt_writes.answer(tx, attempt, self.id, self.key, said or output(), 0.5),
        )

    def fail(self, attempt: int | None, failure: Failure = TIMEOUT) -> None:
        assert attempt is not None
        do(self.db, lambda tx: attempt_writes.fail_attempt(tx, attempt, failure, 1.5))

    def drop(self, attempt: int | None, state: str) -> None:
        assert attempt is not None
        do(self.db, lambda tx: attempt_writes.drop_attempt(tx, attempt, state, None))

    def score(self, *scores: Score, fresh: bool = False) -> None:
        do(self.db, lambda tx: score_writes.add_scores(tx, self.id, scores, fresh=fresh))

    def settle(self, *scores: Score) -> bool:
        return do(self.db, lambda tx: trial_moves.settle(tx, self.id, tally(list(scores))))

    def finish(self, *scores: Score, said: Output | None = None) -> None:
        """Take it from the queue to its verdict."""
        assert self.answer(self.start(), said)
        self.score(*scores, fresh=False)
        assert self.settle(*scores)

    def change(self, fact: Callable[[Tx, int], bool]) -> bool:
        return do(self.db, lambda tx: fact(tx, self.id))


@pytest.fixture
def trial(db: sqlite3.Connection) -> Life:
    """The first of two queued trials."""
    return Life(db, staged(db, 2))


def in_state(db: sqlite3.Connection, state: TrialState) -> Life:
    """Make a trial that stands somewhere; with an output where it can have one."""
    life = Life(db, staged(db, 1))
    if state is TrialState.QUEUED:
        return life
    attempt = life.start()
    if state is TrialState.RUNNING:
        return life
    life.answer(attempt)
    if state is TrialState.DONE:
        life.score(score())
        life.settle(score())
    elif state is TrialState.ERROR:
        life.change(lambda tx, t: trial_moves.fail_trial(tx, t, TIMEOUT))
    elif state is TrialState.CANCELLED:
        life.change(trial_verbs.cancel)
    assert life.state is state
    return life


@pytest.mark.parametrize("ended", ["answered", "failed"])
def test_what_an_attempt_printed_is_kept_with_it(trial: Life, ended: str) -> None:
    record = AttemptRecord(printed="half a\ud800 word \x1b[31m")
    if ended == "answered":
        trial.answer(trial.start(), output(record=record))
    else:
        trial.fail(trial.start(), Failure("exit", "it left", record=record))
    (row,) = trial.attempts
    assert (row.state, row.printed) == (ended, "half a\ud800 word \x1b[31m")


def test_an_attempt_is_written_down_before_its_request_leaves(trial: Life) -> None:
    attempt = trial.start(queue_s=0.25)
    assert (trial.state, trial.row.attempts) == (TrialState.RUNNING, 1)
    (row,) = trial.attempts
    assert (row.id, row.number, row.state) == (attempt, 1, "sent")
    assert (row.queue_s, row.wait_s, row.call_s) == (0.25, None, None)


def test_attempts_are_numbered_over_the_whole_life_of_a_trial(trial: Life) -> None:
    trial.fail(trial.start())
    trial.finish(score())
    trial.change(trial_verbs.retry)
    trial.start()
    assert [row.number for row in trial.attempts] == [1, 2, 3]
    assert (trial.row.attempts, trial.counts.attempts, trial.counts.retries) == (3, 3, 2)


@pytest.mark.parametrize(
    "state", [state for state in TrialState if state.settled or state == "scoring"]
)
def test_no_attempt_starts_where_nothing_is_waited_for(
    db: sqlite3.Connection, state: TrialState
) -> None:
    life = in_state(db, state)
    before = life.row, life.attempts
    assert life.start() is None
    assert (life.row, life.attempts) == before


def test_a_failed_attempt_says_why_and_the_trial_goes_on(trial: Life) -> None:
    trial.fail(
        trial.start(),
        Failure("rate_limit", "slow down", True, status=429, retry_after_s=2.0, partial="Pa"),
    )
    (row,) = trial.attempts
    assert (row.state, row.call_s, row.error_kind) == ("failed", 1.5, "rate_limit")
    assert (row.error_message, row.status, row.retry_after_s) == ("slow down", 429, 2.0)
    assert row.partial == "Pa"
    assert trial.state is TrialState.RUNNING


def test_waiting_says_why_and_until_when_and_ends_with_the_next_attempt(trial: Life) -> None:
    trial.start()
    do(trial.db, lambda tx: trial_moves.wait(tx, trial.id, "429, try 2/5", 1000.0))
    assert (trial.row.waiting, trial.row.waiting_until) == ("429, try 2/5", 1000.0)
    trial.start(queue_s=None, wait_s=2.0)
    assert (trial.row.waiting, trial.row.waiting_until) == (None, None)
    assert trial.attempts[1].wait_s == 2.0


@pytest.mark.parametrize("state", [state for state in TrialState if state.settled])
def test_a_settled_trial_waits_for_nothing(db: sqlite3.Connection, state: TrialState) -> None:
    life = in_state(db, state)
    do(db, lambda tx: trial_moves.wait(tx, life.id, "why", None))
    assert life.row.waiting is None


def test_an_answer_is_kept_whole_and_leads_to_scoring(trial: Life) -> None:
    said = Output(
        "Paris",
        reasoning="the capital",
        messages=({"role": "tool", "content": "map"},),
        fields={"confidence": 0.9},
        finish_reason="stop",
        model="model-2026",
        usage=Usage(10, 5, 2, 8),
        cost_usd=0.002,
        latency_s=0.75,
    )
    attempt = trial.start()
    assert trial.answer(attempt, said)
    row = trial.row
    assert row.state is TrialState.SCORING
    assert row.output is not None
    assert output_queries.output(trial.db, row.output) == said
    assert (row.latency_s, row.input_tokens, row.output_tokens, row.cost_usd) == (
        0.75,
        10,
        5,
        0.002,
    )
    assert not row.cached
    (tried,) = trial.attempts
    assert (tried.state, tried.output, tried.call_s) == ("answered", row.output, 0.5)
    stored = trial.db.execute("SELECT digest, generation_key FROM outputs").fetchone()
    assert stored == (said.digest(), trial.key)


def test_tokens_and_money_are_sums_over_attempts(trial: Life) -> None:
    trial.finish(score(), said=output(cost=0.25))
    trial.change(trial_verbs.retry)
    trial.finish(score(), said=output(cost=0.5))
    assert (trial.row.input_tokens, trial.row.output_tokens, trial.row.cost_usd) == (20, 10, 0.75)
    assert trial.counts.cost_usd == 0.75


def test_a_failure_that_took_tokens_is_in_the_sums(trial: Life) -> None:
    broken = Failure("bad_answer", "broken off", usage=Usage(10, 5), cost_usd=0.25)
    trial.fail(trial.start(), broken)
    trial.fail(trial.start())
    trial.answer(trial.start(), output(cost=0.5))
    first, second, _ = trial.attempts
    assert (first.input_tokens, first.output_tokens, first.cost_usd) == (10, 5, 0.25)
    assert (second.input_tokens, second.output_tokens, second.cost_usd) == (None, None, None)
    assert (trial.row.input_tokens, trial.row.output_tokens, trial.row.cost_usd) == (20, 10, 0.75)


@pytest.mark.parametrize("ended", ["answered", "failed", "lost"])
def test_an_attempt_that_has_ended_is_nowhere_any_more(trial: Life, ended: str) -> None:
    attempt = trial.start()
    assert attempt is not None
    do(trial.db, lambda tx: attempt_writes.tell_progress(tx, attempt, AttemptProgress("running")))
    assert trial.db.execute("SELECT attempt FROM trial_progress").fetchall() == [(attempt,)]
    if ended == "answered":
        trial.answer(attempt)
    elif ended == "failed":
        trial.fail(attempt)
    else:
        trial.drop(attempt, ended)
    assert trial.db.execute("SELECT * FROM trial_progress").fetchall() == []


def test_an_estimate_is_added_to_what_is_known_of_a_trial(trial: Life) -> None:
    trial.finish(score(), said=output(cost=0.25))
    trial.change(trial_verbs.retry)
    trial.finish(score(), said=output(cost=None, estimate=Estimate(10, 0.5)))
    counts = trial.counts
    assert (counts.cost_usd, counts.about_usd, counts.unestimated) == (None, 0.75, False)
    trial.change(trial_verbs.retry)
    trial.finish(score(), said=output(cost=None))
    assert (trial.counts.about_usd, trial.counts.unestimated) == (None, True)
    trial.change(trial_verbs.retry)
    trial.finish(score(), said=output(cost=0.25))
    assert (trial.counts.about_usd, trial.counts.unestimated) == (None, True)


def test_unknown_money_stays_unknown(trial: Life) -> None:
    trial.finish(score(), said=output(cost=None))
    assert trial.row.cost_usd is None
    assert trial.counts.cost_usd is None
    trial.change(trial_verbs.retry)
    trial.finish(score(), said=output(cost=0.5))
    assert trial.row.cost_usd is None
    assert trial.counts.cost_usd is None


def test_free_is_not_unknown(trial: Life) -> None:
    trial.finish(score(), said=output(cost=0.0))
    assert trial.row.cost_usd == 0.0
    assert trial.counts.cost_usd == 0.0


def test_tokens_nobody_counted_are_none_of_the_attempt_and_nothing_in_sums(trial: Life) -> None:
    trial.answer(trial.start(), output(usage=Usage()))
    assert (trial.attempts[0].input_tokens, trial.attempts[0].output_tokens) == (None, None)
    assert trial.row.input_tokens == 0


def test_an_answer_nobody_waits_for_is_kept_and_paid_for_but_not_taken(trial: Life) -> None:
    attempt = trial.start()
    trial.change(trial_verbs.cancel)
    before = run_queries.change(trial.db)
    assert not trial.answer(attempt, output(cost=0.5))
    row = trial.row
    assert (row.state, row.output, row.latency_s) == (TrialState.CANCELLED, None, None)
    assert (row.input_tokens, row.output_tokens, row.cost_usd) == (10, 5, 0.5)
    assert row.change > before
    assert trial.attempts[0].output is not None
    assert trial.counts.cost_usd == 0.5
    recount(trial.db)


@pytest.mark.parametrize(
    "state", [state for state in TrialState if state is not TrialState.RUNNING]
)
def test_only_a_running_trial_takes_an_answer(db: sqlite3.Connection, state: TrialState) -> None:
    life = in_state(db, state)
    taken = life.row.output
    number = life.attempts[0].id if life.attempts else 0
    assert not life.answer(number, output("London"))
    assert (life.state, life.row.output) == (state, taken)


def test_a_dropped_attempt_is_one_nobody_waits_for(trial: Life) -> None:
    attempt = trial.start()
    trial.drop(attempt, "cancelled")
    assert trial.attempts[0].state == "cancelled"


def test_an_attempt_that_has_ended_is_not_dropped(trial: Life) -> None:
    attempt = trial.start()
    trial.answer(attempt)
    trial.drop(attempt, "lost")
    assert trial.attempts[0].state == "answered"


def test_a_settled_trial_has_its_verdict_and_score(trial: Life) -> None:
    trial.finish(score(True, "exact"), score(False, "regex"))
    row = trial.row
    assert (row.state, row.verdict, row.score) == (TrialState.DONE, Verdict.FAIL, 0.5)
    assert (trial.counts.failed, trial.counts.queued) == (1, 1)


def test_scores_are_kept_as_they_were_given(trial: Life) -> None:
    trial.answer(trial.start())
    grade = Grade(Verdict.FAIL, 0.25, "got 3, expected 4", {"got": 3})
    trial.score(Score("numeric", grade, weight=2.0, required=False), fresh=True)
    (row,) = trial.scores
    assert (row.scorer, row.verdict, row.value) == ("numeric", Verdict.FAIL, 0.25)
    assert (row.reason, row.raw) == ("got 3, expected 4", {"got": 3})
    assert (row.weight, row.required, row.source) == (2.0, False, "code")
    assert (row.current, row.superseded, row.withdrawn_at) == (True, False, None)
    assert row.output == trial.row.output


@pytest.mark.parametrize(
    "state", [state for state in TrialState if state is not TrialState.SCORING]
)
def test_only_a_trial_that_is_scored_settles(db: sqlite3.Connection, state: TrialState) -> None:
    life = in_state(db, state)
    before = life.row
    assert not life.settle(score())
    assert life.row == before


def test_the_newest_score_of_a_scorer_counts(trial: Life) -> None:
    trial.answer(trial.start())
    trial.score(score(False), score(True, "regex"), fresh=True)
    trial.score(score(True))
    assert [row.current for row in trial.scores] == [False, True, True]
    assert trial.current["exact"].verdict is Verdict.PASS


def test_a_persons_grade_outranks_what_comes_after_it(trial: Life) -> None:
    trial.answer(trial.start())
    trial.score(score(False), fresh=True)
    trial.score(score(True, source="human"))
    trial.score(score(False, source="judge"))
    assert [(row.source, row.current) for row in trial.scores] == [
        ("code", False),
        ("human", True),
        ("judge", False),
    ]


def test_a_persons_newer_grade_replaces_the_older(trial: Life) -> None:
    trial.answer(trial.start())
    trial.score(score(True, source="human"))
    trial.score(score(False, source="human"))
    assert trial.current["exact"].verdict is Verdict.FAIL


def test_a_withdrawn_grade_outranks_nothing(trial: Life) -> None:
    trial.answer(trial.start())
    trial.score(score(True, source="human"))
    trial.db.execute("UPDATE scores SET withdrawn_at = 1.0")
    trial.score(score(False))
    assert trial.current["exact"].source == "code"


def test_a_trial_that_cannot_go_on_says_why(trial: Life) -> None:
    trial.start()
    assert trial.change(lambda tx, t: trial_moves.fail_trial(tx, t, TIMEOUT))
    row = trial.row
    assert (row.state, row.error_kind) == (TrialState.ERROR, "timeout")
    assert row.error_message == "no answer within 300 s"
    assert trial.counts.error == 1


@pytest.mark.parametrize("state", list(TrialState))
def test_open_trials_are_cancelled_or_fail_and_settled_ones_do_not(
    db: sqlite3.Connection, state: TrialState
) -> None:
    for fact in (trial_verbs.cancel, partial(trial_moves.fail_trial, failure=TIMEOUT)):
        life = in_state(db, state)
        before = life.row
        assert life.change(fact) == (not state.settled)
        if state.settled:
            assert life.row == before
        else:
            assert life.state in (TrialState.CANCELLED, TrialState.ERROR)


def test_a_cancelled_trial_keeps_what_it_has_produced(db: sqlite3.Connection) -> None:
    life = in_state(db, TrialState.SCORING)
    life.score(score(), fresh=True)
    produced = life.row.output
    life.change(trial_verbs.cancel)
    assert life.row.output == produced is not None
    assert len(life.scores) == 1


@pytest.mark.parametrize("state", list(TrialState))
def test_a_settled_trial_is_retried_and_an_open_one_is_not(
    db: sqlite3.Connection, state: TrialState
) -> None:
    life = in_state(db, state)
    before = life.row
    assert life.change(trial_verbs.retry) == state.settled
    if not state.settled:
        assert life.row == before
        return
    row = life.row
    assert (row.state, row.verdict, row.score) == (TrialState.QUEUED, None, None)
    assert (row.output, row.latency_s, row.error_kind, row.error_message) == (None,) * 4


def test_a_retried_output_and_its_scores_satisfy_no_key_any_more(trial: Life) -> None:
    trial.finish(score(False), score(True, "regex", source="human"))
    trial.change(trial_verbs.retry)
    assert trial.db.execute("SELECT superseded FROM outputs").fetchall() == [(1,)]
    assert [(row.superseded, row.current) for row in trial.scores] == [(True, False)] * 2
    trial.finish(score(True))
    assert trial.row.verdict is Verdict.PASS
    assert trial.db.execute("SELECT superseded FROM outputs ORDER BY id").fetchall() == [(1,), (0,)]


def test_a_retry_of_one_run_changes_nothing_in_another(db: sqlite3.Connection) -> None:
    first = Life(db, staged(db, 1))
    first.finish(score())
    shared = first.row.output
    run = staged(db, 1).run
    other = Life(db, stage_cached(db, shared))
    assert (other.row.cached, other.row.cost_usd, other.row.output) == (True, 0.0, shared)
    before = first.row, first.scores
    other.score(score(), fresh=True)
    other.settle(score())
    assert other.change(trial_verbs.retry)
    assert not other.row.cached
    assert (first.row, first.scores) == before
    assert run != other.run


def stage_cached(db: sqlite3.Connection, shared: int | None) -> Staged:
    run = staged(db, 0).run
    db.execute("DELETE FROM cases WHERE run = ?", (run,))
    return stage(db, run, [NewTrial(0, 0, 0, 0, key("capitals", 0, 0, 0), output=shared)], 1)


@pytest.mark.parametrize("state", list(TrialState))
def test_a_settled_trial_with_an_output_is_rescored_and_no_other(
    db: sqlite3.Connection, state: TrialState
) -> None:
    life = in_state(db, state)
    before = life.row
    assert life.change(trial_verbs.rescore) == state.settled
    if state.settled:
        assert (life.state, life.row.output) == (TrialState.SCORING, before.output)
        assert (life.row.verdict, life.row.score, life.row.error_kind) == (None, None, None)
    else:
        assert life.row == before


def test_without_an_output_there_is_nothing_to_rescore(trial: Life) -> None:
    trial.change(trial_verbs.cancel)
    assert not trial.change(trial_verbs.rescore)
    assert trial.state is TrialState.CANCELLED
    assert not do(trial.db, lambda tx: trial_verbs.rescore(tx, 10**9))


def test_a_rescore_makes_way_for_new_scores_and_keeps_the_old_in_history(trial: Life) -> None:
    trial.finish(score(False), score(True, "regex"))
    trial.change(trial_verbs.rescore)
    assert trial.current == {}
    assert [row.superseded for row in trial.scores] == [True, True]
    trial.score(score(True), score(True, "regex"))
    trial.settle(score(True), score(True, "regex"))
    assert [row.superseded for row in trial.scores] == [True, True, False, False]
    assert trial.row.verdict is Verdict.PASS


def test_a_rescore_of_one_scorer_leaves_the_others(trial: Life) -> None:
    trial.finish(score(False), score(True, "regex"))
    trial.change(lambda tx, t: trial_verbs.rescore(tx, t, ["exact"]))
    assert set(trial.current) == {"regex"}


def test_a_rescore_leaves_a_persons_grade(trial: Life) -> None:
    trial.finish(score(True, source="human"))
    trial.change(trial_verbs.rescore)
    assert trial.current["exact"].source == "human"
    trial.score(score(False))
    assert trial.current["exact"].source == "human"


@pytest.mark.parametrize("state", list(TrialState))
def test_only_a_running_trial_is_given_back(db: sqlite3.Connection, state: TrialState) -> None:
    life = in_state(db, state)
    assert life.change(trial_moves.give_back) == (state is TrialState.RUNNING)
    assert life.state is (TrialState.QUEUED if state is TrialState.RUNNING else state)


def test_every_fact_about_a_trial_moves_its_change_number(trial: Life) -> None:
    facts: list[Callable[[], object]] = [
        trial.start,
        lambda: do(trial.db, lambda tx: trial_moves.wait(tx, trial.id, "why", None)),
        lambda: trial.answer(trial.start()),
        lambda: trial.settle(score()),
        lambda: trial.change(trial_verbs.rescore),
        lambda: trial.change(trial_verbs.cancel),
        lambda: trial.change(trial_verbs.retry),
        lambda: trial.start(),
        lambda: trial.change(trial_moves.give_back),
        lambda: trial.change(lambda tx, t: trial_moves.fail_trial(tx, t, TIMEOUT)),
    ]
    for fact in facts:
        before = trial.row.change
        fact()
        assert trial.row.change > before


def test_facts_of_one_trial_leave_its_neighbour_alone(db: sqlite3.Connection) -> None:
    made = staged(db, 2)
    neighbour = Life(db, made, 1)
    before = neighbour.row
    life = Life(db, made, 0)
    life.finish(score())
    life.change(trial_verbs.retry)
    life.change(trial_verbs.cancel)
    assert neighbour.row == before


def test_work_stands_until_its_trial_is_opened_anew(trial: Life) -> None:
    def stands(opening: int) -> bool:
        return trial.change(lambda tx, t: trial_moves.stands(tx, t, opening))

    def undone(tx: Tx, t: int) -> bool:
        return undo.uncancel(tx, t, request=1, by=2) is None

    opening = 0
    for reopen in (trial_verbs.retry, undone, trial_verbs.retry):
        assert stands(opening)
        trial.change(lambda tx, t, n=opening: trial_verbs.cancel(tx, t, n))  # type: ignore[misc]
        assert stands(opening)  # it can still be told that it is cancelled
        assert trial.change(reopen)
        assert not stands(opening)
        opening += 1
    trial.finish(score())
    assert stands(opening)
    assert trial.change(trial_verbs.rescore)
    assert not stands(opening)
    do(trial.db, lambda tx: trial_verbs.unscore_open(tx, trial.run))
    assert not stands(opening + 1)
    assert stands(opening + 2)


def test_a_stale_answer_is_kept_and_counted_and_not_taken(trial: Life) -> None:
    first = trial.start()
    assert first is not None
    trial.change(trial_verbs.cancel)
    trial.change(trial_verbs.retry)
    trial.start()
    said = output()
    then, as_taken = trial_moves.settled(tally([score()])), AsTaken(opening=0, scorers=0)
    went = do(
        trial.db,
        lambda tx: attempt_writes.answer(
            tx, first, trial.id, trial.key, said, 0.5, then=then, as_taken=as_taken
        ),
    )
    assert not went
    assert trial.state is TrialState.RUNNING
    assert trial.row.output is None
    assert [attempt.state for attempt in trial.attempts] == ["answered", "sent"]
    assert trial.counts.output_tokens == said.usage.output


@pytest.mark.parametrize("stale", [False, True])
def test_an_output_that_is_not_taken_leaves_the_replies_of_a_conversation(
    trial: Life, stale: bool
) -> None:
    first = trial.start()
    assert first is not None
    said = replace(output(), counted=True)
    do(
        trial.db,
        lambda tx: conversation_writes.keep_reply(tx, trial.id, 0, "target", b"", [], said),
    )
    trial.change(trial_verbs.cancel)
    do(
        trial.db,
        lambda tx: attempt_writes.answer(
            tx,
            first,
            trial.id,
            trial.key,
            said,
            0.5,
            as_taken=AsTaken(int(stale)),
        ),
    )
    assert len(conversation_queries.calls(trial.db, trial.id)) == 1
    trial.change(partial(trial_verbs.retry, afresh=False))
    again = trial.start()
    assert again is not None
    do(trial.db, lambda tx: attempt_writes.answer(tx, again, trial.id, trial.key, said, 0.5))
    assert trial.state is TrialState.SCORING
    assert conversation_queries.calls(trial.db, trial.id) == []


@pytest.mark.parametrize("others", [False, True], ids=["same scorers", "other scorers"])
@pytest.mark.parametrize(
    ("then", "state"),
    [
        (trial_moves.settled(Tally(Verdict.PASS, 1.0)), TrialState.DONE),
        (trial_moves.awaits("the judge"), TrialState.SCORING),
    ],
)
def test_an_answer_takes_its_trial_where_the_scores_of_present_scorers_do(
    trial: Life, others: bool, then: TrialMove, state: TrialState
) -> None:
    number = suite_queries.spec_change(trial.db, trial.run)
    if others:
        do(trial.db, lambda tx: run_writes.set_spec(tx, trial.run, "{}"))
    attempt, said = trial.start(), output()
    assert attempt is not None
    went = do(
        trial.db,
        lambda tx: attempt_writes.answer(
            tx,
            attempt,
            trial.id,
            trial.key,
            said,
            0.5,
            then=then,
            as_taken=AsTaken(scorers=number),
        ),
    )
    assert went is not others
    # an output is taken all the same: it waits for the scorers that there are now
    assert trial.state is (TrialState.SCORING if others else state)
    assert trial.row.verdict == (then.values[0] if went and state is TrialState.DONE else None)
    assert trial.row.output is not None
    assert trial.counts.output_tokens == said.usage.output


def test_scores_of_a_runs_former_scorers_close_nothing(trial: Life) -> None:
    end = trial_moves.settled(Tally(Verdict.PASS, 1.0))
    assert trial.answer(trial.start())
    former = suite_queries.spec_change(trial.db, trial.run)
    do(trial.db, lambda tx: run_writes.set_spec(tx, trial.run, "{}"))
    present = suite_queries.spec_change(trial.db, trial.run)
    for scorers in (former, present):
        closed = trial.change(
            partial(trial_moves.close, then=end, as_taken=AsTaken(scorers=scorers))
        )
        assert closed is (scorers == present)


def test_a_trial_that_waits_in_its_state_keeps_since_when_it_is_in_it(trial: Life) -> None:
    assert trial.answer(trial.start())
    since = trial.row.since
    trial.change(lambda tx, t: trial_moves.close(tx, t, trial_moves.awaits("the judge")))
    assert trial.row.since == since


def test_an_attempt_that_did_not_leave_is_as_if_it_had_not_been_written(trial: Life) -> None:
    attempt = trial.start()
    assert attempt is not None
    do(trial.db, lambda tx: attempt_writes.take_back_start(tx, attempt))
    assert trial.attempts == []
    assert trial.counts.attempts == 0
    again = trial.start()
    assert again is not None
    assert [one.number for one in trial.attempts] == [1]
    trial.answer(again)
    do(trial.db, lambda tx: attempt_writes.take_back_start(tx, again))
    assert [one.state for one in trial.attempts] == ["answered"]


def test_an_attempt_that_did_not_leave_keeps_its_number_where_there_is_a_later_one(
    trial: Life,
) -> None:
    first = trial.start()
    assert first is not None
    trial.change(trial_verbs.cancel)
    trial.change(trial_verbs.retry)
    trial.start()
    do(trial.db, lambda tx: attempt_writes.take_back_start(tx, first))
    assert [(one.number, one.state) for one in trial.attempts] == [(1, "cancelled"), (2, "sent")]
