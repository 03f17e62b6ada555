"""Audit: batched outputs are graded again, each alone and twice, to see what batching changes."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count
from statistics import fmean

from tui_eval.engine.coordination import Coordination
from tui_eval.engine.journey.trial_scoring import ScoringOutcome
from tui_eval.engine.judging.judge_panel import JudgePanel
from tui_eval.engine.judging.pool.judge_pool import JudgePool
from tui_eval.engine.judging.quality.audit_stats import AuditTriple, audit_of
from tui_eval.engine.judging.question import Question
from tui_eval.engine.judging.question_plan import QuestionContext, questions
from tui_eval.engine.judging.subscriber import Subscriber
from tui_eval.engine.run_store import RunStore
from tui_eval.model.json import Json, JsonObject, digest
from tui_eval.model.judge_quality import ENOUGH, Audit
from tui_eval.model.outputs.output import Failure
from tui_eval.model.runs.endpoint_event import note
from tui_eval.scoring.check import Check
from tui_eval.scoring.judge.reading import Finding
from tui_eval.scoring.judge.request import PROMPT_VERSION
from tui_eval.scoring.judge.verdict import measured
from tui_eval.statistics.agreement import PositionMeans
from tui_eval.store.write.judges import measured_judges
from tui_eval.store.write.judges.measured_judges import BatchedAnswer, JudgedTrial
from tui_eval.suites.judge_choice import judges_of
from tui_eval.suites.spec import JudgeSpec, Suite
from tui_eval.targets import seeded_draws

_REPEATS = (-1, -2)
"""The repeats of an audit; those of grades count from 0."""
_PORTION = 50
"""Outputs that are audited at once."""
_PAGE = 1000
"""Grades that are read at once."""


@dataclass(slots=True, eq=False)
class _Plan:
    """The audit of one scorer and judge."""

    scorer: str
    judge: str
    key: bytes
    """All that its result depends on."""
    judge_pool: JudgePool
    dirty: bool = False
    """Whether there may be something to audit."""
    due: bool = False
    """Whether it is to be looked at."""
    last: bool = False
    """Whether nothing more comes: its result is to be kept."""
    graded: int = 0
    look_at: int = ENOUGH
    """How many grades begin the next look."""
    scaled: bool = False
    """Whether its grades are more than verdicts."""
    threes: dict[bytes, AuditTriple | None] = field(default_factory=dict)
    """What came of it, by the key of the grade; None: one of the three is missing."""

    def chooses(self, number: int, key: bytes, seed: int) -> bool:
        """Choose whom to audit: the first 30, and the share of the others, always the same."""
        return (
            number < ENOUGH
            or seeded_draws.draw(seed, "audit", key.hex()) < self.judge_pool.spec.audit
        )


class Auditing(Subscriber):
    """Audits a run's judges while they grade, from what the store has of their batches.

    A look is taken once there are 30 grades, whenever their number has doubled since, and when
    nothing more comes; what earlier looks (or an earlier engine) have asked is not asked again.
    An audit that the store has for the same scorer, judge, parameters, prompt version and batch
    size is shown and nothing is asked, unless it is of too few outputs to say anything.
    """

    def __init__(
        self,
        store: RunStore,
        suite: Suite,
        panel: JudgePanel,
        outcome: Callable[[JudgedTrial], Awaitable[ScoringOutcome | Failure]],
        coordination: Coordination,
    ) -> None:
        """Plan the audits.

        Args:
            store: The run.
            suite: Its suite.
            panel: The judges.
            outcome: Gives what judges are asked about an output.
            coordination: Told when nothing is left to audit for now.
        """
        super().__init__()
        self._store = store
        self._suite = suite
        self._panel = panel
        self._outcome = outcome
        self._coordination = coordination
        self._seed = suite.dataset.seed or 0
        self._plans = {(plan.scorer, plan.judge): plan for plan in self._planned(panel.pools)}
        self._looking = False
        self._changed = asyncio.Event()

    @property
    def idle(self) -> bool:
        """Whether nothing is left to audit."""
        return not self._looking and not any(plan.dirty for plan in self._plans.values())

    async def prepare(self) -> None:
        """Take over the audits that the store has; see what an earlier engine left to do."""
        for of, plan in list(self._plans.items()):
            known = await self._store.reading.call(measured_judges.audit, plan.key)
            if known is not None and known.enough:
                del self._plans[of]
                spec = plan.judge_pool.spec
                known = replace(known, max_excess_flips=spec.max_excess_flips)
                await self._keep(plan, known)
                self._heed(plan, known)
            else:
                plan.dirty = bool(await self._page(plan, None, 1))

    def graded(self, question: Question) -> None:
        """Learn that a judge has graded something."""
        plan = self._plans.get((question.scorer, question.judge))
        if plan is None:
            return
        plan.dirty = True
        plan.graded += 1
        if plan.graded >= plan.look_at:
            plan.look_at *= 2
            plan.due = True
            self._changed.set()

    def finish(self) -> None:
        """Learn that nothing more comes for now: audit what is left, and keep the results."""
        for plan in self._plans.values():
            if plan.dirty:
                plan.due = plan.last = True
                self._changed.set()

    def end(self) -> None:
        """Audit no more; what is under way stays open in the store."""
        super().end()
        self._changed.set()

    async def run(self) -> None:
        """Audit until `end`."""
        while not self.withdrawn:
            await self._changed.wait()
            self._changed.clear()
            for plan in self._plans.values():
                while plan.due and not self.withdrawn:
                    self._looking = True
                    try:
                        await self._look(plan)
                    finally:
                        self._looking = False
            self._coordination.judging_idle()

    async def _look(self, plan: _Plan) -> None:
        last, plan.due, plan.last = plan.last, False, False
        if last:
            plan.dirty = False  # what is graded from now on makes it so again
        positions = PositionMeans()
        chosen: dict[bytes, None] = {}
        numbers = count()
        async for rows in self._pages(plan):
            new = []
            for row in rows:
                positions.add(row.position, _score(row.made))
                if plan.chooses(next(numbers), row.key, self._seed):
                    chosen[row.key] = None
                    new += [] if row.key in plan.threes else [row]
            for begin in range(0, len(new), _PORTION):
                if not await self._ask(plan, new[begin : begin + _PORTION]):
                    return
        threes = [three for key in chosen if (three := plan.threes[key]) is not None]
        if not threes:
            return
        found = audit_of(
            threes,
            positions.means,
            await self._store.reading.call(
                measured_judges.tokens, self._store.run, plan.scorer, plan.judge
            ),
            plan.judge_pool.spec,
            scaled=plan.scaled,
        )
        self._heed(plan, found)
        if last:
            await self._keep(plan, found)

    async def _pages(self, plan: _Plan) -> AsyncIterator[list[BatchedAnswer]]:
        """Yield what the judge has said in batches, a page at a time."""
        page = await self._page(plan, None, _PAGE)
        while page:
            yield page
            page = await self._page(plan, page[-1], _PAGE)

    async def _page(
        self, plan: _Plan, after: BatchedAnswer | None, limit: int
    ) -> list[BatchedAnswer]:
        return await self._store.reading.call(
            measured_judges.batched, self._store.run, plan.scorer, plan.judge, after, limit
        )

    async def _ask(self, plan: _Plan, rows: Sequence[BatchedAnswer]) -> bool:
        """Have outputs graded alone, twice; False where the audit was ended first."""
        asked = await self._asked(plan, rows)
        both = [question for _, *two in asked.values() for question in two]
        keys = [question.key for question in both]
        found = await self._store.reading.call(measured_judges.audited, self._store.run, keys)
        for question in both:
            known = found.get(question.key)
            if known is not None:
                question.take(Finding.from_json(known))
            elif question.key in found:
                question.problem = "it was not graded when it was asked"
        missing = [question for question in both if not question.closed]
        for question in missing:
            plan.judge_pool.put(question)
        if not await self.all_closed(missing):
            return False
        for row in rows:
            plan.threes[row.key] = _three(row, *asked[row.key]) if row.key in asked else None
        return True

    async def _asked(
        self, plan: _Plan, rows: Sequence[BatchedAnswer]
    ) -> dict[bytes, tuple[Check, Question, Question]]:
        """Return what is asked about some outputs, by the keys of their grades."""
        wanted = {row.key for row in rows}
        trials = sorted({row.trial for row in rows})
        found: dict[bytes, tuple[Check, Question, Question]] = {}
        for work in await self._store.reading.call(measured_judges.subjects, trials):
            outcome = await self._outcome(work)
            for ask in () if isinstance(outcome, Failure) else outcome.asks:
                if ask.check.name != plan.scorer:
                    continue
                plan.scaled = ask.check.settings["form"] in ("scale", "criteria")
                about = QuestionContext(work.trial, work.case.seq, self)
                judge = replace(self._panel.named(plan.judge), repeats=1)
                for question in questions(ask, work.output, judge, about):
                    if question.key in wanted:
                        first, second = (_alone(question, repeat) for repeat in _REPEATS)
                        found[question.key] = (ask.check, first, second)
        return found

    def _heed(self, plan: _Plan, found: Audit) -> None:
        """Turn batching off where it flips too many verdicts, and say so."""
        if found.batching_off and plan.judge_pool.grade_alone(plan.scorer):
            why = (
                f"batching is off for scorer {plan.scorer!r}: it flips {found.excess:.1%} of the "
                f"verdicts beyond the judge's own noise, at least {found.low:.1%}, and "
                f"{found.max_excess_flips:.1%} are allowed"
            )
            plan.judge_pool.limiter.tell(note(why))

    async def _keep(self, plan: _Plan, found: Audit) -> None:
        await self._store.writer.write(
            partial(
                measured_judges.write_measure,
                run=self._store.run,
                scorer=plan.scorer,
                judge=plan.judge,
                key=plan.key,
                measured=found,
            )
        )

    def _planned(self, judge_pools: Mapping[str, JudgePool]) -> Iterator[_Plan]:
        for scorer in self._suite.scorers:
            settings: JsonObject = scorer.model_dump(mode="json", by_alias=True)
            for name in judges_of(settings, list(judge_pools)):
                if name not in judge_pools:
                    continue  # the run is launched without its judges
                spec = judge_pools[name].spec
                if spec.audit and spec.batch_size > 1:
                    key = audit_key(settings, self._panel.identities[name], spec)
                    yield _Plan(scorer.name, name, key, judge_pools[name])


def audit_key(scorer: JsonObject, identity: JsonObject, spec: JudgeSpec) -> bytes:
    """Return all that an audit depends on: the same key is the same audit.

    Args:
        scorer: The scorer's settings, as the suite has them.
        identity: What the judge is, as far as it changes grades.
        spec: What the suite says of the judge.
    """
    depends: list[Json] = ["audit", PROMPT_VERSION, scorer, identity]
    return digest([*depends, spec.instructions, spec.batch_size])


def audit_calls(outputs: int, share: float) -> int:
    """Return about how many requests it takes to audit so many outputs, each alone and twice."""
    return len(_REPEATS) * round(min(outputs, ENOUGH) + share * max(0, outputs - ENOUGH))


def _alone(question: Question, repeat: int) -> Question:
    """Return a question as an audit asks it: alone, and never taken for a grade."""
    return replace(
        question,
        repeat=repeat,
        key=digest(["audit", question.key.hex(), repeat]),
        purpose=measured_judges.AUDIT,
        alone=True,
        parts={},
    )


def _three(
    row: BatchedAnswer, check: Check, first: Question, second: Question
) -> AuditTriple | None:
    if first.missing or second.missing:
        return None
    numbers = first.item.form.numbers
    in_batch = Finding.from_json(row.made)
    return AuditTriple(
        *(measured(check, one, numbers) for one in (in_batch, first.finding, second.finding))
    )


def _score(made: JsonObject) -> float:
    """Return the raw score of a finding; of requirements the share met, of criteria the mean."""
    return fmean(part.value for part in Finding.from_json(made).parts.values())
