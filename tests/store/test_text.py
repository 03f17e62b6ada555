"""Text of every kind comes back to the letter, from every column that takes foreign text."""

import sqlite3
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings

from tests import hostile
from tests.support import (
    ODD_TEXTS,
    any_text,
    case,
    do,
    joined,
    new_run,
    output,
    staged,
    writing,
)
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.runs.endpoint_event import note
from tui_eval.model.score import Grade, Score, tally
from tui_eval.model.states import RunState
from tui_eval.store import requests
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read import report_queries, request_queries, run_queries
from tui_eval.store.read.trials import output_queries, trial_rows
from tui_eval.store.text import pack, unpack, unpack_text
from tui_eval.store.tx import Tx
from tui_eval.store.write import (
    attempt_writes,
    output_writes,
    run_writes,
    score_writes,
    trial_moves,
)
from tui_eval.store.write.run_writes import NewTrial

REUSED = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)


def trip(db: sqlite3.Connection, text: str) -> dict[str, tuple[object, object]]:
    """Send a text through every column; give, for each, what was expected and what came back."""
    found: dict[str, tuple[object, object]] = {}
    tags = (text, "other")

    def fill(tx: Tx) -> int:
        run = run_writes.create(
            tx,
            run_writes.NewRun(suite="s", path=text, label=text, spec="{}", settings={"l": text}),
        )
        kept = Case(0, text, {"q": text, "keys": {text: 1}}, tags=tags)
        run_writes.add_cases(tx, run, [kept, case(1)])
        failure = Failure("template", text)
        run_writes.add_trials(
            tx, run, [NewTrial(0, 0, 0, 0, b"k"), NewTrial(1, 1, 0, 0, None, None, failure)]
        )
        run_writes.add_columns(tx, run, [])
        run_writes.staged(tx, run)
        run_writes.move(tx, run, RunState.RUNNING, reason=text)
        run_writes.add_limit(tx, run, "endpoint", 4, note(text))
        return run

    run = do(db, fill)
    first, second = (
        row[0] for row in db.execute("SELECT id FROM trials WHERE run = ? ORDER BY place", (run,))
    )

    def fail(tx: Tx) -> None:
        attempt = attempt_writes.start_attempt(tx, first, queue_s=0, wait_s=None)
        assert attempt is not None
        attempt_writes.fail_attempt(tx, attempt, Failure("bad_answer", text, partial=text), 1.0)
        trial_moves.wait(tx, first, text, 5.0)

    do(db, fail)
    waiting = db.execute("SELECT waiting FROM trials WHERE id = ?", (first,)).fetchone()[0]
    found["trials.waiting"] = text, unpack(waiting)

    said = Output(
        text,
        reasoning=text,
        messages=({"role": text},),
        fields={"answer": [text]},
        finish_reason=text,
        model=text,
    )
    given_score = Score("exact", Grade.of(True, text, {"saw": text}))

    def succeed(tx: Tx) -> int:
        attempt = attempt_writes.start_attempt(tx, first, queue_s=None, wait_s=1.0)
        assert attempt is not None
        attempt_writes.answer(tx, attempt, first, b"k", said, 1.0)
        score_writes.add_scores(tx, first, [given_score], fresh=True)
        trial_moves.settle(tx, first, tally([given_score]))
        number = requests.ask(tx, run, requests.Verb.CANCEL, {"cases": [text]})
        requests.answer(tx, number, requests.Outcome.CLOSED, text)
        return number

    number = do(db, succeed)

    row = run_queries.run(db, run)
    found["runs.path"] = text, row.path
    found["runs.label"] = text, row.label
    found["runs.reason"] = text, row.reason
    found["runs.settings"] = {"l": joined(text)}, row.settings
    found["limits.what"] = text, run_queries.limits(db, run)["endpoint"].event.what
    kept = trial_rows.case(db, run, 0)
    found["cases.id"] = text, kept.id
    found["cases.data"] = joined(text), kept.fields["q"]
    found["cases.tags"] = joined(text), kept.tags[0]
    tried = trial_rows.attempts(db, first)[0]
    found["attempts.error_message"] = text, tried.error_message
    found["attempts.partial"] = text, tried.partial
    error = db.execute("SELECT error_message FROM trials WHERE id = ?", (second,)).fetchone()[0]
    found["trials.error_message"] = text, unpack(error)
    back = output_queries.output(db, db.execute("SELECT max(id) FROM outputs").fetchone()[0])
    for name in ("text", "reasoning", "finish_reason", "model"):
        found[f"outputs.{name}"] = text, getattr(back, name)
    found["outputs.messages"] = joined(text), back.messages[0]["role"]
    found["outputs.fields"] = [joined(text)], back.fields["answer"]
    scored = trial_rows.scores(db, first)[0]
    found["scores.reason"] = text, scored.reason
    found["scores.raw"] = {"saw": joined(text)}, scored.raw
    asked = request_queries.request(db, number)
    assert asked is not None
    found["requests.args"] = {"cases": [joined(text)]}, asked.args
    found["requests.detail"] = text, asked.detail
    found["errors"] = [text], [row.message for row in report_queries.errors(db, run)]
    return found


def assert_round(trips: dict[str, tuple[object, object]]) -> None:
    for name, (expected, came_back) in trips.items():
        assert came_back == expected, name


@given(any_text)
def test_packing_is_undone_by_unpacking(text: str) -> None:
    assert unpack(pack(text)) == text
    packed = pack(text)
    assert packed is not None
    assert unpack_text(packed) == text


def test_nothing_stays_nothing() -> None:
    assert pack(None) is None
    assert unpack(None) is None


@REUSED
@given(any_text)
@example("\ud83d\ude00")
def test_any_text_goes_round_through_every_column(db: sqlite3.Connection, text: str) -> None:
    assert_round(trip(db, text))


def test_hostile_texts_go_round_through_every_column(path: Path) -> None:
    with writing(path) as db:
        db.execute("PRAGMA synchronous = OFF")
        for text in [*ODD_TEXTS, *hostile.outputs()]:
            assert_round(trip(db, text))


@pytest.mark.parametrize("text", [text for text in ODD_TEXTS if text])
def test_a_case_is_found_by_any_id(db: sqlite3.Connection, text: str) -> None:
    run = new_run(db)
    do(db, lambda tx: run_writes.add_cases(tx, run, [Case(0, text, {}), case(1)]))
    do(
        db,
        lambda tx: run_writes.add_trials(tx, run, [NewTrial(i, i, 0, 0, b"k") for i in range(2)]),
    )
    assert [trial.case_id for trial in trial_rows.trials_of_cases(db, run, [text])] == [text]
    assert [line.case_id for line in report_queries.lines_of_case(db, run, text)] == [text]


def test_two_ids_that_differ_after_a_nul_are_two_cases(db: sqlite3.Connection) -> None:
    run = new_run(db)
    ids = ["a", "a\x00", "a\x00b"]
    do(
        db,
        lambda tx: run_writes.add_cases(tx, run, [Case(i, name, {}) for i, name in enumerate(ids)]),
    )
    assert [trial_rows.case(db, run, seq).id for seq in range(3)] == ids


@pytest.mark.parametrize("tag", ODD_TEXTS)
def test_figures_of_a_tag_are_found_whatever_is_in_it(db: sqlite3.Connection, tag: str) -> None:
    run = new_run(db)
    do(db, lambda tx: run_writes.add_cases(tx, run, [Case(0, "a", {}, tags=(tag,)), case(1)]))
    do(
        db,
        lambda tx: run_writes.add_trials(tx, run, [NewTrial(i, i, 0, 0, b"k") for i in range(2)]),
    )
    db.execute("UPDATE trials SET state = 'done', latency_s = place + 1, cost_usd = place + 1")
    assert report_queries.latencies(db, run, 0, tag) == [1.0]
    assert report_queries.cost_of_tag(db, run, 0, tag) == 1.0


@pytest.mark.parametrize("name", [*ODD_TEXTS, "last\x00"])
def test_any_name_of_a_run_is_answered(db: sqlite3.Connection, name: str) -> None:
    staged(db)
    with pytest.raises(UnknownRunError):
        run_queries.run_named(db, name)


def test_ten_megabytes_go_round(db: sqlite3.Connection) -> None:
    text = "word\x00é" * 1_500_000
    number = do(db, lambda tx: output_writes.add_output(tx, b"k", output(text)))
    assert output_queries.output(db, number).text == text
