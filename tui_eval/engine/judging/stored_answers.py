"""What judges would be asked about outputs, less what the store answers: no API calls."""

import sqlite3
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from math import ceil

from tui_eval.engine.journey.trial_scoring import GoldJudgeCheck, JudgedCheck
from tui_eval.engine.judging.finding_lookup import take
from tui_eval.engine.judging.pool.batcher import LARGE, BatchKind, kind
from tui_eval.engine.judging.quality.audit import audit_key
from tui_eval.engine.judging.question import Question
from tui_eval.engine.judging.question_plan import NamedJudge, QuestionContext, questions
from tui_eval.engine.session import Session
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Grade
from tui_eval.providers.errors import UnavailableError
from tui_eval.store.read.judges import judge_queries
from tui_eval.store.write.judges import measured_judges
from tui_eval.suites.spec import JudgeSpec
from tui_eval.targets import Judge


class StoredAnswers:
    """Answers questions from the store as the engine's look-up does, in one read connection."""

    def __init__(self, db: sqlite3.Connection | None, session: Session) -> None:
        """Look findings up for a suite's judges.

        Args:
            db: A connection to the store; None: there is no store, and it answers nothing.
            session: The run's suite, edited or not, with its judges.
        """
        self._db = db
        self._judges = {judge.name: judge for judge in session.suite.judges}
        self._asked = {
            name: NamedJudge(name, identity, self._judges[name].repeats)
            for name, judge in session.judges.items()
            if (identity := identity_of(judge)) is not None
        }
        """Those that can be told from others; what the others said is not known."""
        self._reuse = session.reuses

    def questions(
        self, ask: JudgedCheck, output: Output, about: QuestionContext, *, anew: bool = False
    ) -> list[Question]:
        """Return what is asked for a check, each closed where the store answers it.

        Args:
            ask: The judge's check, and the output as it stands before the judge.
            output: The output.
            about: The trial.
            anew: Whether what judges have said already is asked again.
        """
        names = ask.check.settings["judges"]
        assert isinstance(names, list), "as `judged` makes it"
        asked: list[Question] = []
        for name in map(str, names):
            of = questions(ask, output, self._judge(name), about)
            if not anew:
                self._answer(name, of)
            asked += of
        return asked

    def gold(self, ask: GoldJudgeCheck) -> list[Question]:
        """Return what a judge is asked about an output of its gold, without what the store answers.

        Empty: the store answers all, a rule decides, or it cannot be asked.
        """
        if isinstance(ask.asked, Failure) or isinstance(ask.asked.item, Grade):
            return []
        asked = questions(
            JudgedCheck(replace(ask.asked.check, negate=False), ask.asked.item),
            ask.output,
            self._judge(ask.judge),
            QuestionContext(None, ask.gold.case.seq, purpose=measured_judges.GOLD),
        )
        if self._reuse:
            self._answer(ask.judge, asked)
        return [question for question in asked if not question.closed]

    def _judge(self, name: str) -> NamedJudge:
        return self._asked.get(name) or NamedJudge(name, {}, self._judges[name].repeats)

    def audited(self, scorer: JsonObject, judge: str) -> bool:
        """Whether an audit of a scorer's batches by a judge is there, of enough outputs."""
        asked = self._asked.get(judge)
        if self._db is None or asked is None:
            return False
        key = audit_key(scorer, asked.identity, self._judges[judge])
        known = measured_judges.audit(self._db, key)
        return known is not None and known.enough

    def _answer(self, judge: str, asked: list[Question]) -> None:
        if self._db is None or judge not in self._asked:
            return
        wanted = [(question.key, question.trial, question.scorer) for question in asked]
        found = judge_queries.kept(self._db, wanted, self._reuse)
        for question, of in zip(asked, wanted, strict=True):
            if of in found:
                take(question, found[of])


class CallCount:
    """Counts the requests that open questions take, by the rules that batches are formed by.

    Of equal questions one is counted. Repairs, further attempts, audits and gold come on top.
    """

    def __init__(self, session: Session) -> None:
        """Begin with none."""
        self._shares = session.reuses
        self._judges = {judge.name: judge for judge in session.suite.judges}
        self._seen: set[bytes] = set()
        self._alone = 0
        self._groups: dict[tuple[str, BatchKind], _Group] = {}

    def add(self, asked: Iterable[Question]) -> None:
        """Count what is still open of some questions."""
        for question in asked:
            if question.closed:
                continue
            if self._shares and not question.alone and not question.parts:
                if question.key in self._seen:
                    continue
                self._seen.add(question.key)
            judge, tokens = self._judges[question.judge], question.asked.tokens
            alone = question.alone or question.failed_before
            if alone or judge.batch_size == 1 or tokens > judge.token_budget * LARGE:
                self._alone += 1
            else:
                key = (question.judge, kind(question))
                self._groups.setdefault(key, _Group(judge)).add(question.case, tokens)

    @property
    def calls(self) -> int:
        """The requests that what was counted so far takes."""
        return self._alone + sum(group.batches for group in self._groups.values())


@dataclass(slots=True)
class _Group:
    """Questions that may share batches."""

    judge: JudgeSpec
    tokens: int = 0
    cases: Counter[int] = field(default_factory=Counter)

    def add(self, case: int, tokens: int) -> None:
        self.cases[case] += 1
        self.tokens += tokens

    @property
    def batches(self) -> int:
        """As many as number, tokens and the rule ask for that no case stands twice in one."""
        by_number = ceil(self.cases.total() / self.judge.batch_size)
        return max(by_number, ceil(self.tokens / self.judge.token_budget), *self.cases.values())


def identity_of(judge: Judge) -> JsonObject | None:
    """Return what a judge is, as far as it changes grades; None: its model is not there."""
    try:
        return judge.identity()
    except UnavailableError:
        return None  # its model is not there: what it said before cannot be told from others
