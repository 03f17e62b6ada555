from pathlib import Path

import pytest

from tests.reports.filled import (
    CANCELLED,
    ERROR,
    FAIL,
    OPEN,
    UNGRADED,
    Plan,
    Told,
    cases,
    fill,
    filled,
)
from tests.support import reading
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.states import RunState
from tui_eval.reports.document import document

WRONG = Told(FAIL)
CUT = Told(UNGRADED, finish_reason="length")


def made(tmp_path: Path, plan: Plan) -> JsonObject:
    with filled(tmp_path / "store.db", plan) as (db, run):
        return document(db, run)


def at(value: Json, *path: str) -> Json:
    for step in path:
        assert isinstance(value, dict)
        value = value[step]
    return value


def test_the_document_has_the_fields_of_the_contract(tmp_path: Path) -> None:
    told = [Told(attempts=3), Told(), WRONG, CUT, ERROR, CANCELLED]
    got = made(tmp_path, Plan({"gpt": told}, cases(6, tags=("europe",))))
    run, created_at, wall_s = got.pop("run"), got.pop("created_at"), got.pop("wall_s")
    assert str(run).startswith("capitals-")
    assert isinstance(created_at, float)
    assert isinstance(wall_s, float)
    exact = {"n": 3, "passed": 2, "failed": 1, "ungraded": 1, "mean": 0.666667}
    assert got == {
        "suite": "capitals",
        "label": None,
        "state": "done",
        "stopped_by": None,
        "kind": "run",
        "sweep": None,
        "bulk": [],
        "reason": None,
        "exit_code": 3,
        "partial": False,
        "dataset": None,
        "parts": None,
        "counts": {
            "total": 6,
            "queued": 0,
            "running": 0,
            "scoring": 0,
            "done": 4,
            "error": 1,
            "cancelled": 1,
            "passed": 2,
            "failed": 1,
            "ungraded": 1,
        },
        "targets": {
            "gpt": {
                "model": "model-0",
                "prompt": None,
                "kind": "simulated",
                "version": None,
                "n": 3,
                "cases": 6,
                "cases_rated": 3,
                "cases_left_out": 3,
                "passed": 2,
                "failed": 1,
                "errors": 1,
                "left_out": {"error": 1, "cancelled": 1, "ungraded": 1},
                "pass_rate": 0.666667,
                "pass_rate_ci95": [0.20766, 0.938508],
                "pass_rate_if_left_out": [0.333333, 0.833333],
                "mean_score": 0.666667,
                "stderr": 0.333333,
                "stderr_clustered": None,
                "clusters": None,
                "reduced": {},
                "corrected": None,
                "by_hand": 0,
                "cut_short": 1,
                "filtered": 0,
                "latency_s": {"p50": 0.5, "p95": 0.5},
                "tokens": {"input": 40, "output": 20},
                "cost_usd": None,
                "cost_about_usd": None,
                "vs_baseline": None,
            }
        },
        "scorers": {
            "exact": {
                **exact,
                "targets": {"gpt": {**exact, "pass_rate": 0.666667, "reduced": {}}},
            }
        },
        "tags": {
            "europe": {
                "n": 3,
                "passed": 2,
                "failed": 1,
                "ungraded": 1,
                "error": 1,
                "targets": {"gpt": at(got, "tags", "europe", "targets", "gpt")},
            }
        },
        "requests": {
            "target": 7,
            "target_retries": 2,
            "target_lost": 0,
            "judge": 0,
            "judge_lost": 0,
            "judge_items": 0,
            "user": 0,
            "cached_outputs": 0,
            "cached_scores": 0,
        },
        "judges": {},
        "cost_usd": {
            "target": None,
            "judge": None,
            "total": None,
            "target_known": 0.004,
            "target_about": None,
            "judge_about": None,
            "user": None,
            "user_about": None,
            "target_expected": None,
        },
        "caps": {"max_cost_usd": None, "max_tokens": None, "max_errors": None},
        "throughput": {"answered": 4, "answers_s": None},
        "programs": None,
        "gate": None,
        "baseline": None,
        "errors": [
            {
                "kind": "timeout",
                "message": "no answer within 300 s",
                "n": 1,
                "targets": {"gpt": 1},
            }
        ],
    }


def test_unknown_money_is_null_and_never_zero(tmp_path: Path) -> None:
    got = made(tmp_path, Plan({"gpt": [Told(), Told(cost_usd=None)]}, cases(2)))
    assert at(got, "targets", "gpt", "cost_usd") is None
    assert at(got, "cost_usd", "target") is None


def test_targets_are_keyed_by_target_and_prompt(tmp_path: Path) -> None:
    got = made(tmp_path, Plan({"gpt/terse": [Told()], "gpt/cot": [WRONG]}, cases(1)))
    targets = at(got, "targets")
    assert isinstance(targets, dict)
    assert list(targets) == ["gpt/terse", "gpt/cot"]
    assert at(targets, "gpt/terse", "prompt") == "terse"
    assert at(targets, "gpt/cot", "pass_rate") == 0.0


def test_while_a_run_goes_on_there_is_a_rate_but_no_interval(tmp_path: Path) -> None:
    told = [Told(), WRONG, OPEN]
    got = made(tmp_path, Plan({"gpt": told}, cases(3), state=RunState.RUNNING))
    assert at(got, "state") == "running"
    assert at(got, "exit_code") is None
    assert at(got, "targets", "gpt", "pass_rate") == 0.5
    assert at(got, "targets", "gpt", "pass_rate_ci95") is None
    assert at(got, "counts", "queued") == 1


def test_with_epochs_the_case_is_the_cluster(tmp_path: Path) -> None:
    # the first case passes twice, the second once, the last never: three values, not six
    told = [Told(), Told(), Told(), WRONG, WRONG, WRONG]
    got = made(tmp_path, Plan({"gpt": told}, cases(3), epochs=2))
    target = at(got, "targets", "gpt")
    assert at(target, "n") == 6
    assert at(target, "pass_rate") == 0.5
    # s = ½, so the error is ½/√3 = 0.288675, and 0.5 ± 1.96 of it leaves 0..1
    assert at(target, "stderr") == 0.288675
    assert at(target, "pass_rate_ci95") == [0.0, 1.0]


def test_a_reduction_to_zero_or_one_has_wilsons_interval_over_cases(tmp_path: Path) -> None:
    told = [Told(), WRONG] * 10
    plan = Plan({"gpt": told}, cases(10), epochs=2, run={"reduce": "max"})
    target = at(made(tmp_path, plan), "targets", "gpt")
    assert at(target, "pass_rate") == 1.0
    assert at(target, "pass_rate_ci95") == [0.722467, 1.0]
    assert at(target, "n") == 20


@pytest.mark.parametrize(("reduce", "rate"), [("pass@2", 5 / 6), ("pass^2", 1 / 6)])
def test_pass_at_k_and_pass_hat_k_are_means_over_cases(
    tmp_path: Path, reduce: str, rate: float
) -> None:
    # 2 of 4 epochs pass: 1 − C(2,2)/C(4,2) = 5/6 and C(2,2)/C(4,2) = 1/6
    plan = Plan({"g": [Told(), Told(), WRONG, WRONG]}, cases(1), epochs=4, run={"reduce": reduce})
    got = made(tmp_path, plan)
    assert at(got, "targets", "g", "pass_rate") == pytest.approx(rate, abs=1e-6)


def test_errors_count_as_failed_where_the_suite_says_so(tmp_path: Path) -> None:
    told = [Told(), Told(), Told(), ERROR]
    got = made(tmp_path, Plan({"gpt": told}, cases(4), run={"errors": "fail"}))
    target = at(got, "targets", "gpt")
    assert at(target, "pass_rate") == 0.75
    assert at(target, "n") == 4
    assert at(target, "errors") == 1
    assert at(target, "left_out", "error") == 0
    assert at(got, "counts", "error") == 1
    assert at(got, "counts", "failed") == 0


def test_weights_of_cases_weigh_the_rate(tmp_path: Path) -> None:
    heavy, light = cases(2)
    heavy = type(heavy)(0, "heavy", {}, weight=3.0)
    got = made(tmp_path, Plan({"gpt": [Told(), WRONG]}, [heavy, light]))
    assert at(got, "targets", "gpt", "pass_rate") == 0.75


def test_below_one_percent_left_out_there_is_no_range(tmp_path: Path) -> None:
    told = [Told()] * 100 + [ERROR]
    got = made(tmp_path, Plan({"gpt": told}, cases(101)))
    assert at(got, "targets", "gpt", "pass_rate_if_left_out") is None


def test_a_run_whose_engine_has_gone_is_interrupted(tmp_path: Path) -> None:
    plan = Plan({"gpt": [Told(), OPEN]}, cases(2), state=RunState.RUNNING)
    run = fill(tmp_path / "store.db", plan)
    import sqlite3

    with sqlite3.connect(tmp_path / "store.db") as writing:
        writing.execute("UPDATE runs SET lease_birth = 1")  # another process had that id
    writing.close()
    with reading(tmp_path / "store.db") as db:
        got = document(db, run)
    assert at(got, "state") == "interrupted"
    assert at(got, "exit_code") == 130


@pytest.mark.parametrize(
    ("told", "gate", "code"),
    [
        ([Told(), WRONG], None, 0),
        ([Told(), ERROR], None, 3),
        ([Told(), CUT], None, 3),
        ([Told(), CANCELLED], None, 0),
        ([Told(), WRONG], {"pass_rate": 0.5}, 0),
        ([Told(), WRONG], {"pass_rate": 0.51}, 1),
        ([WRONG, ERROR], {"pass_rate": 0.5}, 1),
        ([Told(), ERROR], {"pass_rate": 0.5}, 3),
        ([Told(), ERROR], {"max_error_rate": 0.5}, 0),
        ([Told(), ERROR], {"max_error_rate": 0.4}, 1),
        ([Told(), CUT], {"max_error_rate": 0.5}, 3),
        ([Told(), CUT], {"max_ungraded_rate": 0.5}, 0),
        ([Told(), ERROR], {"targets": {"gpt": {"max_error_rate": 0.5}}}, 0),
        ([Told(), ERROR], {"targets": {"other": {"max_error_rate": 0.5}}}, 3),
        ([CANCELLED, CANCELLED], {"pass_rate": 0.1}, 1),
        ([Told(), WRONG], {"max_p95_latency_s": 0.4}, 1),
        ([Told(), WRONG], {"max_cost_usd": 0.002}, 0),
        ([Told(), WRONG], {"max_cost_usd": 0.0019}, 1),
        ([Told(cost_usd=None)], {"max_cost_usd": 1.0}, 1),
        ([Told(), WRONG], {"scorers": {"exact": {"mean_score": 0.6}}}, 1),
        ([Told(), WRONG], {"tags": {"europe": {"pass_rate": 0.6}}}, 1),
        ([Told(), WRONG], {"tags": {"europe": {"max_cost_usd": 0.001}}}, 1),
        ([Told(), ERROR], {"tags": {"europe": {"max_cost_usd": 9.0}}}, 1),
        ([Told(), WRONG], {"tags": {"asia": {"pass_rate": 0.1}}}, 1),
    ],
)
def test_exit_codes_follow_the_table(
    tmp_path: Path, told: list[Told], gate: dict[str, object] | None, code: int
) -> None:
    got = made(tmp_path, Plan({"gpt": told}, cases(len(told), tags=("europe",)), gate=gate))
    assert at(got, "exit_code") == code


def test_a_gate_holds_for_each_target_and_names_what_does_not(tmp_path: Path) -> None:
    plan = Plan(
        {"good": [Told(), Told()], "bad": [Told(), WRONG]},
        cases(2),
        gate={"pass_rate": 0.9, "targets": {"good": {"mean_score": 0.9}}},
    )
    gate = at(made(tmp_path, plan), "gate")
    assert at(gate, "holds") is False
    assert at(gate, "failed") == [
        {
            "target": "bad",
            "group": None,
            "threshold": "pass_rate",
            "limit": 0.9,
            "got": 0.5,
            "message": "bad: pass_rate wants at least 90%, it is 50%",
        }
    ]


def test_a_targets_own_threshold_wins(tmp_path: Path) -> None:
    gate: dict[str, object] = {"pass_rate": 0.9, "targets": {"gpt": {"pass_rate": 0.4}}}
    got = made(tmp_path, Plan({"gpt": [Told(), WRONG]}, cases(2), gate=gate))
    assert at(got, "gate") == {"holds": True, "failed": [], "baseline": {}}


def test_a_partial_run_is_not_judged_by_what_it_left_out(tmp_path: Path) -> None:
    gate: dict[str, object] = {"tags": {"asia": {"pass_rate": 0.1}}}
    got = made(tmp_path, Plan({"gpt": [Told()]}, cases(1), gate=gate, partial=True))
    assert at(got, "gate", "holds") is True


def test_a_gate_says_nothing_before_the_run_has_finished(tmp_path: Path) -> None:
    plan = Plan(
        {"gpt": [Told(), OPEN]}, cases(2), gate={"pass_rate": 0.5}, state=RunState.INTERRUPTED
    )
    assert at(made(tmp_path, plan), "gate") == {"holds": None, "failed": [], "baseline": {}}
