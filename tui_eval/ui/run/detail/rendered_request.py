"""What a trial's target was sent: rendered again out of the run's frozen suite."""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from pydantic import ValidationError

from tui_eval.model.case import Column
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.conversation import text_of
from tui_eval.store.read import run_queries, suite_queries
from tui_eval.store.read.trials.trial_queries import WholeTrial
from tui_eval.suites.spec import Suite

if TYPE_CHECKING:
    from tui_eval.targets import Target

# The suite's format, templates and targets are imported where they are used: they are slow to
# load, and the first picture needs none of them. All functions run in a connection's thread.


class NothingToCopyError(Exception):
    """What was to be copied is not there; the message says why."""


def messages(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> Sequence[JsonObject] | str:
    """Return the messages of a trial's request, or say why there are none."""
    from tui_eval.suites.templates.template import TemplateError

    try:
        targets = _targets(suite_queries.spec(db, run_id))
    except NothingToCopyError as error:
        return str(error)
    column = column_of(db, run_id, found)
    try:
        rendered = targets[column.target].shown(column, found.case)
    except TemplateError as error:
        return f"The request cannot be rendered: {error}"
    return rendered or "The target needs no prompt."


def prompt_text(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> str:
    """Return what is asked as plain text; each message under its role where there are several.

    Raises:
        NothingToCopyError: there is no prompt, or it cannot be rendered.
    """
    asked = messages(db, run_id, found)
    if isinstance(asked, str):
        raise NothingToCopyError(asked)
    if len(asked) == 1:
        return text_of(asked[0].get("content"))
    return "\n\n".join(f"{one.get('role')}:\n{text_of(one.get('content'))}" for one in asked)


def as_curl(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> str:
    """Return a trial's request as a shell command; the key is named, never written out.

    Raises:
        NothingToCopyError: the target is asked over no network, or the request cannot be rendered.
    """
    from tui_eval.targets import NothingToSendError

    column = column_of(db, run_id, found)
    try:
        return _targets(suite_queries.spec(db, run_id))[column.target].as_command(
            column, found.case
        )
    except NothingToSendError as error:
        raise NothingToCopyError(str(error)) from error


def target_of(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> "tuple[Target, Column]":
    """Return a trial's target as its run's frozen suite describes it, and the trial's column.

    Raises:
        NothingToCopyError: this version cannot read the suite; the message says so.
    """
    column = column_of(db, run_id, found)
    return _targets(suite_queries.spec(db, run_id))[column.target], column


def shown_suite(db: sqlite3.Connection, run_id: int) -> Suite:
    """Return a run's frozen suite.

    Raises:
        NothingToCopyError: this version cannot read it; the message says so.
    """
    return _parsed(suite_queries.spec(db, run_id))


@lru_cache(maxsize=2)
def _parsed(spec: str) -> Suite:
    try:
        return Suite.model_validate_json(spec)
    except ValidationError as error:
        # a store may hold runs of a version that knew more
        raise NothingToCopyError(
            f"The run's frozen suite cannot be read by this version: "
            f"{error.error_count()} fields are not as expected."
        ) from error


@lru_cache(maxsize=2)
def _targets(spec: str) -> "dict[str, Target]":
    from tui_eval.targets import build

    return build(_parsed(spec))


def column_of(db: sqlite3.Connection, run_id: int, found: WholeTrial) -> Column:
    """Return a trial's column."""
    rows = run_queries.columns(db, run_id)
    row = next(row for row in rows if row.index == found.trial.col)
    return Column(row.index, row.name, row.target, row.prompt)
