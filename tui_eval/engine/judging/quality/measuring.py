"""How judges are measured while they grade: against gold before anything else, and by audits."""

import asyncio
from collections.abc import Callable

from tui_eval.engine.coordination import Coordination
from tui_eval.engine.judging.quality.audit import Auditing
from tui_eval.engine.judging.quality.gold_round import GoldRound
from tui_eval.engine.judging.question import Question


class Measuring:
    """The gold round and the audits of the judges in force."""

    def __init__(self, coordination: Coordination, ask: Callable[[Question], None]) -> None:
        """Begin without judges.

        Args:
            coordination: Told when gold is graded; asked whether outputs are to come.
            ask: Takes questions about gold to their judges.
        """
        self._coordination = coordination
        self._ask = ask
        self._gold: GoldRound | None = None
        self._auditing: Auditing | None = None
        self._group: asyncio.TaskGroup | None = None

    def use(self, gold: GoldRound, auditing: Auditing) -> None:
        """Measure by these from now on; what went before ends."""
        self.end()
        self._gold, self._auditing = gold, auditing

    async def prepare(self) -> None:
        """See what was measured of the judges before; to be done before anything is asked."""
        if self._gold is not None and self._auditing is not None:
            await self._gold.prepare()
            await self._auditing.prepare()
            if self._group is not None:
                self.run(self._group)

    def run(self, group: asyncio.TaskGroup) -> None:
        """Work until `end`, in tasks of a group."""
        self._group = group
        if self._gold is not None and not self._gold.over:
            group.create_task(self._grade_gold(self._gold))
        if self._auditing is not None:
            group.create_task(self._auditing.run())

    async def _grade_gold(self, gold: GoldRound) -> None:
        await gold.run(self._ask)
        if gold.over and not gold.withdrawn:
            self._coordination.gold_graded()

    def end(self) -> None:
        """Measure no more; what is under way stays open in the store."""
        if self._gold is not None:
            self._gold.end()
        if self._auditing is not None:
            self._auditing.end()

    @property
    def gold_first(self) -> bool:
        """Whether gold is to be graded before any target is asked."""
        return self._gold is not None and not self._gold.over

    @property
    def owes(self) -> bool:
        """Whether an audit is not complete."""
        return self._auditing is not None and not self._auditing.idle

    def graded(self, question: Question) -> None:
        """Learn that a judge has graded something."""
        if self._auditing is not None and question.call is not None:
            self._auditing.graded(question)

    def finish(self) -> None:
        """Have audits completed where no output comes any more: nothing waits for a judge."""
        if self._auditing is not None and self._coordination.pools_idle:
            self._auditing.finish()
