"""The app's access to the store: every query and every write off the event loop.

The store is imported when it is opened: the first picture is painted before.
"""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from tui_eval.store.errors import StoreError

if TYPE_CHECKING:
    import sqlite3

    from tui_eval.store.connection import Connection

_LATE_S = 1.5
"""Seconds after which the person is told that a write still waits."""

P = ParamSpec("P")
T = TypeVar("T")


class StoreClient:
    """Connections, each with a thread of its own, so that no query waits for a slower one.

    A query made before the store is open waits until it is.
    """

    def __init__(
        self,
        path: Path,
        is_late: Callable[[], object] = lambda: None,
        *,
        read_only: bool = False,
    ) -> None:
        """Make a client of a store, which is not opened yet.

        Args:
            path: The store's file.
            is_late: Called where a write takes long.
            read_only: Whether every write is refused: nothing is ever opened for writing.
        """
        self.path = path
        self._read_only = read_only
        self._is_late = is_late
        self._writes: set[asyncio.Task[Any]] = set()
        self._idle = asyncio.Event()
        self._idle.set()
        self._quick: Connection | None = None
        self._slow: Connection | None = None
        self._slowest: Connection | None = None
        self._seeking: Connection | None = None
        self._open = asyncio.Event()
        self._closed = False

    async def open(self, begins: Callable[[str], object] = lambda _: None) -> list[str]:
        """Open the store, and make it where there is none.

        Args:
            begins: Told what is about to be done that may take long.

        Returns:
            Messages for the person: where a copy of an older store is.

        Raises:
            StoreError: it is damaged, newer, or cannot be reached; nothing was changed.
        """
        from tui_eval.store.connection import open_writable, readable

        said: list[str] = []
        loop = asyncio.get_running_loop()

        def tell(words: str) -> None:
            loop.call_soon_threadsafe(begins, words)

        if not self._read_only:
            await asyncio.to_thread(lambda: open_writable(self.path, said.append, tell).close())
        self._quick = await self._entered(readable(self.path))
        self._slow = await self._entered(readable(self.path))
        self._slowest = await self._entered(readable(self.path))
        self._seeking = await self._entered(readable(self.path))
        self._open.set()
        return said

    async def close(self) -> None:
        """Close all connections; queries still under way are interrupted."""
        self._closed = True
        slow = (self._seeking, self._slowest, self._slow)
        for connection in slow:
            if connection is not None:
                await connection.interrupt()
        for connection in (*slow, self._quick):
            if connection is not None:
                await connection.close()
        self._quick = self._slow = self._slowest = self._seeking = None

    @property
    def opened(self) -> bool:
        """Whether the store is open: a query does not wait for that."""
        return self._open.is_set() and not self._closed

    @property
    def closed(self) -> bool:
        """Whether the app is on its way out."""
        return self._closed

    async def reader(self) -> "Connection":
        """Return the connection for quick queries, for `follow`."""
        await self._open.wait()
        assert self._quick is not None, "the store has been closed"
        return self._quick

    async def read(
        self,
        question: "Callable[Concatenate[sqlite3.Connection, P], T]",
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run a quick query: one that reads a few rows."""
        return await (await self.reader()).call(question, *args, **kwargs)

    async def ponder(
        self,
        question: "Callable[Concatenate[sqlite3.Connection, P], T]",
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run a query that may take long and that a person waits for."""
        await self._open.wait()
        assert self._slow is not None, "the store has been closed"
        return await self._slow.call(question, *args, **kwargs)

    async def survey(
        self,
        question: "Callable[Concatenate[sqlite3.Connection, P], T]",
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run a query that may take long and that nobody waits for."""
        await self._open.wait()
        assert self._slowest is not None, "the store has been closed"
        return await self._slowest.call(question, *args, **kwargs)

    async def seek(
        self,
        question: "Callable[Concatenate[sqlite3.Connection, P], T]",
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        """Run a query for a list; it is interrupted where its caller is cancelled."""
        await self._open.wait()
        seeking = self._seeking
        assert seeking is not None, "the store has been closed"
        try:
            return await seeking.call(question, *args, **kwargs)
        except asyncio.CancelledError:
            await seeking.interrupt()
            raise

    async def act(self, write: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a function that writes to the store in a thread, to its end whoever is cancelled.

        Raises:
            StoreError: the session is read-only.
        """
        if self._read_only:
            raise StoreError("this session is read-only")
        doing = asyncio.create_task(asyncio.to_thread(write, *args, **kwargs))
        late = asyncio.get_running_loop().call_later(_LATE_S, self._is_late)

        def done(_: "asyncio.Task[T]") -> None:
            late.cancel()
            self._writes.discard(doing)
            if not self._writes:
                self._idle.set()

        self._writes.add(doing)
        self._idle.clear()
        doing.add_done_callback(done)
        return await asyncio.shield(doing)  # whoever stops waiting for it does not end its thread

    @property
    def writing(self) -> bool:
        """Whether a write is under way."""
        return bool(self._writes)

    async def written(self) -> None:
        """Wait until no write is under way."""
        await self._idle.wait()

    async def _entered(self, connection: "Connection") -> "Connection":
        await connection  # opens it; aiosqlite gives itself back, under its own type
        if self._closed:  # the app has gone meanwhile: nobody would close it
            await connection.close()
            raise asyncio.CancelledError
        return connection
