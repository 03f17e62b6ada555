"""The trials a suite wants, each with its key: what staging writes and an account counts."""

import heapq
import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from tui_eval.engine.journey import Asked
from tui_eval.engine.keys import generation_key, request_key
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject, digest
from tui_eval.model.output import Failure
from tui_eval.store.text import unpack_text


class Identified(Asked, Protocol):
    """What a plan needs of a target."""

    def identity(self) -> JsonObject:
        """Give what the target is, as far as it changes answers."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """One trial a run wants."""

    case: Case
    column: Column
    epoch: int
    key: bytes | None
    """None where its request cannot be rendered."""
    failure: Failure | None
    """What is wrong with it before anything is asked: its request or its checks."""


def wanted(
    cases: Iterator[Case],
    columns: Sequence[Column],
    targets: Mapping[str, Identified],
    problem: Callable[[Column, Case], Failure | None],
    epochs: int,
) -> Iterator[Wanted]:
    """Give all trials in dataset order: case, column, epoch.

    Args:
        cases: The cases, in order.
        columns: The columns by their index.
        targets: The targets by name.
        problem: Says what is wrong with the scorers of a case before anything is asked.
        epochs: How often each is asked.
    """
    identities = {name: targets[name].identity() for name in {c.target for c in columns}}
    seen = _Occurrences()
    try:
        for case in cases:
            for column in columns:
                request = targets[column.target].request(column, case)
                if isinstance(request, Failure):
                    for epoch in range(epochs):
                        yield Wanted(case, column, epoch, None, request)
                    continue
                failure = problem(column, case)
                base = request_key(identities[column.target], request)
                occurrence = seen.count(base)
                for epoch in range(epochs):
                    key = generation_key(base, epoch, occurrence)
                    yield Wanted(case, column, epoch, key, failure)
    finally:
        seen.close()


class _Occurrences:
    """Counts equal requests in a file of its own, so that memory does not grow with the run."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("CREATE TABLE seen (key BLOB PRIMARY KEY, n INTEGER) WITHOUT ROWID")
        self._db.execute("BEGIN")

    def count(self, key: bytes) -> int:
        """Give how often the key was counted before."""
        row = self._db.execute(
            "INSERT INTO seen VALUES (?, 0) ON CONFLICT DO UPDATE SET n = n + 1 RETURNING n", (key,)
        ).fetchone()
        return int(row[0])

    def close(self) -> None:
        """Drop the file."""
        self._db.close()


def chosen(
    cases: Iterator[Case], settings: Settings, only: frozenset[str] | None, seed: int
) -> Iterator[Case]:
    """Give the cases a launch chose, numbered anew from 0.

    Args:
        cases: All cases of the suite in order.
        settings: The launch's choices.
        only: The ids `settings.only` stands for; None: all.
        seed: What a sample is drawn with.
    """
    ids, tags = frozenset(settings.cases), frozenset(settings.tags)
    picked: Iterator[Case] = (
        case
        for case in cases
        if (not ids or case.id in ids)
        and (not tags or not tags.isdisjoint(case.tags))
        and (only is None or case.id in only)
    )
    if settings.sample is not None:
        # the n smallest of a seeded digest: the same draw whatever the order of the dataset
        drawn = heapq.nsmallest(settings.sample, picked, key=lambda case: digest([seed, case.id]))
        picked = iter(sorted(drawn, key=lambda case: case.seq))
    for seq, case in enumerate(picked):
        if settings.limit is not None and seq >= settings.limit:
            return
        yield case if case.seq == seq else replace(case, seq=seq)


def latest(db: sqlite3.Connection, suite: str, before: int | None, only: str) -> frozenset[str]:
    """Give the cases of a suite whose latest trials in this store say so.

    Args:
        db: The connection.
        suite: The suite's name.
        before: Only runs older than this one count; None: all.
        only: `failed`, `errors` or `ungraded`.
    """
    condition = {
        "failed": "t.verdict = 'fail'",
        "errors": "t.state = 'error'",
        "ungraded": "t.verdict = 'ungraded'",
    }[only]
    rows = db.execute(
        "SELECT c.id, max(CASE WHEN t.run = l.run THEN " + condition + " ELSE 0 END) FROM "  # noqa: S608
        "(SELECT c.id AS id, max(c.run) AS run FROM runs r JOIN trials t ON t.run = r.id "
        "AND t.state IN ('done', 'error') JOIN cases c ON c.run = t.run AND c.seq = t.seq "
        "WHERE r.suite = ?1 AND (?2 IS NULL OR r.id < ?2) GROUP BY c.id) l "
        "JOIN cases c ON c.run = l.run AND c.id = l.id "
        "JOIN trials t ON t.run = c.run AND t.seq = c.seq GROUP BY c.id",
        (suite, before),
    )
    return frozenset(unpack_text(row[0]) for row in rows if row[1])
