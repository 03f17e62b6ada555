"""Judging: trials whose outputs wait for judges, from the store's cache to the last grade."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from tui_eval.engine.coordination import Coordination
from tui_eval.engine.journey.trial_in_flight import Phase, TrialInFlight
from tui_eval.engine.journey.trial_scoring import JudgedCheck
from tui_eval.engine.judging.bulk.bulk_history import BulkAnswers
from tui_eval.engine.judging.deduplication import EqualQuestions
from tui_eval.engine.judging.finding_lookup import FindingLookup
from tui_eval.engine.judging.judge_panel import JudgePanel
from tui_eval.engine.judging.pending_judgement import PendingJudgement
from tui_eval.engine.judging.pool.judge_pool import JudgePool
from tui_eval.engine.judging.pool.judge_pools import JudgePools
from tui_eval.engine.judging.quality.audit import Auditing
from tui_eval.engine.judging.quality.gold_round import GoldRound
from tui_eval.engine.judging.quality.measuring import Measuring
from tui_eval.engine.judging.question import AnswerRecipient, Question
from tui_eval.engine.judging.question_plan import QuestionContext, questions
from tui_eval.engine.judging.rescored_trials import RescoredTrials
from tui_eval.engine.judging.settlement import Settlement, commit
from tui_eval.engine.judging.subscriber import Subscriber
from tui_eval.engine.limits.spend_caps import SpendCaps
from tui_eval.engine.run_store import RunStore
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Score
from tui_eval.store.read.judges.consigned_call_queries import CallItem
from tui_eval.store.tx import Fact
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
        self._rescored = RescoredTrials()
        self._writer = store.writer
        self._panel = JudgePanel()
        self._pools = JudgePools()
        self._measuring = Measuring(coordination, self.ask)
        self._flights = flights
        self._spend_caps = spend_caps
        self._coordination = coordination
        self._reuse = reuse
        self._pending: dict[int, PendingJudgement] = {}
        self._arrived: list[PendingJudgement] = []
        self._looking = False
        self._lookup = FindingLookup(store.reading, reuse=reuse)
        self._bulk_answers = BulkAnswers(store, reuse=reuse)
        self._shared = EqualQuestions()
        self._was_full = False
        self._ended = False
        self._changed = asyncio.Event()

    def use_judges(self, panel: JudgePanel, gold: GoldRound, auditing: Auditing) -> None:
        """Give the judges; those that were there are let go of once their calls have ended.

        Args:
            panel: The judges.
            gold: What is graded first.
            auditing: What their batches are measured by.
        """
        self.let_go_all()
        self._measuring.use(gold, auditing)
        self._panel = panel
        self._pools.use(panel.pools)

    @property
    def judge_pools(self) -> Mapping[str, JudgePool]:
        """The judges by name."""
        return self._pools.named

    def hurry(self, rescored: Sequence[int]) -> None:
        """Learn which trials a person scores again; where there are no judges, none waits."""
        if self.judge_pools:
            self._rescored.add(rescored)

    async def prepare(self) -> None:
        """See what was measured of the judges before; to be done before anything is asked."""
        await self._measuring.prepare()

    @property
    def gold_first(self) -> bool:
        """Whether gold is to be graded before any target is asked."""
        return self._measuring.gold_first

    @property
    def owes(self) -> bool:
        """Whether an audit is not complete."""
        return self._measuring.owes

    @property
    def more_to_come(self) -> bool:
        """Whether further questions may come before some that wait are answered."""
        if self.full:
            return False
        if self._arrived or self._looking:
            return True
        return not (self._coordination.pools_idle or self._spend_caps.holds_targets)

    @property
    def quiet(self) -> bool:
        """Whether no output comes for now: nothing is asked but of providers in bulk."""
        if self._arrived or self._looking:
            return False
        caps = self._spend_caps
        held = caps.holds_targets and not caps.calls_in_flight  # else one may make room, or end
        return held or self._coordination.outputs_rest

    @property
    def waiting(self) -> int:
        """Trials that wait for judges."""
        return len(self._pending)

    @property
    def rests(self) -> bool:
        """Whether nothing is asked for some seconds of the judges that have something to grade."""
        return self._pools.rest

    @property
    def full(self) -> bool:
        """Whether no further trial can be taken just now."""
        return len(self._pending) >= MOST

    @property
    def idle(self) -> bool:
        """Whether no trial waits and nothing is under way."""
        return not self._pending and not self.busy and not self.owes and not self.gold_first

    @property
    def only_in_bulk(self) -> bool:
        """Whether nothing is asked live or looked up: trials that wait are to be asked in bulk."""
        looked_up = bool(self._arrived) or self._looking
        return not (looked_up or self.owes or self.gold_first) and self._pools.idle

    @property
    def busy(self) -> int:
        """What is asked, looked up or written down at this moment."""
        looked_up = bool(self._arrived) or self._looking
        return self._pools.busy + looked_up

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
        async with asyncio.TaskGroup() as group:
            self._pools.run(group)
            self._measuring.run(group)
            group.create_task(self._look_up_all())

    def set_open(self, dispatching: bool) -> None:
        """Begin new calls, or begin none until told otherwise; those in flight go on."""
        self._pools.set_open(dispatching)

    def tell(self) -> None:
        """Have judges that were held back look whether a call may begin now."""
        self._pools.tell()

    def look(self) -> None:
        """See whether batches that wait for company are to leave now."""
        self._pools.look()
        self._finish_audit()

    def let_go_all(self) -> None:
        """Let go of all trials: they stay where they are in the store, and can be taken anew."""
        for trial, pending in self._pending.items():
            pending.flight.withdraw()
            self._flights.pop(trial, None)
        self._pending.clear()
        self._arrived.clear()
        self._shared.clear()
        self._pools.drop_withdrawn()

    def ask_anew(self) -> None:
        """Answer nobody who comes now with what was asked before: a person wants newer answers."""
        self._shared.ask_anew()

    def reopen(self) -> None:
        """Let judges that could answer nobody try again."""
        self._pools.reopen()

    def drop_withdrawn(self) -> None:
        """Forget trials that a person took away; batches in flight go on for the others."""
        gone = [trial for trial, pending in self._pending.items() if pending.withdrawn]
        for trial in gone:
            del self._pending[trial]
        if gone:
            self._pools.drop_withdrawn()
            for successor in self._shared.drop_withdrawn():
                self.judge_pools[successor.judge].put(successor)
            self._make_room()

    def drop_calls(self) -> None:
        """End every call in flight."""
        self._pools.drop_calls()

    def give_up(self) -> None:
        """Let go of all trials; they stay where they are in the store."""
        self._pools.give_up()
        for trial in self._pending:
            self._flights.pop(trial, None)
        self._pending.clear()
        self._arrived.clear()
        self._shared.clear()

    def end(self) -> None:
        """Let all workers leave."""
        self._ended = True
        self._measuring.end()
        self._changed.set()
        self._pools.end()

    async def told(self, fact: Fact | None, closed: Sequence[Question]) -> None:
        """Write down what a judge found with what it settles, as one transaction."""
        await self._write(fact, closed)

    def judge_pool_idle(self) -> None:
        """Learn that a pool has nothing left to do."""
        self._pools.let_go_idle()
        self._tell_if_idle()

    def _questions(self, pending: PendingJudgement, ask: JudgedCheck) -> list[Question]:
        work = pending.flight.work
        about = QuestionContext(
            work.trial,
            work.case.seq,
            pending,
            alone=self._rescored.alone(work.trial),
            hurried=self._rescored.hurried(work.trial),
            opening=work.opening,
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
        written = await self._answer_known(questions)
        live = [question for question in questions if not question.holder.withdrawn]
        # at once: no answer can land between the look-up and the wait for it
        open_ = [one for one in live if not one.closed and not one.consigned]
        asked = [one for one in open_ if not self._joins(one)]
        await self._write(None, [one for one in live if one.closed and one not in written])
        for question in asked:
            if not question.holder.withdrawn:
                self.judge_pools[question.judge].put(question)
        self._let_go_consigned(pendings)

    async def _answer_known(self, questions: Sequence[Question]) -> set[Question]:
        """Answer what the store can answer, or let it wait for what is asked in bulk already.

        Returns:
            Those whose answers came in bulk: they are written down, so that equal ones find them.
        """
        left, written = list(questions), set[Question]()
        while left:
            given = await self._bulk_answers.answer(left, self.judge_pools)
            await self._write(None, given)
            written.update(given)
            left = [one for one in left if not one.closed and not one.consigned]
            await self._lookup.answer(left)
            left = [one for one in left if not one.closed and self._bulk_answers.missed(one)]
        return written

    async def consigned(self, questions: Sequence[Question], call: int) -> None:
        """Let go of trials whose questions are written down in a consignment.

        They stay in the store, and so do those whose equal questions waited for the same answers.
        """
        for position, question in enumerate(questions):
            question.consigned = True
            self._bulk_answers.consigned(question)
            judge_pool = self.judge_pools[question.judge]
            for equal in self._shared.answered(question):
                item, bulk = CallItem(call, position), judge_pool.bulk
                if bulk is not None and equal.in_bulk and await bulk.join(equal, item):
                    self._let_go_consigned([equal.holder])
                else:  # as gold, which is asked live
                    judge_pool.put(equal)
        self._let_go_consigned([question.holder for question in questions])

    def _let_go_consigned(self, holders: Sequence[AnswerRecipient]) -> None:
        for holder in dict.fromkeys(holders):
            if isinstance(holder, PendingJudgement) and holder.consigned and not holder.withdrawn:
                self._let_go(holder)

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
                partial(commit, fact=fact, of=live, settlements=settlements)
            )
            self._drop(stale)
        for question in live:
            if isinstance(question.holder, Subscriber):
                question.holder.told()
            elif question.holder.withdrawn:
                continue
            else:
                self._measuring.graded(question)
        for one in settlements:
            if one.last and not one.pending.withdrawn:
                self._let_go(one.pending)
        self._let_go_consigned([one.pending for one in settlements])
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
        self._rescored.discard(trial)
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
        if not (self._pending or self._arrived or self._looking):
            self._measuring.finish()

    def _tell_if_idle(self) -> None:
        self._finish_audit()
        if self.idle:
            self._coordination.judging_idle()
