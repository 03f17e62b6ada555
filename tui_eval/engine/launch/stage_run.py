"""Stages a run as it was launched: whole or in part, for a sweep, or as an earlier run was."""

import shlex
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from functools import partial
from typing import Final

from tui_eval.engine.launch.part_of_run import WholeRun
from tui_eval.engine.launch.plan import cases_of_verdict
from tui_eval.engine.launch.staged_copy import stage_copy, staging_digest
from tui_eval.engine.launch.staging import StagingWriter, as_launched, stage
from tui_eval.engine.session import Session
from tui_eval.engine.sweep.sweep_staging import stage_sweep
from tui_eval.store.read import suite_queries
from tui_eval.store.rows import RunRow
from tui_eval.store.tx import Tx
from tui_eval.store.write import run_writes
from tui_eval.suites.data.data_files import DataChangedError, DataFile
from tui_eval.suites.loading.errors import Mistake, SuiteError

_NOTHING_LEFT: Final = "no case is left to run"
_WIDER: Final = "choose fewer filters, or look at the data"
_CHANGED: Final = (
    "{what} after this run was launched, before its cases were copied: "
    "start it again with tui-eval run {suite}"
)


def changed_meanwhile(error: DataChangedError, row: RunRow) -> str:
    """Say that a data file is not what it was at launch, and what to do."""
    return _CHANGED.format(what=error, suite=shlex.quote(row.path or "SUITE"))


def stage_run(
    db: sqlite3.Connection,
    told: Callable[[str | None], None],
    stopped: Callable[[], bool],
    row: RunRow,
    session: Session,
    number: int,
) -> None:
    """Write a run's columns, cases and trials.

    Args:
        db: A writable connection, in its thread.
        told: Told why nothing can be written just now, and None once it can.
        stopped: Whether to stop.
        row: The run.
        session: What it is.
        number: Its lease's number.

    Raises:
        StagingStoppedError: it was to stop before all were there.
        DataChangedError: a data file is not what it was at launch.
        SuiteError: the data has mistakes, or no case is left.
    """
    chosen = cases_of_verdict(db, row.suite, session.settings, row.id)
    writer = StagingWriter(db, row.id, number, told, stopped=stopped)
    writer.write(partial(run_writes.add_columns, run=row.id, columns=session.column_rows()))
    kept = suite_queries.data_files(db, row.id)
    files = None if kept is None else [DataFile.of(one) for one in kept]
    if (plan := session.settings.sweep) is not None:
        there = stage_sweep(writer, session, plan, files or [])
    else:
        there = _stage_cases(writer, row, session, chosen, files)
    if there == 0:
        raise SuiteError([Mistake(row.path or row.suite, None, "dataset", _NOTHING_LEFT, _WIDER)])


def _stage_cases(
    writer: StagingWriter,
    row: RunRow,
    session: Session,
    chosen: frozenset[str] | None,
    files: Sequence[DataFile] | None,
) -> int:
    """Write what a suite's cases come to; return how many trials there are, or cases of a part."""
    digest = staging_digest(session, suite_queries.spec(writer.db, row.id), files)
    if digest is not None and files is not None:
        copied = stage_copy(writer, digest, session, files)
        if copied is not None:
            return copied
    whole = WholeRun()

    def set_part(tx: Tx) -> None:
        if (part := session.settings.part) is not None:
            of_whole = whole.digest(session.decided_by())
            run_writes.set_part(tx, row.id, part, of_whole, whole.cases)

    with closing(session.wanted(chosen, whole)) as portions:
        launched = portions if files is None else as_launched(portions, session.suite, files)
        there = stage(
            writer,
            session.judges_ready(launched),
            session,
            reuse=session.reuses,
            whole=lambda: session.is_whole,
            staged_as=lambda: None if session.depends_on_more else digest,
            last=set_part,
        )
    return there + whole.cases  # of few cases one part may have none
