"""A judge is asked through each batch API."""

import asyncio
import json
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from tests.engine.bulk.bulk_runs import SOON, run_bulk
from tests.engine.harness import Harness, judged
from tests.engine.judging.bulk.judged_runs import Grading, assert_graded, bulk_judged
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_bulk import FakeBulk
from tests.waiting import until
from tui_eval.engine.engine import Engine


@pytest.mark.parametrize(
    "asked",
    [{"bulk": {"api": "anthropic"}, "params": {"max_tokens": 900}}, {"api": "responses"}],
    ids=["messages", "responses"],
)
async def test_batches_of_each_api_are_graded(harness: Harness, asked: dict[str, Any]) -> None:
    grading = Grading()
    async with FakeBulk(grading, faults=BulkFaults(shuffle=1, expire=[1], only_first=1)) as server:
        run = await run_bulk(harness, bulk_judged(server, 20, judge=asked))
    assert_graded(harness, run, 20)
    assert len(grading.graded) == 20
    assert [len(one.requests) for one in server.ledger.consignments] == [4, 1]


def came(harness: Harness, lines: int) -> bool:
    read = "SELECT count(*) FROM consigned_calls WHERE line IS NOT NULL"
    return bool(harness.sql(read)[0][0] >= lines)


async def test_a_folder_is_graded_line_by_line_as_it_is_written(
    harness: Harness, tmp_path: Path
) -> None:
    grading = Grading()
    async with FakeBulk(grading) as server:
        judge = {"batch_size": 3, "bulk": {"api": "files"}}
        of = judged(server.base_url, "http://127.0.0.1:9/v1", 8, judge=judge)
        run = harness.create(of.model_copy(update={"file": str(tmp_path / "s.toml")}))
        working = asyncio.create_task(Engine(harness.path, run, polling=SOON).run())
        requests = tmp_path / "bulk" / "requests-0001.jsonl"
        await until(requests.exists)
        with (tmp_path / "bulk" / "results-1.jsonl").open("w") as results:
            for number, line in enumerate(requests.read_text().splitlines(), 1):
                row = json.loads(line)
                said = grading(row["body"]["messages"][-1]["content"])
                choice = {"index": 0, "message": {"content": said}, "finish_reason": "stop"}
                reply = {"status_code": 200, "body": {"model": "m", "choices": [choice]}}
                row = {"custom_id": row["custom_id"], "response": reply, "error": None}
                results.write(json.dumps(row) + "\n")
                results.flush()
                await until(partial(came, harness, number))
        await asyncio.wait_for(working, 30)
    assert_graded(harness, run, 8)
    assert len(grading.graded) == 8
