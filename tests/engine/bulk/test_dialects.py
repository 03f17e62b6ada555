"""The same journey through each batch API."""

import asyncio
import json
from pathlib import Path

from tests.engine.bulk.bulk_runs import SOON, bulk_suite, executed, run_bulk, states
from tests.engine.harness import Harness, suite
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_bulk import FakeBulk
from tests.waiting import until
from tui_eval.engine.engine import Engine

ANTHROPIC = {"bulk": {"api": "anthropic"}, "params": {"max_tokens": 100}}


async def test_message_batches_are_asked(harness: Harness) -> None:
    faults = BulkFaults(shuffle=1, expire=[3], statuses={5: 500}, only_first=1)
    async with FakeBulk(faults=faults, looks=2) as server:
        run = await run_bulk(harness, bulk_suite(server, 20, target=ANTHROPIC))
    assert harness.counts(run).passed == 20
    assert [one.dialect for one in server.ledger.consignments] == ["anthropic"] * 2
    assert [len(one.requests) for one in server.ledger.consignments] == [20, 2]
    assert executed(server)["q0"] == 1


async def test_responses_are_asked(harness: Harness) -> None:
    async with FakeBulk() as server:
        run = await run_bulk(harness, bulk_suite(server, 3, target={"api": "responses"}))
    assert harness.counts(run).passed == 3


async def test_files_are_written_and_taken(harness: Harness, tmp_path: Path) -> None:
    target = {
        "kind": "model",
        "name": "later",
        "base_url": "http://127.0.0.1:9/v1",
        "model": "fake-model",
        "bulk": {"api": "files"},
    }
    of = suite("http://127.0.0.1:9/v1", 5, targets=[target], file=str(tmp_path / "s.toml"))
    run = harness.create(of)
    working = asyncio.create_task(Engine(harness.path, run, polling=SOON).run())
    requests = tmp_path / "bulk" / "requests-0001.jsonl"
    await until(requests.exists)
    lines = []
    for row in map(json.loads, requests.read_text().splitlines()):
        said = {"role": "assistant", "content": row["body"]["messages"][-1]["content"]}
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        body = {"model": "fake-model", "choices": [choice]}
        reply = {"status_code": 200, "body": body}
        lines.append(json.dumps({"custom_id": row["custom_id"], "response": reply, "error": None}))
    (tmp_path / "bulk" / "results-1.jsonl").write_text("\n".join(lines) + "\n")
    await asyncio.wait_for(working, 30)
    assert states(harness, run) == {"done": 5}
    assert harness.counts(run).passed == 5
