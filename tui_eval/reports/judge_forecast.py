"""What a launch would ask of its judges, as far as one can tell beforehand."""

import json
import math
import random
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Final

from tui_eval.engine.plan import Wanted, wanted
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.output import Failure, Output
from tui_eval.providers.errors import UnavailableError
from tui_eval.reports.forecast import cost_of, output_limit
from tui_eval.scoring.check import Check
from tui_eval.scoring.judge.item import Item, item, split
from tui_eval.scoring.judge.request import question_key, request
from tui_eval.scoring.standing import override
from tui_eval.store import figures, judged, reader
from tui_eval.suites.spec import Judge, ModelJudge, ModelTarget, Suite
from tui_eval.targets import Judge as Asked

STAND_IN: Final = "(the output of {target} stands here)"
"""What stands for an output that is not there yet."""

_LARGE: Final = 0.25
"""The share of a judge's token budget from which an item goes alone."""
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
    """Requests that will be sent, further attempts and repairs aside."""
    input_tokens: int | None
    """None: how long the outputs will be is unknown."""
    output_tokens: int
    cost_usd: float | None
    """None: the price or the tokens are unknown."""


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


def judge_forecast(
    db: sqlite3.Connection | None, suite: Suite, settings: Settings
) -> list[JudgeForecast]:
    """Say what each judge would be asked for each scorer, by scorer and judge; nothing without any.

    Args:
        db: A connection to the store, for outputs and grades it has; None: there is no store.
        suite: The suite.
        settings: The launch's choices.

    Raises:
        SuiteError: the data has mistakes.
        UnavailableError: a target's model file is not there, so its outputs are not known.
    """
    if settings.no_judge:
        return []
    return _Forecaster(db, Session(suite, settings)).forecast()


def judge_requests(
    db: sqlite3.Connection | None, suite: Suite, case_id: str | None
) -> Iterator[JudgeRequest]:
    """Give the requests for a case, one for each scorer, judge and column.

    Args:
        db: A connection to the store, for outputs it has; None: there is no store.
        suite: The suite.
        case_id: The case; None: the first one that any judge grades.

    Raises:
        SuiteError: the data has mistakes.
        UnavailableError: a target's model file is not there, so its outputs are not known.
    """
    session = Session(suite, Settings(epochs=1, cases=() if case_id is None else (case_id,)))
    found = None
    for want, output, real in _outputs(db, session, session.wanted(None)):
        if found is not None and want.case.id != found:
            return
        for one in _requests(session, want, output, real):
            found = want.case.id
            yield one


def requests_about(
    db: sqlite3.Connection | None, session: Session, case: Case
) -> Iterator[JudgeRequest]:
    """Give the requests for a case that is at hand, one for each scorer, judge and column.

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


def _requests(session: Session, want: Wanted, output: Output, real: bool) -> Iterator[JudgeRequest]:
    checks = session.checks(want.column, want.case, output)
    for check in [] if isinstance(checks, Failure) else checks:
        made = _item(check, output, real) if check.kind == "judge" else None
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
    db: sqlite3.Connection | None, session: Session, wants: Iterable[list[Wanted]]
) -> Iterator[tuple[Wanted, Output, bool]]:
    """Give trials with their outputs, and whether these are there already."""
    reuse = session.suite.run.cache and not session.settings.fresh
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
    return None if row is None else reader.output(db, row[0])


@dataclass(slots=True)
class _Tally:
    """What has been counted of one scorer and judge."""

    repeats: list[list[int]]
    """For each repeat, the tokens of each item to be asked."""
    overhead: int
    """Tokens of a request beside its items."""
    trials: int = 0
    by_rule: int = 0
    known: int = 0
    output_tokens: int = 0
    unknown: bool = False
    """Whether some outputs are not there and nothing tells how long they will be."""


class _Forecaster:
    """Goes through the trials of one launch."""

    def __init__(self, db: sqlite3.Connection | None, session: Session) -> None:
        self._db = db
        self._session = session
        self._suite = session.suite
        self._tallies: dict[tuple[str, str], _Tally] = {}
        self._identities = {name: _identity(judge) for name, judge in session.judges.items()}
        self._lengths: dict[str, float | None] = {}
        """For each column, the tokens of an output that is not there yet."""

    def forecast(self) -> list[JudgeForecast]:
        """Do it."""
        run = self._suite.run
        for want, output, real in _outputs(self._db, self._session, self._session.wanted(None)):
            checks = self._session.checks(want.column, want.case, output)
            no_answer = override(output, run.truncated, run.filtered)
            if isinstance(checks, Failure) or no_answer is not None:
                continue
            for check in checks:
                if check.kind == "judge":
                    self._count(check, want.column, output, real)
        return [self._summed(*names, tally) for names, tally in self._tallies.items()]

    def _count(self, check: Check, column: Column, output: Output, real: bool) -> None:
        made = _item(check, output, real)
        for name in _judges(check):
            tally = self._tally(check.name, name)
            tally.trials += 1
            if not isinstance(made, Item):
                tally.by_rule += 1
                continue
            tally.overhead = tally.overhead or self._overhead(name, made)
            asked = 0
            for repeat, items in enumerate(tally.repeats):
                for question in _asked_in(check, made):
                    if real and self._knows(check, output, name, repeat, question):
                        continue
                    asked += 1
                    length = None if real else self._length(column)
                    items.append(question.tokens + round(length or 0))
                    tally.output_tokens += _GRADE_TOKENS * len(question.form.numbers)
                    tally.unknown = tally.unknown or (length is None and not real)
            tally.known += not asked

    def _tally(self, scorer: str, name: str) -> _Tally:
        repeats = _spec(self._suite, name).repeats
        return self._tallies.setdefault((scorer, name), _Tally([[] for _ in range(repeats)], 0))

    def _knows(self, check: Check, output: Output, judge: str, repeat: int, question: Item) -> bool:
        identity = self._identities[judge]
        if self._db is None or identity is None:
            return False
        key = question_key(check, output, identity, repeat, question.form.numbers)
        return bool(judged.kept(self._db, [(key, None, check.name)], reuse=True))

    def _length(self, column: Column) -> float | None:
        if column.name not in self._lengths:
            seen = None
            if self._db is not None:
                seen = figures.mean_output_tokens(self._db, self._suite.name, column.name)
            spec = next(one for one in self._suite.targets if one.name == column.target)
            limit = output_limit(spec) if isinstance(spec, ModelTarget) else None
            self._lengths[column.name] = limit if seen is None else seen
        return self._lengths[column.name]

    def _overhead(self, name: str, made: Item) -> int:
        instructions = _spec(self._suite, name).instructions
        asked = request([made], instructions, random.Random(0))  # noqa: S311 - only counted
        return max(0, len(json.dumps(asked.messages)) // _CHARACTERS_A_TOKEN - made.tokens)

    def _summed(self, scorer: str, name: str, tally: _Tally) -> JudgeForecast:
        spec, judge = _spec(self._suite, name), self._session.judges[name]
        calls = sum(_calls(items, spec) for items in tally.repeats)
        sent: int | None = sum(map(sum, tally.repeats)) + calls * tally.overhead
        if tally.unknown:
            sent = None
        cost: float | None = 0.0
        if isinstance(spec, ModelJudge):
            cost = cost_of(spec, sent, tally.output_tokens)
        return JudgeForecast(
            scorer=scorer,
            judge=name,
            model=judge.model,
            simulated=judge.simulated,
            batch_size=spec.batch_size,
            trials=tally.trials,
            by_rule=tally.by_rule,
            known=tally.known,
            calls=calls,
            input_tokens=sent,
            output_tokens=tally.output_tokens,
            cost_usd=cost,
        )


def _calls(items: list[int], spec: Judge) -> int:
    """Give how many requests some items make: full batches, large ones alone."""
    alone = [tokens for tokens in items if tokens > spec.token_budget * _LARGE]
    together = [tokens for tokens in items if tokens <= spec.token_budget * _LARGE]
    by_number = math.ceil(len(together) / spec.batch_size)
    by_tokens = math.ceil(sum(together) / spec.token_budget)
    return len(alone) + max(by_number, by_tokens)


def _item(check: Check, output: Output, real: bool) -> object:
    """Give what is asked about an output; what stands for one has no parts to choose from."""
    if not real:
        check = replace(check, settings={**check.settings, "of": "text"})
    return item(check, output)


def _asked_in(check: Check, made: Item) -> list[Item]:
    return split(made) if check.settings.get("per_requirement") is True else [made]


def _judges(check: Check) -> list[str]:
    names = check.settings["judges"]
    return [str(name) for name in names] if isinstance(names, list) else []


def _spec(suite: Suite, name: str) -> Judge:
    return next(judge for judge in suite.judges if judge.name == name)


def _identity(judge: Asked) -> JsonObject | None:
    try:
        return judge.identity()
    except UnavailableError:
        return None  # its model is not there: what it said before cannot be told from others
