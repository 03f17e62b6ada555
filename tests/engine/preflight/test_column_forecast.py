import sqlite3
from pathlib import Path

import pytest

from tests.reports.filled import Plan, Told, cases, filled
from tui_eval.engine.preflight.column_forecast import ColumnForecast, column_forecasts
from tui_eval.model.case import Column
from tui_eval.suites.spec import Suite
from tui_eval.suites.survey import template_check
from tui_eval.suites.survey.template_check import Survey

SCORER = {"kind": "exact", "expected": "x"}
PRICES = {"input": 1.0, "output": 10.0}
COLUMN = Column(0, "gpt", "gpt", None)


def suite(**target: object) -> Suite:
    asked = {"kind": "model", "name": "gpt", "model": "m", **target}
    return Suite.model_validate({"name": "capitals", "targets": [asked], "scorers": [SCORER]})


def of_calls(db: sqlite3.Connection | None, asked: Suite, calls: int) -> list[ColumnForecast]:
    survey = Survey(100, (COLUMN,), 1, (), (), {"gpt": 1000})
    return column_forecasts(db, asked, survey, {"gpt": calls})


def test_what_an_earlier_run_answered_is_expected_again(tmp_path: Path) -> None:
    asked = suite(base_url="https://x.example/v1", prices=PRICES)
    with filled(tmp_path / "store.db", Plan({"gpt": [Told()] * 3}, cases(3))) as (db, _):
        (found,) = of_calls(db, asked, 50)
    assert (found.input_tokens, found.output_tokens, found.at_most) == (500, 250, False)
    assert found.cost_usd == pytest.approx((500 * 1.0 + 250 * 10.0) / 1e6)


def test_without_an_earlier_run_the_requests_limit_is_the_most() -> None:
    asked = suite(base_url="https://x.example/v1", params={"max_tokens": 8}, prices=PRICES)
    (found,) = of_calls(None, asked, 100)
    assert (found.output_tokens, found.at_most) == (800, True)


def test_what_nobody_knows_stays_unknown() -> None:
    asked = suite(base_url="https://x.example/v1")
    (found,) = of_calls(None, asked, 100)
    assert (found.output_tokens, found.cost_usd) == (None, None)


def test_this_machine_costs_nothing() -> None:
    asked = suite(base_url="http://127.0.0.1:1/v1")
    (found,) = of_calls(None, asked, 100)
    assert found.cost_usd == 0.0


def test_recordings_ask_nobody() -> None:
    target = {"kind": "replay", "name": "gpt", "path": "x.jsonl"}
    replay = Suite.model_validate({"name": "c", "targets": [target], "scorers": [SCORER]})
    (found,) = of_calls(None, replay, 100)
    assert found.asks_nobody
    assert found.cost_usd == 0.0


def test_a_conversation_makes_a_call_a_turn_and_sends_replies_again() -> None:
    asked = suite(base_url="https://x.example/v1", params={"max_tokens": 8})
    survey = Survey(100, (COLUMN,), 1, (), (), {"gpt": 1000}, calls={"gpt": 300})
    (found,) = column_forecasts(None, asked, survey, {"gpt": 50})
    assert (found.calls, found.output_tokens) == (150, 50 * 3 * 8)
    assert found.input_tokens == 500 + 50 * (8 + 16), "the second call has one reply, the third two"


def test_turns_are_counted_case_by_case() -> None:
    talk = Suite.model_validate(
        {
            "name": "talk",
            "cases": [{"id": "a", "said": ["a", "b", "c"]}, {"id": "b", "said": ["d"]}],
            "prompts": [{"turns": "{{ said }}"}],
            "targets": [{"kind": "model", "name": "gpt", "model": "m"}],
            "scorers": [SCORER],
        }
    )
    assert template_check.survey(talk).calls == {"gpt": 4}
