"""What a request to ask or score trials again takes, counted before anything is moved.

The app says it before it asks a person, the command line before it begins.
"""

import json
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from math import ceil
from typing import Final

from tui_eval.engine.control import verbs
from tui_eval.engine.control.changed_scorers import edited
from tui_eval.engine.journey.trial_scoring import JudgedCheck
from tui_eval.engine.judging.question_plan import QuestionContext
from tui_eval.engine.judging.stored_answers import CallCount, StoredAnswers
from tui_eval.engine.session import Session
from tui_eval.engine.settings import Settings
from tui_eval.format import many, money
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.scoring.incomplete_output import override
from tui_eval.scoring.judge.item import Item
from tui_eval.store.read import run_queries
from tui_eval.store.requests import Verb
from tui_eval.store.text import dump
from tui_eval.store.write.judges import measured_judges
from tui_eval.store.write.judges.measured_judges import JudgedTrial
from tui_eval.suites.frozen_suite import frozen_suite
from tui_eval.suites.spec import Suite

SAMPLE: Final = 5000
"""Trials that are looked at; of more, as many are looked at, spread evenly over all."""
_PAGE: Final = 200
_PRICED: Final = 200
"""Outputs of a target, or judge calls, whose price is looked at."""


@dataclass(frozen=True, slots=True)
class RequestForecast:
    """What a request takes; money of targets and of judges is never added up."""

    trials: int
    """Trials that it asks or scores again."""
    calls: int = 0
    """Calls to targets, at least: further attempts come on top."""
    usd: float | None = 0.0
    """About what these cost, by what the run has paid so far; None: a price is unknown."""
    judge_calls: int = 0
    """Requests to judges, about; repairs, further attempts, audits and gold come on top."""
    judge_usd: float | None = 0.0
    """Likewise."""
    stored: int = 0
    """Grades by judges that are taken from the store."""
    sampled: bool = False
    """Whether what is said of judges is of a sample, and scaled up to all."""

    def words(self) -> str:
        """Say what is asked and what it costs: `2 calls at least, about $0.40, about 1 judge call`.

        Where judges are asked nothing for want of questions, it is said what answers them.
        """
        parts = []
        if self.calls:
            parts.append(f"{many(self.calls, 'call')} at least{_priced(self.usd)}")
        if self.judge_calls:
            said = f"about {many(self.judge_calls, 'judge call')}{_priced(self.judge_usd)}"
            have = many(self.stored, "grade is", "grades are")
            parts.append(f"{said}; {have} in the store" if self.stored else said)
        elif self.stored:
            about = "about " if self.sampled else ""
            parts.append(f"{about}0 judge calls: the store has the grades")
        return ", ".join(parts) or "no judge is asked"


def _priced(usd: float | None) -> str:
    if usd is None:
        return ", cost unknown"
    return f", about {money(usd)}" if usd else ""


def request_forecast(
    db: sqlite3.Connection, run: int, verb: Verb, args: JsonObject
) -> RequestForecast:
    """Say what a request about trials takes: no API calls, and nothing is written.

    What a rescore asks of judges is known exactly: the questions are made and looked up as the
    engine does it. A retry's are counted by the suite's scorers, as its outputs are still to come.

    Args:
        db: A connection to the store.
        run: The run.
        verb: What is asked; only a retry and a rescore take calls.
        args: The request's, see `store.requests.ask`.

    Raises:
        ValueError: what it says of scorers or trials makes no sense.
    """
    trials = verbs.selected(db, run, args)
    match verb:
        case Verb.RETRY:
            suite = frozen_suite(db, run)
            found = RequestForecast(
                len(trials),
                len(trials),
                _of_targets(db, run, trials),
                judge_calls=_judge_calls(suite, len(trials)),
            )
        case Verb.RESCORE:
            found = _rescore(db, run, args, _with_output(db, trials))
        case _:
            return RequestForecast(len(trials))
    return replace(found, judge_usd=_of_judges(db, run, found.judge_calls))


def _rescore(
    db: sqlite3.Connection, run: int, args: JsonObject, trials: Sequence[int]
) -> RequestForecast:
    suite = edited(frozen_suite(db, run), args)
    if not suite.judges:
        return RequestForecast(len(trials))
    named = args.get("scorers")
    scorers = frozenset(map(str, named)) if isinstance(named, list) else frozenset()
    with closing(edited_session(db, run, suite)) as session:
        return _counted(db, session, trials, scorers, anew=verbs.asks_anew(args))


def _judge_calls(suite: Suite, trials: int) -> int:
    """Return about how many judge calls it takes to score so many new outputs."""
    judges = {judge.name: judge for judge in suite.judges}
    per_trial = [
        sum(judges[name].repeats / judges[name].batch_size for name in scorer.judges_named())
        for scorer in suite.scorers
    ]
    return sum(ceil(trials * calls) for calls in per_trial)


def _of_targets(db: sqlite3.Connection, run: int, trials: Sequence[int]) -> float | None:
    """Return what so many outputs cost by those of the same targets; None: a price is unknown."""
    total = 0.0
    for column, n in db.execute(
        "SELECT col, count(*) FROM trials WHERE id IN (SELECT value FROM json_each(?)) GROUP BY 1",
        (json.dumps(list(trials)),),
    ).fetchall():
        mean = _mean(
            db,
            "SELECT coalesce(o.cost_usd, a.about_usd) AS usd FROM trials t "
            "JOIN outputs o ON o.id = t.output LEFT JOIN attempts a ON a.output = o.id "
            "WHERE t.run = ? AND t.col = ? LIMIT ?",
            (run, column, _PRICED),
        )
        if mean is None:
            return None
        total += mean * n
    return total


def _of_judges(db: sqlite3.Connection, run: int, calls: int) -> float | None:
    if not calls:
        return 0.0
    mean = _mean(
        db,
        "SELECT coalesce(cost_usd, about_usd) AS usd FROM judge_calls "
        "WHERE run = ? AND state = 'answered' ORDER BY id DESC LIMIT ?",
        (run, _PRICED),
    )
    return None if mean is None else mean * calls


def _mean(db: sqlite3.Connection, query: str, values: Sequence[object]) -> float | None:
    """Return the mean of prices or their estimates; None: there are none, or one is unknown."""
    row = db.execute(
        f"SELECT avg(usd), count(usd), count(*) FROM ({query})",  # noqa: S608 - ours
        values,
    ).fetchone()
    return None if not row[2] or row[1] < row[2] else float(row[0])


def _counted(
    db: sqlite3.Connection,
    session: Session,
    trials: Sequence[int],
    scorers: frozenset[str],
    *,
    anew: bool,
) -> RequestForecast:
    """Count what judges are asked about some trials, by the scorers named; none: by all."""
    step = max(1, ceil(len(trials) / SAMPLE))
    sample = trials[::step]
    count, stored = CallCount(session), 0
    answers = StoredAnswers(db, session)
    for judged, ask in _items(db, session, sample, scorers):
        about = QuestionContext(judged.trial, judged.case.seq, alone=len(trials) == 1)
        questions = answers.questions(ask, judged.output, about, anew=anew)
        stored += all(question.closed for question in questions)
        count.add(questions)
    share = len(trials) / len(sample) if sample else 1.0
    return RequestForecast(
        len(trials),
        judge_calls=ceil(count.calls * share),
        stored=round(stored * share),
        sampled=step > 1,
    )


def edited_session(db: sqlite3.Connection, run: int, changed: Suite) -> Session:
    """Make what is needed to score a run with a changed suite; a rescore may ask judges."""
    settings = Settings.from_json(run_queries.run(db, run).settings)
    return Session(changed, replace(settings, no_judge=False))


def _with_output(db: sqlite3.Connection, trials: Sequence[int]) -> list[int]:
    """Return those of some trials that a rescore moves, in their order."""
    found = {
        row[0]
        for row in db.execute(
            "SELECT id FROM trials WHERE id IN (SELECT value FROM json_each(?)) "
            "AND output IS NOT NULL AND state IN ('done', 'error', 'cancelled')",
            (dump(list(trials)),),
        )
    }
    return [trial for trial in trials if trial in found]


def _items(
    db: sqlite3.Connection, session: Session, trials: Sequence[int], scorers: frozenset[str]
) -> Iterator[tuple[JudgedTrial, JudgedCheck]]:
    """Yield what judges are asked about some trials, by the scorers named; none: by all."""
    run = session.suite.run
    columns = {column.index: column for column in session.columns}
    for begin in range(0, len(trials), _PAGE):
        page = trials[begin : begin + _PAGE]
        by_hand = set(
            db.execute(
                "SELECT trial, scorer FROM scores WHERE current = 1 AND source = 'human' "
                "AND trial IN (SELECT value FROM json_each(?))",
                (dump(list(page)),),
            )
        )
        for judged in measured_judges.subjects(db, page):
            output = judged.output
            if override(output, run.truncated, run.filtered) is not None:
                continue
            checks = session.checks(columns[judged.col], judged.case, output)
            for check in () if isinstance(checks, Failure) else checks:
                asked = check.asks_judge and (not scorers or check.name in scorers)
                if not asked or (judged.trial, check.name) in by_hand:
                    continue
                made = session.decided(check, output)
                if isinstance(made, Item):
                    yield judged, JudgedCheck(check, made)
