"""Gold: outputs that a person has graded are graded first, before any target is asked."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tui_eval.engine.coordination import Coordination
from tui_eval.engine.departure import halted
from tui_eval.engine.journey.trial_scoring import GoldJudgeCheck, JudgedCheck
from tui_eval.engine.judging.judge_panel import JudgePanel
from tui_eval.engine.judging.question import Question
from tui_eval.engine.judging.question_plan import QuestionContext, opinions, questions
from tui_eval.engine.judging.subscriber import Subscriber
from tui_eval.engine.run_store import RunStore
from tui_eval.model.json import Json, digest
from tui_eval.model.judge_quality import ENOUGH, MOST_DIFFERENCES, GoldAgreement, GoldDifference
from tui_eval.model.outputs.output import Failure
from tui_eval.model.runs.endpoint_event import note
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring.check import Check
from tui_eval.scoring.judge.item import Item
from tui_eval.scoring.judge.person_grade import person_grade
from tui_eval.scoring.judge.reading import Finding
from tui_eval.scoring.judge.verdict import grade
from tui_eval.statistics.agreement import cohen_kappa, spearman
from tui_eval.statistics.intervals import wilson
from tui_eval.store.tx import Fact, Tx
from tui_eval.store.write.judges import measured_judges
from tui_eval.suites.data.gold import Gold
from tui_eval.suites.data.grade_forms import RANKED

_DECIDES = ("pass_at", "threshold", "vote", "ungraded_requirements", "criteria")
"""Settings of a check that make another verdict of the same answers."""
_GRADED = frozenset({Verdict.PASS, Verdict.FAIL})


@dataclass(frozen=True, slots=True)
class _Row:
    """One output with the person's grade and what the judge is asked about it."""

    gold: Gold
    check: Check
    person: Grade
    """The person's grade; without a value where only a verdict was given."""
    by_rule: Grade | None
    """The grade of an output that no judge is asked about; None: it is asked."""
    questions: list[Question]

    def judged(self) -> Grade:
        """Return the judge's grade, by all its repeats."""
        return grade(self.check, opinions(self.questions)) if self.by_rule is None else self.by_rule

    def difference(self, judged: Grade, *, in_value: bool) -> GoldDifference | None:
        """Return how the judge differs from the person; None: they agree.

        Args:
            judged: The judge's grade.
            in_value: Whether another value of the same verdict is a difference too.
        """
        valued = in_value and self.person.value is not None
        if judged.verdict is self.person.verdict and not (
            valued and judged.value != self.person.value
        ):
            return None
        asked = self.gold.input
        return GoldDifference.of(
            asked=asked if isinstance(asked, str) else json.dumps(asked, ensure_ascii=False),
            output=self.gold.output,
            person=_told(self.person),
            judge=_told(judged),
            reason=judged.reason,
        )


@dataclass(frozen=True, slots=True)
class _GoldSet:
    """All gold of one scorer and judge."""

    scorer: str
    judge: str
    min_agreement: float | None
    min_spearman: float | None
    """None too where the scorer's grades have no order."""
    rows: list[_Row]

    @property
    def key(self) -> bytes:
        """All that the agreement depends on."""
        rows: list[Json] = [
            [
                row.person.verdict,
                row.person.value,
                [question.key.hex() for question in row.questions],
                [row.check.settings.get(name) for name in _DECIDES],
            ]
            for row in self.rows
        ]
        return digest(["gold", rows])

    def thresholds_are_those_of(self, known: GoldAgreement) -> bool:
        """Whether a measure was held against the thresholds that are asked for now."""
        asked = (self.min_agreement, self.min_spearman)
        return asked == (known.min_agreement, known.min_spearman)


class GoldRound(Subscriber):
    """Grades a run's gold, unless it has done so before, and says how far its judges agree.

    What the store knows is not asked again. Where a judge agrees less than its suite asks for,
    the run is told to pause; that it has measured so is written down with the pause itself, so
    that whoever resumes it has decided to go on. Other thresholds than those it was held against
    are another decision: what the judge said of the gold stays, and is held against them.
    """

    def __init__(
        self,
        store: RunStore,
        asks: Sequence[GoldJudgeCheck],
        panel: JudgePanel,
        coordination: Coordination,
        *,
        reuse: bool,
    ) -> None:
        """Plan what is asked.

        Args:
            store: The run.
            asks: The outputs, each with the check and the judge that it is for.
            panel: The judges.
            coordination: Told that the run is to pause, and what is written down as it does.
            reuse: Whether findings of other runs may be used.
        """
        super().__init__()
        self._store = store
        self._panel = panel
        self._coordination = coordination
        self._reuse = reuse
        self._sets = self._by_judge(asks)
        self.over = not self._sets
        """Whether nothing has to be graded first any more."""

    async def prepare(self) -> None:
        """See what this run has measured before."""
        open_ = []
        for of_judge in self._sets:
            known = await self._store.reading.call(
                measured_judges.gold, self._store.run, of_judge.key
            )
            if known is None or not known.n or not of_judge.thresholds_are_those_of(known):
                open_.append(of_judge)
        self._sets = open_
        self.over = not open_

    async def run(self, ask: Callable[[Question], None]) -> None:
        """Have everything graded and write down how far judges agree.

        Args:
            ask: Takes a question to its judge, or to whoever asks the same already.
        """
        asked = [q for of_judge in self._sets for row in of_judge.rows for q in row.questions]
        keys = [question.key for question in asked]
        known = await self._store.reading.call(
            measured_judges.gold_findings, self._store.run, keys, self._reuse
        )
        for question in asked:
            if question.key in known:
                question.take(Finding.from_json(known[question.key]))
        missing = [question for question in asked if not question.closed]
        for question in missing:
            ask(question)
        if not await self.all_closed(missing):
            return
        low: list[tuple[_GoldSet, GoldAgreement]] = []
        for of_judge in self._sets:
            measured = _measured(of_judge)
            if measured.too_low:
                low.append((of_judge, measured))
            else:
                await self._store.writer.write(self._fact(of_judge, measured))
        if low:
            facts = [self._fact(of_judge, measured) for of_judge, measured in low]

            def write(tx: Tx) -> None:
                for fact in facts:
                    fact(tx)

            why = "; ".join(_why(of_judge, measured) for of_judge, measured in low)
            hint = "`tui-eval show` lists where they differ; resume to go on all the same"
            verdicts = any(measured.verdicts_too_low for _, measured in low)
            kind = "min_agreement" if verdicts else "min_spearman"
            failure = Failure(kind, f"{why}: {hint}", fatal=True)
            self._coordination.leave(halted(failure, write))
        else:
            self.over = True

    def _fact(self, of_judge: _GoldSet, measured: GoldAgreement) -> Fact:
        return partial(
            measured_judges.write_measure,
            run=self._store.run,
            scorer=of_judge.scorer,
            judge=of_judge.judge,
            key=of_judge.key,
            measured=measured,
        )

    def _by_judge(self, asks: Sequence[GoldJudgeCheck]) -> list[_GoldSet]:
        sets: dict[tuple[str, str], _GoldSet] = {}
        for ask in asks:
            judge_pool = self._panel.pools[ask.judge]
            if isinstance(ask.asked, Failure):
                why = f"{ask.gold.case.id} cannot be asked: {ask.asked.message}"
                judge_pool.limiter.tell(note(why))
                continue
            check = replace(ask.asked.check, negate=False)  # the person answered the same question
            of = (check.name, ask.judge)
            spec = judge_pool.spec
            least = spec.min_spearman if check.settings["form"] in RANKED else None
            of_judge = sets.setdefault(of, _GoldSet(*of, spec.min_agreement, least, []))
            of_judge.rows.append(self._row(ask, check, ask.asked.item))
        return list(sets.values())

    def _row(self, ask: GoldJudgeCheck, check: Check, item: Item | Grade) -> _Row:
        person = person_grade(check, ask.gold)
        if isinstance(item, Grade):
            return _Row(ask.gold, check, person, item, [])
        about = QuestionContext(None, ask.gold.case.seq, self, measured_judges.GOLD)
        judge = self._panel.named(ask.judge)
        asked = questions(JudgedCheck(check, item), ask.output, judge, about)
        return _Row(ask.gold, check, person, None, asked)


def _measured(of_judge: _GoldSet) -> GoldAgreement:
    """Say how a judge agrees with a person, and where it does not."""
    judged = [(row, row.judged()) for row in of_judge.rows]
    found = agreement(
        [(row.check, row.person, by) for row, by in judged],
        min_agreement=of_judge.min_agreement,
        min_spearman=of_judge.min_spearman,
    )
    differing = (row.difference(by, in_value=found.ranks_too_low) for row, by in judged)
    listed = [one for one in differing if one is not None]
    return replace(found, differences=tuple(listed[:MOST_DIFFERENCES]))


def agreement(
    rows: Sequence[tuple[Check, Grade, Grade]],
    *,
    min_agreement: float | None = None,
    min_spearman: float | None = None,
) -> GoldAgreement:
    """Say how a judge agrees with a person.

    Args:
        rows: For each output the check, the person's grade and the judge's.
        min_agreement: The least share of equal verdicts the suite asks for; None: any.
        min_spearman: The least rank correlation it asks for; None: any, or no scale.
    """
    both = [
        (check, person, judged)
        for check, person, judged in rows
        if person.verdict in _GRADED and judged.verdict in _GRADED
    ]
    verdicts = [(person.verdict, judged.verdict) for _, person, judged in both]
    n = len(both)
    share = sum(a == b for a, b in verdicts) / n if n else None
    low, high = (None, None) if share is None else wilson(share, n)
    values = [
        (person.value, judged.value)
        for check, person, judged in both
        if check.settings["form"] in RANKED
        and person.value is not None
        and judged.value is not None
    ]
    return GoldAgreement(
        n=n,
        ungraded=len(rows) - n,
        agreement=share,
        low=low,
        high=high,
        kappa=cohen_kappa(verdicts),
        spearman=spearman([a for a, _ in values], [b for _, b in values]),
        min_agreement=min_agreement,
        ranked=len(values),
        min_spearman=min_spearman,
        table=_table(verdicts),
    )


def _table(verdicts: Sequence[tuple[Verdict, Verdict]]) -> tuple[int, int, int, int]:
    """Count the verdicts: both pass, the judge alone, the person alone, neither."""
    n = Counter((judged is Verdict.PASS, person is Verdict.PASS) for person, judged in verdicts)
    return n[True, True], n[True, False], n[False, True], n[False, False]


def _told(graded: Grade) -> str:
    value = "" if graded.value is None else f" {graded.value:.2f}"
    return f"{graded.verdict}{value}"


def _why(of_judge: _GoldSet, measured: GoldAgreement) -> str:
    said = "; ".join(_too_low(measured))
    return f"judge {of_judge.judge!r}, scorer {of_judge.scorer!r}: {said}"


def _too_low(measured: GoldAgreement) -> Iterator[str]:
    if not measured.n:
        yield "agreement with gold cannot be measured, nothing of it was graded"
        return
    if measured.verdicts_too_low:
        yield (
            f"agrees with {measured.agreement:.0%} of {measured.n} gold outputs"
            f"{_few(measured.n)}, min_agreement is {measured.min_agreement:.0%}"
        )
    if measured.ranks_too_low and measured.spearman is None:
        yield (
            "rank correlation with gold cannot be measured, which takes two outputs or more that "
            f"both gave different grades of the scale; min_spearman is {measured.min_spearman:.2f}"
        )
    elif measured.ranks_too_low:
        yield (
            f"rank correlation with {measured.ranked} gold outputs is {measured.spearman:.2f}"
            f"{_few(measured.ranked or 0)}, min_spearman is {measured.min_spearman:.2f}"
        )


def _few(n: int) -> str:
    return "" if n >= ENOUGH else f" (under {ENOUGH}: too few to say much)"
