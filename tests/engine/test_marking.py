"""What becomes of outputs that are no answers, whatever scores them."""

from typing import Any

import pytest

from tests.engine.harness import Bench, suite
from tests.servers.fake_model import FakeModel, Reply
from tui_eval.model.states import Verdict
from tui_eval.store.requests import Verb

SCORERS: dict[str, list[dict[str, Any]]] = {
    "none": [],
    "none required": [{"kind": "exact", "expected": "{{ q }}", "required": False}],
    "none applies": [{"kind": "exact", "expected": "{{ q }}", "when": "{{ false }}"}],
    "the one required does not apply": [
        {"kind": "exact", "expected": "{{ q }}", "when": "{{ false }}"},
        {"kind": "exact", "name": "seen", "expected": "{{ q }}", "required": False},
    ],
    "one required": [{"kind": "exact", "expected": "{{ q }}"}],
}


@pytest.mark.parametrize("scorers", SCORERS)
@pytest.mark.parametrize(
    ("kind", "rules", "verdict", "reason"),
    [
        ("length", {}, Verdict.UNGRADED, "cut short"),
        ("length", {"truncated": "grade"}, None, ""),
        ("content_filter", {}, Verdict.UNGRADED, "content filter"),
        ("content_filter", {"filtered": "fail"}, Verdict.FAIL, "content filter"),
    ],
)
async def test_an_output_that_is_no_answer_is_what_the_suite_says_whatever_scores_it(
    bench: Bench,
    scorers: str,
    kind: str,
    rules: dict[str, str],
    verdict: Verdict | None,
    reason: str,
) -> None:
    async with FakeModel(script=lambda call: Reply(kind)) as server:
        wanted = suite(server.base_url, 1, scorers=SCORERS[scorers], run=rules)
        asked = await bench.run(wanted)
        reused = await bench.run(wanted)
        await bench.again(reused, Verb.RESCORE)
        assert server.requests == 1
    for run in (asked, reused):
        (trial,) = bench.trials(run)
        if verdict is None:  # it is graded as any other
            assert trial.verdict is Verdict.PASS
            continue
        assert trial.verdict is verdict
        said = bench.sql(
            "SELECT scorer, reason FROM scores WHERE trial = ? AND current AND required", trial.id
        )
        assert [scorer for scorer, _ in said] == [
            "exact" if scorers == "one required" else "finish reason"
        ]
        assert reason in said[0][1]


async def test_an_answer_of_which_nothing_is_required_passes(bench: Bench) -> None:
    async with FakeModel() as server:
        run = await bench.run(suite(server.base_url, 1, scorers=[]))
    (trial,) = bench.trials(run)
    assert (trial.verdict, trial.score) == (Verdict.PASS, None)
