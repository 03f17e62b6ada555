"""Questions to the store: by name, by page, by change."""

import sqlite3

import pytest

from tests.store.fates import finish
from tests.support import Staged, do, score, staged
from tui_eval.model.outputs.output import Failure
from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read import request_queries, run_queries, suite_queries
from tui_eval.store.read.trials import trial_rows
from tui_eval.store.write import attempt_writes, run_writes, trial_moves, trial_verbs


def rename(db: sqlite3.Connection, run: int, name: str) -> int:
    db.execute("UPDATE runs SET name = ? WHERE id = ?", (name, run))
    return run


@pytest.fixture
def three(db: sqlite3.Connection) -> dict[str, int]:
    """Three runs whose names begin alike."""
    names = ["echo-abcd", "echo-abxy", "echo"]
    return {name: rename(db, staged(db, 1).run, name) for name in names}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ("echo-abcd", "echo-abcd"),
        ("echo-abc", "echo-abcd"),
        ("echo-abx", "echo-abxy"),
        ("echo", "echo"),
        ("last", "echo"),
    ],
)
def test_a_run_answers_to_its_name_and_to_what_is_unambiguous(
    db: sqlite3.Connection, three: dict[str, int], asked: str, found: str
) -> None:
    assert run_queries.run_named(db, asked).id == three[found]


def test_the_last_run_that_evaluates_is_no_sweep(
    db: sqlite3.Connection, three: dict[str, int]
) -> None:
    db.execute("""UPDATE runs SET settings = '{"sweep": {}}' WHERE name = 'echo'""")
    assert run_queries.run_named(db, "last").name == "echo"
    assert run_queries.run_named(db, "last", evaluated=True).name == "echo-abxy"


@pytest.mark.parametrize(
    ("state", "partial", "full"),
    [("done", 0, True), ("done", 1, False), ("interrupted", 0, False), ("running", 0, False)],
)
def test_a_full_run_has_come_to_its_end_and_leaves_nothing_out(
    db: sqlite3.Connection, state: str, partial: int, full: bool
) -> None:
    run = staged(db, 1).run
    db.execute("UPDATE runs SET state = ?, partial = ?", (state, partial))
    assert [one.id for one in run_queries.full_runs(db, "capitals", 5)] == [run] * full


def test_a_run_answers_to_its_label_where_no_other_has_it(
    db: sqlite3.Connection, three: dict[str, int]
) -> None:
    db.execute("UPDATE runs SET label = 'echo-ab' WHERE name = 'echo-abxy'")
    assert run_queries.run_named(db, "echo-ab").id == three["echo-abxy"]
    db.execute("UPDATE runs SET label = 'echo-abcd' WHERE name = 'echo'")
    assert run_queries.run_named(db, "echo-abcd").id == three["echo-abcd"], "a name comes first"
    db.execute("UPDATE runs SET label = 'nightly' WHERE name <> 'echo'")
    with pytest.raises(UnknownRunError, match="'nightly' may be any of echo-abxy, echo-abcd: "):
        run_queries.run_named(db, "nightly")


def test_an_ambiguous_name_lists_what_it_may_be(
    db: sqlite3.Connection, three: dict[str, int]
) -> None:
    with pytest.raises(UnknownRunError, match="'echo-ab' may be any of echo-abxy, echo-abcd"):
        run_queries.run_named(db, "echo-ab")


@pytest.mark.parametrize("name", ["nope", "ECHO-ABCD", "echo-abcde", "cho", "", "%", "echo-ab__"])
def test_a_name_nobody_has_is_answered_with_those_there_are(
    db: sqlite3.Connection, three: dict[str, int], name: str
) -> None:
    with pytest.raises(UnknownRunError, match="the newest are echo, echo-abxy, echo-abcd"):
        run_queries.run_named(db, name)


@pytest.mark.parametrize("name", ["last", "echo"])
def test_a_store_without_runs_says_so(db: sqlite3.Connection, name: str) -> None:
    with pytest.raises(UnknownRunError, match="there are no runs in this store yet"):
        run_queries.run_named(db, name)


def test_a_run_that_is_not_there_is_an_error_with_its_number(db: sqlite3.Connection) -> None:
    for question in (run_queries.run, suite_queries.spec):
        with pytest.raises(UnknownRunError, match="run 7 is not in this store"):
            question(db, 7)


def test_runs_come_newest_first(db: sqlite3.Connection) -> None:
    made = [staged(db, 1).run for _ in range(3)]
    assert [row.id for row in run_queries.runs(db)] == made[::-1]
    assert [row.id for row in run_queries.runs(db, limit=2)] == [made[2], made[1]]


def test_a_run_is_read_as_it_was_made(db: sqlite3.Connection) -> None:
    run = do(
        db,
        lambda tx: run_writes.create(
            tx,
            run_writes.NewRun(
                suite="capitals",
                path="suites/capitals.toml",
                label="before the change",
                spec='{"name":"capitals"}',
                settings={"limit": 5},
                partial=True,
            ),
        ),
    )
    row = run_queries.run(db, run)
    assert (row.suite, row.path, row.label) == (
        "capitals",
        "suites/capitals.toml",
        "before the change",
    )
    assert (row.settings, row.partial, row.state) == ({"limit": 5}, True, RunState.PENDING)
    assert suite_queries.spec(db, run) == '{"name":"capitals"}'


@pytest.fixture
def grid(db: sqlite3.Connection) -> Staged:
    """Four cases in two columns, twice each: sixteen trials."""
    return staged(db, 4, columns=2, epochs=2)


def test_trials_are_in_dataset_order_by_case_column_and_epoch(
    db: sqlite3.Connection, grid: Staged
) -> None:
    rows = trial_rows.trials_from(db, grid.run, 0, 100)
    assert [row.place for row in rows] == list(range(16))
    assert [(row.seq, row.col, row.epoch) for row in rows] == sorted(
        (row.seq, row.col, row.epoch) for row in rows
    )
    assert (rows[2].case_id, rows[2].column) == ("case-0", "target-1")


def test_pages_put_together_are_the_whole(db: sqlite3.Connection, grid: Staged) -> None:
    pages = [trial_rows.trials_from(db, grid.run, place, 5) for place in range(0, 20, 5)]
    assert [len(page) for page in pages] == [5, 5, 5, 1]
    assert [row.id for page in pages for row in page] == list(grid.trials)


def test_trials_are_given_at_places_in_the_order_asked(
    db: sqlite3.Connection, grid: Staged
) -> None:
    rows = trial_rows.trials_at(db, grid.run, [9, 3, 99, 0])
    assert [row.place for row in rows] == [9, 3, 0]
    assert trial_rows.trials_at(db, grid.run, []) == []


def test_only_what_changed_since_is_given_oldest_first(
    db: sqlite3.Connection, grid: Staged
) -> None:
    since = run_queries.change(db)
    assert trial_rows.trials_changed(db, grid.run, since) == []
    for place in (7, 2, 11):
        do(db, lambda tx, t=grid.trials[place]: trial_verbs.cancel(tx, t))  # type: ignore[misc]
    changed = trial_rows.trials_changed(db, grid.run, since)
    assert [row.place for row in changed] == [7, 2, 11]
    assert [row.place for row in trial_rows.trials_changed(db, grid.run, changed[0].change)] == [
        2,
        11,
    ]
    assert [row.place for row in trial_rows.trials_changed(db, grid.run, since, 2)] == [7, 2]


def test_trials_of_cases_come_in_dataset_order(db: sqlite3.Connection, grid: Staged) -> None:
    rows = trial_rows.trials_of_cases(db, grid.run, ["case-3", "case-1", "case-1", "nope"])
    assert [row.place for row in rows] == [4, 5, 6, 7, 12, 13, 14, 15]
    assert trial_rows.trials_of_cases(db, grid.run, []) == []


def test_any_number_of_cases_may_be_asked_for(db: sqlite3.Connection, grid: Staged) -> None:
    many = [*(f"nope-{i}" for i in range(2000)), "case-2"]
    assert [row.place for row in trial_rows.trials_of_cases(db, grid.run, many)] == [8, 9, 10, 11]


def test_a_trial_that_is_not_there_is_none(db: sqlite3.Connection) -> None:
    assert trial_rows.trial(db, 1) is None
    assert request_queries.request(db, 1) is None


def test_reasons_are_those_of_the_first_scorer_that_is_not_met(
    db: sqlite3.Connection, grid: Staged
) -> None:
    passed, failed, ungraded, aside = grid.trials[:4]
    finish(db, passed, score())
    finish(db, failed, score(True, "first"), score(False, "second"), score(None, "third"))
    finish(db, ungraded, score(None))
    finish(db, aside, score(), score(False, "extra", required=False))
    assert trial_rows.reasons(db, list(grid.trials)) == {
        failed: "second: as expected",
        ungraded: "exact: cut short",
    }
    do(db, lambda tx: trial_verbs.rescore(tx, failed))
    assert trial_rows.reasons(db, [failed]) == {}


def test_history_is_given_whole_and_in_order(db: sqlite3.Connection, grid: Staged) -> None:
    (trial, *_) = grid.trials
    finish(db, trial, score(False))
    do(db, lambda tx: trial_verbs.retry(tx, trial))
    do(db, lambda tx: attempt_writes.start_attempt(tx, trial, queue_s=1.0, wait_s=None))
    finish(db, trial, score(True))
    assert [row.verdict for row in trial_rows.scores(db, trial)] == [Verdict.FAIL, Verdict.PASS]
    assert [row.number for row in trial_rows.attempts(db, trial)] == [1, 2, 3]
    row = trial_rows.trial(db, trial)
    assert row is not None
    assert (row.state, row.verdict, row.attempts) == (TrialState.DONE, Verdict.PASS, 3)


def test_tallies_name_only_what_there_is(db: sqlite3.Connection, grid: Staged) -> None:
    finish(db, grid.trials[0], score())
    do(db, lambda tx: trial_moves.fail_trial(tx, grid.trials[2], Failure("bug", "")))
    found = {(row.col, row.state, row.verdict): row.n for row in run_queries.tallies(db, grid.run)}
    assert found == {
        (0, TrialState.DONE, Verdict.PASS): 1,
        (0, TrialState.QUEUED, None): 7,
        (1, TrialState.ERROR, None): 1,
        (1, TrialState.QUEUED, None): 7,
    }


def test_the_version_differs_when_another_connection_has_written(
    db: sqlite3.Connection, grid: Staged
) -> None:
    path = db.execute("PRAGMA database_list").fetchone()[2]
    other = sqlite3.connect(path)
    try:
        before = run_queries.data_version(other)
        assert run_queries.data_version(other) == before
        do(db, lambda tx: trial_verbs.cancel(tx, grid.trials[0]))
        assert run_queries.data_version(other) != before
    finally:
        other.close()
