import math
import sqlite3
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import pytest

from tests.store.fates import finish
from tests.support import Staged, do, staged
from tui_eval.model.json import JsonObject
from tui_eval.model.judge_quality import Audit, GoldAgreement
from tui_eval.model.outputs.output import Estimate, Failure, Output, Usage
from tui_eval.model.score import Grade, Score, tally
from tui_eval.model.states import Verdict
from tui_eval.store.read.judges.judge_figures import JudgeFigures, JudgeRequests, judge_figures
from tui_eval.store.text import dump
from tui_eval.store.tx import Tx
from tui_eval.store.write import score_writes, trial_moves, trial_verbs
from tui_eval.store.write.deletion import delete
from tui_eval.store.write.judges import judge_writes, measured_judges
from tui_eval.store.write.judges.judge_writes import NewFinding, SentCall, SentItem

MADE: JsonObject = {"parts": {"0": [7, "good"]}}


def sent(run: int, items: int, **changes: object) -> SentCall:
    call: dict[str, object] = {
        "run": run,
        "scorer": "good",
        "judge": "j",
        "model": "m",
        "purpose": "grade",
        "round": "first",
        "attempt": 1,
        "request": {},
        "items": (SentItem(None, 0),) * items,
    }
    return SentCall(**{**call, **changes})  # type: ignore[arg-type]


def replied(
    db: sqlite3.Connection, call: SentCall, cost: float | None = 0.5, about: float | None = None
) -> int:
    """Send a call that is answered with 100 tokens there and 10 back."""
    number = do(db, partial(judge_writes.send, call=call))
    estimate = None if about is None else Estimate(5, about)
    output = Output("{}", usage=Usage(100, 10), cost_usd=cost, model="m-2", estimate=estimate)
    do(db, lambda tx: judge_writes.answered(tx, number, output, 1.0, [None] * len(call.items)))
    return number


def said(trial: int, **changes: object) -> Callable[[Tx], int]:
    finding: dict[str, object] = {
        "trial": trial,
        "scorer": "good",
        "judge": "j",
        "purpose": "grade",
        "repeat": 0,
        "numbers": (0,),
        "key": b"k",
        "made": MADE,
        "problem": None,
    }
    return partial(judge_writes.add_finding, finding=NewFinding(**{**finding, **changes}))  # type: ignore[arg-type]


@pytest.fixture
def made(db: sqlite3.Connection) -> Staged:
    """Give a run whose three trials have outputs."""
    run = staged(db)
    for trial in run.trials:
        finish(db, trial)
    return run


def test_a_run_that_no_judge_has_graded_has_no_figures(db: sqlite3.Connection) -> None:
    assert judge_figures(db, staged(db).run) == []


def test_what_was_asked_is_told_apart_by_purpose(db: sqlite3.Connection, made: Staged) -> None:
    replied(db, sent(made.run, 5))
    replied(db, sent(made.run, 2, round="half"))
    failing = do(db, partial(judge_writes.send, call=sent(made.run, 1, round="alone")))
    do(db, lambda tx: judge_writes.failed(tx, failing, Failure("server_error", "broke"), 9.0))
    replied(db, sent(made.run, 1, purpose="audit"))
    replied(db, sent(made.run, 4, purpose="gold"), cost=None)
    (figures,) = judge_figures(db, made.run)
    assert figures.grading == JudgeRequests(3, 8, 2, 1, 200, 20, 1.0, 1.0)
    assert figures.auditing == JudgeRequests(1, 1, 0, 0, 100, 10, 0.5, 0.5)
    assert figures.on_gold == JudgeRequests(1, 4, 0, 0, 100, 10, None, unestimated=True)
    assert figures.asked == JudgeRequests(5, 13, 2, 1, 400, 40, None, 1.5, unestimated=True)


@pytest.mark.parametrize(("cost", "known"), [(0.5, None), (0.0, 0.0)])
def test_what_a_request_cost_that_timed_out_is_unknown_unless_requests_are_free(
    db: sqlite3.Connection, made: Staged, cost: float, known: float | None
) -> None:
    replied(db, sent(made.run, 5), cost=cost)
    late = do(db, partial(judge_writes.send, call=sent(made.run, 1)))
    do(db, lambda tx: judge_writes.failed(tx, late, Failure("timeout", "late"), 9.0))
    (figures,) = judge_figures(db, made.run)
    assert (figures.asked.cost_usd, figures.asked.known_usd) == (known, cost)
    assert figures.asked.unestimated == (known is None)


def test_what_replies_without_usage_cost_is_estimated(db: sqlite3.Connection, made: Staged) -> None:
    replied(db, sent(made.run, 5))
    replied(db, sent(made.run, 5), cost=None, about=0.25)
    replied(db, sent(made.run, 4, purpose="gold"), cost=None)
    (figures,) = judge_figures(db, made.run)
    assert figures.grading == JudgeRequests(2, 10, 0, 0, 200, 20, None, 0.5, 0.75)
    assert figures.asked == JudgeRequests(3, 14, 0, 0, 300, 30, None, 0.5, 0.75, unestimated=True)


def test_model_and_kind_come_from_the_suite_until_the_endpoint_names_its_model(
    db: sqlite3.Connection, made: Staged
) -> None:
    judges = [
        {"name": "j", "kind": "model", "model": "named"},
        {"name": "k", "kind": "simulated"},
    ]
    db.execute("UPDATE runs SET spec = ?", (dump({"judges": judges}),))
    do(db, said(made.trials[0]))
    do(db, said(made.trials[0], judge="k"))
    known = [(f.judge, f.model, f.simulated) for f in judge_figures(db, made.run)]
    assert known == [("j", "named", False), ("k", None, True)]
    replied(db, sent(made.run, 1))
    assert judge_figures(db, made.run)[0].model == "m-2"


def test_findings_count_by_their_last_word_on_the_output_that_counts(
    db: sqlite3.Connection, made: Staged
) -> None:
    first, second, third = made.trials
    do(db, said(first, problem="no grade", made={"parts": {}}))
    do(db, said(first))
    do(db, said(second, problem="no grade", made={"parts": {}}))
    do(db, said(third, origin=1))
    do(db, said(third, repeat=1))
    do(db, said(third, purpose="audit"))
    (figures,) = judge_figures(db, made.run)
    assert (figures.findings, figures.ungraded, figures.cached) == (4, 1, 1)
    do(db, lambda tx: trial_verbs.retry(tx, third))
    (figures,) = judge_figures(db, made.run)
    assert (figures.findings, figures.ungraded, figures.cached) == (2, 1, 0)


def test_flaky_outputs_are_counted_for_each_judge_of_a_jury(
    db: sqlite3.Connection, made: Staged
) -> None:
    raws: list[JsonObject] = [
        {"judge": "j", "flaky": True, "sd": 0.4, "counted_unmet": 2},
        {"judge": "j", "flaky": False, "sd": 0.3, "counted_unmet": 1},
        {"jury": [{"judge": "j", "flaky": True}, {"judge": "k", "flaky": True}, {"judge": "l"}]},
    ]
    for trial, raw in zip(made.trials, raws, strict=True):
        score = Score("good", Grade(Verdict.PASS, 1.0, "so", raw), source="judge")
        do(db, lambda tx, t=trial: trial_verbs.rescore(tx, t))  # type: ignore[misc]
        do(db, lambda tx, t=trial, s=score: trial_moves.settle(tx, t, tally([s])))  # type: ignore[misc]
        do(db, lambda tx, t=trial, s=score: score_writes.add_scores(tx, t, [s], fresh=False))  # type: ignore[misc]
    assert judge_figures(db, made.run) == [
        JudgeFigures(
            "good", "j", flaky=2, sd=math.sqrt((0.4 * 0.4 + 0.3 * 0.3) / 2), counted_unmet=3
        ),
        JudgeFigures("good", "k", flaky=1),
    ]


AUDIT = Audit(
    n=30,
    batch_size=5,
    max_excess_flips=0.05,
    flips_batched=0.3,
    flips_alone=0.1,
    excess=0.2,
    low=0.06,
    high=0.4,
    kappa_batched=0.5,
    kappa_alone=None,
    spearman_batched=0.25,
    spearman_alone=1.0,
    positions=((6, 4.5), (6, 5.0)),
    tokens_batched=100.0,
    tokens_alone=250.0,
)
GOLD = GoldAgreement(29, 1, 0.75, 0.5, 0.9, 0.4, None, 0.8)


def test_what_was_measured_of_a_judge_stands_beside_its_figures(
    db: sqlite3.Connection, made: Staged
) -> None:
    do(db, lambda tx: measured_judges.write_measure(tx, made.run, "good", "j", b"a", GOLD))
    do(
        db,
        lambda tx: measured_judges.write_measure(
            tx, made.run, "good", "j", b"b", replace(AUDIT, n=7)
        ),
    )
    do(db, lambda tx: measured_judges.write_measure(tx, made.run, "good", "j", b"b", AUDIT))
    (figures,) = judge_figures(db, made.run)
    assert (figures.audit, figures.gold) == (AUDIT, GOLD)
    assert AUDIT.batching_off
    assert not replace(AUDIT, low=0.05).batching_off
    assert not replace(AUDIT, n=29).batching_off
    assert AUDIT.tokens_saved == pytest.approx(0.6)
    assert GOLD.too_low
    assert not GOLD.enough
    assert measured_judges.audit(db, b"b") == AUDIT
    assert measured_judges.audit(db, b"a") is None
    assert measured_judges.gold(db, made.run, b"a") == GOLD
    delete(db, made.run)
    assert measured_judges.audit(db, b"b") is None
