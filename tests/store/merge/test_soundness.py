"""Stores that are damaged in one place each: none is taken, and the place is named."""

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.ui.playing import plain_run
from tui_eval.store.connection import open_readable, open_writable
from tui_eval.store.errors import StoreDamagedError
from tui_eval.store.merge.merging import look, merge
from tui_eval.store.merge.soundness import refuse_unsound
from tui_eval.store.read import run_queries


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return tmp_path / "store.sqlite3"


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        ("UPDATE runs SET spec = '{broken'", "runs.spec is no JSON (row 1)"),
        ("UPDATE runs SET settings = '[1]'", "runs.settings is no JSON object (row 1)"),
        ("UPDATE runs SET created_at = 'soon'", "runs.created_at is soon, no REAL (row 1)"),
        ("UPDATE cases SET data = 'x' WHERE seq = 2", "cases.data is no JSON (row 1, 2)"),
        ("UPDATE trials SET score = 'high' WHERE id = 3", "trials.score is high, no REAL (row 3)"),
        ("UPDATE trials SET verdict = 7 WHERE id = 3", "trials.verdict is 7, which is none of"),
        ("UPDATE outputs SET messages = '{' WHERE id = 2", "outputs.messages is no JSON (row 2)"),
        ("DELETE FROM cases WHERE seq = 1", "has a trial (place 1) without its case"),
        ("DELETE FROM columns", "has a trial (place 0) without its column"),
        ("DELETE FROM outputs WHERE id = 4", "whose output is not there"),
        ("UPDATE cases SET number = 3", "has two cases with the number 3"),
        ("UPDATE cases SET number = -1 WHERE seq = 0", "has a case with the number -1"),
        ("INSERT INTO run_parts VALUES (1, 3, 2, x'00', 9)", "is part 3 of a whole that has no"),
        (
            "INSERT INTO run_parts VALUES (1, 1, 2, x'00', 9), (1, 1, 3, x'01', 9)",
            "is part 1 of two wholes",
        ),
        (
            "UPDATE runs SET settings = json_set(settings, '$.part.of', 'x')",
            "has settings of a part that is none",
        ),
        ("CREATE VIEW more AS SELECT * FROM runs", "its tables are not those of a store"),
        ("UPDATE runs SET label = 1, suite = char(27), wall_s = char(27)", "is ␛, no REAL"),
    ],
)
def test_what_is_damaged_is_named_and_nothing_is_taken(
    damage: str, said: str, store: Path, tmp_path: Path
) -> None:
    plain_run(store, 5)
    with closing(sqlite3.connect(store)) as db, db:
        db.execute(damage)
    into = tmp_path / "into.sqlite3"
    with closing(open_writable(into)) as db:
        with pytest.raises(StoreDamagedError, match=re.escape(said)):
            merge(db, store)
        assert not run_queries.runs(db)
    with pytest.raises(StoreDamagedError, match=re.escape(said)):
        look(None, store)


def test_texts_of_any_content_are_sound(store: Path) -> None:
    """Lone surrogates make bytes of a text; what may be unknown is NULL."""
    plain_run(store, 2)
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE outputs SET text = x'eda080', model = NULL, cost_usd = 1")
    with closing(open_readable(store)) as db:
        refuse_unsound(db, store)


@pytest.mark.parametrize("said", ["NaN", "-Infinity"])
def test_json_that_python_alone_reads_is_sound(store: Path, said: str) -> None:
    plain_run(store, 2)
    messages = f'[{{"role":"assistant","tool_calls":[{said}]}}]'
    with closing(sqlite3.connect(store)) as db, db:
        db.execute("UPDATE outputs SET messages = ?", (messages,))
        assert not db.execute("SELECT json_valid(?)", (messages,)).fetchone()[0]
    with closing(open_readable(store)) as db:
        refuse_unsound(db, store)
