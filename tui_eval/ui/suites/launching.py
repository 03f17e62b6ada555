"""From what stands in the Launch form to a run. The slow imports happen where they are used."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.engine.settings import Settings
from tui_eval.store import reader
from tui_eval.ui.suites.shelf import Entry
from tui_eval.ui.widgets.toned import Piece
from tui_eval.ui.words import many, number

if TYPE_CHECKING:
    from tui_eval.engine.account import Account

_RUNS_LOOKED_AT = 50


class FormError(Exception):
    """A field cannot be meant so; the message says which and what is allowed."""


@dataclass(frozen=True, slots=True)
class Form:
    """What stands in the fields, as it was typed."""

    targets: tuple[str, ...]
    """Those that are ticked."""
    all_targets: bool
    cases: str = ""
    tags: str = ""
    limit: str = ""
    epochs: str = ""
    concurrency: str = ""
    cache: bool = True

    def settings(self) -> Settings:
        """Read the fields.

        Raises:
            FormError: one of them makes no sense.
        """
        if not self.targets:
            raise FormError("tick at least one target")
        return Settings(
            targets=() if self.all_targets else self.targets,
            cases=_words(self.cases),
            tags=_words(self.tags),
            limit=_whole("limit", self.limit),
            epochs=_whole("epochs", self.epochs),
            concurrency=_whole("at once", self.concurrency),
            fresh=not self.cache,
        )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _whole(field: str, text: str) -> int | None:
    if not text.strip():
        return None
    if not text.strip().isdecimal() or int(text) < 1:
        raise FormError(f"{field} must be a whole number of at least 1, not “{text}”")
    return int(text)


@dataclass(frozen=True, slots=True)
class Outlook:
    """What a launch would do."""

    account: "Account | None"
    """None: it cannot be launched so; `trouble` says why."""
    trouble: str | None
    company: tuple[str, ...]
    """Live runs that ask the same endpoints."""


def outlook(db: sqlite3.Connection, entry: Entry, settings: Settings) -> Outlook:
    """Count what a launch would find; reads all of the suite's data."""
    from tui_eval.engine.account import account
    from tui_eval.engine.session import Session
    from tui_eval.suites.errors import SuiteError

    suite = entry.suite
    assert suite is not None, "only a valid suite is launched"
    session = Session(suite, settings)
    missing = session.problems()
    if missing:
        return Outlook(None, "; ".join(missing), ())
    try:
        found = account(db, suite, settings)
    except SuiteError as error:
        return Outlook(None, str(error), ())
    if not found.trials:
        return Outlook(None, "no case is like that", ())
    endpoints = {row.endpoint for row in session.column_rows() if row.kind == "model"}
    return Outlook(found, None, tuple(_company(db, endpoints)))


def _company(db: sqlite3.Connection, endpoints: set[str]) -> list[str]:
    return [
        run.name
        for run in reader.runs(db, limit=_RUNS_LOOKED_AT)
        if not run.state.settled
        and run.live
        and endpoints & {column.endpoint for column in reader.columns(db, run.id)}
    ]


def outlook_lines(found: Outlook | None) -> Sequence[Sequence[Piece]]:
    """Give the lines under the form."""
    if found is None:
        return [[Piece("counting what is there already…", "dim")], []]
    if found.account is None:
        return [[Piece(found.trouble or "", "error")], []]
    account = found.account
    first = [
        Piece(many(account.trials, "trial"), "strong"),
        Piece(f": {number(account.reusable)} reusable", "pass" if account.reusable else "dim"),
        Piece(f" · {number(account.stale)} stale", "ungraded" if account.stale else "dim"),
        Piece(f" · {number(account.new)} new"),
        Piece(f" · {number(account.removed)} removed", "dim"),
    ]
    if account.broken:
        first.append(Piece(f" · {number(account.broken)} broken", "error"))
    if account.why_stale:
        second = [Piece(f"stale: {_reasons(account.why_stale)}", "ungraded")]
    elif found.company:
        second = [Piece(f"{', '.join(found.company)} asks the same endpoint just now", "ungraded")]
    else:
        second = [Piece(f"{many(account.calls, 'output')} to be got, further tries aside", "dim")]
    return [first, second]


def _reasons(why: dict[str, int]) -> str:
    return ", ".join(f"{what} ({number(n)})" for what, n in sorted(why.items()))


def launch(store: Path, entry: Entry, settings: Settings) -> int:
    """Make the run and start its engine; give the run's id. Runs in a thread.

    Raises:
        StoreError: the store cannot be used.
    """
    from tui_eval.engine.launch import create, spawn
    from tui_eval.store.connection import open_readable

    assert entry.suite is not None, "only a valid suite is launched"
    run_id = create(store, entry.suite, settings, path=str(entry.path.absolute()))
    db = open_readable(store)
    try:
        name = reader.run(db, run_id).name
    finally:
        db.close()
    spawn(store, name)
    return run_id
