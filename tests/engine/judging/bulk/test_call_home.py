"""What comes of a judge's calls in bulk: faults of the provider, of the judge, kills."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import closing
from typing import Any

import pytest

from tests.engine.bulk.bulk_runs import (
    PRICED,
    SOON,
    bulk_suite,
    executed,
    killed,
    run_bulk,
    states,
    working,
)
from tests.engine.harness import RUBRIC, Harness
from tests.engine.judging.bulk.judged_runs import (
    Grading,
    again,
    assert_graded,
    bulk_judged,
    figures,
    open_ones,
)
from tests.servers.bulk_ledger import BulkFaults
from tests.servers.fake_bulk import BulkCall, Die, FakeBulk, Refuse, nth
from tests.servers.fake_judge import by_number
from tests.waiting import until
from tui_eval.engine.engine import Engine
from tui_eval.store.connection import open_readable
from tui_eval.store.read.consignment_queries import provider_ids
from tui_eval.store.requests import Verb


async def test_results_count_in_any_order_and_once(harness: Harness) -> None:
    faults = BulkFaults(shuffle=3, double=[1, 4], unknown=2, malformed=1)
    async with FakeBulk(Grading(), faults=faults) as server:
        run = await run_bulk(harness, bulk_judged(server, 60))
    assert_graded(harness, run, 60)
    assert harness.sql("SELECT unknown FROM consignments") == [(3,)]


async def test_what_has_no_line_goes_again_in_the_next(harness: Harness) -> None:
    async with FakeBulk(Grading(), faults=BulkFaults(drop=[0, 3], only_first=1)) as server:
        run = await run_bulk(harness, bulk_judged(server, 25, judge=PRICED))
    assert_graded(harness, run, 25)
    assert [len(one.requests) for one in server.ledger.consignments] == [5, 2]
    asked = figures(harness, run).grading
    assert (asked.calls, asked.items, asked.failed) == (5, 25, 0), "as a target's are counted"
    assert asked.cost_usd is None, "what has no line may have been done"


async def test_what_expires_three_times_is_ungraded(harness: Harness) -> None:
    async with FakeBulk(Grading(), faults=BulkFaults(expire=None)) as server:
        run = await run_bulk(harness, bulk_judged(server, 7))
    assert harness.counts(run).ungraded == 7
    assert len(server.ledger.consignments) == 3
    assert "3 consignments" in str(harness.sql("SELECT problem FROM findings LIMIT 1")[0][0])
    assert harness.sql("SELECT ifnull(sum(cost_usd), 0) FROM judge_calls") == [(0,)]


async def test_what_was_not_graded_goes_again_alone(harness: Harness) -> None:
    refused = ["q3"]

    def grader(item: Mapping[str, Any]) -> dict[str, Any] | None:
        if item["output"] in refused:
            refused.clear()
            return None
        return by_number(item)

    grading = Grading(grader)
    async with FakeBulk(grading) as server:
        run = await run_bulk(harness, bulk_judged(server, 10))
    assert_graded(harness, run, 10)
    assert grading.items[-1] == ["q3"]
    assert harness.sql("SELECT round FROM judge_calls ORDER BY id DESC LIMIT 1") == [("alone",)]


async def test_what_is_never_graded_is_ungraded_with_the_reason(harness: Harness) -> None:
    grading = Grading(lambda item: None if item["output"] == "q3" else by_number(item))
    async with FakeBulk(grading) as server:
        run = await run_bulk(harness, bulk_judged(server, 10))
    assert harness.counts(run).ungraded == 1
    assert grading.graded.count("q3") == 3
    assert len(server.ledger.consignments) == 3


async def test_a_refused_batch_goes_again_one_by_one(harness: Harness) -> None:
    faults = BulkFaults(statuses={0: 400}, hide=True, only_first=1)
    async with FakeBulk(Grading(), faults=faults) as server:
        run = await run_bulk(harness, bulk_judged(server, 10))
    assert_graded(harness, run, 10)
    assert [len(one.requests) for one in server.ledger.consignments] == [2, 5]


async def test_two_answers_to_one_call_count_as_none(harness: Harness) -> None:
    async with FakeBulk(Grading(), faults=BulkFaults(contradict=[0], only_first=1)) as server:
        run = await run_bulk(harness, bulk_judged(server, 10))
    assert_graded(harness, run, 10)
    kept = harness.sql("SELECT error_kind FROM judge_calls WHERE state = 'failed'")
    assert kept == [("bad_answer",)]


async def test_a_refused_consignment_pauses_the_run(harness: Harness) -> None:
    async with FakeBulk(Grading(), faults=BulkFaults(fail="invalid_model", only_first=1)) as server:
        run = await run_bulk(harness, bulk_judged(server, 4))
        assert (harness.row(run).state, states(harness, run)) == ("paused", {"scoring": 4})
        await Engine(harness.path, run, polling=SOON).run()
    assert_graded(harness, run, 4)


async def test_a_consignment_that_the_provider_forgot_is_asked_again(harness: Harness) -> None:
    async with FakeBulk(Grading(), script=nth("look", *[Refuse(404)] * 4)) as server:
        run = await run_bulk(harness, bulk_judged(server, 4))
    assert harness.counts(run).done == 4
    kept = harness.sql("SELECT state FROM judge_calls ORDER BY id")
    assert kept == [("lost",), ("answered",)]


async def test_what_is_lost_again_and_again_is_ungraded(harness: Harness) -> None:
    forgets = lambda call: Refuse(404) if call.kind == "look" else None  # noqa: E731
    async with FakeBulk(Grading(), script=forgets) as server:
        run = await run_bulk(harness, bulk_judged(server, 4))
    assert harness.counts(run).ungraded == 4
    assert len(server.ledger.consignments) == 3
    assert "lost it, in 3 consignments" in str(harness.sql("SELECT problem FROM findings")[0][0])
    assert harness.sql("SELECT count(*) FROM scores WHERE value IS NOT NULL") == [(0,)]


async def test_results_that_break_off_are_taken_again(harness: Harness) -> None:
    async with FakeBulk(Grading(), faults=BulkFaults(cut=3)) as server:
        run = await run_bulk(harness, bulk_judged(server, 30))
    assert_graded(harness, run, 30)


async def test_a_cancelled_trial_drops_its_grade_and_the_store_keeps_it(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading, looks=0) as server:
        of = bulk_judged(server, 5)
        run = await run_bulk(harness, of, submit=True)
        trial = harness.trials(run)[2].id
        await again(harness, run, Verb.CANCEL, trials=[trial])
        server.finish()
        await Engine(harness.path, run, polling=SOON).run()
        second = await run_bulk(harness, of)
    assert states(harness, run) == {"done": 4, "cancelled": 1}
    assert harness.counts(second).done == 5
    assert len(grading.graded) == 5, "what was paid is found by its key"


async def test_a_cancelled_run_is_ended_at_the_provider(harness: Harness) -> None:
    async with FakeBulk(Grading(), looks=0) as server:
        run = await run_bulk(harness, bulk_judged(server, 5), submit=True)
        await again(harness, run, Verb.CANCEL_RUN)
    assert server.counts["cancel"] == 1
    assert states(harness, run) == {"cancelled": 5}


@pytest.mark.parametrize(
    "moment",
    [
        "create",
        *(pytest.param(one, marks=pytest.mark.whole) for one in ("upload", "look", "results")),
    ],
)
async def test_killed_with_a_consignment_under_way(harness: Harness, moment: str) -> None:
    grading = Grading()
    async with FakeBulk(grading) as server:
        run = harness.create(bulk_judged(server, 30))
        server.hold(moment)
        async with killed(harness, run):
            await server.happened(moment)
        server.release(moment)
        await Engine(harness.path, run, polling=SOON).run()
    assert_graded(harness, run, 30)
    assert len(server.ledger.consignments) == 1
    assert len(grading.graded) == 30, "nothing is sent twice"


@pytest.mark.whole
async def test_killed_while_calls_are_written(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading) as server:
        run = harness.create(bulk_judged(server, 300))
        async with killed(harness, run):
            await until(lambda: harness.sql("SELECT count(*) FROM judge_calls")[0][0] >= 3)
        written = harness.sql("SELECT count(*) FROM judge_calls")[0][0]
        assert written < 60, "the kill came too late to mean anything"
        await Engine(harness.path, run, polling=SOON).run()
    assert_graded(harness, run, 300)
    assert len(grading.graded) == 300
    assert [len(one.requests) for one in server.ledger.consignments] == [60]


@pytest.mark.whole
async def test_killed_again_and_again_with_target_and_judge_in_bulk(harness: Harness) -> None:
    grading = Grading()
    faults = BulkFaults(shuffle=3, double=[1, 4], unknown=2)
    async with FakeBulk(grading, faults=faults) as server:
        judge = {"kind": "model", "name": "j", "base_url": server.base_url, "model": "j"}
        judges = [{**judge, "bulk": {"size": 20}}]
        of = bulk_suite(server, 300, size=120, scorers=[RUBRIC], judges=judges)
        run = harness.create(of)
        for moment in ("upload", "create", "results", "upload", "create", "look", "results"):
            server.hold(moment)
            done = server.counts[moment]
            async with killed(harness, run):
                await server.happened(moment, done + 1)
            server.release(moment)
        await Engine(harness.path, run, polling=SOON).run()
    assert_graded(harness, run, 300)
    assert len(grading.graded) == 300
    assert set(executed(server).values()) == {1}
    assert server.counts["live"] == 0


@pytest.mark.whole
@pytest.mark.parametrize("api", ["openai", "anthropic"])
async def test_what_is_paid_is_what_the_provider_counts_whatever_happens(
    harness: Harness, api: str
) -> None:
    """Lines are shuffled, doubled, contradicted, late and cut; engines are killed at every step."""
    grading = Grading()
    faults = BulkFaults(
        shuffle=5, double=[1, 7], contradict=[3], expire=[2], unknown=2, malformed=1, cut=9, late=1
    )
    async with FakeBulk(grading, faults=faults) as server:
        asked = {"base_url": server.base_url, **PRICED, "params": {"max_tokens": 900}}
        judge = {"kind": "model", "name": "j", "model": "j", "bulk": {"size": 20, "api": api}}
        of = bulk_suite(
            server,
            300,
            target={**asked, "bulk": {"size": 120, "api": api}},
            scorers=[RUBRIC],
            judges=[{**judge, **asked}],
        )
        run = harness.create(of)
        for moment in ("create", "look", "results", "create", "results"):
            server.hold(moment)
            done = server.counts[moment]
            async with killed(harness, run):
                await server.happened(moment, done + 1)
            server.release(moment)
            server.finish()  # also what nobody knows of, and looks at
        await Engine(harness.path, run, polling=SOON).run()
    ended = states(harness, run)
    assert ended["done"] + ended["error"] == 300
    assert 0 < ended["error"] <= 5, "those that have two answers"
    assert not open_ones(harness)
    paid = [harness.sql(f"SELECT total(about_usd) FROM {of}") for of in ("attempts", "judge_calls")]
    assert sum(usd for ((usd,),) in paid) == pytest.approx(first_lines_usd(server))


def first_lines_usd(server: FakeBulk) -> float:
    """Add up what the answers to all requests took, at $10 a million; of two the first counts."""
    first: dict[str, int] = {}
    for given in server.ledger.consignments:
        for row in map(_row, (line for _, line in given.lines)):
            usage = _usage(row)
            if usage is not None and not row["custom_id"].startswith("nobody"):
                first.setdefault(row["custom_id"], sum(usage))
    return sum(first.values()) * 1e-5


def _row(line: str) -> dict[str, Any]:
    try:
        row = json.loads(line)
    except ValueError:
        row = {}
    return row if isinstance(row, dict) else {}


def _usage(row: dict[str, Any]) -> tuple[int, int] | None:
    """Return the tokens of a line's answer, in any dialect; None: it has none."""
    body = (row.get("response") or {}).get("body") or (row.get("result") or {}).get("message") or {}
    told = body.get("usage")
    if told is None:
        return None
    return (
        told.get("prompt_tokens", told.get("input_tokens")),
        told.get("completion_tokens", told.get("output_tokens")),
    )


async def test_what_was_not_put_together_wholly_goes_with_the_rest(harness: Harness) -> None:
    grading = Grading()

    def script(call: BulkCall) -> None:
        if (call.kind, call.n) == ("live", 5):
            server.hold("live")

    async with FakeBulk(grading, script=script) as server:
        of = bulk_judged(server, 8, judge={"batch_size": 1}, run={"concurrency": 1})
        run = harness.create(of)
        engine = Engine(harness.path, run, polling=SOON)
        work = asyncio.create_task(engine.run())
        written = "SELECT count(*) FROM judge_calls"
        await until(lambda: harness.sql(written)[0][0] >= 3)
        await server.happened("live", 5)
        engine.abort()
        await work
        server.release("live")
        assert harness.sql(written)[0][0] < 8, "it left too late to mean anything"
        await again(harness, run, Verb.RESUME)
    assert_graded(harness, run, 8)
    assert [len(one.requests) for one in server.ledger.consignments] == [8]
    assert figures(harness, run).grading.calls == 8, "what was never sent is no call"


async def test_batches_of_targets_are_known_where_a_judges_are_looked_for(
    harness: Harness,
) -> None:
    """Else each would wait for those of the other, which may be what it has sent."""
    async with FakeBulk(Grading()) as server:
        judge = {"kind": "model", "name": "j", "base_url": server.base_url, "model": "j"}
        of = bulk_suite(server, 6, scorers=[RUBRIC], judges=[{**judge, "bulk": True}])
        await run_bulk(harness, of)
    endpoints = [row[0] for row in harness.sql("SELECT DISTINCT endpoint FROM consignments")]
    assert len(endpoints) == 2
    with closing(open_readable(harness.path)) as db:
        known = [provider_ids(db, endpoint) for endpoint in endpoints]
        elsewhere = provider_ids(db, "|https://example.org/v1|")
    assert known == [{one.id for one in server.ledger.consignments}] * 2
    assert not elsewhere


async def test_what_perhaps_was_sent_is_looked_for_first(harness: Harness) -> None:
    grading = Grading()
    async with FakeBulk(grading, script=nth("create", Die(after=True))) as server:
        run = await run_bulk(harness, bulk_judged(server, 12))
    assert_graded(harness, run, 12)
    assert len(grading.graded) == 12


async def test_an_answer_about_a_former_output_is_kept_as_none_of_the_present_one(
    harness: Harness,
) -> None:
    grading, more = Grading(), ""

    def answer(prompt: str) -> str:
        said = grading(prompt)
        return said if said != prompt else f"{said}{more}"

    async with (
        FakeBulk(answer, looks=0) as server,
        working(harness, bulk_judged(server, 3)) as (run, _),
    ):
        await server.happened("create")
        trial, more = harness.trials(run)[0].id, "5"
        await harness.asked(run, Verb.CANCEL, trials=[trial])
        await harness.asked(run, Verb.RETRY, trials=[trial])
        server.finish()
        server.looks = 1
    assert states(harness, run) == {"done": 3}
    kept = harness.sql(
        "SELECT f.superseded, o.text FROM findings f LEFT JOIN outputs o ON o.id = f.output "
        "WHERE f.trial = ? ORDER BY f.superseded",
        trial,
    )
    assert kept == [(0, "q05"), (1, None)]
