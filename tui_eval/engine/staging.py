"""Staging: the frozen suite's cases and trials go into the store before anything starts."""

import itertools
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from functools import partial

from tui_eval.engine.plan import Wanted
from tui_eval.model.case import Case
from tui_eval.store import runs
from tui_eval.store.runs import NewTrial
from tui_eval.store.tx import Tx
from tui_eval.store.writer import transact_patiently

_PORTION = 2000
"""Trials of one transaction."""


class StagingStoppedError(Exception):
    """Somebody stopped the run before all its trials were there."""


def stage(
    db: sqlite3.Connection,
    run: int,
    lease: int,
    trials: Iterable[Wanted],
    *,
    reuse: bool,
    stopped: Callable[[], bool],
    told: Callable[[str | None], None],
) -> int:
    """Write all trials of a run, with the outputs the store has for them already.

    Args:
        db: A writable connection; this runs in its thread.
        run: The run; anything staged of it before is taken back first.
        lease: The lease's number, for the fence.
        trials: What the run wants, in dataset order.
        reuse: Whether outputs of earlier runs may be used.
        stopped: Asked between portions.
        told: Told why nothing can be written just now (a full disk, a lock), and None once it can.

    Returns:
        How many trials there are.

    Raises:
        StagingStoppedError: `stopped` said so; the run stays unstaged.
        sqlite3.Error: the store can be written no more.
        suites.errors.SuiteError: out of `trials`, for mistakes in the data.
    """

    def write(unit: Callable[[Tx], None]) -> None:
        transact_patiently(db, unit, run, lease, told=told, stopped=stopped)

    write(lambda tx: runs.unstage(tx, run))
    place = 0
    last_case = -1
    for portion in _portions(iter(trials)):
        if stopped():
            raise StagingStoppedError
        cases = {want.case.seq: want.case for want in portion if want.case.seq > last_case}
        last_case = portion[-1].case.seq
        write(
            partial(
                _write, run=run, cases=[*cases.values()], place=place, portion=portion, reuse=reuse
            )
        )
        place += len(portion)
    write(lambda tx: runs.staged(tx, run))
    return place


def _write(
    tx: Tx, run: int, cases: list[Case], place: int, portion: list[Wanted], reuse: bool
) -> None:
    # outputs are looked up in the transaction that uses them: a run may be deleted meanwhile
    news = [_new_trial(tx.db, place + i, want, reuse) for i, want in enumerate(portion)]
    runs.add_cases(tx, run, cases)
    runs.add_trials(tx, run, news)


def _new_trial(db: sqlite3.Connection, place: int, want: Wanted, reuse: bool) -> NewTrial:
    output = None
    if reuse and want.key is not None and want.failure is None:
        row = db.execute(
            "SELECT max(id) FROM outputs WHERE generation_key = ? AND superseded = 0",
            (want.key,),
        ).fetchone()
        output = row[0]
    return NewTrial(
        place=place,
        seq=want.case.seq,
        col=want.column.index,
        epoch=want.epoch,
        key=want.key,
        output=output,
        failure=want.failure,
    )


def _portions(trials: Iterator[Wanted]) -> Iterator[list[Wanted]]:
    while portion := list(itertools.islice(trials, _PORTION)):
        yield portion
