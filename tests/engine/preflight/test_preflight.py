"""What a launch would do, column by column, and what is refused or warned of before it."""

import json
from typing import Any

import pytest

from tests.engine.harness import Harness, suite
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import FakeModel
from tui_eval.engine.preflight.preflight import Depth, Preflight, preflight
from tui_eval.engine.settings import Settings
from tui_eval.suites.spec import Suite

NOWHERE = "http://127.0.0.1:9/v1"


def model(name: str, url: str = NOWHERE, **more: Any) -> dict[str, Any]:
    return {"kind": "model", "name": name, "base_url": url, "model": name, **more}


def looked(harness: Harness, made: Suite, settings: Settings | None = None) -> Preflight:
    return harness._read(preflight, made, settings or Settings())


async def test_a_new_target_is_forecast_alone_where_the_other_is_in_the_store(
    harness: Harness,
) -> None:
    prices = {"input": 1.0, "output": 10.0}
    async with FakeModel() as server:
        old = model("old", server.base_url, prices=prices, params={"max_tokens": 10})
        await harness.run(suite(server.base_url, 4, targets=[old]))
        new = model("new", server.base_url, prices=prices, params={"max_tokens": 1000})
        found = looked(harness, suite(server.base_url, 4, targets=[old, new]))
    assert found.work is not None
    counts = found.work.columns
    assert (counts["old"].reusable, counts["old"].calls) == (4, 0)
    assert (counts["new"].new, counts["new"].calls) == (4, 4)
    assert {one.column: one.calls for one in found.targets} == {"old": 0, "new": 4}
    costs = {one.column: (one.output_tokens, one.cost_usd) for one in found.targets}
    assert costs["old"] == (0, 0.0)
    assert costs["new"][0] == 4000


async def test_judges_are_forecast_for_the_cases_that_the_launch_chose(harness: Harness) -> None:
    scorer = {"kind": "judge", "name": "good", "rubric": "Is it?", "scale": [0, 10], "judge": ["j"],
              "required": False}  # fmt: skip
    wrong = {"kind": "exact", "expected": "q1", "name": "is-q1"}
    async with FakeModel() as server, FakeModel(answers(by_number)) as judging:
        judges = [{"kind": "model", "name": "j", "base_url": judging.base_url, "model": "j"}]
        made = suite(server.base_url, 4, scorers=[wrong, scorer], judges=judges)
        await harness.run(made)
        cases = [{"id": f"c{i}", "q": f"q{i}", "extra": "x"} for i in range(4)]
        edited = suite(
            server.base_url, 0, cases=cases, scorers=[wrong, {**scorer, "rubric": "Was it?"}],
            judges=judges,
        )  # fmt: skip
        (of_failed,) = looked(harness, edited, Settings(only="failed")).judges
        (of_all,) = looked(harness, edited).judges
    assert (of_failed.trials, of_all.trials) == (3, 4)


def test_all_that_is_refused_is_said_at_once(harness: Harness) -> None:
    made = suite(NOWHERE, 3)
    wanted = Settings(targets=("fade",), cases=("c1", "c9"), tags=("hard",))
    assert preflight(None, made, wanted, Depth.READ).refused == (
        "no target is called 'fade'; did you mean 'fake'?",
        "no case is called 'c9'; there are c1, c0, c2",
        "no tag is called 'hard'",
    )
    (nobody,) = preflight(None, made, Settings(only="errors"), Depth.READ).refused
    assert nobody == "no case of echo errored when last run"


def test_each_depth_says_the_same_of_mistakes_refusals_and_warnings() -> None:
    odd = suite(NOWHERE, 0, cases=[{"id": "a", "q": "x", "output": "y"}], scorers=[])
    for depth in Depth:
        found = preflight(None, odd, Settings(), depth)
        assert found.may_start
        assert [one.partition(" ")[0] for one in found.warnings] == ["the", "nothing"]
        assert '"output" has a name that templates may use' in found.warnings[0]
        assert preflight(None, odd, Settings(tags=("t",)), depth).refused
    unknown = suite(NOWHERE, 1, prompts=[{"user": "{{ question }}"}])
    for depth in Depth:
        (mistake,) = preflight(None, unknown, Settings(), depth).mistakes
        assert "question" in mistake.message


@pytest.mark.parametrize(
    ("second", "same"),
    [({}, True), ({"batch_size": 2}, True), ({"instructions": "Be kind."}, False)],
)
def test_judges_of_a_jury_that_are_one_are_told(second: dict[str, Any], same: bool) -> None:
    scorer = {"kind": "judge", "name": "good", "rubric": "Is it?", "scale": [0, 10]}
    judges = [model("strict"), {**model("kind"), "model": "strict", **second}]
    jury = {**scorer, "judge": ["strict", "kind"]}
    made = suite(NOWHERE, 1, scorers=[jury], judges=judges)
    found = preflight(None, made, Settings(), Depth.READ)
    told = [one for one in found.warnings if "counts as both" in one]
    assert bool(told) is same, told
    assert all('scorer "good": judges "strict" and "kind"' in one for one in told)


def test_only_what_was_looked_at_is_there() -> None:
    made = suite(NOWHERE, 2)
    read, rendered, counted = (preflight(None, made, Settings(), depth) for depth in Depth)
    assert (read.work, read.targets) == (None, ())
    assert rendered.work is None
    assert [one.calls for one in rendered.targets] == [2]
    assert counted.work is not None
    assert json.dumps(counted.work.kinds()) == '"0 reusable \\u00b7 0 stale \\u00b7 2 new"'
