"""What judges did, as JSON and in words."""

import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.engine.harness import RUBRIC, Harness, judged, suite
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import FakeModel, refuse
from tui_eval.model.judge_quality import Audit, GoldAgreement
from tui_eval.reports.judging.judge_report import judge_lines, judges, totals
from tui_eval.reports.results import results
from tui_eval.reports.terminal.summary import summary
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.store.connection import open_readable
from tui_eval.store.read.judges.judge_figures import JudgeFigures, JudgeRequests, judge_figures

GRADING = JudgeRequests(
    calls=20, items=98, asked_again=2, input_tokens=900, output_tokens=90, cost_usd=0.5
)
ONE = JudgeFigures("polite", "strict", "gpt-5", grading=GRADING, findings=98, ungraded=1, cached=3)
OTHER = JudgeFigures("right", "strict", "gpt-5", grading=JudgeRequests(calls=1, items=2), flaky=1)
UNMEASURED = {"sd": None, "counted_unmet": 0, "audit": None, "gold": None}
MADE_UP = JudgeFigures("polite", "a", None, simulated=True, grading=JudgeRequests(calls=1, items=1))


def test_a_judge_is_told_once_with_all_its_scorers() -> None:
    found = judges([ONE, OTHER, MADE_UP])
    assert list(found) == ["a", "strict"]
    assert found["strict"] == {
        "model": "gpt-5",
        "models": {},
        "simulated": False,
        "calls": 21,
        "items": 100,
        "asked_again": 2,
        "failed": 0,
        "lost": 0,
        "tokens": {"input": 900, "output": 90},
        "cost_usd": 0.5,
        "scorers": {
            "polite": {"findings": 98, "ungraded": 1, "cached": 3, "flaky": 0, **UNMEASURED},
            "right": {"findings": 0, "ungraded": 0, "cached": 0, "flaky": 1, **UNMEASURED},
        },
    }


def test_money_is_unknown_where_any_is_and_where_nobody_was_asked() -> None:
    assert totals([ONE, OTHER]).cost_usd == 0.5
    assert (
        totals(
            [ONE, JudgeFigures("x", "y", grading=JudgeRequests(calls=1, cost_usd=None))]
        ).cost_usd
        is None
    )
    assert totals([]).cost_usd is None
    assert totals([JudgeFigures("x", "y", cached=3)]).cost_usd is None


def test_a_line_says_what_each_judge_did() -> None:
    assert list(judge_lines([ONE, OTHER, MADE_UP])) == [
        "~ judge a (simulated): 1 call for 1 output, $0.00",
        (
            "~ judge strict (gpt-5): 21 calls for 100 outputs, 2 asked again, 1 ungraded, 1 flaky, "
            "3 from the cache, $0.50"
        ),
    ]


def test_a_judge_that_was_another_model_before_a_rescore_is_told_with_both() -> None:
    models = {"gpt-4": 15, "gpt-5": 5}
    both = [replace(ONE, models=models), replace(OTHER, models={"gpt-5": 1})]
    (line,) = judge_lines(both)
    assert line.startswith("~ judge strict (gpt-4 15 calls, gpt-5 6 calls): 21 calls for")
    assert judges(both)["strict"]["models"] == {"gpt-4": 15, "gpt-5": 6}  # type: ignore[call-overload, index]


def test_what_was_measured_of_a_judge_is_said() -> None:
    audit = Audit(
        n=40,
        batch_size=5,
        max_excess_flips=0.05,
        flips_batched=0.3,
        flips_alone=0.1,
        excess=0.2,
        low=0.08,
        high=0.32,
        kappa_batched=0.4,
        kappa_alone=0.8,
        spearman_batched=None,
        spearman_alone=None,
        positions=((8, 3.5),),
        tokens_batched=100.0,
        tokens_alone=200.0,
    )
    gold = GoldAgreement(
        n=20, ungraded=1, agreement=0.9, low=0.7, high=0.97, kappa=0.8, spearman=None,
        min_agreement=None,
    )  # fmt: skip
    (_, audited, held) = judge_lines([replace(ONE, audit=audit, gold=gold)])
    assert audited == (
        "  polite: in a batch 30.0% of 40 verdicts differ from those alone, alone 10.0% among "
        "themselves: excess +20.0 (+8.0 to +32.0 points); batching is off: "
        "5.0 points are allowed; 50.0% fewer tokens"
    )
    assert held == (
        "  polite: agrees with a person on 90.0% of 20 outputs (70.0–97.0%), κ 0.80; 1 ungraded; "
        "too few to say (under 30)"
    )
    asked = replace(gold, spearman=0.6, ranked=20, min_agreement=0.8, min_spearman=0.7)
    (_, _, held) = judge_lines([replace(ONE, audit=audit, gold=asked)])
    assert "rank correlation 0.60; at least 80.0% and a correlation of 0.70 is asked for" in held
    found: dict[str, Any] = {**judges([replace(ONE, audit=audit, gold=gold)])}
    scorer = found["strict"]["scorers"]["polite"]
    assert scorer["audit"]["batching_off"] is True
    assert scorer["gold"]["agreement"] == 0.9


def test_foreign_names_are_made_visible() -> None:
    hostile = JudgeFigures("s", "\x1b[2J", "m\x1b]0;x\x07", grading=JudgeRequests(calls=1, items=1))
    (line,) = judge_lines([hostile])
    assert "\x1b" not in line


async def test_requests_are_counted_by_the_model_that_got_them(tmp_path: Path) -> None:
    bench = Harness(tmp_path / "store.sqlite3")
    async with FakeModel(answers(by_number)) as server:
        run = await bench.run(judged(server.base_url, server.base_url, 20))
    with closing(sqlite3.connect(bench.path)) as db, db:
        db.execute("UPDATE judge_calls SET model = 'old' WHERE id = 1")
        db.execute("UPDATE judge_calls SET model = 'new' WHERE id > 1")
    db = open_readable(bench.path)
    (figures,) = judge_figures(db, run)
    db.close()
    assert figures.models == {"old": 1, "new": figures.asked.calls - 1}


async def test_requests_that_may_have_been_sent_as_an_engine_ended_are_counted_apart(
    tmp_path: Path,
) -> None:
    bench = Harness(tmp_path / "store.sqlite3")
    async with FakeModel(answers(by_number)) as server:
        run = await bench.run(judged(server.base_url, server.base_url, 20))
    bench.write("UPDATE judge_calls SET state = 'lost' WHERE id = 1")
    bench.write("UPDATE judge_calls SET state = 'sent' WHERE id = 2")

    def counted() -> tuple[int, int, int, int]:
        ((asked,),) = ([one.asked for one in bench._read(judge_figures, run)],)
        return asked.calls, asked.items, asked.lost, asked.failed

    assert counted() == (3, 15, 1, 0)  # who holds no run may not have written it down yet
    bench.write("UPDATE runs SET lease_pid = 1, lease_birth = 0, lease_beat = 0")
    assert counted() == (2, 10, 2, 0)
    (line,) = judge_lines(bench._read(judge_figures, run))
    assert "2 calls for 10 outputs, 2 may have been sent as an engine ended" in line


async def test_a_summary_says_why_grades_are_missing_and_how_to_ask_again(tmp_path: Path) -> None:
    bench = Harness(tmp_path / "store.sqlite3")
    async with FakeModel() as target, FakeModel(script=lambda call: refuse(500)) as judge:
        run = await bench.run(judged(target.base_url, judge.base_url, 5, judge={"retries": 0}))
    db = open_readable(bench.path)
    try:
        text = summary(results(db, run), width=100, ink=AnsiStyle())
    finally:
        db.close()
    name = bench.row(run).name
    assert "5 ungraded" in text
    assert "5 × good: the judge could not be asked" in text
    assert f"tui-eval rescore {name} --ungraded" in text
    line = re.search(
        r"~ judge j \(fake-judge\): (\d+) calls for \d+ outputs, 5 asked again, (\d+) failed", text
    )
    assert line is not None, text
    assert line[1] == line[2] == str(len(judge.calls)), text


async def test_rates_that_rest_on_a_judge_carry_a_sign(tmp_path: Path) -> None:
    bench = Harness(tmp_path / "store.sqlite3")
    async with FakeModel(answers(by_number)) as server:
        run = await bench.run(judged(server.base_url, server.base_url, 10))
        plain = await bench.run(suite(server.base_url, 10))
    db = open_readable(bench.path)
    try:
        assert "~50.0%" in summary(results(db, run), width=100, ink=AnsiStyle())
        assert "~" not in summary(results(db, plain), width=100, ink=AnsiStyle())
    finally:
        db.close()


async def test_the_same_reason_of_several_scorers_is_told_once(tmp_path: Path) -> None:
    bench = Harness(tmp_path / "store.sqlite3")
    scorers = [RUBRIC, {**RUBRIC, "name": "short"}]
    async with FakeModel() as target, FakeModel(script=lambda call: refuse(500)) as judge:
        run = await bench.run(
            judged(target.base_url, judge.base_url, 5, judge={"retries": 0}, scorers=scorers)
        )
    db = open_readable(bench.path)
    text = summary(results(db, run), width=200, ink=AnsiStyle())
    db.close()
    assert "    5 × good, short: " in text
    assert text.count(" × ") == 1
