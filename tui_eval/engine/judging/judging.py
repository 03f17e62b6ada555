"""Judging: trials whose outputs wait for judges, from the store's cache to the last grade."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial

from tui_eval.engine.hand import Hand, Phase
from tui_eval.engine.judging.asking import questions
from tui_eval.engine.judging.audit import Auditing
from tui_eval.engine.judging.bench import Bench, Fact
from tui_eval.engine.judging.dossier import Dossier
from tui_eval.engine.judging.gold import GoldRound
from tui_eval.engine.judging.lookup import Lookup
from tui_eval.engine.judging.news import News
from tui_eval.engine.judging.question import Question
from tui_eval.engine.judging.sharing import Shared
from tui_eval.engine.judging.waiter import Waiter
from tui_eval.engine.marking import Ask
from tui_eval.engine.purse import Purse
from tui_eval.model.json import JsonObject
from tui_eval.model.output import Output
from tui_eval.model.score import Score
from tui_eval.store import judged
from tui_eval.store.connection import Connection
from tui_eval.store.trust import GOLD
from tui_eval.store.tx import Tx
from tui_eval.store.writer import Writer

MOST = 2000
"""Trials that wait for judges in memory at most; the others wait in the store."""
_PORTION = 64
"""Trials that are looked up in one go."""


class Judging:
    """Takes trials from the pools once their output is recorded; settles them when all is judged.

    What the store knows already is never asked: for every question the findings are looked up by
    key first. Of those that are equal one is asked (`sharing`). The rest goes to the benches; their
    answers come back to `told`, which writes them down with the scores and the settled trials they
    make, as one transaction.
    """

    def __init__(
        self,
        reading: Connection,
        writer: Writer,
        hands: dict[int, Hand],
        purse: Purse,
        *,
        reuse: bool,
        pools_idle: Callable[[], bool],
        on_idle: Callable[[], None],
        on_room: Callable[[], None],
        on_gold: Callable[[], None],
    ) -> None:
        """Open the hearing.

        Args:
            reading: A connection for looking findings up.
            writer: Where facts go.
            hands: The trials in the engine's hands.
            purse: Holds room for what grading takes.
            reuse: Whether findings of other trials may be used.
            pools_idle: Says whether no pool has anything left to do.
            on_idle: Told when nothing is left to do.
            on_room: Told when there is room again for trials that were left in the store.
            on_gold: Told when gold is graded, and targets may be asked.
        """
        self.benches: dict[str, Bench] = {}
        """The judges by name."""
        self.alone: set[int] = set()
        """Trials a person asked about one by one: graded in requests of their own."""
        self.hurried: set[int] = set()
        """Trials that a person has scored again, and so waits for."""
        self._writer = writer
        self._identities: dict[str, JsonObject] = {}
        self._leaving: list[Bench] = []
        self._seating = 0
        self._open = False
        self._hands = hands
        self._purse = purse
        self._reuse = reuse
        self._pools_idle = pools_idle
        self._on_idle = on_idle
        self._on_room = on_room
        self._on_gold = on_gold
        self._gold: GoldRound | None = None
        self._auditing: Auditing | None = None
        self._dossiers: dict[int, Dossier] = {}
        self._arrived: list[Dossier] = []
        self._looking = False
        self._lookup = Lookup(reading, reuse=reuse)
        self._shared = Shared()
        self._was_full = False
        self._ended = False
        self._news = asyncio.Event()
        self._group: asyncio.TaskGroup | None = None

    def seat(
        self,
        benches: Mapping[str, Bench],
        identities: Mapping[str, JsonObject],
        gold: GoldRound,
        auditing: Auditing,
        seating: int,
    ) -> None:
        """Give the judges; those that sat before are let go of once their calls have ended.

        Args:
            benches: The judges by name.
            identities: What each judge is, as far as it changes grades.
            gold: What is graded first.
            auditing: What their batches are measured by.
            seating: Their number: what was made for others is not theirs to answer.
        """
        self.let_go_all()
        self._seating = seating
        self._end_measuring()
        self._leaving += self.benches.values()
        self.benches = dict(benches)
        self._identities = dict(identities)
        self._gold = gold
        self._auditing = auditing
        for bench in benches.values():
            bench.set_open(self._open)
            if self._group is not None:
                self._group.create_task(bench.run())

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
        await gold.run()
        if gold.over and not gold.withdrawn:
            self._on_gold()

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
        return not (self._pools_idle() or self._purse.holds_targets)

    @property
    def waiting(self) -> int:
        """Trials that wait for judges."""
        return len(self._dossiers)

    @property
    def rests(self) -> bool:
        """Whether nothing is asked for some seconds of the judges that have something to grade."""
        at_work = [bench for bench in self._all if not bench.idle]
        return bool(at_work) and all(bench.rests for bench in at_work)

    @property
    def full(self) -> bool:
        """Whether no further trial can be taken just now."""
        return len(self._dossiers) >= MOST

    @property
    def idle(self) -> bool:
        """Whether no trial waits and nothing is under way."""
        return not self._dossiers and not self.busy and not self.owes and not self.gold_first

    @property
    def busy(self) -> int:
        """What is asked, looked up or written down at this moment."""
        looked_up = bool(self._arrived) or self._looking
        return sum(bench.busy for bench in self._all) + looked_up

    @property
    def _all(self) -> list[Bench]:
        return [*self.benches.values(), *self._leaving]

    def take(
        self,
        hand: Hand,
        output: Output,
        scores: Sequence[Score],
        asks: Sequence[Ask],
        seating: int,
    ) -> bool:
        """Take a trial whose output and other scores are in the store.

        Returns:
            False where there is no room, or it was marked for other judges: it stays in the store,
            and `on_room` is told when it can be taken.
        """
        if seating != self._seating:
            self._on_room()
            return False
        if self.full:
            return False
        hand.phase = Phase.JUDGING
        dossier = Dossier(hand, output, scores)
        for ask in asks:
            dossier.add(ask, self._questions(dossier, ask))
        for judge, n in Counter(question.judge for question in dossier.questions).items():
            self._purse.grading.puts(judge, n)
        self._dossiers[hand.work.trial] = dossier
        self._was_full = self._was_full or self.full
        self._arrived.append(dossier)
        self._news.set()
        return True

    async def run(self) -> None:
        """Work until `end`."""
        async with asyncio.TaskGroup() as self._group:
            for bench in self._all:
                self._group.create_task(bench.run())
            if self._gold is not None and self._auditing is not None:
                self._measure(self._group, self._gold, self._auditing)
            self._group.create_task(self._look_up_all())

    def set_open(self, dispatching: bool) -> None:
        """Begin new calls, or begin none until told otherwise; those in flight go on."""
        self._open = dispatching
        for bench in self._all:
            bench.set_open(dispatching)

    def tell(self) -> None:
        """Have judges that were held back look whether a call may begin now."""
        for bench in self._all:
            bench.tell()

    def look(self) -> None:
        """See whether batches that wait for company are to leave now."""
        for bench in self._all:
            bench.look()
        self._finish_audit()

    def let_go_all(self) -> None:
        """Let go of all trials: they stay where they are in the store, and can be taken anew."""
        for trial, dossier in self._dossiers.items():
            dossier.hand.withdraw()
            self._hands.pop(trial, None)
        self._dossiers.clear()
        self._arrived.clear()
        self._shared.clear()
        for bench in self._all:
            bench.drop_withdrawn()

    def ask_anew(self) -> None:
        """Answer nobody who comes now with what was asked before: a person wants newer answers."""
        self._shared.ask_anew()

    def reopen(self) -> None:
        """Let judges that could answer nobody try again."""
        for bench in self.benches.values():
            bench.reopen()

    def drop_withdrawn(self) -> None:
        """Forget trials that a person took away; batches in flight go on for the others."""
        gone = [trial for trial, dossier in self._dossiers.items() if dossier.withdrawn]
        for trial in gone:
            del self._dossiers[trial]
        if gone:
            for bench in self._all:
                bench.drop_withdrawn()
            for heir in self._shared.drop_withdrawn():
                self.benches[heir.judge].put(heir)
            self._make_room()

    def drop_calls(self) -> None:
        """End every call in flight."""
        for bench in self._all:
            bench.drop_calls()

    def give_up(self) -> None:
        """Let go of all trials; they stay where they are in the store."""
        for bench in self._all:
            bench.give_up()
        for trial in self._dossiers:
            self._hands.pop(trial, None)
        self._dossiers.clear()
        self._arrived.clear()
        self._shared.clear()

    def end(self) -> None:
        """Let all workers leave."""
        self._ended = True
        self._end_measuring()
        self._news.set()
        for bench in self._all:
            bench.end()

    async def told(self, fact: Fact | None, closed: Sequence[Question]) -> None:
        """Write down what a bench found with what it settles, as one transaction."""
        await self._write(fact, closed)

    def bench_idle(self) -> None:
        """Learn that a bench has nothing left to do."""
        for bench in [bench for bench in self._leaving if bench.idle]:
            bench.end()
            self._leaving.remove(bench)
        self._tell_if_idle()

    def _questions(self, dossier: Dossier, ask: Ask) -> list[Question]:
        work = dossier.hand.work
        names = ask.check.settings["judges"]
        assert isinstance(names, list)
        return [
            question
            for judge in map(str, names)
            for question in questions(
                ask.check,
                ask.item,
                dossier.output,
                judge,
                self._identities[judge],
                self.benches[judge].spec.repeats,
                holder=dossier,
                trial=work.trial,
                case=work.case.seq,
                alone=work.trial in self.alone,
                hurried=work.trial in self.hurried,
            )
        ]

    async def _look_up_all(self) -> None:
        """Answer what the store can answer; put the rest before the benches."""
        while not self._ended:
            await self._news.wait()
            self._news.clear()
            while self._arrived and not self._ended:
                portion, self._arrived = self._arrived[:_PORTION], self._arrived[_PORTION:]
                self._looking = True
                try:
                    await self._look_up([d for d in portion if not d.withdrawn])
                finally:
                    self._looking = False
            self.look()  # what was looked up last may have been known: nothing was put
            self._tell_if_idle()

    async def _look_up(self, dossiers: list[Dossier]) -> None:
        questions = [question for dossier in dossiers for question in dossier.questions]
        await self._lookup.answer(questions)
        live = [question for question in questions if not question.holder.withdrawn]
        # at once: no answer can land between the look-up and the wait for it
        asked = [one for one in live if not one.closed and not self._joins(one)]
        await self._write(None, [question for question in live if question.closed])
        for question in asked:
            if not question.holder.withdrawn:
                self.benches[question.judge].put(question)

    def ask(self, question: Question) -> None:
        """Take a question to its judge, unless an equal one is asked already."""
        if not self._joins(question):
            self.benches[question.judge].put(question)

    def _joins(self, question: Question) -> bool:
        """Whether it waits for the answer to an equal question that is asked already."""
        shares = self._reuse or question.purpose == GOLD
        if not shares or question.alone or question.parts:
            return False
        return self._shared.joins(question)

    async def _write(self, fact: Fact | None, closed: Sequence[Question]) -> None:
        """Commit a fact, the findings, the scores they make and the trials they settle."""
        live = [question for question in closed if not question.holder.withdrawn]
        touched = dict.fromkeys(q.holder for q in live if isinstance(q.holder, Dossier))
        news = [News.of(dossier) for dossier in touched]
        written: dict[Question, int] = {}
        if fact is not None or live:
            written, stale = await self._writer.write(
                partial(_commit, fact=fact, of=live, news=news)
            )
            self._drop(stale)
        for question in live:
            if isinstance(question.holder, Waiter):
                question.holder.told()
            elif question.holder.withdrawn:
                continue
            elif self._auditing is not None and question.call is not None:
                self._auditing.graded(question)
        for one in news:
            if one.last and not one.dossier.withdrawn:
                self._let_go(one.dossier)
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
            elif (heir := self._shared.unanswered(question)) is not None:
                heir.failed_before = question.call is not None
                self.benches[heir.judge].put(heir)
        if copies:
            await self._write(None, copies)

    def _drop(self, stale: Sequence[Dossier]) -> None:
        """Forget trials that are not open as they were taken; they may be open anew."""
        for dossier in stale:
            dossier.hand.withdraw()
            if self._hands.get(dossier.hand.work.trial) is dossier.hand:
                del self._hands[dossier.hand.work.trial]
        if stale:
            self.drop_withdrawn()
            self._on_room()

    def _let_go(self, dossier: Dossier) -> None:
        trial = dossier.hand.work.trial
        self.alone.discard(trial)
        self.hurried.discard(trial)
        if self._dossiers.get(trial) is dossier:
            del self._dossiers[trial]
        if self._hands.get(trial) is dossier.hand:
            del self._hands[trial]
        self._make_room()

    def _make_room(self) -> None:
        self._purse.look_again()
        if self._was_full and len(self._dossiers) <= MOST // 2:
            self._was_full = False
            self._on_room()

    def _finish_audit(self) -> None:
        """Have audits completed where nothing more comes."""
        waits = self._dossiers or self._arrived or self._looking
        if self._auditing is not None and not waits and self._pools_idle():
            self._auditing.finish()

    def _tell_if_idle(self) -> None:
        self._finish_audit()
        if self.idle:
            self._on_idle()


def _commit(
    tx: Tx, fact: Fact | None, of: Sequence[Question], news: Sequence[News]
) -> tuple[dict[Question, int], list[Dossier]]:
    """Write down what came of questions.

    Returns:
        The ids of their findings; and the trials that are not open any more as they were taken, of
        which nothing is written: what was said of them is about an earlier opening.
    """
    if fact is not None:
        fact(tx)
    stale = {one.dossier for one in news if not one.dossier.hand.stands(tx)}
    written = {
        question: judged.add_finding(tx, question.fact())
        for question in of
        if not question.own and question.holder not in stale and not question.holder.withdrawn
    }
    for one in news:
        if one.dossier not in stale:
            one.write(tx)
    return written, [*stale]
