"""kill -9 with judges at work: no grade is lost, none is asked for twice, none is invented."""

import random
from collections import Counter
from functools import partial

import pytest

from tests.engine.harness import Harness, suite
from tests.faults.guards import failing, guarded
from tests.faults.processes import assert_whole, had, resume
from tests.servers.fake_judge import answers, asked, by_number
from tests.servers.fake_model import FakeModel
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.model.states import RunState
from tui_eval.store.read.judges.judge_figures import judge_figures

KILLS = 2
N = 60
AT_ONCE = 2
BATCH = 5


def asked_items(judge: FakeModel) -> Counter[tuple[str, str]]:
    """Count how often each output was sent to be graded by each rubric."""
    requests = (asked(call.body) for call in judge.calls)
    return Counter(
        (item["rubric"], item["output"])
        for request in requests
        if request
        for item in request["items"]
    )


def found(harness: Harness) -> set[tuple[str, str]]:
    """Give what judges are known to have said, by rubric and output."""
    rows = harness.sql(
        "SELECT f.scorer, o.text FROM findings f JOIN outputs o ON o.id = f.output "
        "WHERE f.problem IS NULL AND f.superseded = 0"
    )
    return {(f"Is it {scorer}?", text) for scorer, text in rows}


@guarded("grades that count", slow=True)
async def test_kills_while_judges_work_ask_only_for_what_was_in_flight(
    harness: Harness, seed: int, guard: str | None
) -> None:
    draw = random.Random(seed)
    async with FakeModel() as target, FakeModel(answers(by_number), latency=0.1) as judge:
        scorers = [
            {"kind": "judge", "name": name, "rubric": f"Is it {name}?", "scale": [0, 9]}
            for name in ("right", "short")
        ]
        made = suite(
            target.base_url,
            N,
            scorers=[{**scorer, "judge": ["j"]} for scorer in scorers],
            judges=[
                {"kind": "model", "name": "j", "base_url": judge.base_url, "model": "fake-judge"}
                | {"concurrency": AT_ONCE, "batch_size": BATCH}
            ],
        )
        run = harness.create(made)
        with failing(guard):
            for _ in range(KILLS):
                goal = judge.requests + draw.randrange(3, 7)
                command = await resume(harness, run, guard=guard)
                await until(had(judge, goal))
                await command.killed()
                kept = found(harness)
                await until(lambda: judge.in_flight == 0)
                before = asked_items(judge)
                last = await resume(harness, run, guard=guard)
                await until(had(judge, judge.requests + 1))
                await last.killed()
                await until(lambda: judge.in_flight == 0)
                now = asked_items(judge)
                assert not {item for item in kept if now[item] > before[item]}, "asked twice"
            await Engine(harness.path, run).run()
            lost = harness.sql("SELECT trial FROM attempts WHERE state = 'lost'")
            assert N <= target.requests <= N + len(lost), "only what was in flight is asked again"
            assert sum(asked_items(judge).values()) <= 2 * N + 2 * KILLS * AT_ONCE * BATCH
            for trial in harness.trials(run):
                assert trial.score == int(trial.case_id[-1]) / 9
            assert_whole(harness, run, scorers=2)


@pytest.mark.whole
async def test_kills_while_gold_and_audit_go_on_ask_only_for_what_was_in_flight(
    harness: Harness,
) -> None:
    draw = random.Random(11)
    kills = 0
    async with FakeModel() as target, FakeModel(answers(by_number), latency=0.1) as judge:
        made = suite(
            target.base_url,
            20,
            scorers=[
                {"kind": "judge", "name": "right", "rubric": "r", "scale": [0, 9], "judge": ["j"]}
            ],
            judges=[
                {"kind": "model", "name": "j", "base_url": judge.base_url, "model": "fake-judge"}
                | {"concurrency": AT_ONCE, "batch_size": BATCH, "audit": 0.1}
                | {"gold": [{"input": "x", "output": f"g{i}", "grade": 5} for i in range(30)]}
            ],
        )
        run = harness.create(made)
        while harness.row(run).state is not RunState.DONE and kills < 20:
            goal = judge.requests + draw.randrange(4, 10)
            command = await resume(harness, run)
            await until(partial(_asked_or_over, judge, goal, harness, run))
            await command.killed()
            await until(lambda: judge.in_flight == 0)
            kills += 1
        assert kills >= 4
        lost = harness.sql("SELECT trial FROM attempts WHERE state = 'lost'")
        assert 20 <= target.requests <= 20 + len(lost), "only what was in flight is asked again"
        items = sum(len(request["items"]) for call in judge.calls if (request := asked(call.body)))
        calls = harness.sql("SELECT items FROM judge_calls WHERE state = 'lost'")
        assert items <= 30 + 20 + 2 * 20 + sum(row[0] for row in calls)
    (figures,) = harness._read(judge_figures, run)
    assert figures.audit is not None
    assert figures.gold is not None
    assert (figures.audit.n, figures.gold.n) == (20, 30)
    doubled = harness.sql(
        "SELECT score_key FROM findings WHERE problem IS NULL AND superseded = 0 "
        "GROUP BY score_key, purpose HAVING count(*) > 1"
    )
    assert len(doubled) == 0


@pytest.mark.whole
async def test_kills_with_equal_outputs_before_the_judge_ask_each_once_and_copy_the_rest(
    harness: Harness,
) -> None:
    draw = random.Random(5)
    async with FakeModel() as target, FakeModel(answers(by_number), latency=0.1) as judge:
        scorer = {"kind": "judge", "name": "right", "rubric": "Is it right?", "scale": [0, 9]}
        made = suite(
            target.base_url,
            N,
            scorers=[{**scorer, "judge": ["j"]}],
            judges=[
                {"kind": "model", "name": "j", "base_url": judge.base_url, "model": "fake-judge"}
                | {"concurrency": AT_ONCE, "batch_size": BATCH}
            ],
            run={"epochs": 3, "concurrency": 20},
        )
        run = harness.create(made)
        for _ in range(KILLS):
            goal = judge.requests + draw.randrange(2, 5)
            command = await resume(harness, run)
            await until(partial(_asked_or_over, judge, goal, harness, run))
            await command.killed()
            await until(lambda: judge.in_flight == 0)
        await Engine(harness.path, run).run()
        assert target.requests <= 3 * N + KILLS * 20
        assert sum(asked_items(judge).values()) <= N + KILLS * AT_ONCE * BATCH
        for trial in harness.trials(run):
            assert trial.score == int(trial.case_id[-1]) / 9
        assert_whole(harness, run, scorers=1)
    whole = "SELECT count(*), sum(origin IS NULL) FROM findings WHERE problem IS NULL"
    assert harness.sql(whole) == [(3 * N, N)]


def _asked_or_over(judge: FakeModel, goal: int, harness: Harness, run: int) -> bool:
    return judge.requests >= goal or harness.row(run).state is RunState.DONE
