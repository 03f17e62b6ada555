"""Whether a store is sound enough to be merged, said before anything of it is taken.

SQLite holds what it is given: a number where a text should be, JSON that is none, a trial whose
case is gone. Taken over, that would break the store that takes, or the merge in the middle.
"""

import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tui_eval.model.states import RunState, TrialState, Verdict
from tui_eval.model.visible import visible_line
from tui_eval.store.errors import StoreDamagedError

_KINDS: Final = {
    "INTEGER": "('integer', 'null')",
    "REAL": "('real', 'integer', 'null')",
    "TEXT": "('text', 'blob', 'null')",  # bytes: texts with lone surrogates, see `store.text`
    "BLOB": "('blob', 'null')",
}
"""What `typeof` may say in a column of a type; where NULL may be, SQLite itself sees to."""
_OBJECTS: Final = frozenset({("runs", "spec"), ("runs", "settings"), ("cases", "data")})
_JSON: Final = _OBJECTS | {
    ("outputs", "messages"),
    ("outputs", "fields"),
    ("scores", "raw"),
    ("judge_calls", "request"),
    ("findings", "numbers"),
    ("findings", "made"),
    ("trust", "result"),
    ("grades", "grade"),
    ("output_texts", "place"),
    ("conversation_calls", "said"),
    ("conversation_calls", "reply"),
}
_WORDS: Final = {
    ("runs", "state"): RunState,
    ("trials", "state"): TrialState,
    ("trials", "verdict"): Verdict,
    ("scores", "verdict"): Verdict,
}
_RELATIONS: Final = {
    "run {} has two cases with the number {}": (
        "SELECT r.name, ifnull(c.number, c.seq) AS n FROM cases c JOIN runs r ON r.id = c.run "
        "GROUP BY c.run, n HAVING count(*) > 1"
    ),
    "run {} has a case with the number {}": (
        "SELECT r.name, ifnull(c.number, c.seq) AS n FROM cases c JOIN runs r ON r.id = c.run "
        "WHERE n < 0"
    ),
    "run {} has a trial (place {}) without its case": (
        "SELECT r.name, t.place FROM trials t JOIN runs r ON r.id = t.run "
        "WHERE NOT EXISTS (SELECT 1 FROM cases c WHERE c.run = t.run AND c.seq = t.seq)"
    ),
    "run {} has a trial (place {}) without its column": (
        "SELECT r.name, t.place FROM trials t JOIN runs r ON r.id = t.run "
        "WHERE NOT EXISTS (SELECT 1 FROM columns c WHERE c.run = t.run AND c.idx = t.col)"
    ),
    "run {} has a trial (place {}) whose output is not there": (
        "SELECT r.name, t.place FROM trials t JOIN runs r ON r.id = t.run "
        "WHERE t.output IS NOT NULL "
        "AND NOT EXISTS (SELECT 1 FROM outputs o WHERE o.id = t.output)"
    ),
    "run {} is part {} of a whole that has no such part": (
        "SELECT r.name, p.part FROM run_parts p JOIN runs r ON r.id = p.run "
        "WHERE p.of < 1 OR p.part < 0 OR p.part > p.of OR p.cases < 0"
    ),
    "run {} is part {} of two wholes": (
        "SELECT r.name, min(p.part) FROM run_parts p JOIN runs r ON r.id = p.run "
        "GROUP BY p.run HAVING count(DISTINCT p.whole) > 1"
    ),
    "run {} has settings of a part that is none: {}": (
        "SELECT name, json_extract(settings, '$.part') FROM runs "
        "WHERE json_type(settings, '$.part.of') <> 'integer'"
    ),
}
"""What may not be, and the rows that are so: the run's name, and what of it."""


def refuse_unsound(db: sqlite3.Connection, path: Path) -> None:
    """Refuse a store of which something cannot be taken as it stands.

    Args:
        db: A connection to it.
        path: Its file, for the message.

    Raises:
        StoreDamagedError: names the first place that is wrong: table, column and row, or run.
        sqlite3.Error: it cannot be read.
    """
    db.create_function("is_read", 1, _is_read, deterministic=True)
    wrong = next(_wrong(db), None)
    if wrong is not None:
        raise StoreDamagedError(
            f"{path}: {visible_line(wrong, 200)}; nothing of it was merged. Merge a copy that is "
            f"whole, or run what it has again"
        )


def _wrong(db: sqlite3.Connection) -> Iterator[str]:
    """Yield what is wrong; what comes later may be read as if all before it were right."""
    described = "SELECT type, name FROM sqlite_master WHERE type IN ('table', 'view')"
    objects = db.execute(f"{described} AND name NOT LIKE 'sqlite_%' ORDER BY 2").fetchall()
    if any(kind == "view" for kind, _ in objects):
        # it would be run in place of what is read
        yield "its tables are not those of a store of tui-eval"
    for _, table in objects:
        yield from _wrong_values(db, table)
    for words, rows in _RELATIONS.items():
        found = db.execute(f"{rows} LIMIT 1").fetchone()
        if found is not None:
            yield words.format(*found)


def _wrong_values(db: sqlite3.Connection, table: str) -> Iterator[str]:
    columns = db.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
    tests = [
        f"WHEN {condition} THEN '{name} ' || {why}"
        for _, name, kind, *_ in columns
        for condition, why in _conditions(table, name, kind)
    ]
    if not tests:
        return
    keys = [_quoted(name) for _, name, kind, _, _, key in columns if key and kind != "BLOB"]
    wrong = f"CASE {' '.join(tests)} END"
    found = db.execute(
        f"SELECT {wrong}, {', '.join(keys) or 'NULL'} FROM {_quoted(table)} "
        f"WHERE {wrong} IS NOT NULL LIMIT 1"
    ).fetchone()
    if found is not None:
        row = ", ".join(map(str, found[1:]))
        yield f"{table}.{found[0]} (row {row})" if keys else f"{table}.{found[0]}"


def _conditions(table: str, name: str, kind: str) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a value, and the expression that says so."""
    column = _quoted(name)
    shown = f"substr(CAST({column} AS TEXT), 1, 40)"
    if kind in _KINDS:
        yield f"typeof({column}) NOT IN {_KINDS[kind]}", f"'is ' || {shown} || ', no {kind}'"
    if (table, name) in _JSON:
        unreadable = f"NOT json_valid({column}) AND NOT is_read({column})"
        yield f"{column} IS NOT NULL AND {unreadable}", "'is no JSON'"
    if (table, name) in _OBJECTS:
        yield f"json_type({column}) <> 'object'", "'is no JSON object'"
    if (known := _WORDS.get((table, name))) is not None:
        words = ", ".join(f"'{word.value}'" for word in known)
        yield (
            f"{column} NOT IN ({words})",
            f"'is ' || {shown} || ', which is none of its words'",
        )


def _is_read(value: object) -> bool:
    """Return whether a column of JSON is read, though SQLite does not take it for JSON.

    Answers of models may hold NaN and infinities.
    """
    try:
        json.loads(value if isinstance(value, str) else "")
    except (ValueError, RecursionError):
        return False
    return True


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
