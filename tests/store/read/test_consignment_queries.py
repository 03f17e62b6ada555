import sqlite3
import time

from tests.support import do, staged
from tui_eval.store.read import consignment_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.sent_in_bulk import SentInBulk
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, consignment_writes, run_writes, trial_verbs


def test_how_far_a_consignment_is_stands_with_its_trials_and_is_summed(
    db: sqlite3.Connection,
) -> None:
    made = staged(db, 3)
    ends = time.mktime((2030, 1, 2, 14, 20, 0, 0, 0, -1))

    def consign(tx: Tx) -> None:
        for number, trials in enumerate((made.trials[:2], made.trials[2:])):
            one = consignment_writes.form(tx, made.run, "m", "e", f"token{number}")
            for ordinal, trial in enumerate(trials):
                attempt = attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
                assert attempt is not None
                consignment_writes.consign(tx, one, ordinal, attempt)
            consignment_writes.complete(tx, one, len(trials), None, None)
            consignment_writes.sent(tx, one, f"batch{number}", ends)
            consignment_writes.looked(tx, one, "sent", 1 - number, ends)

    do(db, consign)
    waiting = [trial.waiting for trial in trial_rows.trials_from(db, made.run, 0, 9)]
    assert waiting == [
        "bulk 1/2, 1 of 2, by 01-02 14:20",
        "bulk 1/2, 1 of 2, by 01-02 14:20",
        "bulk 2/2, 0 of 1, by 01-02 14:20",
    ]
    found = consignment_queries.bulk_progress(db, made.run)
    words = "bulk 1 of 3, 2 consignments, at the latest 01-02 14:20"
    assert consignment_queries.progress_words(found) == words
    do(db, lambda tx: tx.db.execute("UPDATE consignments SET state = 'ended'"))
    found = consignment_queries.bulk_progress(db, made.run)
    words = "bulk 1 of 3, 2 consignments"
    assert consignment_queries.progress_words(found) == words, "results are taken, nothing ends"
    do(db, lambda tx: tx.db.execute("UPDATE consignments SET state = 'forming', requests = 0"))
    found = consignment_queries.bulk_progress(db, made.run)
    long = "bulk, being put together, 2 consignments"
    forms = (long, long, "bulk, being put together")
    assert consignment_queries.progress_forms(found) == forms
    (tried,) = trial_rows.attempts(db, made.trials[2])
    assert tried.bulk == SentInBulk(2, "batch1", "forming", None)


def test_a_cancelled_trial_says_where_its_request_may_still_be_done(
    db: sqlite3.Connection,
) -> None:
    made = staged(db, 3)
    endpoint = "openai|https://api.example.com/v1|KEY"
    sent: list[int] = []

    def consign(tx: Tx) -> None:
        one = consignment_writes.form(tx, made.run, "m", endpoint, "token")
        for ordinal, trial in enumerate(made.trials[:2]):
            attempt = attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
            assert attempt is not None
            consignment_writes.consign(tx, one, ordinal, attempt)
        sent.append(one)
        for trial in made.trials[1:]:
            trial_verbs.cancel(tx, trial)

    def left() -> list[str | None]:
        rows = trial_rows.trials_from(db, made.run, 0, 9)
        told = sum(one.requests for one in consignment_queries.left_behind(db, made.trials))
        assert told == sum(row.left_at is not None for row in rows)
        return [row.left_at for row in rows]

    do(db, consign)
    assert left() == [None, None, None], "it is still put together"
    do(db, lambda tx: consignment_writes.complete(tx, sent[0], 2, None, None))
    do(db, lambda tx: consignment_writes.sent(tx, sent[0], "batch", None))
    assert left() == [None, endpoint, None]
    do(db, lambda tx: consignment_writes.arrived(tx, sent[0], 1, b"line"))
    assert left() == [None, None, None], "its answer came"


def test_what_a_provider_refused_was_cancelled_by_nobody(db: sqlite3.Connection) -> None:
    made = staged(db, 1)

    def refuse(tx: Tx) -> None:
        one = consignment_writes.form(tx, made.run, "m", "e", "token")
        attempt = attempt_writes.start_attempt(tx, made.trials[0], queue_s=None, wait_s=None)
        assert attempt is not None
        consignment_writes.consign(tx, one, 0, attempt)
        consignment_writes.complete(tx, one, 1, None, None)
        consignment_writes.sent(tx, one, "batch", None)
        consignment_writes.looked(tx, one, "failed", None, None, "no such model")
        attempt_writes.drop_attempt(tx, attempt, "cancelled", None)

    do(db, refuse)
    (tried,) = trial_rows.attempts(db, made.trials[0])
    assert (tried.state, tried.ending) == ("cancelled", "refused")
    assert tried.bulk is not None
    said = "in bulk: consignment 1, refused by the provider (batch): no such model"
    assert tried.bulk.words == said


def test_what_is_at_a_provider_is_not_lost_with_its_engine(db: sqlite3.Connection) -> None:
    made = staged(db, 2)

    def consign(tx: Tx) -> None:
        attempts = [
            attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
            for trial in made.trials
        ]
        one = consignment_writes.form(tx, made.run, "m", "e", "token")
        assert attempts[0] is not None
        consignment_writes.consign(tx, one, 0, attempts[0])
        run_writes.recover(tx, made.run)

    do(db, consign)
    states = [trial.state for trial in trial_rows.trials_from(db, made.run, 0, 9)]
    assert states == ["running", "queued"]
