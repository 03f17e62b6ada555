"""What a launch would ask of its judges, as far as one can tell beforehand."""

import json
import random
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import chain, count
from statistics import fmean
from typing import Final

from tui_eval.engine.journey.trial_scoring import JudgedCheck
from tui_eval.engine.judging.quality.audit import audit_calls
from tui_eval.engine.judging.question import Question
from tui_eval.engine.judging.question_plan import QuestionContext
from tui_eval.engine.judging.stored_answers import CallCount, StoredAnswers
from tui_eval.engine.launch.plan import PlannedTrial, wanted
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.format import many, money
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.model.score import Grade
from tui_eval.scoring.check import Check
from tui_eval.scoring.incomplete_output import override
from tui_eval.scoring.judge.item import Item, split
from tui_eval.scoring.judge.request import request
from tui_eval.store.read import report_queries
from tui_eval.store.read.judges.judge_figures import last_usage
from tui_eval.store.read.trials import output_queries
from tui_eval.suites.spec import JudgeSpec, Suite

STAND_IN: Final = "(the output of {target} stands here)"
"""What stands for an output that is not there yet."""

_OUTPUT_TOKENS: Final = 200
"""Tokens of an output where neither an earlier run nor gold tells, or its limit, if less: few use
up a larger one."""
_GRADE_TOKENS: Final = 50
"""Tokens of one grade in a reply, its reason included: a rule of thumb."""
_CHARACTERS_A_TOKEN: Final = 4


@dataclass(frozen=True, slots=True)
class JudgeForecast:
    """What one judge would be asked for one scorer."""

    scorer: str
    judge: str
    model: str
    simulated: bool
    batch_size: int
    trials: int
    """Trials whose outputs it is to grade."""
    by_rule: int
    """Of them, those whose output needs no judge: it is empty, say."""
    known: int
    """Of them, those whose grades the store has."""
    calls: int
    """Requests that grade them, further attempts and repairs aside."""
    gold_calls: int
    """Requests about outputs that a person has graded."""
    audit_calls: int
    """Requests of the audit."""
    input_tokens: int
    """Of all these requests."""
    output_tokens: int
    cost_usd: float | None
    """None: the price is unknown."""
    basis: str
    """What the tokens rest on."""

    @property
    def all_calls(self) -> int:
        """All requests, whatever for."""
        return self.calls + self.gold_calls + self.audit_calls

    def words(self) -> str:
        """Say what it is asked and what that costs, in one line."""
        parts = [f"{many(self.trials, 'trial')} to grade"]
        if self.by_rule:
            parts.append(f"{self.by_rule:,} by rule")
        if self.known:
            parts.append(f"{self.known:,} graded before")
        if not self.all_calls:
            return ", ".join([*parts, "nothing to ask"])
        parts.append(f"{many(self.calls, 'call')} of up to {many(self.batch_size, 'output')}")
        parts += [
            f"{many(calls, 'call')} {why}"
            for calls, why in ((self.gold_calls, "for gold"), (self.audit_calls, "to audit it"))
            if calls
        ]
        if self.simulated:
            parts.append("simulated, no API calls")
        else:
            cost = "cost unknown" if self.cost_usd is None else f"about {money(self.cost_usd)}"
            parts.append(f"about {self.input_tokens:,} tokens in, about {self.output_tokens:,} out")
            parts.append(f"{cost} (by {self.basis})")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """The request for one case to one judge."""

    scorer: str
    judge: str
    column: str
    case: str
    real: bool
    """Whether the output in it is there; else a text stands for it."""
    body: JsonObject
    """As it goes out, but for its ids and nonce, which are drawn anew each time."""


def judge_forecasts(
    db: sqlite3.Connection | None, session: Session, only: frozenset[str] | None
) -> list[JudgeForecast]:
    """Say what each judge would be asked for each scorer, by scorer and judge; nothing without any.

    Args:
        db: A connection to the store, for outputs and grades it has; None: there is no store.
        session: The suite's, with the launch's choices.
        only: The cases that `Settings.only` stands for; None: all.

    Raises:
        SuiteError: the data has mistakes.
        UnavailableError: a target's model file is not there, so its outputs are not known.
    """
    return _Forecaster(db, session).forecast(only) if session.judges else []


def judge_requests(
    db: sqlite3.Connection | None, suite: Suite, case_id: str | None
) -> Iterator[JudgeRequest]:
    """Yield the requests for a case, one for each scorer, judge and column.

    Args:
        db: A connection to the store, for outputs it has; None: there is no store.
        suite: The suite.
        case_id: The case; None: the first one that any judge grades.

    Raises:
        SuiteError: the data has mistakes.
        UnavailableError: a target's model file is not there, so its outputs are not known.
    """
    found = None
    settings = Settings(epochs=1, cases=() if case_id is None else (case_id,))
    with closing(Session(suite, settings)) as session:
        for want, output, real in _outputs(db, session, session.wanted(None)):
            if found is not None and want.case.id != found:
                return
            for one in _requests(session, want, output, real):
                found = want.case.id
                yield one


def requests_about(
    db: sqlite3.Connection | None, session: Session, case: Case
) -> Iterator[JudgeRequest]:
    """Yield the requests for a case that is at hand, one for each scorer, judge and column.

    Args:
        db: A connection to the store, for outputs it has; None: there is no store.
        session: The suite's.
        case: The case.

    Raises:
        UnavailableError: a target's model file is not there, so its outputs are not known.
    """
    wants = wanted(iter([case]), session.columns, session.targets, 1)
    for want, output, real in _outputs(db, session, wants):
        yield from _requests(session, want, output, real)


def _requests(
    session: Session, want: PlannedTrial, output: Output, real: bool
) -> Iterator[JudgeRequest]:
    checks = session.checks(want.column, want.case, output)
    for check in [] if isinstance(checks, Failure) else checks:
        made = _decided(session, check, output, real) if check.asks_judge else None
        if not isinstance(made, Item):
            continue
        for one in _asked_in(check, made):
            for name in _judges(check):
                instructions = _spec(session.suite, name).instructions
                asked = request([one], instructions, random.SystemRandom())
                body = session.judges[name].body(asked.messages, asked.schema)
                case = want.case.id
                yield JudgeRequest(check.name, name, want.column.name, case, real, body)


def _outputs(
    db: sqlite3.Connection | None, session: Session, wants: Iterable[list[PlannedTrial]]
) -> Iterator[tuple[PlannedTrial, Output, bool]]:
    """Yield trials with their outputs, and whether these are there already."""
    reuse = session.reuses
    for want in chain.from_iterable(wants):
        if want.key is None:
            continue  # ends in error: nobody judges it
        recorded = (want.case.recording(want.column, want.epoch) or {}).get("output")
        stored = _stored(db, want.key) if db is not None and reuse else None
        if stored is not None:
            yield want, stored, True
        elif isinstance(recorded, str):
            yield want, Output(recorded), True
        else:
            yield want, Output(STAND_IN.format(target=want.column.target)), False


def _stored(db: sqlite3.Connection, key: bytes) -> Output | None:
    row = db.execute(
        "SELECT id FROM outputs WHERE generation_key = ? AND superseded = 0 "
        "ORDER BY id DESC LIMIT 1",
        (key,),
    ).fetchone()
    return None if row is None else output_queries.output(db, row[0])


@dataclass(slots=True)
class _Tally:
    """What has been counted of one scorer and judge."""

    count: CallCount
    """Of gold and grades together: what stands in both is asked once."""
    gold_calls: int = 0
    gold_items: int = 0
    trials: int = 0
    by_rule: int = 0
    known: int = 0
    items: int = 0
    """What is asked, of gold too."""
    first_items: int = 0
    """Of it, what an audit may choose from: grades, of the first repeat."""
    item_tokens: int = 0
    """Tokens of it, as far as lengths tell."""
    lines: int = 0
    """Grades that are asked for: of requirements and criteria there are several in an item."""
    overhead: int = 0
    """Tokens of a request beside its items."""
    guessed: bool = False
    """Whether nothing tells how long some outputs will be."""


class _Forecaster:
    """Goes through the trials of one launch."""

    def __init__(self, db: sqlite3.Connection | None, session: Session) -> None:
        self._db = db
        self._session = session
        self._suite = session.suite
        self._tallies: dict[tuple[str, str], _Tally] = {}
        self._stored = StoredAnswers(db, session)
        self._unasked = count()
        self._lengths: dict[str, float | None] = {}
        """For each column, the tokens that its outputs had before; None: nobody knows."""
        self._gold = [ask.output for ask in session.gold()]

    def forecast(self, only: frozenset[str] | None) -> list[JudgeForecast]:
        """Count the questions about gold and about all trials of these cases; None: all."""
        for ask in self._session.gold():
            for question in self._stored.gold(ask):
                tally = self._tally(question)
                self._add(tally, question)
                tally.gold_calls = tally.count.calls
                tally.gold_items = tally.items
        run = self._suite.run
        for want, output, real in _outputs(self._db, self._session, self._session.wanted(only)):
            checks = self._session.checks(want.column, want.case, output)
            no_answer = override(output, run.truncated, run.filtered)
            if isinstance(checks, Failure) or no_answer is not None:
                continue
            for check in checks:
                if check.asks_judge:
                    self._count(check, want, output, real)
        return [self._summed(*names, tally) for names, tally in self._tallies.items()]

    def _count(self, check: Check, want: PlannedTrial, output: Output, real: bool) -> None:
        made = _decided(self._session, check, output, real)
        if not isinstance(made, Item):
            for name in _judges(check):
                tally = self._tally_of(check.name, name)
                tally.trials += 1
                tally.by_rule += 1
            return
        about = QuestionContext(None, want.case.seq)
        asked = self._stored.questions(JudgedCheck(check, made), output, about, anew=not real)
        for name in _judges(check):
            tally = self._tally_of(check.name, name)
            tally.trials += 1
            left = [one for one in asked if one.judge == name and not one.closed]
            tally.known += not left
            for question in left:
                if not real:  # what stands for it is none of its equals, and of another length
                    question.key = next(self._unasked).to_bytes(32, "big")
                    length = self._length(want.column, tally)
                    question.item = replace(
                        question.item, tokens=question.item.tokens + round(length)
                    )
                self._add(tally, question)
                tally.first_items += question.repeat == 0

    def _add(self, tally: _Tally, question: Question) -> None:
        tally.count.add([question])
        tally.items += 1
        tally.item_tokens += question.item.tokens
        tally.lines += question.item.form.written
        tally.overhead = tally.overhead or self._overhead(question.judge, question.item)

    def _tally(self, question: Question) -> _Tally:
        return self._tally_of(question.scorer, question.judge)

    def _tally_of(self, scorer: str, name: str) -> _Tally:
        if (scorer, name) not in self._tallies:
            self._tallies[scorer, name] = _Tally(CallCount(self._session))
        return self._tallies[scorer, name]

    def _length(self, column: Column, tally: _Tally) -> float:
        """Return the tokens of an output that is not there yet."""
        if column.name not in self._lengths:
            seen = None
            if self._db is not None:
                seen = report_queries.mean_output_tokens(self._db, self._suite.name, column.name)
            self._lengths[column.name] = seen
        seen = self._lengths[column.name]
        if seen is not None:
            return seen
        if self._gold:  # what a person chose to grade is of the kind that is to come
            letters = fmean(len((output.text or "").encode()) for output in self._gold)
            return letters / _CHARACTERS_A_TOKEN
        tally.guessed = True
        spec = next(one for one in self._suite.targets if one.name == column.target)
        limit = spec.output_limit()
        return _OUTPUT_TOKENS if limit is None else min(limit, _OUTPUT_TOKENS)

    def _overhead(self, name: str, made: Item) -> int:
        instructions = _spec(self._suite, name).instructions
        asked = request([made], instructions, random.Random(0))  # noqa: S311 - only counted
        return max(0, len(json.dumps(asked.messages)) // _CHARACTERS_A_TOKEN - made.tokens)

    def _audit_calls(self, scorer: str, name: str, tally: _Tally) -> int:
        spec = _spec(self._suite, name)
        planned = next((one for one in self._suite.scorers if one.name == scorer), None)
        if not spec.audit or spec.batch_size == 1 or planned is None:
            return 0  # scorers that cases bring are not audited
        if self._stored.audited(planned.model_dump(mode="json", by_alias=True), name):
            return 0
        return audit_calls(tally.first_items, spec.audit)

    def _summed(self, scorer: str, name: str, tally: _Tally) -> JudgeForecast:
        spec, judge = _spec(self._suite, name), self._session.judges[name]
        audits = self._audit_calls(scorer, name, tally)
        in_batches, items = tally.count.calls, tally.items
        calls, asked = in_batches + audits, items + audits
        each = tally.item_tokens / items if items else 0.0
        grade = _GRADE_TOKENS * tally.lines / items if items else 0.0
        basis = "the lengths of rubrics and of outputs, known ones or those of gold"
        if tally.guessed:
            basis = f"lengths, with outputs guessed at {_OUTPUT_TOKENS} tokens or their limit"
        before = None
        if self._db is not None:
            model = judge.model or ""
            before = last_usage(self._db, self._suite.name, scorer, name, model)
        if before is not None:
            each = max(1.0, (before.input_tokens - before.calls * tally.overhead) / before.items)
            grade = before.output_tokens / before.items
            basis = "what its grades took in the last run"
        sent = round(asked * each) + calls * tally.overhead
        produced = round(asked * grade)
        # gold and audits are asked live, whatever the others are
        live_calls, live = tally.gold_calls + audits, tally.gold_items + audits
        live_sent = round(live * each) + live_calls * tally.overhead
        cost = _cost(spec, (sent, produced), (live_sent, round(live * grade)))
        return JudgeForecast(
            scorer=scorer,
            judge=name,
            model=judge.model,
            simulated=judge.simulated,
            batch_size=spec.batch_size,
            trials=tally.trials,
            by_rule=tally.by_rule,
            known=tally.known,
            calls=in_batches - tally.gold_calls,
            gold_calls=tally.gold_calls,
            audit_calls=audits,
            input_tokens=sent,
            output_tokens=produced,
            cost_usd=cost,
            basis=basis,
        )


def _cost(spec: JudgeSpec, all_: tuple[int, int], live: tuple[int, int]) -> float | None:
    """Return what tokens cost, read and produced; None: the price is unknown.

    Args:
        spec: What the suite says of the judge.
        all_: All of them.
        live: Those of single calls, whether the others are asked in bulk or not.
    """
    prices, single = spec.expected_prices(), spec.token_prices()
    if prices is None or single is None:
        return None
    rest = prices.about(all_[0] - live[0], all_[1] - live[1])
    alone = single.about(*live)
    return None if rest is None or alone is None else rest + alone


def _decided(session: Session, check: Check, output: Output, real: bool) -> Grade | Item:
    """Return what is asked about an output; what stands for one has no parts to choose from."""
    if not real:
        check = replace(check, settings={**check.settings, "of": "text"})
    return session.decided(check, output)


def _asked_in(check: Check, made: Item) -> list[Item]:
    return split(made) if check.settings.get("per_requirement") is True else [made]


def _judges(check: Check) -> list[str]:
    names = check.settings["judges"]
    return [str(name) for name in names] if isinstance(names, list) else []


def _spec(suite: Suite, name: str) -> JudgeSpec:
    return next(judge for judge in suite.judges if judge.name == name)
