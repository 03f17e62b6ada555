"""The one writer of an engine: takes whatever waits, commits it, takes whatever waits by then."""

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from tui_eval.store import clock
from tui_eval.store.connection import Connection, explain, open_writable
from tui_eval.store.errors import LeaseLostError, StoreError, StoreMovedError
from tui_eval.store.opening.store_file import check_place
from tui_eval.store.tx import Tx

T = TypeVar("T")

_STALL_PAUSE_S = 0.5
_PASSING = frozenset(  # no room, or another process holds the file
    {sqlite3.SQLITE_FULL, sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR}
)
_LASTING = frozenset(
    {
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_PROTOCOL,
        sqlite3.SQLITE_READONLY,
    }
)


@dataclass(slots=True)
class _Waiting(Generic[T]):
    unit: Callable[[Tx], T]
    future: "asyncio.Future[T]"


@dataclass(frozen=True, slots=True)
class _Broke:
    """A unit that raised: a value, so that the others of its batch are committed all the same."""

    error: Exception


class Writer:
    """Group commit without a timer.

    A unit is a function of a transaction. Units that wait together are committed together; the
    caller's future resolves when they are on the disk. No trial can cancel a write: a task that
    stops waiting gives up its future, and its unit stays in the line.

    Every commit checks the lease's number (the fence), so an engine that slept past its lease
    writes nothing. A full disk or a locked file stops nobody's unit: it is tried again until there
    is room, and `stalled` says why meanwhile.
    """

    def __init__(self, connection: Connection, run: int, lease: int) -> None:
        self._connection = connection
        self._run = run
        self._lease = lease
        self._waiting: list[_Waiting[object]] = []
        self._batch: list[_Waiting[object]] = []
        """What is being written now."""
        self._wake = asyncio.Event()
        self._closing = False
        self._ended: Exception | None = None
        """What whoever wants to write now is told."""
        self.broken: Exception | None = None
        """Why nothing can be written any more; None: it can, or the writer was ended."""
        self.stalled: str | None = None
        """Why nothing can be written just now; None: all is well."""
        self.commits = 0

    def submit(self, unit: Callable[[Tx], T]) -> "asyncio.Future[T]":
        """Put a unit in the line; the future resolves once it is committed.

        The future fails with what the unit raised, with `LeaseLostError`, with `StoreMovedError`,
        with `sqlite3.Error` where the store can be written no more, and with `StoreError` once the
        writer has ended.
        """
        future: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        if self._ended is not None:
            _fail(future, self._ended)
            return future
        waiting = _Waiting(unit, future)
        self._waiting.append(waiting)  # type: ignore[arg-type]  # T is erased in the line
        self._wake.set()
        return future

    async def write(self, unit: Callable[[Tx], T]) -> T:
        """Put a unit in the line and wait for it; cancelling the wait does not cancel the unit."""
        return await self.submit(unit)

    async def run(self) -> None:
        """Write until closed; must run in a task that no trial can cancel."""
        try:
            while not (self._closing and not self._waiting):
                await self._wake.wait()
                self._wake.clear()
                self._batch, self._waiting = self._waiting, []
                if self._batch:
                    await self._commit_until_done(self._batch)
        finally:  # nobody waits for ever for a writer that is no more
            self._break(StoreError("the writer has ended"))

    def close(self) -> None:
        """Let `run` end once everything in the line is written."""
        self._closing = True
        self._wake.set()

    async def _commit_until_done(self, batch: list[_Waiting[object]]) -> None:
        loop = asyncio.get_running_loop()

        def write(db: sqlite3.Connection) -> None:
            results = commit(db, [waiting.unit for waiting in batch], self._run, self._lease)
            # not by way of this task: those who wait would wait for a turn of the loop more
            loop.call_soon_threadsafe(self._tell, batch, results)

        while True:
            try:
                await self._connection.call(write)
            except (LeaseLostError, StoreMovedError) as error:
                self.broken = error
                self._break(error)
                return
            except sqlite3.Error as error:
                if not _is_one_of(error, _PASSING):
                    self.broken = error
                    self._break(error)
                    return
                self.stalled = str(error)
                await asyncio.sleep(_STALL_PAUSE_S)
                continue
            return

    def _tell(self, batch: list[_Waiting[object]], results: list[object]) -> None:
        """Give those who wait for the units of a batch that is committed what each unit gave."""
        self.stalled = None
        self.commits += 1
        for waiting, result in zip(batch, results, strict=True):
            if waiting.future.done():
                continue
            if isinstance(result, _Broke):
                waiting.future.set_exception(result.error)
            else:
                waiting.future.set_result(result)

    def _break(self, error: Exception) -> None:
        self._ended = self._ended or error
        for waiting in [*self._batch, *self._waiting]:
            if not waiting.future.done():
                _fail(waiting.future, error)
        self._batch, self._waiting = [], []


def _fail(future: "asyncio.Future[T]", error: Exception) -> None:
    """Fail a future because the writer has ended; it is not logged where nobody waits for it.

    `Writer.broken` says it once for all of them. What a unit itself raises is still logged.
    """
    future.set_exception(error)
    future.exception()


def commit(
    db: sqlite3.Connection, units: list[Callable[[Tx], object]], run: int, lease: int
) -> list[object]:
    """Run all units in one transaction; one that raises is undone alone.

    Returns:
        What each unit gave, or `_Broke` with what it raised.

    Raises:
        LeaseLostError: another engine holds the run; nothing was written.
        sqlite3.Error: the transaction could not be committed; nothing was written.
    """
    try:
        return transact(db, lambda tx: [unit(tx) for unit in units], run, lease)
    except Exception as error:
        if _is_the_stores(error):
            raise
    # still one transaction: what is written twice after a failure half way is wrong twice
    return transact(db, lambda tx: [_apart(tx, unit) for unit in units], run, lease)


def _apart(tx: Tx, unit: Callable[[Tx], object]) -> object:
    """Run a unit so that it can be undone alone; return what it gave, or that it broke."""
    try:
        with tx.apart():
            return unit(tx)
    except Exception as error:
        if _is_the_stores(error):
            raise
        return _Broke(error)


def transact(
    db: sqlite3.Connection,
    unit: Callable[[Tx], T],
    run: int | None = None,
    lease: int | None = None,
) -> T:
    """Run one unit in one immediate transaction, under a lease's fence where one is given.

    Raises:
        LeaseLostError: the fence does not hold.
        StoreMovedError: the store's file is no more where it was.
        sqlite3.Error: it could not be committed.
    """
    check_place(db)
    db.execute("BEGIN IMMEDIATE")
    try:
        if run is not None:
            _check_fence(db, run, lease)
        result = unit(Tx(db, clock.PROCESS.now(), clock.elapsed()))
        db.execute("COMMIT")
    except BaseException:
        if db.in_transaction:
            db.execute("ROLLBACK")
        raise
    return result


def once(path: Path, unit: Callable[[Tx], T]) -> T:
    """Open the store, run one unit in a transaction of its own, and close it.

    Raises:
        StoreError: the store cannot be opened or written; nothing of the unit is there then.
    """
    with closing(open_writable(path)) as db:
        try:
            return transact(db, unit)
        except sqlite3.Error as error:
            raise explain(path, error) from error


def transact_patiently(
    db: sqlite3.Connection,
    unit: Callable[[Tx], T],
    run: int | None = None,
    lease: int | None = None,
    *,
    told: Callable[[str | None], None],
    stopped: Callable[[], bool],
) -> T:
    """Run one unit like `transact`, and wait while there is no room or the file is locked.

    Args:
        db: The connection; its thread is what waits.
        unit: The unit; run anew with each try.
        run: The run; None: nobody needs its lease for this.
        lease: The lease's number, for the fence.
        told: Told why nothing can be written just now, and None once it can.
        stopped: Asked between tries whether to go on waiting.

    Raises:
        LeaseLostError: the fence does not hold.
        sqlite3.Error: it could not be committed, or somebody stopped the waiting.
    """
    stalled = False
    while True:
        try:
            result = transact(db, unit, run, lease)
        except sqlite3.Error as error:
            if not _is_one_of(error, _PASSING) or stopped():
                raise
            if not stalled:
                told(str(error))
            stalled = True
            time.sleep(_STALL_PAUSE_S)
        else:
            if stalled:
                told(None)
            return result


def _check_fence(db: sqlite3.Connection, run: int, lease: int | None) -> None:
    held = db.execute("SELECT lease_number FROM runs WHERE id = ?", (run,)).fetchone()
    if held is None or held[0] != lease:
        raise LeaseLostError("another engine has taken this run over")


def _is_the_stores(error: Exception) -> bool:
    """Whether nothing can be written just now, whoever's unit it is; else one unit is to blame."""
    return isinstance(error, LeaseLostError | StoreMovedError) or _is_one_of(
        error, _PASSING | _LASTING
    )


def _is_one_of(error: Exception, codes: frozenset[int]) -> bool:
    return getattr(error, "sqlite_errorcode", 0) & 0xFF in codes
