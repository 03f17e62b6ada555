import hashlib
import sqlite3
from contextlib import closing

import pytest

from tests.store.recounting import recount
from tests.support import staged
from tui_eval.store import schema
from tui_eval.store.migrations import first, outputs, scores, spending

SCHEMA = len(schema.MIGRATIONS)
"""The version of a store of today."""
_SCHEMAS = [
    "fa986f8022c5",
    "22439b9e9145",
    "91dc13feb59a",
    "4452c07e14f0",
    "646720402aac",
    "1f2971898b0c",
    "1f2971898b0c",
    "a974201db629",
    "8fef2690f68d",
    "4eeb70d2e0dd",
    "afdc0c9fd65c",
    "c433b9880a10",
    "3919e5a3d1cf",
    "55eb19ca1d8c",
    "aec1aa2e1955",
    "08f389f26704",
    "ecbe37cb0c53",
    "13fa992dd43c",
    "2099ca58a38d",
    "39be6e719c87",
    "cb493f52d97d",
    "44db589872f3",
    "9cff890e7d45",
    "f9344c244269",
    "5ce5057449db",
    "8a44a9bbcfe3",
    "5a192f6da3be",
    "f08895c37c50",
    "7cfef69bef9c",
    "b7e5da879b20",
    "0dc101d05200",
    "10184d378d98",
    "640fb2702bc8",
    "fc64932f6965",
    "68805f38ae06",
    "68270c8188af",
    "b8f4b5df58f0",
    "fec5db3e4fe0",
    "e40d965ec254",
    "1f5bb4d578b9",
    "b9643037f75c",
]
"""Digests of what each migration has made; append only, like the migrations."""


def test_a_migration_is_done_once(db: sqlite3.Connection) -> None:
    schema.migrate(db)
    assert db.execute("SELECT count(*) FROM migrations").fetchone() == (len(schema.MIGRATIONS),)


def tables(db: sqlite3.Connection) -> dict[str, list[str]]:
    """Give the columns of all tables, in their order."""
    names = [row[0] for row in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
    return {name: [row[1] for row in db.execute(f"PRAGMA table_info({name})")] for name in names}


def test_what_is_appended_changes_no_schema_there_was() -> None:
    """Stores in the world were made by these very statements: a change is a further migration."""
    seen = []
    with closing(sqlite3.connect(":memory:")) as db:
        for migration in schema.MIGRATIONS:
            migration(db)
            rows = db.execute("SELECT sql FROM sqlite_master ORDER BY name").fetchall()
            seen.append(hashlib.sha256(repr(rows).encode()).hexdigest()[:12])
    assert seen[: len(_SCHEMAS)] == _SCHEMAS


@pytest.mark.parametrize("more", ["", "ALTER TABLE findings ADD COLUMN spent INTEGER DEFAULT 0"])
def test_a_store_of_the_first_schema_gets_all_there_is(more: str) -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        first.first_schema(db)
        db.execute("CREATE TABLE migrations (name TEXT NOT NULL, at REAL NOT NULL)")
        db.execute("PRAGMA user_version = 1")
        db.execute(more or "SELECT 1")
        schema.migrate(db)
        with closing(sqlite3.connect(":memory:", isolation_level=None)) as new:
            schema.migrate(new)
            assert {t: sorted(c) for t, c in tables(db).items()} == {
                t: sorted(c) for t, c in tables(new).items()
            }


def test_what_was_broken_off_before_that_was_known_is_used_no_more(
    db: sqlite3.Connection,
) -> None:
    known = ["stop", "STOP", "tool_calls", "LENGTH", "Content_Filter", "end_turn", "", None]
    unknown = ["error", "RECITATION", "abort", "stop\x00"]
    for number, finish in enumerate([*known, *unknown]):
        db.execute(
            "INSERT INTO outputs (generation_key, text, finish_reason, digest, at) "
            "VALUES (?, 'x', ?, x'00', 0)",
            (b"%d" % number, finish),
        )
    outputs.broken_off_outputs(db)
    rows = db.execute("SELECT finish_reason, superseded FROM outputs ORDER BY id").fetchall()
    assert rows == [*((finish, 0) for finish in known), *((finish, 1) for finish in unknown)]


def test_findings_that_were_put_aside_before_still_answer_nobody(db: sqlite3.Connection) -> None:
    for superseded in (0, 1):
        db.execute(
            "INSERT INTO findings (scorer, judge, purpose, repeat, numbers, score_key, made, "
            "superseded, at) VALUES ('s', 'j', 'grade', 0, '[0]', x'00', '{}', ?, 0)",
            (superseded,),
        )
    scores.findings_answer_by_key(db)
    rows = db.execute("SELECT superseded, spent FROM findings ORDER BY id").fetchall()
    assert rows == [(0, 0), (1, 1)]


def test_a_migration_that_breaks_is_undone_at_once(
    db: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE half (done)")
        raise RuntimeError("half way")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, broken))
    with pytest.raises(RuntimeError, match="half way"):
        schema.migrate(db)
    assert not db.in_transaction
    assert not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'half'").fetchall()
    assert schema.version(db) == SCHEMA


def test_tallies_follow_every_column_they_sum(db: sqlite3.Connection) -> None:
    run = staged(db, 4, columns=2)
    for change in (
        "state = 'running', attempts = 3 WHERE place < 3",
        "state = 'scoring', input_tokens = 7, output_tokens = 5, cost_usd = 0.25 WHERE place < 2",
        "state = 'done', verdict = 'pass', score = 0.5 WHERE place = 0",
        "cost_usd = NULL WHERE place IN (1, 2)",
        "about_usd = 0.125 WHERE place IN (0, 1)",
        "about_usd = NULL WHERE place = 1",
        "cached = 1 WHERE place = 0",
    ):
        db.execute(f"UPDATE trials SET {change} AND run = {run.run}")
        recount(db)


def test_a_recount_notices_a_wrong_tally(db: sqlite3.Connection) -> None:
    staged(db, 4)
    db.execute("UPDATE tallies SET n = n + 1")
    with pytest.raises(AssertionError):
        recount(db)


def test_what_was_estimated_before_it_was_summed_up_is_summed_up() -> None:
    before = schema.MIGRATIONS.index(spending.trials_estimated)
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as db:
        for migration in schema.MIGRATIONS[:before]:
            migration(db)
        db.execute(
            "INSERT INTO tallies VALUES (1, 0, 'queued', '', 5, 0, 0, 0, 0, 0, 0, 0, 0)",
        )
        attempts: dict[int, list[tuple[str, float | None, float | None]]] = {
            1: [("answered", 0.5, None)],
            2: [("answered", None, 0.25)],
            3: [("answered", 0.5, None), ("lost", None, None), ("answered", None, 0.25)],
            4: [("answered", None, 0.25), ("answered", None, None)],
            5: [("failed", None, None), ("answered", None, None)],
        }
        for trial, tried in attempts.items():
            db.execute(
                "INSERT INTO trials (id, run, place, seq, col, epoch, state, change) "
                "VALUES (?1, 1, ?1, ?1, 0, 1, 'queued', 1)",
                (trial,),
            )
            db.executemany(
                "INSERT INTO attempts (trial, number, state, sent_at, cost_usd, about_usd) "
                "VALUES (?, 1, ?, 0, ?, ?)",
                [(trial, *one) for one in tried],
            )
        db.execute("UPDATE trials SET cost_usd = NULL WHERE id > 1")
        db.execute("UPDATE trials SET cost_usd = 0.5 WHERE id = 1")
        spending.trials_estimated(db)
        about = db.execute("SELECT id, about_usd FROM trials WHERE about_usd IS NOT NULL")
        assert about.fetchall() == [(2, 0.25), (3, 0.75)]
        recount(db)
