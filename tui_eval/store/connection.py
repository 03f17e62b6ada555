"""Connections to the store: one that writes, any number that only read."""

import asyncio
import logging
import os
import sqlite3
import stat
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Concatenate, ParamSpec, Self, TypeVar

import aiosqlite

from tui_eval.store import schema
from tui_eval.store.errors import (
    StoreDamagedError,
    StoreError,
    StoreFullError,
    StoreNewerError,
    StoreOlderError,
)
from tui_eval.store.opening.backup import keep_copy
from tui_eval.store.opening.file_system import see_that_it_is_local
from tui_eval.store.opening.store_file import StoreFileConnection

log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

BUSY_S = 60.0
"""How long a write waits for another process's before it fails."""


class Connection(aiosqlite.Connection):
    """A connection with a thread of its own that runs whole functions in one call.

    A statement per call would let a cancelled task leave a transaction half done, and costs a
    thread switch for each.
    """

    async def __aenter__(self) -> Self:
        """Open it."""
        await super().__aenter__()
        return self

    async def _connect(self) -> Self:
        opened: list[sqlite3.Connection] = []
        connect = self._connector

        def remembering() -> sqlite3.Connection:
            opened.append(connect())
            return opened[-1]

        self._connector = remembering
        try:
            await super()._connect()
        except BaseException:
            # its thread has a last word for this loop: let it be said before the loop closes
            await asyncio.to_thread(self._thread.join)
            for db in opened:  # too late for whoever no longer waits
                db.close()
            raise
        return self

    async def call(
        self,
        work: Callable[Concatenate[sqlite3.Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run `work(connection, …)` in the connection's thread and give its result."""
        execute: Callable[..., Awaitable[T]] = self._execute  # untyped in aiosqlite
        return await execute(work, self._conn, *args, **kwargs)


def _log(said: str) -> None:
    log.warning("%s", said)


def open_writable(
    path: Path,
    told: Callable[[str], None] = _log,
    begins: Callable[[str], None] = lambda _: None,
) -> sqlite3.Connection:
    """Open the store for writing; make or migrate it where needed.

    The file is readable by its owner only. Durability is FULL: against power loss SQLite
    promises nothing less in WAL mode. What a store was before a migration is kept beside it.

    Args:
        path: The store's file.
        told: Told where that copy is.
        begins: Told before a migration begins: with a large store it takes a while.

    Raises:
        StoreRemoteError: it is, or would be, on a network file system.
        StoreError: it cannot be opened, is damaged, or was written by a newer version; in the
            last two cases it has not been touched.
    """
    see_that_it_is_local(path)
    if _missing(path):
        _make(path)
    copy = _kept(path, begins)
    db = _connect(path, "mode=rw")
    try:
        _prepare(db)
    except sqlite3.Error as error:
        db.close()
        raise explain(path, error) from error
    except BaseException:
        db.close()
        raise
    if copy is not None:
        told(f"{path}: brought up to date for this tui-eval; what it was is kept as {copy.name}")
    return db


def _kept(path: Path, begins: Callable[[str], None]) -> Path | None:
    """Refuse what is damaged, newer or not to be written; return the copy of what is older."""
    with closing(_readable(path)) as reading:
        if not os.access(path, os.W_OK):
            raise StoreError(f"{path}: may only be read, not written; name another with --store")
        if schema.version(reading) == len(schema.MIGRATIONS):
            return None
        begins(f"{path}: being brought up to date for this tui-eval, a copy is kept…")
        return keep_copy(reading, path)


def open_readable(path: Path) -> sqlite3.Connection:
    """Open the store read-only, in autocommit so that no reader holds the WAL.

    Raises:
        StoreOlderError: an older version wrote it; it has not been touched.
        StoreRemoteError: it is on a network file system.
        StoreError: there is no store at `path`, or it is damaged or newer.
    """
    see_that_it_is_local(path)
    if _missing(path):
        raise StoreError(f"{path}: there is no store here yet; `tui-eval run SUITE` makes one")
    db = _readable(path)
    if (known := schema.version(db)) < len(schema.MIGRATIONS):
        db.close()
        raise StoreOlderError(
            f"{path}: written by an older tui-eval (schema {known}, this one reads "
            f"{len(schema.MIGRATIONS)}); `tui-eval runs --store {path}` brings it up to date, and "
            f"keeps beside it what it was"
        )
    return db


def explain(path: Path, error: sqlite3.Error) -> StoreError:
    """Return what SQLite says of a store as something a person can act on."""
    full_code = getattr(error, "sqlite_errorcode", 0)
    code = full_code & 0xFF
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return StoreDamagedError(
            f"{path}: damaged or not a store ({error}); it was left as it is. Take it aside and "
            f"recover what can be read with `sqlite3 FILE .recover`, or name another with --store"
        )
    if code == sqlite3.SQLITE_FULL or full_code == sqlite3.SQLITE_IOERR_SHMSIZE:
        return StoreFullError(path)
    return StoreError(f"{path}: {error}")


def put_away(db: sqlite3.Connection) -> None:
    """Bring everything into the one file, as far as readers let it, before a writer closes.

    A reader that closes last cannot do it, and people copy files. Where a full disk or another
    process is in the way nothing is lost: the log keeps it all.
    """
    db.execute("PRAGMA busy_timeout = 200")
    with suppress(sqlite3.OperationalError):
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


@contextmanager
def unhurried(db: sqlite3.Connection) -> Iterator[None]:
    """Let commits inside not wait for the disk, where what they write can be made again.

    Nothing is lost where a process ends, however it ends. Where the machine does, the last of them
    may be; the first commit afterwards takes all of them to the disk.
    """
    db.execute("PRAGMA synchronous = NORMAL")
    try:
        yield
    finally:
        db.execute("PRAGMA synchronous = FULL")


def async_connection(opener: Callable[[], sqlite3.Connection]) -> Connection:
    """Return a connection to be awaited (or entered with `async with`) that `opener` opens."""
    return Connection(opener, iter_chunk_size=64)


def writable(path: Path) -> Connection:
    """Return an asynchronous connection that may write; see `open_writable`."""
    return async_connection(lambda: open_writable(path))


def readable(path: Path) -> Connection:
    """Return an asynchronous connection that only reads; see `open_readable`."""
    return async_connection(lambda: open_readable(path))


def _missing(path: Path) -> bool:
    try:
        # the log first: whoever makes a store puts the file there before its log
        orphaned = _beside(path, "-wal").exists()
        missing = not path.exists()
    except OSError as error:
        raise StoreError(f"{path}: cannot be reached: {error.strerror}") from error
    if missing and orphaned:
        raise StoreDamagedError(
            f"{path}: not there, but its log {path.name}-wal is; put the file back beside it, or "
            f"take the log away"
        )
    return missing


def _make(path: Path) -> None:
    """Put an empty store there, whole: nobody ever sees half of one."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)  # mode 0600
    except OSError as error:
        raise StoreError(f"{path}: cannot be made: {error.strerror}") from error
    os.close(handle)
    new = Path(name)
    try:
        db = _connect(new, "mode=rw")
        try:
            _prepare(db)
        finally:
            db.close()
        _put(new, path)
    except sqlite3.Error as error:
        raise StoreError(f"{path}: cannot be made: {error}") from error
    except OSError as error:
        raise StoreError(f"{path}: cannot be made: {error.strerror}") from error
    finally:
        for suffix in ("", "-wal", "-shm"):
            _beside(new, suffix).unlink(missing_ok=True)


def _put(new: Path, path: Path) -> None:
    """Give a file its name, unless another process was quicker."""
    try:
        path.hardlink_to(new)
    except FileExistsError:
        return
    except OSError:  # a file system without hard links
        if not path.exists():
            new.rename(path)


def _prepare(db: sqlite3.Connection) -> None:
    _distrust(db)
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = FULL")
    db.execute("PRAGMA temp_store = FILE")
    schema.migrate(db)


def _readable(path: Path) -> sqlite3.Connection:
    """Open a store read-only, whatever its age; refuse what is none, or is damaged or newer."""
    _refuse_without_content(path)
    try:
        return _recognised(path, "mode=ro")
    except sqlite3.Error as error:
        why = explain(path, error)
        may_write = os.access(path.parent, os.W_OK) and not isinstance(why, StoreFullError)
        if may_write or _logged(path):
            raise why from error
    # where nothing can be written there is no log to share with a writer: the file is all there is
    try:
        return _recognised(path, "mode=ro&immutable=1")
    except sqlite3.Error as error:
        raise explain(path, error) from error


def _logged(path: Path) -> bool:
    """Whether anything may stand in the log alone."""
    try:
        return _beside(path, "-wal").stat().st_size > 0
    except FileNotFoundError:
        return False


def _refuse_without_content(path: Path) -> None:
    try:
        found = path.stat()
    except OSError as error:
        raise StoreError(f"{path}: cannot be reached: {error.strerror}") from error
    if not stat.S_ISREG(found.st_mode):
        raise StoreError(f"{path}: not a file; name one with --store")
    if found.st_size == 0:
        # SQLite would take it for a new one, and throw away what its log still holds
        raise StoreDamagedError(
            f"{path}: an empty file, not a store; put the store back, or remove the file"
        )
    if found.st_size == 1:  # SQLite takes a file of one byte for an empty one, too
        raise StoreDamagedError(f"{path}: not a store; name another with --store")


def _recognised(path: Path, how: str) -> sqlite3.Connection:
    db = _connect(path, how)
    try:
        _distrust(db)
        db.execute("PRAGMA query_only = ON")
        _refuse_foreign(db, path)
    except BaseException:
        db.close()
        raise
    return db


def _refuse_foreign(db: sqlite3.Connection, path: Path) -> None:
    known = schema.version(db)
    ours = db.execute("PRAGMA application_id").fetchone()[0] == schema.APPLICATION_ID
    db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not ours:
        raise StoreDamagedError(
            f"{path}: an SQLite file, but not a store of tui-eval; name another with --store"
        )
    if known > len(schema.MIGRATIONS):
        raise StoreNewerError(
            f"{path}: written by a newer tui-eval (schema {known}, this one knows "
            f"{len(schema.MIGRATIONS)}); upgrade tui-eval, or name another store with --store"
        )


def _distrust(db: sqlite3.Connection) -> None:
    db.execute("PRAGMA trusted_schema = OFF")  # a stranger's store may hold views and triggers


def _connect(path: Path, how: str) -> sqlite3.Connection:
    try:
        db = sqlite3.connect(
            f"{path.absolute().as_uri()}?{how}",
            uri=True,
            timeout=BUSY_S,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=512,
            factory=StoreFileConnection,
        )
    except sqlite3.OperationalError as error:
        raise StoreError(f"{path}: cannot be opened: {error}") from error
    try:
        db.opened_on(path)
    except OSError as error:
        db.close()
        raise StoreError(f"{path}: cannot be reached: {error.strerror}") from error
    return db


def _beside(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)
