"""The pools of all judges together, as judges come and go while a run goes on."""

import asyncio
from collections.abc import Mapping

from tui_eval.engine.judging.pool.judge_pool import JudgePool


class JudgePools:
    """The pools of the judges in force; former ones stay until their calls have ended."""

    def __init__(self) -> None:
        """Begin closed, and without any."""
        self.named: Mapping[str, JudgePool] = {}
        """Those of the judges in force, by name."""
        self._leaving: list[JudgePool] = []
        self._open = False
        self._group: asyncio.TaskGroup | None = None

    @property
    def all(self) -> list[JudgePool]:
        """Those at work, and those that are about to end."""
        return [*self.named.values(), *self._leaving]

    @property
    def busy(self) -> int:
        """How many batches are asked at this moment."""
        return sum(pool.busy for pool in self.all)

    @property
    def idle(self) -> bool:
        """Whether nothing waits to be asked live, and nothing is under way."""
        return all(pool.idle for pool in self.all)

    @property
    def rest(self) -> bool:
        """Whether nothing is asked for some seconds of the judges that have something to grade."""
        at_work = [pool for pool in self.all if not pool.idle]
        return bool(at_work) and all(pool.rests for pool in at_work)

    def use(self, pools: Mapping[str, JudgePool]) -> None:
        """Have these judges asked; those that were there leave once their calls have ended."""
        self._leaving += self.named.values()
        self.named = pools
        for pool in pools.values():
            pool.set_open(self._open)
            if self._group is not None:
                self._group.create_task(pool.run())

    def run(self, group: asyncio.TaskGroup) -> None:
        """Work until `end`, in tasks of a group."""
        self._group = group
        for pool in self.all:
            group.create_task(pool.run())

    def let_go_idle(self) -> None:
        """Let former pools end that have nothing left to do."""
        for pool in [pool for pool in self._leaving if pool.idle]:
            pool.end()
            self._leaving.remove(pool)

    def set_open(self, dispatching: bool) -> None:
        """Begin new calls, or begin none until told otherwise; those in flight go on."""
        self._open = dispatching
        for pool in self.all:
            pool.set_open(dispatching)

    def tell(self) -> None:
        """Have judges that were held back look whether a call may begin now."""
        for pool in self.all:
            pool.tell()

    def look(self) -> None:
        """See whether batches that wait for company are to leave now."""
        for pool in self.all:
            pool.look()

    def reopen(self) -> None:
        """Let judges that could answer nobody try again."""
        for pool in self.named.values():
            pool.reopen()

    def drop_withdrawn(self) -> None:
        """Forget questions nobody waits for."""
        for pool in self.all:
            pool.drop_withdrawn()

    def drop_calls(self) -> None:
        """End every call in flight."""
        for pool in self.all:
            pool.drop_calls()

    def give_up(self) -> None:
        """Let go of everything that waits; it stays open in the store."""
        for pool in self.all:
            pool.give_up()

    def end(self) -> None:
        """Let all workers leave."""
        for pool in self.all:
            pool.end()
