"""The pools of a run together, and what can be done to all of them."""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence

from tui_eval.engine.feed import Feed
from tui_eval.engine.hand import Hand, Phase
from tui_eval.engine.journey import Journey
from tui_eval.engine.limiter import Limiter
from tui_eval.engine.pool import Pool
from tui_eval.model.case import Column
from tui_eval.store.connection import Connection
from tui_eval.store.writer import Writer


class Crew:
    """One pool for each endpoint, so that a slow one holds up no other."""

    def __init__(
        self,
        run: int,
        reading: Connection,
        writer: Writer,
        journey: Journey,
        endpoints: Mapping[str, Sequence[Column]],
        limiters: Mapping[str, Limiter],
        on_idle: Callable[[], None],
    ) -> None:
        """Man a run.

        Args:
            run: The run.
            reading: A connection for reading ahead.
            writer: Where facts go.
            journey: What workers take trials along.
            endpoints: The columns of each endpoint.
            limiters: The limiter of each endpoint.
            on_idle: Told when a pool has nothing left to do.
        """
        self._hands: dict[int, Hand] = {}
        self._on_idle = on_idle
        self.pools = {
            endpoint: Pool(
                Feed(reading, run, tuple(c.index for c in columns), self._hands),
                limiters[endpoint],
                journey,
                writer,
                self._hands,
                on_idle,
            )
            for endpoint, columns in endpoints.items()
        }

    @property
    def idle(self) -> bool:
        """Whether no pool has anything left to do, as far as the store was read."""
        return all(pool.idle for pool in self.pools.values())

    @property
    def busy(self) -> int:
        """Workers that have a trial or facts to write."""
        return sum(pool.busy for pool in self.pools.values())

    async def run(self) -> None:
        """Work until `end`."""
        async with asyncio.TaskGroup() as group:
            for pool in self.pools.values():
                group.create_task(pool.run())

    def set_open(self, dispatching: bool) -> None:
        """Begin new attempts, or begin none until told otherwise; those in flight go on."""
        for pool in self.pools.values():
            pool.set_open(dispatching)

    def look_again(self) -> None:
        """Look for open trials from the beginning: a request has opened some."""
        for pool in self.pools.values():
            pool.look_again()

    def set_limit(self, endpoint: str, concurrency: int, reason: str) -> bool:
        """Change an endpoint's limit while it works; False where that changes nothing."""
        pool = self.pools[endpoint]
        changed = pool.limiter.set(concurrency, reason)
        if changed:
            pool.staff()
        return changed

    def limits(self) -> dict[str, int]:
        """Give how many calls each endpoint may have at once."""
        return {endpoint: pool.limiter.concurrency for endpoint, pool in self.pools.items()}

    def withdraw(self, trials: Iterable[int]) -> None:
        """Take trials out of the engine's hands; calls in flight end at once."""
        for trial in trials:
            hand = self._hands.get(trial)
            if hand is None:
                continue
            without_worker = hand.phase in (Phase.READY, Phase.WAITING)
            hand.withdraw()
            if without_worker:
                del self._hands[trial]
        for pool in self.pools.values():
            pool.feed.drop_withdrawn()
        self._on_idle()

    def hands(self) -> list[int]:
        """Give the trials in hand."""
        return list(self._hands)

    def drop_calls(self) -> None:
        """End every call in flight; their trials go back to the queue."""
        for hand in self._hands.values():
            if hand.call is not None:
                hand.call.cancel()

    def give_up(self) -> list[int]:
        """Let go of everything that has no worker; give the trials that run in the store."""
        return [hand.work.trial for pool in self.pools.values() for hand in pool.give_up()]

    def end(self) -> None:
        """Let all workers leave."""
        for pool in self.pools.values():
            pool.end()
