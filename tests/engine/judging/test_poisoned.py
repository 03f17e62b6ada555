"""A judge that refuses, or answers with nonsense, wherever it is asked about one output."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.engine.harness import RUBRIC, Harness, suite
from tests.servers.fake_judge import answers, asked, by_number
from tests.servers.fake_model import Call, FakeModel, Reply, refuse
from tui_eval.model.states import RunState, Verdict
from tui_eval.store.read.judges.judge_figures import JudgeFigures, judge_figures

POISON = {
    "refused": refuse(400, "content_filter", "flagged by the content policy"),
    "broken": refuse(500),
    "nonsense": Reply(text="As a judge I would rather say nothing of it."),
    "of another request": Reply(text='{"nonce": "n0nce", "grades": [{"id": "k1", "score": 10}]}'),
}
poisoned = pytest.mark.parametrize("kind", POISON)


def where(
    kind: str, about: Callable[[dict[str, Any], list[dict[str, Any]]], bool]
) -> Callable[[Call], Reply | None]:
    """Poison the requests to a judge that something holds of: their body and their items."""

    def script(call: Call) -> Reply | None:
        request = asked(call.body)
        return POISON[kind] if request and about(call.body, request["items"]) else None

    return script


def figures(harness: Harness, run: int) -> JudgeFigures:
    (found,) = harness._read(judge_figures, run)
    return found


def ungraded(harness: Harness, run: int) -> list[str]:
    assert harness.row(run).state is RunState.DONE
    return [one.case_id for one in harness.trials(run) if one.verdict is Verdict.UNGRADED]


def described(url: str, **changes: Any) -> dict[str, Any]:
    return {"kind": "model", "name": "j", "base_url": url, "model": "m", "retries": 1} | changes


@poisoned
async def test_gold_costs_the_one_row_and_the_run_goes_on(harness: Harness, kind: str) -> None:
    gold = [{"input": f"x{n}", "output": f"x{n}", "grade": n} for n in range(10)]
    script = where(kind, lambda _, items: any(item["output"] == "x3" for item in items))
    async with FakeModel(answers(by_number), script=script) as server:
        made = suite(
            server.base_url, 5, scorers=[RUBRIC], judges=[described(server.base_url, gold=gold)]
        )
        run = await harness.run(made)
    assert ungraded(harness, run) == []
    found = figures(harness, run).gold
    assert found is not None
    assert (found.n, found.ungraded, found.agreement) == (9, 1, 1.0)
    assert [(one.input, one.judge) for one in found.differences] == [("x3", "ungraded")]


@poisoned
async def test_an_audit_is_of_the_others_and_takes_no_grade_away(
    harness: Harness, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    monkeypatch.setattr("tui_eval.engine.limits.call_permit.LAST_ONES_S", 1.0)
    script = where(kind, lambda _, items: [item["output"] for item in items] == ["q3"])
    async with FakeModel(answers(by_number), script=script) as server:
        made = suite(
            server.base_url, 10, scorers=[RUBRIC], judges=[described(server.base_url, audit=0.1)]
        )
        run = await harness.run(made)
    assert ungraded(harness, run) == []
    audit = figures(harness, run).audit
    assert audit is not None
    assert (audit.n, audit.flips_batched) == (9, 0)


@poisoned
async def test_a_jury_lacks_one_voice_about_one_output(harness: Harness, kind: str) -> None:
    script = where(
        kind,
        lambda body, items: body["model"] == "b" and any(item["output"] == "q3" for item in items),
    )
    async with FakeModel(answers(by_number), script=script) as server:
        judges = [described(server.base_url, name=name, model=name) for name in "abc"]
        scorer = {**RUBRIC, "judge": ["a", "b", "c"]}
        run = await harness.run(suite(server.base_url, 10, scorers=[scorer], judges=judges))
    assert set(ungraded(harness, run)) <= {"c3"}
    given = harness.sql("SELECT judge, count(*) FROM findings WHERE problem IS NULL GROUP BY judge")
    assert given == [("a", 10), ("b", 9), ("c", 10)]


@poisoned
async def test_of_requirements_asked_one_by_one_one_is_missing_of_one_output(
    harness: Harness, kind: str
) -> None:
    def met(item: Any) -> dict[str, Any]:
        return {"requirements": [{**entry, "met": True} for entry in item["requirements"]]}

    def first_of_q3(_: dict[str, Any], items: list[dict[str, Any]]) -> bool:
        return any(
            item["output"] == "q3" and item["requirements"][0]["requirement"] == 1 for item in items
        )

    scorer = {"kind": "judge", "name": "r", "requirements": ["a", "b"], "per_requirement": True}
    scorer["judge"] = ["j"]
    async with FakeModel(answers(met), script=where(kind, first_of_q3)) as server:
        run = await harness.run(
            suite(server.base_url, 5, scorers=[scorer], judges=[described(server.base_url)])
        )
    assert ungraded(harness, run) == ["c3"]
    given = harness.sql("SELECT count(*) FROM findings WHERE problem IS NULL")
    assert given == [(9,)], "the other requirement of it is kept"
