"""The pools of the judges that are asked in bulk, as judges come and go while a run goes on."""

import asyncio
from collections.abc import Callable, Mapping

from tui_eval.engine.bulk.bulk_pool import BulkPool
from tui_eval.engine.judging.bulk.bulk_judge import BulkJudge
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.store.tx import Tx
from tui_eval.store.write import consignment_writes
from tui_eval.store.write.consignment_writes import AbandonedConsignment
from tui_eval.store.write.judges import consigned_calls


class BulkJudgePools:
    """One `BulkPool` a judge; a new one takes up what that of the same name has left open."""

    def __init__(
        self,
        store: RunStore,
        spend_caps: SpendCaps,
        pool_of: Callable[[BulkJudge], BulkPool],
        ended: Callable[[], None],
    ) -> None:
        """Begin without any.

        Args:
            store: The run.
            spend_caps: Hold room for what is under way.
            pool_of: Makes the pool of a judge.
            ended: Told when a former pool has ended.
        """
        self._store = store
        self._spend_caps = spend_caps
        self._pool_of = pool_of
        self._told_end = ended
        self._pools: dict[str, BulkPool] = {}
        self._leaving: list[BulkPool] = []
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._group: asyncio.TaskGroup | None = None
        self._open = False

    @property
    def all(self) -> list[BulkPool]:
        """Those at work, and those that are about to end."""
        return [*self._pools.values(), *self._leaving]

    def use(self, judges: Mapping[str, BulkJudge]) -> None:
        """Have these judges asked; former ones end, and what they have sent is taken up."""
        for pool in self._pools.values():
            pool.end()
        if self._group is not None:  # else none of them has begun
            self._leaving += self._pools.values()
        self._pools = {name: self._pool_of(judge) for name, judge in judges.items()}
        for name, pool in self._pools.items():
            judges[name].sent_by(pool.tell, pool.look)
            pool.set_open(self._open)
            self._start(name, pool)

    async def prepare(self) -> None:
        """Give up what was sent for judges that are asked in bulk no more; nobody takes it.

        Answers that were taken before are kept: whoever asks the same finds them.
        """
        kept = {name: pool.whose.endpoint for name, pool in self._pools.items()}

        def abandon(tx: Tx) -> list[AbandonedConsignment]:
            gone = consignment_writes.abandon_judges(tx, self._store.run, kept)
            for one in gone:
                consigned_calls.keep_unawaited(tx, one.id)
            return gone

        gone = await self._store.writer.write(abandon)
        for one in gone:
            self._spend_caps.settled(one.token)
            for _ in range(one.lost):
                self._spend_caps.unanswered(one.judge)

    async def run(self) -> None:
        """Work until all end."""
        async with asyncio.TaskGroup() as self._group:
            for name, pool in self._pools.items():
                self._start(name, pool)

    def _start(self, name: str, pool: BulkPool) -> None:
        if self._group is not None:
            before = self._tasks.get(name)
            self._tasks[name] = self._group.create_task(self._run(pool, before))

    async def _run(self, pool: BulkPool, before: "asyncio.Task[None] | None") -> None:
        if before is not None:
            await before  # two would take the same results
        await pool.run()
        if pool in self._leaving:
            self._leaving.remove(pool)
            self._told_end()

    def set_open(self, dispatching: bool) -> None:
        """Send what is asked, or nothing until told otherwise."""
        self._open = dispatching
        for pool in self.all:
            pool.set_open(dispatching)
