"""What is asked of a judge in bulk, and what is asked live, whatever asks it."""

from typing import Any

import pytest

from tests.engine.bulk.bulk_runs import SOON, bulk_suite, run_bulk, working
from tests.engine.harness import RUBRIC, Harness, gold_rows, judged
from tests.engine.judging.bulk.judged_runs import Grading, assert_graded, bulk_judged, open_ones
from tests.servers.bulk_ledger import BulkFaults, Consignment
from tests.servers.fake_bulk import FakeBulk
from tests.waiting import until
from tui_eval.engine.engine import Engine


def judge(server: FakeBulk, name: str, **more: Any) -> dict[str, Any]:
    return {"kind": "model", "name": name, "base_url": server.base_url, "model": name, **more}


@pytest.mark.parametrize("second", [True, False])
async def test_judges_of_a_panel_are_asked_each_in_its_way(harness: Harness, second: bool) -> None:
    grading = Grading()
    async with FakeBulk(grading) as server:
        of = judged(
            server.base_url,
            server.base_url,
            12,
            scorers=[{**RUBRIC, "judge": ["j", "k"]}],
            judges=[judge(server, "j", bulk=True), judge(server, "k", bulk=second)],
        )
        run = await run_bulk(harness, of)
    assert harness.counts(run).done == 12
    assert len(grading.graded) == 24
    found = harness.sql("SELECT judge, count(*) FROM findings WHERE superseded = 0 GROUP BY judge")
    assert found == [("j", 12), ("k", 12)]
    asked = {name for (name,) in harness.sql("SELECT target FROM consignments")}
    assert asked == ({"j", "k"} if second else {"j"})
    assert not open_ones(harness)


async def test_repeats_and_requirements_one_by_one(harness: Harness) -> None:
    lines = {
        "kind": "judge",
        "name": "good",
        "requirements": ["a", "b"],
        "per_requirement": True,
        "judge": ["j"],
    }
    grading = Grading(
        lambda item: {"requirements": [{**line, "met": True} for line in item["requirements"]]}
    )
    async with FakeBulk(grading) as server:
        of = bulk_judged(server, 6, scorers=[lines], judge={"repeats": 2})
        run = await run_bulk(harness, of)
    assert harness.counts(run).passed == 6
    assert len(grading.graded) == 6 * 2 * 2
    assert server.counts["live"] == 6


async def test_gold_and_the_audit_are_asked_live(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading) as server:
        of = bulk_judged(server, 40, judge={"gold": gold_rows(20, 0), "audit": 0.1})
        run = await run_bulk(harness, of)
    kept = harness.sql(
        "SELECT purpose, count(*) > 0, count(w.call) > 0 FROM judge_calls c "
        "LEFT JOIN consigned_calls w ON w.call = c.id GROUP BY purpose ORDER BY purpose"
    )
    assert kept == [("audit", 1, 0), ("gold", 1, 0), ("grade", 1, 1)]
    assert harness.counts(run).done == 40


async def test_target_and_judge_are_asked_in_bulk(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading, looks=1) as server:
        judges = [judge(server, "j", bulk={"size": 4})]
        of = bulk_suite(server, 60, size=20, scorers=[RUBRIC], judges=judges)
        run = await run_bulk(harness, of, submit=True)
        for _ in range(20):
            if harness.row(run).state == "done":
                break
            await Engine(harness.path, run, polling=SOON).run()
    assert_graded(harness, run, 60)
    assert server.counts["live"] == 0
    assert len(grading.graded) == 60


async def test_what_a_judge_said_is_written_once_where_another_is_asked_again(
    harness: Harness,
) -> None:
    async with FakeBulk(Grading(), looks=0) as server:
        of = judged(
            server.base_url,
            server.base_url,
            6,
            scorers=[{**RUBRIC, "judge": ["j", "k"]}],
            judges=[judge(server, "j", bulk=True), judge(server, "k", bulk=True)],
        )
        async with working(harness, of) as (run, _):
            sent = server.ledger.consignments
            await until(lambda: len(sent) == 2)
            for one in sent[:2]:
                expires = None if model(one) == "k" else ()
                server.ledger.faults = BulkFaults(expire=expires)
                server.finish(one)
            server.ledger.faults, server.looks = BulkFaults(), 1
    assert harness.counts(run).done == 6
    found = harness.sql("SELECT judge, count(*) FROM findings WHERE superseded = 0 GROUP BY judge")
    assert found == [("j", 6), ("k", 6)]


def model(consignment: Consignment) -> str:
    return str(consignment.requests[0][1]["model"])
