"""Edited scorers are tried on stored outputs; nothing is recorded, without API calls."""

from collections.abc import Iterator
from typing import Any

from tests.engine.harness import RUBRIC, Harness, judged, suite
from tests.servers.fake_judge import answers, by_number
from tests.servers.fake_model import FakeModel
from tui_eval.engine.control.changed_scorers import edited, edits
from tui_eval.engine.control.tryout import TryoutProgress, tryout
from tui_eval.engine.control.verdict_change import VerdictChange
from tui_eval.model.json import JsonObject
from tui_eval.model.states import Verdict
from tui_eval.store.connection import open_readable
from tui_eval.store.read import suite_queries
from tui_eval.store.requests import Verb
from tui_eval.suites.spec import Suite

EXACT: JsonObject = {"kind": "exact", "name": "exact", "expected": "{{ q }}"}


def tried(harness: Harness, run: int, args: JsonObject) -> list[VerdictChange | TryoutProgress]:
    def found() -> Iterator[VerdictChange | TryoutProgress]:
        db = open_readable(harness.path)
        try:
            frozen = Suite.model_validate_json(suite_queries.spec(db, run))
            changed = edited(frozen, args)
            yield from tryout(db, run, changed, edits(frozen, changed))
        finally:
            db.close()

    return list(found())


async def test_what_is_tried_is_what_a_rescore_then_gives(harness: Harness) -> None:
    args: JsonObject = {
        "scorer_specs": [{**EXACT, "expected": "{{ q | replace('1', 'x') }}"}],
        "judge_specs": [],
    }
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 12))
        before = harness.sql("SELECT * FROM scores")
        *flips, last = tried(harness, run, args)
        assert harness.sql("SELECT * FROM scores") == before
        asked = server.requests
        await harness.again(run, Verb.RESCORE, which="all", **args)
        assert server.requests == asked
    assert last == TryoutProgress(outputs=12)
    assert [flip.case_id for flip in flips if isinstance(flip, VerdictChange)] == [
        "c1",
        "c10",
        "c11",
    ]
    assert all(flip.would is Verdict.FAIL for flip in flips if isinstance(flip, VerdictChange))
    failed = [trial.case_id for trial in harness.trials(run) if trial.verdict is Verdict.FAIL]
    assert failed == ["c1", "c10", "c11"]


async def test_new_and_gone_scorers_count_and_a_judge_is_left_to_be_asked(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 8))
        now: Any = Suite.model_validate_json(
            str(harness.sql("SELECT spec FROM runs")[0][0])
        ).model_dump(mode="json")
        asked = server.requests
        never: JsonObject = {**EXACT, "name": "never", "expected": "no"}
        args: JsonObject = {
            "scorer_specs": [*now["scorers"], never],
            "judge_specs": now["judges"],
        }
        passed = sum(trial.verdict is Verdict.PASS for trial in harness.trials(run))
        *flips, last = tried(harness, run, args)
        assert (len(flips), last) == (passed, TryoutProgress(outputs=8))
        assert passed
        args = {"scorer_specs": [EXACT], "judge_specs": []}
        *_, last = tried(harness, run, args)
        assert last == TryoutProgress(outputs=8)
        judges: Any = [{**now["judges"][0], "model": "another"}]
        args = {"scorer_specs": now["scorers"], "judge_specs": judges}
        assert tried(harness, run, args) == [TryoutProgress(outputs=8, judged=8, judge_calls=2)]
        assert server.requests == asked


async def test_what_judges_have_said_is_taken_and_its_flips_are_known(harness: Harness) -> None:
    async with FakeModel(answers(by_number)) as server:
        run = await harness.run(judged(server.base_url, server.base_url, 10))
        asked = server.requests
        args: JsonObject = {"scorer_specs": [{**RUBRIC, "pass_at": 8}]}
        *flips, last = tried(harness, run, args)
        assert server.requests == asked
    assert [flip.case_id for flip in flips if isinstance(flip, VerdictChange)] == ["c5", "c6", "c7"]
    assert last == TryoutProgress(outputs=10)


async def test_what_cannot_be_rendered_is_counted_and_told(harness: Harness) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 3))
    args: JsonObject = {"scorer_specs": [{**EXACT, "expected": "{{ gone }}"}], "judge_specs": []}
    (last,) = tried(harness, run, args)
    assert isinstance(last, TryoutProgress)
    assert (last.outputs, last.broken) == (3, 3)
    assert "gone" in str(last.problem)
