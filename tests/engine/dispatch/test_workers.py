"""What the parts of an engine do together."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import cast

from tests.engine.harness import suite
from tui_eval.engine.bulk.polling import BulkPolling
from tui_eval.engine.departure import STOPPED, Departure
from tui_eval.engine.dispatch.workers import Workers
from tui_eval.engine.run_store import RunStore
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.store.connection import Connection
from tui_eval.store.writer import Writer


class Leaver:
    """An engine that may be on its way out."""

    def __init__(self) -> None:
        self.why: Departure | None = None

    stopping = False

    @property
    def leaving(self) -> bool:
        return self.why is not None

    def leave(self, why: Departure) -> None:
        self.why = why

    def wake(self) -> None:
        """Learn that something changed."""


async def test_whoever_asks_for_it_nothing_begins_once_the_engine_is_leaving() -> None:
    session = Session(suite("http://127.0.0.1:9/v1", 1), Settings())
    host = Leaver()
    async with AsyncExitStack() as opened:
        opened.callback(session.close)
        store = RunStore(1, cast("Connection", None), cast("Writer", None))
        workers = Workers(session, store, opened, host, {}, BulkPolling())
        (pool,) = workers.pools.values()
        was_open = []
        steps: list[Callable[[], None]] = [
            lambda: workers.set_open(True),
            lambda: workers.leave(STOPPED),
            lambda: workers.set_open(True),  # a resume that was being dealt with as the run stopped
            workers.gold_graded,
        ]
        for how in steps:
            how()
            was_open.append(pool._open)
    assert was_open == [True, True, False, False], "to close them is the engine's"
