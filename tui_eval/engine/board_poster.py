"""Saying now and then how far a run is, in a folder that engines of several machines share."""

import asyncio
import hashlib
import json
import logging
import os
import socket
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from tui_eval.model.board_post import BoardPost
from tui_eval.store.connection import Connection
from tui_eval.store.read import run_counts, run_queries

EVERY_S: Final = 5.0
"""Seconds between two posts."""

log = logging.getLogger(__name__)


class BoardPoster:
    """Replaces one small file every few seconds while it is entered, and once more at the end.

    Nobody reads half a file. Where the folder cannot be written to, that is logged once, and the
    run goes on: nothing rests on it.
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

    async def __aenter__(self) -> Self:
        """Begin."""
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
        await self._post()

    async def _go_on(self) -> None:
        while True:
            await self._post()
            await asyncio.sleep(EVERY_S)

    async def _post(self) -> None:
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
        )
        made = hashlib.sha256(f"{post.host} {row.created_at!r}".encode()).hexdigest()[:8]
        try:
            # off the loop: a network file system may take long
            await asyncio.to_thread(_replace, self._folder / f"{row.name}-{made}.json", post)
        except OSError as error:
            if not self._failed:
                log.warning("the board %s cannot be written to: %s", self._folder, error)
            self._failed = True


def _replace(file: Path, post: BoardPost) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        new.write_text(json.dumps(post.as_json()), "utf-8")
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
