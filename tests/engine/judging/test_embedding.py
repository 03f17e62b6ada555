"""Similarity by embedding on a real store and a real server: it goes the way of judges."""

from typing import Any

import pytest

from tests.engine.harness import Harness, suite
from tests.servers.fake_embeddings import embeddings
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tui_eval.model.states import RunState, Verdict
from tui_eval.suites.spec import Suite

ALIKE = {
    "kind": "similarity",
    "metric": "embedding",
    "expected": ["the answer {{ q }}", "{{ q }} it is"],
}


def compared(base_url: str, n: int, **changes: Any) -> Suite:
    """Give a suite of n questions whose answers are compared with texts that share a word."""
    embedding = {
        "kind": "embedding",
        "base_url": base_url,
        "model": "v",
        "prices": {"input": 1e6},
        **changes.pop("embedding", {}),
    }
    return suite(base_url, n, judges=[embedding], scorers=[{**ALIKE, **changes}])


def vectors(server: FakeModel) -> list[Call]:
    return [call for call in server.calls if call.path.endswith("/embeddings")]


async def test_outputs_are_compared_in_batches_once_and_what_it_cost_stands_with_the_judges(
    harness: Harness,
) -> None:
    async with FakeModel(script=embeddings()) as server:
        made = compared(server.base_url, 40)
        run = await harness.run(made)
        assert len(vectors(server)) == 2
        assert max(len(call.body["input"]) for call in vectors(server)) == 3 * 32
        again = await harness.run(made)
        other = await harness.run(compared(server.base_url, 40, threshold=0.6))
        assert len(vectors(server)) == 2  # what was said of equal texts is known
    for which, verdict in ((run, Verdict.PASS), (again, Verdict.PASS), (other, Verdict.FAIL)):
        trials = harness.trials(which)
        assert {trial.verdict for trial in trials} == {verdict}
        assert trials[0].score == pytest.approx(3**-0.5)
    ((reason, source),) = harness.sql("SELECT reason, source FROM scores ORDER BY id LIMIT 1")
    assert reason.startswith('cosine 0.577: expected "the answer q')
    assert source == "judge"
    spent = harness.sql("SELECT sum(cost_usd), sum(input_tokens) FROM judge_calls")
    assert spent == [(40 * 7.0, 40 * 7)]


async def test_an_endpoint_without_vectors_leaves_what_it_was_to_compare_ungraded(
    harness: Harness,
) -> None:
    def none(call: Call) -> Reply | None:
        gone = call.path.endswith("/embeddings")
        return refuse(404, "not_found", "no such route") if gone else None

    async with FakeModel(script=none) as server:
        run = await harness.run(compared(server.base_url, 5))
        assert len(vectors(server)) == 1
    assert harness.row(run).state is RunState.DONE
    trials = harness.trials(run)
    assert {(trial.verdict, trial.score) for trial in trials} == {(Verdict.UNGRADED, None)}
    (reason,) = {row[0] for row in harness.sql("SELECT reason FROM scores")}
    assert "no such route" in reason


async def test_a_text_that_is_refused_costs_its_own_score_alone(harness: Harness) -> None:
    def poisoned(call: Call) -> Reply | None:
        held = call.path.endswith("/embeddings") and "q3" in call.body["input"]
        return refuse(400, "invalid_request", "this input is not taken") if held else None

    async with FakeModel(script=embeddings(poisoned)) as server:
        run = await harness.run(compared(server.base_url, 8, embedding={"retries": 0}))
    found = {trial.case_id: trial.verdict for trial in harness.trials(run)}
    assert found.pop("c3") is Verdict.UNGRADED
    assert set(found.values()) == {Verdict.PASS}


async def test_vectors_that_cannot_be_compared_are_asked_for_again(harness: Harness) -> None:
    def broken_once(call: Call) -> Reply | None:
        first = call.path.endswith("/embeddings") and call.attempt == 1
        return Reply("status", body='{"data": []}') if first else None

    async with FakeModel(script=embeddings(broken_once)) as server:
        run = await harness.run(compared(server.base_url, 3))
        assert len(vectors(server)) == 2
    assert {trial.verdict for trial in harness.trials(run)} == {Verdict.PASS}
