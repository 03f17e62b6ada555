from tests.engine.bulk.bulk_runs import bulk_suite, executed, run_bulk, states
from tests.engine.harness import Harness
from tests.servers.fake_bulk import FakeBulk


async def test_a_run_is_asked_in_consignments(harness: Harness) -> None:
    async with FakeBulk(looks=2) as server:
        run = await run_bulk(harness, bulk_suite(server, 25, size=10))
        again = await run_bulk(harness, bulk_suite(server, 25, size=10))
    assert harness.row(run).state == "done"
    assert states(harness, run) == {"done": 25}
    assert harness.counts(run).passed == 25
    assert [len(one.requests) for one in server.ledger.consignments] == [10, 10, 5]
    assert set(executed(server).values()) == {1}
    assert server.counts["live"] == 0
    assert harness.counts(again).cached == 25
    kept = harness.sql("SELECT state, requests, taken_at IS NOT NULL FROM consignments")
    assert kept == [("ended", 10, 1), ("ended", 10, 1), ("ended", 5, 1)]
