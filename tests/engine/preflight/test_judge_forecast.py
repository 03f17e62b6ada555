from pathlib import Path
from typing import Any

import pytest

from tests.servers.fake_judge import asked
from tui_eval.engine.preflight.judge_forecast import judge_requests
from tui_eval.engine.preflight.preflight import preflight
from tui_eval.engine.settings import Settings
from tui_eval.isolated.calls import IsolatedCalls, TookTooLongError
from tui_eval.model.json import JsonObject
from tui_eval.scoring.deciding import decide
from tui_eval.suites.spec import Suite

RUBRIC: JsonObject = {
    "kind": "judge",
    "name": "clear",
    "rubric": "Is it clear?",
    "scale": [1, 5],
    "judge": ["j"],
}
REMOTE = {"kind": "model", "name": "j", "base_url": "https://x.example/v1", "model": "m"}


def suite(n: int = 10, **changes: Any) -> Suite:
    """Make a suite of n cases, one target with answers of up to 100 tokens, and one judge."""
    judge = {**REMOTE, **changes.pop("judge", {})}
    target = {
        "kind": "model",
        "name": "t",
        "base_url": "https://x.example/v1",
        "model": "m",
        "params": {"max_tokens": 100},
    }
    return Suite.model_validate(
        {
            "name": "s",
            "cases": [{"id": f"c{i}", "q": f"q{i}"} for i in range(n)],
            "prompts": [{"user": "{{ q }}"}],
            "targets": [target],
            "scorers": [RUBRIC],
            "judges": [judge],
            **changes,
        }
    )


def only(given: Suite) -> Any:
    (found,) = preflight(None, given, Settings()).judges
    return found


def test_calls_are_full_batches_for_each_repeat() -> None:
    assert only(suite(98, judge={"batch_size": 5})).calls == 20
    assert only(suite(98, judge={"batch_size": 5, "repeats": 3})).calls == 59
    assert only(suite(7, judge={"batch_size": 1})).calls == 7
    assert only(suite(4, run={"epochs": 2})).trials == 8


def test_a_jury_asks_each_of_its_judges() -> None:
    jury = suite(
        scorers=[{**RUBRIC, "judge": ["a", "b"]}],
        judges=[{**REMOTE, "name": "a"}, {**REMOTE, "name": "b", "batch_size": 10}],
    )
    found = preflight(None, jury, Settings()).judges
    assert [(one.judge, one.calls) for one in found] == [("a", 2), ("b", 1)]


def test_requirements_one_by_one_are_so_many_questions() -> None:
    lines = {"kind": "judge", "requirements": ["a", "b", "c"], "judge": ["j"]}
    assert only(suite(scorers=[lines])).calls == 2
    assert only(suite(scorers=[{**lines, "per_requirement": True}])).calls == 6


def test_what_is_large_goes_alone_and_a_budget_makes_more_batches() -> None:
    assert only(suite(judge={"token_budget": 500})).calls == 10
    assert only(suite(judge={"token_budget": 800, "batch_size": 50})).calls == 2


def test_tokens_and_cost_are_told_as_far_as_they_are_known() -> None:
    priced = only(suite(judge={"prices": {"input": 1.0, "output": 10.0}}))
    assert priced.output_tokens == 10 * 50
    assert 10 * 100 < priced.input_tokens < 10 * 100 + 10 * 60 + 2 * 500
    cost = (priced.input_tokens * 1.0 + priced.output_tokens * 10.0) / 1e6
    assert priced.cost_usd == pytest.approx(cost)
    assert only(suite()).cost_usd is None
    free = only(suite(judge={"base_url": "http://127.0.0.1:1/v1"}))
    assert free.cost_usd == 0.0
    unknown = suite(targets=[{"kind": "model", "name": "t", "provider": "ollama", "model": "m"}])
    assert "guessed at 200 tokens" in only(unknown).basis
    assert only(unknown).calls == 2


def test_a_scorer_that_does_not_apply_asks_nothing() -> None:
    some = {**RUBRIC, "when": "{{ q in ['q1', 'q2'] }}"}
    assert only(suite(scorers=[some])).trials == 2
    assert preflight(None, suite(), Settings(no_judge=True)).judges == ()
    assert preflight(None, suite(), Settings(cases=("c1",))).judges[0].trials == 1


def recorded(tmp_path: Path, *outputs: str) -> Suite:
    lines = "".join(f'{{"id": "c{i}", "output": "{one}"}}\n' for i, one in enumerate(outputs))
    (tmp_path / "said.jsonl").write_text(lines)
    target = {"kind": "replay", "name": "t", "path": str(tmp_path / "said.jsonl")}
    return suite(len(outputs), targets=[target])


def test_recorded_outputs_are_looked_at_and_empty_ones_need_no_judge(tmp_path: Path) -> None:
    found = only(recorded(tmp_path, "fine", "  ", "also fine"))
    assert (found.trials, found.by_rule, found.calls) == (3, 1, 1)
    assert found.input_tokens is not None
    requests = list(judge_requests(None, recorded(tmp_path, " ", "fine"), None))
    assert [(one.case, one.real) for one in requests] == [("c1", True)]


def test_a_pattern_that_hangs_is_searched_for_in_a_process_that_can_be_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sought = {**RUBRIC, "of": r"regex:^((\w|\w\w)*)$"}
    hangs = recorded(tmp_path, "fine", "a" * 60 + "!").model_copy(
        update={"scorers": suite(scorers=[sought]).scorers}
    )
    ended: list[object] = []

    def call(_: IsolatedCalls, seconds: float, function: object, *__: object) -> None:
        ended.append(function)
        raise TookTooLongError(seconds)

    monkeypatch.setattr(IsolatedCalls, "call", call)
    found = only(hangs)
    assert (found.trials, found.by_rule, ended) == (2, 1, [decide])
    assert [one.case for one in judge_requests(None, hangs, None)] == ["c0"]
    assert list(judge_requests(None, hangs, "c1")) == []
    assert ended == [decide, decide]


def test_a_part_of_what_is_not_there_yet_is_all_of_what_stands_for_it() -> None:
    part = suite(scorers=[{**RUBRIC, "of": "json:$.answer"}])
    assert only(part).calls == 2
    (request,) = judge_requests(None, part, "c3")
    found = asked(request.body)
    assert found is not None
    assert found["items"][0]["output"] == "(the output of t stands here)"


def test_requests_are_those_of_one_case_for_each_column_scorer_judge_and_requirement() -> None:
    lines = {"kind": "judge", "name": "l", "requirements": ["a", "b"], "per_requirement": True}
    both = suite(
        prompts=[{"name": "p", "user": "{{ q }}"}, {"name": "r", "user": "So: {{ q }}"}],
        scorers=[RUBRIC, {**lines, "judge": ["j"]}],
        run={"epochs": 3},
    )
    found = [(one.column, one.scorer, one.case) for one in judge_requests(None, both, None)]
    one_column = ["clear", "l", "l"]
    assert found == [(column, scorer, "c0") for column in ("t/p", "t/r") for scorer in one_column]
    assert list(judge_requests(None, both, "nowhere")) == []


def test_what_is_asked_in_bulk_is_priced_so_and_gold_and_the_audit_are_not() -> None:
    known = {"provider": "openai", "model": "gpt-4o-mini", "base_url": None}
    for more in ({}, {"audit": 0.1}):
        live, bulk = (only(suite(judge={**known, **more, "bulk": bulk})) for bulk in (False, True))
        assert live.cost_usd is not None
        assert bulk.cost_usd is not None
        assert (bulk.calls, bulk.all_calls) == (live.calls, live.all_calls)
        half = live.cost_usd / 2
        assert bulk.cost_usd == pytest.approx(half) if not more else half < bulk.cost_usd
        assert bulk.cost_usd < live.cost_usd
