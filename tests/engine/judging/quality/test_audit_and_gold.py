"""Audits and gold on a real store and a real server."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from tests.engine.harness import Harness, gold_rows, suite
from tests.servers.fake_judge import answers, asked, by_number
from tests.servers.fake_model import FakeModel, refuse
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.engine.judging.quality import audit as audit_module
from tui_eval.engine.settings import Settings
from tui_eval.model.judge_quality import GoldAgreement
from tui_eval.model.states import RunState, TrialState
from tui_eval.reports.judging.judge_report import trust_lines
from tui_eval.store.read.judges.judge_figures import JudgeFigures, judge_figures
from tui_eval.store.requests import Verb
from tui_eval.suites.spec import Suite

RUBRIC = {
    "kind": "judge",
    "name": "good",
    "rubric": "Is it good?",
    "scale": [0, 10],
    "judge": ["j"],
}


def judged(url: str, n: int, **judge: Any) -> Suite:
    """Give a suite of n cases whose outputs a judge at the same place grades."""
    described = {"kind": "model", "name": "j", "base_url": url, "model": "fake-judge", **judge}
    return suite(url, n, scorers=[RUBRIC], judges=[described])


def figures(harness: Harness, run: int) -> JudgeFigures:
    (found,) = harness._read(judge_figures, run)
    return found


def sizes(server: FakeModel) -> list[int]:
    """Give how many items each request to the judge had."""
    return [len(found["items"]) for call in server.calls if (found := asked(call.body))]


def by_place(score: Callable[[str, int, int], float]) -> Callable[[dict[str, Any]], str]:
    """Play a judge whose score depends on the place in the batch and on the batch's size."""

    def answer(body: dict[str, Any]) -> str:
        request = asked(body)
        if request is None:
            return str(body["messages"][-1]["content"])
        items = request["items"]
        grades = [
            {"id": item["id"], "reason": "so", "score": score(item["output"], place, len(items))}
            for place, item in enumerate(items)
        ]
        return json.dumps({"nonce": request["nonce"], "grades": grades})

    return answer


def first_is_best(output: str, place: int, size: int) -> float:
    return 9 if place == 0 else 1


async def test_a_judge_that_grades_by_place_is_found_out_and_batching_turned_off(
    harness: Harness,
) -> None:
    async with FakeModel(by_place(first_is_best), latency=0.01) as server:
        made = judged(server.base_url, 200, audit=0.02, concurrency=2)
        run = await harness.run(made)
        batches = [size for size in sizes(server) if size > 1]
        assert len(batches) < 30  # 40 without the audit
        audit = figures(harness, run).audit
        assert audit is not None
        assert audit.n >= 30
        assert audit.flips_alone == 0
        assert audit.flips_batched == audit.excess > 0.6
        assert audit.low > audit.max_excess_flips == 0.05
        assert audit.batching_off
        assert audit.positions[0][1] == 9
        assert {mean for _, mean in audit.positions[1:]} == {1}
        told = harness.sql("SELECT what FROM limits WHERE kind = 'note' AND run = ?", run)
        assert any("batching is off for scorer 'good'" in reason for (reason,) in told)
        before = len(sizes(server))
        again = await harness.run(made, Settings(fresh=True))
        assert set(sizes(server)[before:]) == {1}
    assert figures(harness, again).audit == audit
    assert {trial.state for trial in harness.trials(run)} == {TrialState.DONE}


async def test_what_is_audited_does_not_depend_on_how_much_is_read_at_once(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit_module, "_PAGE", 7)
    async with FakeModel(answers(by_number)) as server:
        run = await harness.run(judged(server.base_url, 100, audit=0.2))
        singles = Counter(
            request["items"][0]["output"]
            for call in server.calls
            if (request := asked(call.body)) and len(request["items"]) == 1
        )
    found = figures(harness, run)
    assert found.audit is not None
    assert 35 <= found.audit.n <= 55  # 30, and a fifth of 70
    assert set(singles.values()) == {2}
    assert len(singles) == found.audit.n
    assert [n for n, _ in found.audit.positions] == [20] * 5


async def test_an_honest_judge_with_noise_keeps_its_batches(harness: Harness) -> None:
    draw = random.Random(5)

    def noisy(output: str, place: int, size: int) -> float:
        good = int(output[-1]) >= 5
        return 9 if good != (draw.random() < 0.15) else 1

    async with FakeModel(by_place(noisy)) as server:
        run = await harness.run(judged(server.base_url, 100, audit=0.5))
        found = figures(harness, run)
        assert Counter(sizes(server))[5] == 20
    audit = found.audit
    assert audit is not None
    assert audit.n >= 40
    assert audit.flips_alone > 0
    assert not audit.batching_off
    assert audit.kappa_batched is not None
    assert 0.2 < audit.kappa_batched < 0.9
    assert audit.tokens_saved is not None
    assert found.auditing.calls == found.auditing.items == 2 * audit.n
    assert found.grading.items == 100


async def test_an_audit_in_the_store_is_shown_and_nothing_is_asked(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, 60, audit=0.1)
        first = await harness.run(made)
        assert figures(harness, first).auditing.calls >= 60
        again = await harness.run(made, Settings(fresh=True))
        assert figures(harness, again).auditing.calls == 0
        assert figures(harness, again).audit == figures(harness, first).audit
        larger = await harness.run(
            judged(server.base_url, 60, audit=0.1, batch_size=6), Settings(fresh=True)
        )
        assert figures(harness, larger).auditing.calls >= 60


async def test_an_audit_of_too_few_is_made_again(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, 10, audit=0.1)
        first = await harness.run(made)
        audit = figures(harness, first).audit
        assert audit is not None
        assert audit.n == 10
        assert not audit.enough
        again = await harness.run(made, Settings(fresh=True))
    assert figures(harness, again).auditing.calls == 20


async def test_an_audit_changes_no_grade_and_is_no_grade(harness: Harness) -> None:
    async with FakeModel(by_place(lambda o, p, size: 9 if size > 1 else 1)) as server:
        run = await harness.run(judged(server.base_url, 20, audit=0.5))
    assert {trial.score for trial in harness.trials(run)} == {0.9}
    assert figures(harness, run).findings == 20
    assert harness.sql("SELECT DISTINCT value FROM scores") == [(0.9,)]


async def test_a_run_stopped_in_its_audit_resumes_it_and_asks_nothing_twice(
    harness: Harness,
) -> None:
    async with FakeModel(answers(by_number), latency=0.05) as server:
        run = harness.create(judged(server.base_url, 20, audit=0.1))
        engine = Engine(harness.path, run)
        task = asyncio.create_task(engine.run())
        await until(lambda: sizes(server).count(1) >= 8)
        engine.stop()
        await asyncio.wait_for(task, 30)
        assert harness.row(run).state is RunState.INTERRUPTED
        assert figures(harness, run).audit is None
        done = figures(harness, run).auditing.calls
        assert 8 <= done < 40
        await harness.again(run, Verb.RESUME)
        assert harness.row(run).state is RunState.DONE
        outputs = Counter(
            request["items"][0]["output"]
            for call in server.calls
            if (request := asked(call.body)) and len(request["items"]) == 1
        )
    assert set(outputs.values()) == {2}
    audit = figures(harness, run).audit
    assert audit is not None
    assert audit.n == 20


async def test_an_audit_that_cannot_be_asked_ends(harness: Harness) -> None:
    def only_batches(call: Any) -> Any:
        request = asked(call.body)
        return refuse(400) if request is not None and len(request["items"]) == 1 else None

    async with FakeModel(answers(by_number), script=only_batches) as server:
        run = await harness.run(judged(server.base_url, 10, audit=0.1, retries=0))
    assert harness.row(run).state is RunState.DONE
    assert figures(harness, run).audit is None
    assert all(trial.score is not None for trial in harness.trials(run))


async def test_gold_is_graded_first_in_batches_and_its_agreement_kept(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, 10, gold=gold_rows(40, wrong=8))
        run = await harness.run(made)
        kinds = ["judge" if asked(call.body) else "target" for call in server.calls]
        assert kinds[:8] == ["judge"] * 8
        assert kinds.count("target") == 10
        assert sizes(server) == [5] * 10
        sent = server.requests
        again = await harness.run(made)
        assert server.requests == sent
    found = figures(harness, run)
    gold = found.gold
    assert gold is not None
    # digits 0 to 7 turned round: each on the other side of 5
    assert (gold.n, gold.ungraded) == (40, 0)
    assert gold.agreement == pytest.approx(32 / 40)
    assert gold.low == pytest.approx(0.6524, abs=1e-3)  # Wilson, by hand
    assert gold.high == pytest.approx(0.8950, abs=1e-3)
    # judge 20 of 40 pass; person 20 - 3 + 5 = 22: by chance 0.5
    assert gold.kappa == pytest.approx((0.8 - 0.5) / 0.5)
    assert gold.spearman is not None
    assert 0.5 < gold.spearman < 0.9
    assert found.on_gold.items == 40
    assert found.on_gold.calls == 8
    assert figures(harness, again).gold == gold
    assert figures(harness, again).on_gold.calls == 0


async def test_a_verdict_is_gold_enough_and_ungraded_outputs_are_counted(harness: Harness) -> None:
    rows = [
        {"input": "a", "output": "x9", "grade": "pass"},
        {"input": "b", "output": "x8", "grade": "fail"},
        {"input": "c", "output": "x7", "grade": "pass"},
    ]

    def no_seven(item: Any) -> Any:
        return None if item["output"] == "x7" else by_number(item)

    async with FakeModel(answers(no_seven)) as server:
        run = await harness.run(judged(server.base_url, 3, gold=rows))
    gold = figures(harness, run).gold
    assert gold is not None
    assert (gold.n, gold.ungraded, gold.agreement, gold.spearman) == (2, 1, 0.5, None)
    wrong, silent = gold.differences
    assert (wrong.input, wrong.output, wrong.person, wrong.judge) == (
        "b",
        "x8",
        "fail",
        "pass 0.80",
    )
    assert (silent.input, silent.person, silent.judge) == ("c", "pass", "ungraded")
    assert silent.reason
    assert GoldAgreement.from_json(gold.as_json()) == gold
    before = {name: value for name, value in gold.as_json().items() if name != "differences"}
    assert GoldAgreement.from_json(before) == replace(gold, differences=())


async def test_another_threshold_measures_gold_anew_and_asks_nobody(harness: Harness) -> None:
    rows = [{"input": str(n), "output": f"x{n}", "grade": "pass"} for n in (6, 9)]
    async with FakeModel(answers(by_number)) as server:
        run = await harness.run(judged(server.base_url, 3, gold=rows))
        sent = server.requests
        await harness.again(run, Verb.RESCORE, scorer_specs=[{**RUBRIC, "pass_at": 8}])
        assert server.requests == sent
    gold = figures(harness, run).gold
    assert gold is not None
    assert (gold.agreement, [one.input for one in gold.differences]) == (0.5, ["6"])
    assert not gold.enough


async def test_under_min_agreement_the_run_pauses_before_any_target_is_asked(
    harness: Harness,
) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, 10, gold=gold_rows(40, wrong=8), min_agreement=0.9)
        run = await harness.run(made)
        row = harness.row(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "min_agreement")
        assert row.reason is not None
        assert "agrees with 80% of 40 gold outputs" in row.reason
        assert sizes(server) == [5] * 8
        assert server.requests == 8
        gold = figures(harness, run).gold
        assert gold is not None
        assert gold.too_low
        assert "`tui-eval show` lists where they differ" in row.reason
        lines = [line.strip() for line in trust_lines(figures(harness, run)) if " → " in line]
        assert len(lines) == len(gold.differences) == 8
        assert lines[0].endswith(": person pass 0.90, judge fail 0.00: 0 (scale 0–10): as it is")
        await harness.again(run, Verb.RESUME)
        assert harness.row(run).state is RunState.DONE
        assert server.requests == 8 + 10 + 2
    assert {trial.state for trial in harness.trials(run)} == {TrialState.DONE}
    assert figures(harness, run).gold == gold


async def test_gold_is_held_against_thresholds_set_later_and_nothing_is_asked_for_it(
    harness: Harness,
) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, 10, gold=gold_rows(40, wrong=8), min_agreement=0.5)
        run = await harness.run(made)
        assert harness.row(run).state is RunState.DONE
        sent = server.requests
        specs = [made.judges[0].model_copy(update={"min_agreement": 0.9}).model_dump(mode="json")]
        await harness.again(run, Verb.RESCORE, scorer_specs=[RUBRIC], judge_specs=specs)
        assert server.requests == sent
        row = harness.row(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "min_agreement")
        gold = figures(harness, run).gold
        assert gold is not None
        assert (gold.min_agreement, gold.too_low, gold.agreement) == (0.9, True, 0.8)
        await harness.again(run, Verb.RESUME)
        assert harness.row(run).state is RunState.DONE
        specs[0]["min_agreement"] = 0.6
        await harness.again(run, Verb.RESCORE, scorer_specs=[RUBRIC], judge_specs=specs)
        assert server.requests == sent
    gold = figures(harness, run).gold
    assert gold is not None
    assert (gold.min_agreement, gold.too_low) == (0.6, False)


async def test_under_min_spearman_the_run_pauses_though_all_verdicts_are_equal(
    harness: Harness,
) -> None:
    turned = [("x9", 6), ("x8", 7), ("x7", 8), ("x1", 4), ("x4", 1), ("x5", 5)]
    rows = [{"input": out, "output": out, "grade": by} for out, by in turned]
    rows.append({"input": "x6", "output": "x6", "grade": "pass"})
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, 3, gold=rows, min_agreement=0.9, min_spearman=0.8)
        run = await harness.run(made)
        row = harness.row(run)
        assert (row.state, row.stopped_by) == (RunState.PAUSED, "min_spearman")
        assert not any(asked(call.body) is None for call in server.calls)
        gold = figures(harness, run).gold
        assert gold is not None
        assert (gold.n, gold.agreement, gold.ranked, gold.min_spearman) == (7, 1.0, 6, 0.8)
        # ranks 6 5 4 1 2 3 and 4 5 6 2 1 3: 1 - 6 * (4 + 0 + 4 + 1 + 1 + 0) / (6 * 35)
        assert gold.spearman == pytest.approx(1 - 60 / 210)
        assert row.reason is not None
        assert row.reason.startswith(
            "judge 'j', scorer 'good': rank correlation with 6 gold outputs is 0.71 "
            "(under 30: too few to say much), min_spearman is 0.80: "
        )
        assert [one.input for one in gold.differences] == ["x9", "x8", "x7", "x1", "x4"]
        await harness.again(run, Verb.RESUME)
        assert harness.row(run).state is RunState.DONE


async def test_ranks_that_cannot_be_compared_pause_a_run_that_asks_for_them(
    harness: Harness,
) -> None:
    rows = [{"input": "a", "output": out, "grade": "pass"} for out in ("x8", "x9")]
    async with FakeModel(answers(by_number)) as server:
        run = await harness.run(judged(server.base_url, 3, gold=rows, min_spearman=0.5))
    row = harness.row(run)
    assert (row.state, row.stopped_by) == (RunState.PAUSED, "min_spearman")
    assert row.reason is not None
    assert "rank correlation with gold cannot be measured" in row.reason


async def test_a_scorer_without_a_scale_is_held_to_no_rank_correlation(harness: Harness) -> None:
    verdict = {**RUBRIC, "name": "fine", "scale": "pass-fail"}
    rows = [{"input": f"x{n}", "output": f"x{n}", "grade": n, "scorer": "good"} for n in (2, 7)]
    rows += [{"input": "b", "output": "x9", "grade": "pass", "scorer": "fine"}]
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, 3, gold=rows, min_spearman=0.9)
        both = Suite.model_validate(
            {**made.model_dump(mode="json", by_alias=True), "scorers": [RUBRIC, verdict]}
        )
        run = await harness.run(both)
    assert harness.row(run).state is RunState.DONE


async def test_a_run_stopped_in_its_gold_asks_only_for_what_is_missing(harness: Harness) -> None:
    async with FakeModel(answers(by_number), latency=0.2) as server:
        made = judged(server.base_url, 5, gold=gold_rows(30, wrong=0), concurrency=1)
        run = harness.create(made, Settings(fresh=True))
        engine = Engine(harness.path, run)
        task = asyncio.create_task(engine.run())
        await until(lambda: server.requests >= 3)
        engine.stop()
        await asyncio.wait_for(task, 30)
        assert {bool(asked(call.body)) for call in server.calls} == {True}
        await harness.again(run, Verb.RESUME)
        assert harness.row(run).state is RunState.DONE
        assert sum(sizes(server)) == 35
    gold = figures(harness, run).gold
    assert gold is not None
    assert (gold.n, gold.agreement) == (30, 1.0)


async def test_requirements_asked_one_by_one_are_audited_one_by_one(harness: Harness) -> None:
    def met(item: Any) -> dict[str, Any]:
        return {"requirements": [{**entry, "met": True} for entry in item["requirements"]]}

    scorer = {**RUBRIC, "requirements": ["a", "b"], "per_requirement": True}
    del scorer["rubric"], scorer["scale"]
    async with FakeModel(answers(met)) as server:
        judge = {"kind": "model", "name": "j", "base_url": server.base_url, "model": "m"}
        made = suite(server.base_url, 10, scorers=[scorer], judges=[{**judge, "audit": 0.1}])
        run = await harness.run(made)
        in_batches = sum(size for size in sizes(server) if size > 1)
    audit = figures(harness, run).audit
    assert audit is not None
    assert 15 <= in_batches <= 20
    assert (audit.n, audit.flips_batched, audit.spearman_batched) == (in_batches, 0, None)


async def test_gold_that_cannot_be_rendered_is_said_and_left_out(harness: Harness) -> None:
    own = {**RUBRIC, "rubric": "Is it {{ q }}?"}
    rows = [{"input": "a", "output": "x9", "grade": 9, "q": "a"}]
    rows += [{"input": "b", "output": "x9", "grade": 9}]
    async with FakeModel(answers(by_number)) as server:
        judge = {"kind": "model", "name": "j", "base_url": server.base_url, "model": "m"}
        made = suite(server.base_url, 3, scorers=[own], judges=[{**judge, "gold": rows}])
        run = await harness.run(made)
    gold = figures(harness, run).gold
    assert gold is not None
    assert gold.n == 1
    told = harness.sql("SELECT what FROM limits WHERE kind = 'note' AND endpoint = 'judge j'")
    assert any(reason.startswith("gold 2 cannot be asked") for (reason,) in told)


async def test_a_run_launched_without_judges_grades_gold_once_they_are_asked(
    harness: Harness,
) -> None:
    async with FakeModel(answers(by_number)) as server:
        made = judged(server.base_url, 5, gold=gold_rows(30, wrong=0), audit=0.5)
        run = await harness.run(made, Settings(no_judge=True))
        assert server.requests == 5
        await harness.again(run, Verb.RESCORE)
        assert sizes(server)[:7] == [5] * 7
    found = figures(harness, run)
    assert found.gold is not None
    assert found.gold.agreement == 1
    assert found.audit is not None
    assert found.audit.n == 5
