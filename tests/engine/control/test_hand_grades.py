"""Grades by hand as requests: of a live run by its engine, of any other by whoever asks."""

from typing import Any

import pytest

from tests.engine.harness import Harness, suite
from tests.servers.fake_model import FakeModel, hangs
from tests.waiting import until
from tui_eval.engine.control import hand_grades
from tui_eval.engine.control.hand_grades import HandGrade, hand_score, request_args
from tui_eval.engine.control.submit import ask
from tui_eval.model.json import JsonObject
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.reports.document import document
from tui_eval.store.requests import Verb
from tui_eval.store.rows import TrialRow

FAILS = Grade(Verdict.FAIL, None, "a person's verdict")


def failing(*trials: TrialRow) -> JsonObject:
    """Give a request by which a person fails trials."""
    score = hand_score("exact", FAILS, by="anna", given="fail", note="", weight=1, required=True)
    return request_args([HandGrade(one.id, one.output or 0, "exact", score) for one in trials])


async def test_of_a_live_run_its_engine_does_it_and_takes_it_back(harness: Harness) -> None:
    async with (
        FakeModel(script=hangs("q1")) as server,
        harness.working(suite(server.base_url, 2, gate={"pass_rate": 1})) as (run, _),
    ):
        await until(lambda: harness.counts(run).done == 1)
        done, hanging = harness.trial(run, "c0"), harness.trial(run, "c1")
        answer = await harness.asked(run, Verb.GRADE, **failing(done))
        assert (answer.outcome, answer.detail) == ("accepted", "1 trial")
        assert harness.trial(run, "c0").verdict is Verdict.FAIL
        assert harness.counts(run).failed == 1
        again = await harness.asked(run, Verb.GRADE, **failing(done))
        assert (again.outcome, again.detail) == ("already", "it has that grade by hand already")
        early = await harness.asked(run, Verb.GRADE, **failing(hanging))
        assert (early.outcome, early.detail) == ("too-early", "it is not scored yet")
        back = await harness.asked(run, Verb.WITHDRAW, request=answer.id)
        assert back.outcome == "accepted"
        assert harness.trial(run, "c0").verdict is Verdict.PASS
        await harness.asked(run, Verb.GRADE, **failing(done))
        await harness.asked(run, Verb.CANCEL, trials=[hanging.id])
    whole: Any = harness._read(document, run)
    assert whole["gate"]["holds"] is False
    assert whole["targets"]["fake"]["by_hand"] == 1


async def test_of_a_run_that_has_ended_the_asker_does_it_and_no_rescore_replaces_it(
    harness: Harness,
) -> None:
    async with FakeModel() as server:
        run = await harness.run(suite(server.base_url, 3))
    trial = harness.trial(run, "c0")
    graded = harness.request(ask(harness.path, run, Verb.GRADE, failing(trial)))
    assert graded.outcome == "accepted"
    assert (await harness.again(run, Verb.RESCORE, which="all")).outcome == "accepted"
    assert (harness.counts(run).passed, harness.counts(run).failed) == (2, 1)
    late = harness.request(ask(harness.path, run, Verb.WITHDRAW, {"request": graded.id}))
    assert late.outcome == "closed"  # the rescore came after it
    withdrawn = request_args([HandGrade(trial.id, trial.output or 0, "exact", None)])
    assert harness.request(ask(harness.path, run, Verb.GRADE, withdrawn)).outcome == "accepted"
    assert harness.counts(run).passed == 3
    anew = {row[0] for row in harness.sql("SELECT source FROM scores WHERE current = 1")}
    assert anew == {"code"}


@pytest.mark.parametrize(
    "args", [{}, {"grades": []}, {"grades": [{"trial": 1}]}, {"grades": ["x"]}]
)
def test_a_request_that_cannot_be_read_says_so(args: JsonObject) -> None:
    with pytest.raises(ValueError, match="grade"):
        hand_grades.read(args)
