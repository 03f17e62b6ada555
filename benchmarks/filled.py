"""A store with a run that has been, made by SQL: a million trials in a minute.

Its generation keys are those that the engine plans, so that a second run of the suite finds every
output. Everything else goes through the schema and its triggers, but not through an engine: the
rows of a trial are written once, as they stand at the end, and a batch of trials is a commit.
"""

import sqlite3
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from benchmarks import suites
from benchmarks.suites import PLAIN, Shape
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.model.states import RunState
from tui_eval.store.connection import open_writable, put_away
from tui_eval.store.read import run_queries
from tui_eval.store.rows import ColumnRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes
from tui_eval.store.writer import transact

_NUMBERS = (
    "WITH RECURSIVE numbers (n) AS (SELECT :low UNION ALL SELECT n + 1 FROM numbers "
    "WHERE n + 1 < :high) "
)
_PART = "(n + :shift) % 100"
_FATE = f"CASE WHEN {_PART} < 80 THEN 'pass' WHEN {_PART} < 95 THEN 'fail' ELSE 'ungraded' END"
_LATENCY = "0.2 + (n * 7919 % 1000) / 500.0"
_AT = ":now - (:total - n) * 0.001"  # a thousand a second
_ERRORED = f"{_PART} >= 100 - :errored"
_DONE = f"n < :settled AND NOT {_ERRORED}"
_PLACED = "n / (:targets * :epochs), n / :epochs % :targets, n % :epochs"  # case, column, epoch

_KEY = "(SELECT key FROM planned_keys k WHERE k.n = numbers.n)"
_CASES = f"""{_NUMBERS.replace(":low", ":low_case").replace(":high", ":high_case")}
INSERT INTO cases (run, seq, id, data)
SELECT :run, n, 'c' || n, iif(:tags,
    json_object('fields', json_object('id', 'c' || n, 'q', 'question ' || n,
        'topic', 'topic-' || (n % :tags)), 'tags', json_array('topic-' || (n % :tags))),
    json_object('fields', json_object('id', 'c' || n, 'q', 'question ' || n)))
FROM numbers WHERE n < :high_case"""
_OUTPUTS = f"""{_NUMBERS}
INSERT INTO outputs (id, generation_key, text, finish_reason, model, input_tokens, output_tokens,
    cost_usd, latency_s, digest, at)
SELECT :first + n, {_KEY}, answer(n), iif({_PART} < 95, 'stop', 'length'),
    'fake-model', 3, 3, 0.0, {_LATENCY}, randomblob(32), {_AT}
FROM numbers WHERE {_DONE}"""
_TRIALS = f"""{_NUMBERS}
INSERT INTO trials (id, run, place, seq, col, epoch, state, verdict, score, generation_key, output,
    attempts, error_kind, error_message, latency_s, input_tokens, output_tokens, since, change)
SELECT :first + n, :run, n, {_PLACED}, 'done', {_FATE},
    CASE WHEN {_PART} < 80 THEN 1.0 WHEN {_PART} < 95 THEN 0.0 END,
    {_KEY}, :first + n,
    1, NULL, NULL, {_LATENCY}, 3, 3, {_AT}, :change + n / 4
FROM numbers WHERE {_DONE}
UNION ALL
SELECT :first + n, :run, n, {_PLACED}, 'error', NULL, NULL, {_KEY}, NULL,
    1, 'status', 'HTTP 500: it broke', NULL, 0, 0, {_AT}, :change + n / 4
FROM numbers WHERE n < :settled AND {_ERRORED}
UNION ALL
SELECT :first + n, :run, n, {_PLACED}, 'queued', NULL, NULL, {_KEY}, NULL,
    0, NULL, NULL, NULL, 0, 0, {_AT}, :change + n / 4
FROM numbers WHERE n >= :settled"""
_ATTEMPTS = f"""{_NUMBERS}
INSERT INTO attempts (trial, number, state, sent_at, queue_s, call_s, error_kind, error_message,
    status, output, input_tokens, output_tokens, cost_usd)
SELECT :first + n, 1, iif({_ERRORED}, 'failed', 'answered'), {_AT}, 0.1, {_LATENCY},
    iif({_ERRORED}, 'status', NULL), iif({_ERRORED}, 'HTTP 500: it broke', NULL),
    iif({_ERRORED}, 500, 200), iif({_ERRORED}, NULL, :first + n), 3, 3, 0.0
FROM numbers WHERE n < :settled"""
_SCORES = f"""{_NUMBERS}
INSERT INTO scores (trial, output, scorer, verdict, value, raw, reason, source, weight, required,
    at)
SELECT :first + n, :first + n, 'exact', {_FATE},
    CASE WHEN {_PART} < 80 THEN 1.0 WHEN {_PART} < 95 THEN 0.0 END, NULL,
    iif({_PART} < 80, 'as expected', 'expected ' || quote('question ' || n) || ', got '
        || quote(substr(answer(n), 1, 20))), 'code', 1.0, 1, {_AT}
FROM numbers WHERE {_DONE}"""
_GRADED = 5
_JUDGE_CALLS = f"""{_NUMBERS}
INSERT INTO judge_calls (id, run, scorer, judge, model, purpose, round, try, items, request, reply,
    finish_reason, state, sent_at, call_s, input_tokens, output_tokens, cost_usd)
SELECT :first_call + n / {_GRADED}, :run, 'judged', 'judge', 'fake-judge', 'grade', 'first', 1,
    {_GRADED}, json_object('outputs', answer(n)), answer(n), 'stop', 'answered', {_AT}, {_LATENCY},
    500, 50, 0.0
FROM numbers WHERE n < :settled AND n % {_GRADED} = 0"""
_FINDINGS = f"""{_NUMBERS}
INSERT INTO findings (trial, output, scorer, judge, purpose, repeat, numbers, score_key, made,
    problem, call, position, at)
SELECT :first + n, :first + n, 'judged', 'judge', 'grade', 0, '[0]', randomblob(32),
    '{{"0":{{"met":true}}}}', NULL, :first_call + n / {_GRADED}, n % {_GRADED}, {_AT}
FROM numbers WHERE {_DONE}"""
_JUDGED = f"""{_NUMBERS}
INSERT INTO scores (trial, output, scorer, verdict, value, raw, reason, source, weight, required,
    at)
SELECT :first + n, :first + n, 'judged', {_FATE},
    CASE WHEN {_PART} < 80 THEN 1.0 WHEN {_PART} < 95 THEN 0.0 END,
    json_object('form', 'requirements', 'judge', 'judge', 'parts', json_array(json_object(
        'text', 'Answers the question', 'value', iif({_PART} < 80, 1, 0)))),
    iif({_PART} < 80, 'met', 'not met: Answers the question'), 'judge', 1.0, 1, {_AT}
FROM numbers WHERE {_DONE}"""

_BATCH = 100_000
"""Trials of a commit."""
_CACHE_KB = 500_000
"""Of pages in memory: keys and digests are written all over their indexes."""
_WORDS = (
    *("the", "of", "and", "to", "in", "is", "was", "that", "for", "it", "as", "with", "on", "by"),
    *("river", "mountain", "capital", "answer", "because", "between", "century", "distance"),
    *("energy", "example", "figure", "general", "however", "import", "journal", "kingdom"),
    *("language", "measure", "nation", "origin", "pressure", "quality", "result", "season"),
    *("temperature", "union", "variable", "water", "yellow", "zero"),
)


def answer(number: int, chars: int) -> str:
    """Give what a trial was answered: the question again, and words up to so many characters."""
    words = [suites.question(number)]
    state = number * 2654435761 + 12345
    room = chars - len(words[0])
    while room > 0:
        state = (state * 6364136223846793005 + 1442695040888963407) % (1 << 64)
        words.append(_WORDS[(state >> 33) % len(_WORDS)])
        room -= len(words[-1]) + 1
    return " ".join(words)


@dataclass(frozen=True)
class Filled:
    """A run that has been, and the store it is in."""

    store: Path
    run: int
    name: str
    """The run's."""
    took_s: float


def fill(
    folder: Path,
    base_url: str,
    trials: int,
    *,
    queued: int = 0,
    errored: int = 3,
    in_flight: int = 50,
    chars: int = 0,
    shift: int = 0,
    shape: Shape = PLAIN,
) -> Filled:
    """Make a store whose one run has been settled, but for the last trials of it.

    Of a hundred settled trials 80 pass, 15 fail, 3 are in error and 2 are ungraded. A store that is
    there already gets the run beside those that it has.

    Args:
        folder: Where; the suite and its dataset are written there too.
        base_url: The server the run asked.
        trials: How many trials the run has.
        queued: How many of these wait, the last ones; with any the run is interrupted, not done.
        errored: How many of a hundred are in error, at most 5; the others of 5 are ungraded.
        in_flight: How many calls there may be at once.
        chars: How long answers are at least; their words beyond the question are drawn.
        shift: How many cases further on the trials are that pass.
        shape: Its targets, epochs, tags and judge; the last case may have fewer trials.
    """
    began = time.monotonic()
    store = folder / "store.sqlite3"
    cases = -(-trials // shape.trials)
    suite = suites.echo(folder, base_url, cases, in_flight, shape)
    run = create(store, suite, Settings())
    db = open_writable(store)
    try:
        db.execute("PRAGMA synchronous = OFF")
        db.execute(f"PRAGMA cache_size = -{_CACHE_KB}")
        db.create_function("answer", 1, lambda n: answer(n, chars), deterministic=True)
        session = Session(suite, Settings())
        values: dict[str, float] = {
            "run": run,
            "total": trials,
            "settled": trials - queued,
            "errored": errored,
            "shift": shift,
            "targets": shape.targets,
            "epochs": shape.epochs,
            "tags": shape.tags,
        }
        values |= transact(db, lambda tx: _begun(tx, run, session.column_rows()))
        keys = (want.key for portion in session.wanted(None) for want in portion)
        for low in range(0, trials, _BATCH):
            high = min(low + _BATCH, trials)
            _plan(db, low, islice(keys, high - low))
            batch = {
                "low": low,
                "high": high,
                "low_case": -(-low // shape.trials),
                "high_case": -(-high // shape.trials),
            }
            transact(db, partial(_fill, values=values | batch, judged=shape.judged))
        transact(db, partial(_end, values=values))
        name = run_queries.run(db, run).name
        put_away(db)
    finally:
        db.close()
    return Filled(store, run, name, time.monotonic() - began)


def _begun(tx: Tx, run: int, columns: Sequence[ColumnRow]) -> dict[str, float]:
    """Write the columns down; give from which ids, which change and when the trials are."""
    run_writes.add_columns(tx, run, columns)
    return {
        "first": _first_free(tx.db, "trials"),
        "first_call": _first_free(tx.db, "judge_calls"),
        "now": tx.now,
        "change": tx.change,
    }


def _plan(db: sqlite3.Connection, low: int, keys: Iterable[bytes | None]) -> None:
    """Lay the generation keys of a batch ready, by the numbers of its trials."""
    db.execute("DROP TABLE IF EXISTS temp.planned_keys")
    db.execute("CREATE TEMP TABLE planned_keys (n INTEGER PRIMARY KEY, key BLOB NOT NULL)")
    db.execute("BEGIN")
    db.executemany("INSERT INTO planned_keys VALUES (?, ?)", enumerate(keys, low))
    db.execute("COMMIT")


def _fill(tx: Tx, values: Mapping[str, float], judged: bool) -> None:
    by_judge = (_JUDGE_CALLS, _FINDINGS, _JUDGED) if judged else ()
    for statement in (_CASES, _OUTPUTS, _TRIALS, _ATTEMPTS, _SCORES, *by_judge):
        tx.db.execute(statement, values)


def _end(tx: Tx, values: Mapping[str, float]) -> None:
    run, trials = int(values["run"]), int(values["total"])
    tx.db.execute("UPDATE meta SET value = value + ? WHERE name = 'change'", (trials // 4 + 1,))
    run_writes.count_anew(tx, run)
    run_writes.staged(tx, run)
    run_writes.move(tx, run, RunState.RUNNING)
    run_writes.begin(tx, run)
    tx.db.execute("UPDATE runs SET active_since = ? WHERE id = ?", (tx.now - trials * 0.001, run))
    run_writes.end(tx, run)
    queued = values["settled"] < trials
    run_writes.move(tx, run, RunState.INTERRUPTED if queued else RunState.DONE)


def _first_free(db: sqlite3.Connection, table: str) -> int:
    return int(db.execute(f"SELECT ifnull(max(id), 0) + 1 FROM {table}").fetchone()[0])
