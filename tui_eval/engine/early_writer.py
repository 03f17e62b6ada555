"""Writes what an engine has to say of its run before there is a `Writer`, and after it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Concatenate, Final, ParamSpec, Self, TypeVar

from tui_eval.store.connection import Connection, writable
from tui_eval.store.errors import StoreFullError
from tui_eval.store.tx import Tx
from tui_eval.store.writer import transact_patiently

P = ParamSpec("P")
T = TypeVar("T")

_LOOK_S: Final = 0.5
"""Seconds between two tries to open a store on a full disk."""


class EarlyWriter:
    """Commits units one by one, and waits however long the disk is full or the file locked."""

    def __init__(
        self,
        connection: Connection,
        on_stall: Callable[[str | None], None],
        leaving: Callable[[], bool],
    ) -> None:
        """Write to an open store.

        Args:
            connection: A writable connection.
            on_stall: Told in the loop why nothing can be written just now, and None once it can.
            leaving: Whether the engine is to leave: then nothing is waited for.
        """
        self.connection = connection
        self._on_stall = on_stall
        self.stopped = leaving
        """Whether to wait no longer."""

    @classmethod
    async def open(
        cls, store: Path, on_stall: Callable[[str | None], None], leaving: Callable[[], bool]
    ) -> Self:
        """Open a store, however long the disk is too full even for that.

        Raises:
            StoreError: it cannot be opened, or nobody is to wait any longer.
        """
        told = False
        while True:
            connection = writable(store)
            try:
                await connection
            except StoreFullError as error:
                if leaving():
                    raise
                if not told:
                    on_stall(error.reason)
                told = True
                await asyncio.sleep(_LOOK_S)
                continue
            if told:
                on_stall(None)
            return cls(connection, on_stall, leaving)

    async def write(
        self, unit: Callable[Concatenate[Tx, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Write one unit in a transaction of its own.

        Raises:
            sqlite3.Error: it could not be committed, or nobody is to wait any longer.
        """
        return await self.connection.call(
            transact_patiently,
            lambda tx: unit(tx, *args, **kwargs),
            told=self.told(),
            stopped=self.stopped,
        )

    def told(self) -> Callable[[str | None], None]:
        """Return what tells of a stall from another thread; to be called in the loop."""
        loop = asyncio.get_running_loop()

        def tell(why: str | None) -> None:
            loop.call_soon_threadsafe(self._on_stall, why)

        return tell
