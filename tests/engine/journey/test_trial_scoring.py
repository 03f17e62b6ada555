"""What becomes of outputs that are no answers, whatever scores them."""

from typing import Any

import pytest

from tests.engine.harness import Harness, suite
from tests.servers.fake_model import FakeModel, Reply
from tui_eval.model.states import RunState, Verdict
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
        ("length", {}, Verdict.UNGRADED, "truncated"),
        ("length", {"truncated": "grade"}, None, ""),
        ("content_filter", {}, Verdict.UNGRADED, "content filter"),
        ("content_filter", {"filtered": "fail"}, Verdict.FAIL, "content filter"),
    ],
)
async def test_an_output_that_is_no_answer_is_what_the_suite_says_whatever_scores_it(
    harness: Harness,
    scorers: str,
    kind: str,
    rules: dict[str, str],
    verdict: Verdict | None,
    reason: str,
) -> None:
    async with FakeModel(script=lambda call: Reply(kind)) as server:
        wanted = suite(server.base_url, 1, scorers=SCORERS[scorers], run=rules)
        asked = await harness.run(wanted)
        reused = await harness.run(wanted)
        await harness.again(reused, Verb.RESCORE)
        assert server.requests == 1
    for run in (asked, reused):
        (trial,) = harness.trials(run)
        if verdict is None:  # it is graded as any other
            assert trial.verdict is Verdict.PASS
            continue
        assert trial.verdict is verdict
        said = harness.sql(
            "SELECT scorer, reason FROM scores WHERE trial = ? AND current AND required", trial.id
        )
        assert [scorer for scorer, _ in said] == [
            "exact" if scorers == "one required" else "finish reason"
        ]
        assert reason in said[0][1]


async def test_a_scorer_grades_the_outputs_of_its_targets_alone(harness: Harness) -> None:
    async with FakeModel() as server:
        one = {"kind": "model", "base_url": server.base_url, "model": "fake-model"}
        scorers = [
            {"kind": "exact", "name": "of a", "expected": "never", "targets": ["a"]},
            {"kind": "exact", "name": "of all", "expected": "{{ q }}"},
        ]
        targets = [{**one, "name": name} for name in ("a", "b")]
        wanted = suite(server.base_url, 2, scorers=scorers, targets=targets)
        run = await harness.run(wanted)
    graded = harness.sql(
        "SELECT columns.name, scores.scorer, count(*) FROM scores "
        "JOIN trials ON trials.id = scores.trial "
        "JOIN columns ON columns.run = trials.run AND columns.idx = trials.col "
        "WHERE trials.run = ? GROUP BY 1, 2 ORDER BY 1, 2",
        run,
    )
    assert graded == [("a", "of a", 2), ("a", "of all", 2), ("b", "of all", 2)]
    assert [trial.verdict for trial in harness.trials(run)].count(Verdict.PASS) == 2


async def test_an_answer_of_which_nothing_is_required_passes(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 1, scorers=[]))
    (trial,) = harness.trials(run)
    assert (trial.verdict, trial.score) == (Verdict.PASS, None)


FINISH = {"kind": "finish", "expected": "stop"}


@pytest.mark.parametrize(
    ("kind", "expected", "verdict"),
    [
        ("length", "length", Verdict.PASS),
        ("length", "stop", Verdict.FAIL),
        ("content_filter", ["length", "content_filter"], Verdict.PASS),
        ("content_filter", "stop", Verdict.FAIL),
    ],
)
async def test_a_finish_scorer_grades_how_an_output_ended_that_is_no_answer(
    harness: Harness, kind: str, expected: str | list[str], verdict: Verdict
) -> None:
    scorer = {**FINISH, "expected": expected}
    async with FakeModel(script=lambda call: Reply(kind)) as server:
        run = await harness.run(suite(server.base_url, 1, scorers=[scorer]))
    (trial,) = harness.trials(run)
    assert trial.verdict is verdict


async def test_another_required_scorer_leaves_a_cut_output_ungraded_beside_finish(
    harness: Harness,
) -> None:
    both = [FINISH, {"kind": "exact", "expected": "{{ q }}"}]
    async with FakeModel(script=lambda call: Reply("length")) as server:
        run = await harness.run(suite(server.base_url, 1, scorers=both))
    (trial,) = harness.trials(run)
    assert trial.verdict is Verdict.UNGRADED
    said = harness.sql("SELECT scorer, verdict FROM scores WHERE trial = ? AND current", trial.id)
    assert sorted(said) == [("exact", "ungraded"), ("finish", "fail")]


@pytest.mark.parametrize(
    ("named", "judges", "why"),
    [
        (None, 0, "the scorer names no judge, and the suite has none"),
        (None, 2, "the scorer names no judge, and the suite has 2"),
        (["j0", "gone"], 2, 'no judge is called "gone"'),
        (["gone"], 0, 'no judge is called "gone"'),
    ],
)
async def test_a_scorer_whose_judge_is_not_there_is_ungraded_and_holds_nothing_up(
    harness: Harness, named: list[str] | None, judges: int, why: str
) -> None:
    scorer = {"kind": "judge", "name": "good", "rubric": "Is it good?", "scale": [0, 10]}
    if named is not None:
        scorer["judge"] = named
    async with FakeModel() as server:
        described = {"kind": "model", "base_url": server.base_url, "model": "fake-judge"}
        run = await harness.run(
            suite(
                server.base_url,
                2,
                scorers=[scorer],
                judges=[{**described, "name": f"j{n}"} for n in range(judges)],
            )
        )
        assert len(server.calls) == 2, "the targets are asked, and nobody else"
    assert harness.row(run).state is RunState.DONE
    assert [trial.verdict for trial in harness.trials(run)] == [Verdict.UNGRADED] * 2
    assert harness.sql("SELECT DISTINCT reason, source FROM scores") == [
        (f"not judged: {why}", "judge")
    ]
