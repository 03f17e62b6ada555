"""Saying now and then how far a run is, in a folder that engines of several machines share."""

import asyncio
import hashlib
import json
import logging
import os
import queue
import socket
import sqlite3
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tui_eval.model.runs.board_post import BoardPost
from tui_eval.store.connection import Connection
from tui_eval.store.errors import StoreError
from tui_eval.store.read import run_counts, run_queries

EVERY_S: Final = 5.0
"""Seconds between two posts."""
_LAST_S: Final = 5.0
"""Seconds that the last post may take."""

log = logging.getLogger(__name__)


class BoardPoster:
    """Replaces one small file every few seconds while it is entered, and once more at the end.

    Nobody reads half a file. Where the folder cannot be written to, that is logged once, and the
    run goes on: nothing rests on it. One daemon thread does all writing, so that posts keep their
    order, and neither the engine nor the end of its process waits for a network file system that
    hangs, as they would for a thread of the loop's own executor.
    """

    def __init__(self, folder: Path, reading: Connection, run: int, part: str | None) -> None:
        """Post a run.

        Args:
            folder: Where; it may be on a network file system.
            reading: A connection to the run's store.
            run: The run.
            part: Its part of a whole run, as in `3/16`; None: it is no part.
        """
        self._folder = folder
        self._reading = reading
        self._run = run
        self._part = part
        self._failed = False
        self._task: asyncio.Task[None] | None = None
        self._posts: queue.SimpleQueue[tuple[Path, BoardPost] | None] = queue.SimpleQueue()
        """What is to be written; None: nothing more."""
        self._written = asyncio.Event()
        """Whether the thread has done with all posts."""

    async def __aenter__(self) -> Self:
        """Begin."""
        loop = asyncio.get_running_loop()
        threading.Thread(target=self._write_all, args=(loop,), name="board", daemon=True).start()
        self._task = asyncio.create_task(self._go_on())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Say how it ended."""
        if self._task is not None:
            self._task.cancel()
            with suppress(asyncio.CancelledError):
                await self._task
        try:
            await self._post()
        finally:
            self._posts.put(None)
        try:
            await asyncio.wait_for(self._written.wait(), _LAST_S)
        except TimeoutError:
            log.warning("the board %s does not answer: its last word is an older one", self._folder)

    async def _go_on(self) -> None:
        while True:
            if self._posts.empty():  # else the folder hangs: one post waits for it already
                await self._post()
            await asyncio.sleep(EVERY_S)

    async def _post(self) -> None:
        """Have said how far the run is."""
        try:
            self._posts.put(await self._now())
        except (StoreError, sqlite3.Error) as error:
            self._tell_once(error)

    def _tell_once(self, error: Exception) -> None:
        if not self._failed:
            log.warning("nothing can be said on the board %s: %s", self._folder, error)
        self._failed = True

    async def _now(self) -> tuple[Path, BoardPost]:
        """Return what is to be said, and where.

        Raises:
            StoreError: the run was deleted.
            sqlite3.Error: the store cannot be read.
        """
        row = await self._reading.call(run_queries.run, self._run)
        counts = (await self._reading.call(run_counts.board, self._run))[0]
        now = time.time()
        post = BoardPost(
            run=row.name,
            suite=row.suite,
            host=socket.gethostname(),
            state=row.state.value,
            at=now,
            total=counts.total,
            settled=counts.settled,
            passed=counts.passed,
            failed=counts.failed,
            ungraded=counts.ungraded,
            errors=counts.error,
            cancelled=counts.cancelled,
            wall_s=round(row.wall(now), 3),
            part=self._part,
            cost_usd=counts.cost_usd,
            known_usd=counts.known_usd,
            about_usd=counts.about_usd,
            unestimated=counts.unestimated,
        )
        made = hashlib.sha256(f"{post.host} {row.created_at!r}".encode()).hexdigest()[:8]
        return self._folder / f"{row.name}-{made}.json", post

    def _write_all(self, loop: asyncio.AbstractEventLoop) -> None:
        """Write each post in its turn; all that may hang happens in here."""
        while (wanted := self._posts.get()) is not None:
            try:
                _replace(*wanted)
            except OSError as error:
                self._tell_once(error)
        with suppress(RuntimeError):  # the loop is closed: nobody waited any longer
            loop.call_soon_threadsafe(self._written.set)


def _replace(file: Path, post: BoardPost) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        new.write_text(json.dumps(post.as_json()), "utf-8")
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
