"""Whether targets and judges could be asked just now.

Looked at before anything moves: a retry without the key it needs would put aside an output and get
an error for it.
"""

import sqlite3
from collections.abc import Collection
from contextlib import closing

from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.store.read import run_queries
from tui_eval.store.read.consignment_queries import awaited_requests
from tui_eval.store.read.judges import judge_queries
from tui_eval.store.read.run_counts import board
from tui_eval.store.requests import Verb
from tui_eval.suites.config import configuration
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.judge_choice import asked_judges
from tui_eval.suites.spec import Suite


def missing(suite: Suite, settings: Settings, named: Collection[str] = ()) -> tuple[str, ...]:
    """Return what must be put right before a run can start: one line each, for a person.

    Keys that are not set, models that are not there, caps without prices. Nothing is opened.

    Args:
        suite: The suite.
        settings: What was chosen beside it.
        named: Judges that scorers of cases name, as far as they are known.
    """
    found = configuration.read()
    wrong = [str(one) for one in found.mistakes if one.field == "concurrency"]
    with closing(Session(suite, settings)) as session:
        return (*wrong, *session.problems(named))


def unready(
    db: sqlite3.Connection, run_id: int, verbs: Collection[str], settings: Settings | None = None
) -> list[str]:
    """Say what must be put right before these requests can be met: one line each, for a person.

    Args:
        db: A connection to the store.
        run_id: The run.
        verbs: What is asked of it.
        settings: Those that it is to have; None: those that it has.

    Returns:
        Keys that are not set, models and programs that are not there; empty: nothing, or nobody
        needs any.
    """
    targets, judges = asks_targets(db, run_id, verbs), _asks_judges(db, run_id, verbs)
    if not targets and not judges:
        return []
    suite = frozen_suite(db, run_id)
    session = Session(suite, settings or Settings.from_json(run_queries.run(db, run_id).settings))
    return [
        *(session.target_problems() if targets else []),
        *(session.judge_problems(judges_of_cases(db, run_id, suite)) if judges else []),
        *session.scorer_problems(),
    ]


def judges_of_cases(db: sqlite3.Connection, run_id: int, suite: Suite) -> frozenset[str]:
    """Return the judges that scorers of a run's cases name, where the suite has any for that."""
    if asked_judges(suite) >= {judge.name for judge in suite.judges}:
        return frozenset()
    return judge_queries.named_by_cases(db, run_id)


def asks_targets(db: sqlite3.Connection, run_id: int, verbs: Collection[str]) -> bool:
    """Say whether any target has to be asked for these requests to be met."""
    if Verb.RETRY in verbs or Verb.UNCANCEL in verbs:
        return True
    counts, _ = board(db, run_id)
    unfinished = not run_queries.run(db, run_id).staged or counts.queued or counts.running
    awaited = awaited_requests(db, [run_id])  # also of a cancelled run
    return Verb.RESUME in verbs and bool(unfinished or counts.error or awaited)


def _asks_judges(db: sqlite3.Connection, run_id: int, verbs: Collection[str]) -> bool:
    if Verb.RESCORE in verbs or asks_targets(db, run_id, verbs):
        return True
    counts, _ = board(db, run_id)
    return Verb.RESUME in verbs and bool(counts.scoring or counts.ungraded)
