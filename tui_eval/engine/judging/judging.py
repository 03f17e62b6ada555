"""Judging: trials whose outputs wait for judges, from the store's cache to the last grade."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from tui_eval.engine.coordination import Coordination
from tui_eval.engine.journey.trial_in_flight import Phase, TrialInFlight
from tui_eval.engine.journey.trial_scoring import JudgedCheck
from tui_eval.engine.judging.deduplication import EqualQuestions
from tui_eval.engine.judging.finding_lookup import FindingLookup
from tui_eval.engine.judging.judge_panel import JudgePanel
from tui_eval.engine.judging.judge_pool import JudgePool
from tui_eval.engine.judging.pending_judgement import PendingJudgement
from tui_eval.engine.judging.quality.audit import Auditing
from tui_eval.engine.judging.quality.gold_round import GoldRound
from tui_eval.engine.judging.question import Question
from tui_eval.engine.judging.question_plan import QuestionContext, questions
from tui_eval.engine.judging.settlement import Settlement
from tui_eval.engine.judging.subscriber import Subscriber
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.model.output import Output
from tui_eval.model.score import Score
from tui_eval.store.tx import Fact, Tx
from tui_eval.store.write.judges import judge_writes
from tui_eval.store.write.judges.measured_judges import GOLD

MOST = 2000
"""Trials that wait for judges in memory at most; the others wait in the store."""
_PORTION = 64
"""Trials that are looked up in one go."""


class Judging:
    """Takes trials from the pools once their output is recorded; settles them when all is judged.

    What the store knows already is never asked: for every question the findings are looked up by
    key first. Of those that are equal one is asked (`deduplication`). The rest goes to the judges'
    pools; their answers come back to `told`, which writes them down with the scores and the settled
    trials they make, as one transaction.
    """

    def __init__(
        self,
        store: RunStore,
        flights: dict[int, TrialInFlight],
        spend_caps: SpendCaps,
        coordination: Coordination,
        *,
        reuse: bool,
    ) -> None:
        """Begin without judges and closed.

        Args:
            store: The run.
            flights: The trials that the engine has taken.
            spend_caps: Hold room for what grading takes.
            coordination: Told when nothing is left to do, when gold is graded, and when there is
                room for trials that were left in the store.
            reuse: Whether findings of other trials may be used.
        """
        self.alone: set[int] = set()
        """Trials a person asked about one by one: graded in requests of their own."""
        self.hurried: set[int] = set()
        """Trials that a person has scored again, and so waits for."""
        self._writer = store.writer
        self._panel = JudgePanel()
        self._leaving: list[JudgePool] = []
        self._open = False
        self._flights = flights
        self._spend_caps = spend_caps
        self._coordination = coordination
        self._reuse = reuse
        self._gold: GoldRound | None = None
        self._auditing: Auditing | None = None
        self._pending: dict[int, PendingJudgement] = {}
        self._arrived: list[PendingJudgement] = []
        self._looking = False
        self._lookup = FindingLookup(store.reading, reuse=reuse)
        self._shared = EqualQuestions()
        self._was_full = False
        self._ended = False
        self._changed = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None

    def use_judges(self, panel: JudgePanel, gold: GoldRound, auditing: Auditing) -> None:
        """Give the judges; those that were there are let go of once their calls have ended.

        Args:
            panel: The judges.
            gold: What is graded first.
            auditing: What their batches are measured by.
        """
        self.let_go_all()
        self._end_measuring()
        self._leaving += self.judge_pools.values()
        self._panel, self._gold, self._auditing = panel, gold, auditing
        for judge_pool in self.judge_pools.values():
            judge_pool.set_open(self._open)
            if self._group is not None:
                self._group.create_task(judge_pool.run())

    @property
    def judge_pools(self) -> Mapping[str, JudgePool]:
        """The judges by name."""
        return self._panel.pools

    async def prepare(self) -> None:
        """See what was measured of the judges before; to be done before anything is asked."""
        if self._gold is not None and self._auditing is not None:
            await self._gold.prepare()
            await self._auditing.prepare()
            if self._group is not None:
                self._measure(self._group, self._gold, self._auditing)

    def _measure(self, group: asyncio.TaskGroup, gold: GoldRound, auditing: Auditing) -> None:
        if not gold.over:
            group.create_task(self._grade_gold(gold))
        group.create_task(auditing.run())

    async def _grade_gold(self, gold: GoldRound) -> None:
        await gold.run(self.ask)
        if gold.over and not gold.withdrawn:
            self._coordination.gold_graded()

    def _end_measuring(self) -> None:
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

    @property
    def more_to_come(self) -> bool:
        """Whether further questions may come before some that wait are answered."""
        if self.full:
            return False
        if self._arrived or self._looking:
            return True
        return not (self._coordination.pools_idle or self._spend_caps.holds_targets)

    @property
    def waiting(self) -> int:
        """Trials that wait for judges."""
        return len(self._pending)

    @property
    def rests(self) -> bool:
        """Whether nothing is asked for some seconds of the judges that have something to grade."""
        at_work = [judge_pool for judge_pool in self._all if not judge_pool.idle]
        return bool(at_work) and all(judge_pool.rests for judge_pool in at_work)

    @property
    def full(self) -> bool:
        """Whether no further trial can be taken just now."""
        return len(self._pending) >= MOST

    @property
    def idle(self) -> bool:
        """Whether no trial waits and nothing is under way."""
        return not self._pending and not self.busy and not self.owes and not self.gold_first

    @property
    def busy(self) -> int:
        """What is asked, looked up or written down at this moment."""
        looked_up = bool(self._arrived) or self._looking
        return sum(judge_pool.busy for judge_pool in self._all) + looked_up

    @property
    def _all(self) -> list[JudgePool]:
        return [*self.judge_pools.values(), *self._leaving]

    def take(
        self,
        flight: TrialInFlight,
        output: Output,
        scores: Sequence[Score],
        asks: Sequence[JudgedCheck],
        scoring_version: int,
    ) -> bool:
        """Take a trial whose output and other scores are in the store.

        Returns:
            False where there is no room, or it was marked for other judges: it stays in the store,
            and `judging_has_room` is said when it can be taken.
        """
        if scoring_version != self._panel.scoring_version:
            self._coordination.judging_has_room()
            return False
        if self.full:
            return False
        flight.phase = Phase.JUDGING
        pending = PendingJudgement(flight, output, scores)
        for ask in asks:
            pending.add(ask, self._questions(pending, ask))
        for judge, n in Counter(question.judge for question in pending.questions).items():
            self._spend_caps.grading.puts(judge, n)
        self._pending[flight.work.trial] = pending
        self._was_full = self._was_full or self.full
        self._arrived.append(pending)
        self._changed.set()
        return True

    async def run(self) -> None:
        """Work until `end`."""
        async with asyncio.TaskGroup() as self._group:
            for judge_pool in self._all:
                self._group.create_task(judge_pool.run())
            if self._gold is not None and self._auditing is not None:
                self._measure(self._group, self._gold, self._auditing)
            self._group.create_task(self._look_up_all())

    def set_open(self, dispatching: bool) -> None:
        """Begin new calls, or begin none until told otherwise; those in flight go on."""
        self._open = dispatching
        for judge_pool in self._all:
            judge_pool.set_open(dispatching)

    def tell(self) -> None:
        """Have judges that were held back look whether a call may begin now."""
        for judge_pool in self._all:
            judge_pool.tell()

    def look(self) -> None:
        """See whether batches that wait for company are to leave now."""
        for judge_pool in self._all:
            judge_pool.look()
        self._finish_audit()

    def let_go_all(self) -> None:
        """Let go of all trials: they stay where they are in the store, and can be taken anew."""
        for trial, pending in self._pending.items():
            pending.flight.withdraw()
            self._flights.pop(trial, None)
        self._pending.clear()
        self._arrived.clear()
        self._shared.clear()
        for judge_pool in self._all:
            judge_pool.drop_withdrawn()

    def ask_anew(self) -> None:
        """Answer nobody who comes now with what was asked before: a person wants newer answers."""
        self._shared.ask_anew()

    def reopen(self) -> None:
        """Let judges that could answer nobody try again."""
        for judge_pool in self.judge_pools.values():
            judge_pool.reopen()

    def drop_withdrawn(self) -> None:
        """Forget trials that a person took away; batches in flight go on for the others."""
        gone = [trial for trial, pending in self._pending.items() if pending.withdrawn]
        for trial in gone:
            del self._pending[trial]
        if gone:
            for judge_pool in self._all:
                judge_pool.drop_withdrawn()
            for successor in self._shared.drop_withdrawn():
                self.judge_pools[successor.judge].put(successor)
            self._make_room()

    def drop_calls(self) -> None:
        """End every call in flight."""
        for judge_pool in self._all:
            judge_pool.drop_calls()

    def give_up(self) -> None:
        """Let go of all trials; they stay where they are in the store."""
        for judge_pool in self._all:
            judge_pool.give_up()
        for trial in self._pending:
            self._flights.pop(trial, None)
        self._pending.clear()
        self._arrived.clear()
        self._shared.clear()

    def end(self) -> None:
        """Let all workers leave."""
        self._ended = True
        self._end_measuring()
        self._changed.set()
        for judge_pool in self._all:
            judge_pool.end()

    async def told(self, fact: Fact | None, closed: Sequence[Question]) -> None:
        """Write down what a judge found with what it settles, as one transaction."""
        await self._write(fact, closed)

    def judge_pool_idle(self) -> None:
        """Learn that a pool has nothing left to do."""
        for judge_pool in [judge_pool for judge_pool in self._leaving if judge_pool.idle]:
            judge_pool.end()
            self._leaving.remove(judge_pool)
        self._tell_if_idle()

    def _questions(self, pending: PendingJudgement, ask: JudgedCheck) -> list[Question]:
        work = pending.flight.work
        about = QuestionContext(
            work.trial,
            work.case.seq,
            pending,
            alone=work.trial in self.alone,
            hurried=work.trial in self.hurried,
        )
        names = ask.check.settings["judges"]
        assert isinstance(names, list)
        return [
            question
            for judge in map(str, names)
            for question in questions(ask, pending.output, self._panel.named(judge), about)
        ]

    async def _look_up_all(self) -> None:
        """Answer what the store can answer; put the rest to the judges."""
        while not self._ended:
            await self._changed.wait()
            self._changed.clear()
            while self._arrived and not self._ended:
                portion, self._arrived = self._arrived[:_PORTION], self._arrived[_PORTION:]
                self._looking = True
                try:
                    await self._look_up([d for d in portion if not d.withdrawn])
                finally:
                    self._looking = False
            self.look()  # what was looked up last may have been known: nothing was put
            self._tell_if_idle()

    async def _look_up(self, pendings: list[PendingJudgement]) -> None:
        questions = [question for pending in pendings for question in pending.questions]
        await self._lookup.answer(questions)
        live = [question for question in questions if not question.holder.withdrawn]
        # at once: no answer can land between the look-up and the wait for it
        asked = [one for one in live if not one.closed and not self._joins(one)]
        await self._write(None, [question for question in live if question.closed])
        for question in asked:
            if not question.holder.withdrawn:
                self.judge_pools[question.judge].put(question)

    def ask(self, question: Question) -> None:
        """Take a question to its judge, unless an equal one is asked already."""
        if not self._joins(question):
            self.judge_pools[question.judge].put(question)

    def _joins(self, question: Question) -> bool:
        """Whether it waits for the answer to an equal question that is asked already."""
        shares = self._reuse or question.purpose == GOLD
        if not shares or question.alone or question.parts:
            return False
        return self._shared.joins(question)

    async def _write(self, fact: Fact | None, closed: Sequence[Question]) -> None:
        """Commit a fact, the findings, the scores they make and the trials they settle."""
        live = [question for question in closed if not question.holder.withdrawn]
        touched = dict.fromkeys(q.holder for q in live if isinstance(q.holder, PendingJudgement))
        settlements = [Settlement.of(pending) for pending in touched]
        written: dict[Question, int] = {}
        if fact is not None or live:
            written, stale = await self._writer.write(
                partial(_commit, fact=fact, of=live, settlements=settlements)
            )
            self._drop(stale)
        for question in live:
            if isinstance(question.holder, Subscriber):
                question.holder.told()
            elif question.holder.withdrawn:
                continue
            elif self._auditing is not None and question.call is not None:
                self._auditing.graded(question)
        for one in settlements:
            if one.last and not one.pending.withdrawn:
                self._let_go(one.pending)
        await self._pass_on(closed, written)
        self._tell_if_idle()

    async def _pass_on(self, closed: Sequence[Question], written: Mapping[Question, int]) -> None:
        """Give answers to the equal questions that waited; without one the next of them asks."""
        copies: list[Question] = []
        for question in closed:
            if question in written and question.problem is None:
                self._lookup.landed(question.key)
                for equal in self._shared.answered(question):
                    equal.take(question.finding)
                    equal.origin = written[question]
                    copies.append(equal)
            elif (successor := self._shared.unanswered(question)) is not None:
                successor.failed_before = question.call is not None
                self.judge_pools[successor.judge].put(successor)
        if copies:
            await self._write(None, copies)

    def _drop(self, stale: Sequence[PendingJudgement]) -> None:
        """Forget trials that are not open as they were taken; they may be open anew."""
        for pending in stale:
            pending.flight.withdraw()
            if self._flights.get(pending.flight.work.trial) is pending.flight:
                del self._flights[pending.flight.work.trial]
        if stale:
            self.drop_withdrawn()
            self._coordination.judging_has_room()

    def _let_go(self, pending: PendingJudgement) -> None:
        trial = pending.flight.work.trial
        self.alone.discard(trial)
        self.hurried.discard(trial)
        if self._pending.get(trial) is pending:
            del self._pending[trial]
        if self._flights.get(trial) is pending.flight:
            del self._flights[trial]
        self._make_room()

    def _make_room(self) -> None:
        self._spend_caps.look_again()
        if self._was_full and len(self._pending) <= MOST // 2:
            self._was_full = False
            self._coordination.judging_has_room()

    def _finish_audit(self) -> None:
        """Have audits completed where nothing more comes."""
        waits = self._pending or self._arrived or self._looking
        if self._auditing is not None and not waits and self._coordination.pools_idle:
            self._auditing.finish()

    def _tell_if_idle(self) -> None:
        self._finish_audit()
        if self.idle:
            self._coordination.judging_idle()


def _commit(
    tx: Tx, fact: Fact | None, of: Sequence[Question], settlements: Sequence[Settlement]
) -> tuple[dict[Question, int], list[PendingJudgement]]:
    """Write down what came of questions.

    Returns:
        The ids of their findings; and the trials that are not open any more as they were taken, of
        which nothing is written: what was said of them is about an earlier opening.
    """
    if fact is not None:
        fact(tx)
    stale = {one.pending for one in settlements if not one.pending.flight.stands(tx)}
    written = {
        question: judge_writes.add_finding(tx, question.fact())
        for question in of
        if not question.own and question.holder not in stale and not question.holder.withdrawn
    }
    for one in settlements:
        if one.pending not in stale:
            one.write(tx)
    return written, [*stale]
