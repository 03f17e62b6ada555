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
from tui_eval.suites.spec import Suite

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


def of_files(folder: Path, n: int) -> Suite:
    target = {
        "kind": "model",
        "name": "later",
        "base_url": "http://127.0.0.1:9/v1",
        "model": "fake-model",
        "bulk": {"api": "files"},
    }
    return suite("http://127.0.0.1:9/v1", n, targets=[target], file=str(folder / "s.toml"))


def answered(requests: Path, status: int = 200) -> list[str]:
    """Give the line of results of each request of a file."""
    lines = []
    for row in map(json.loads, requests.read_text().splitlines()):
        said = {"role": "assistant", "content": row["body"]["messages"][-1]["content"]}
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        body = {"model": "fake-model", "choices": [choice]}
        reply = {"status_code": status, "body": body}
        told = {"custom_id": row["custom_id"], "response": reply, "error": None}
        lines.append(json.dumps(told) + "\n")
    return lines


async def test_files_are_written_and_taken(harness: Harness, tmp_path: Path) -> None:
    run = harness.create(of_files(tmp_path, 5))
    working = asyncio.create_task(Engine(harness.path, run, polling=SOON).run())
    requests = tmp_path / "bulk" / "requests-0001.jsonl"
    await until(requests.exists)
    (tmp_path / "bulk" / "results-1.jsonl").write_text("".join(answered(requests)))
    await asyncio.wait_for(working, 30)
    assert states(harness, run) == {"done": 5}
    assert harness.counts(run).passed == 5


async def test_lines_of_a_file_are_taken_as_they_are_written(
    harness: Harness, tmp_path: Path
) -> None:
    run = harness.create(of_files(tmp_path, 5))
    working = asyncio.create_task(Engine(harness.path, run, polling=SOON).run())
    folder = tmp_path / "bulk"

    async def settled(n: int) -> None:
        await until(lambda: states(harness, run) == {"done": n, "running": 5 - n})

    await until((folder / "requests-0001.jsonl").exists)
    lines = answered(folder / "requests-0001.jsonl")
    with (folder / "results-1.jsonl").open("w") as growing:
        for n, line in enumerate(lines[:3], 1):
            growing.write(line[:20])
            growing.flush()
            growing.write(line[20:])
            growing.flush()
            await settled(n)
        assert harness.sql("SELECT state, done FROM consignments") == [("sent", 3)]
        refused = answered(folder / "requests-0001.jsonl", status=500)[3]
        growing.write(refused)
        growing.flush()
        await until(lambda: states(harness, run)["queued"] == 1)
        assert not (folder / "requests-0002.jsonl").exists(), "the first one has not ended"
        growing.write(lines[4])
    await until((folder / "requests-0002.jsonl").exists)
    (folder / "results-2.jsonl").write_text("".join(answered(folder / "requests-0002.jsonl")))
    await asyncio.wait_for(working, 30)
    assert states(harness, run) == {"done": 5}
    assert harness.sql("SELECT count(*) FROM attempts") == [(6,)]
