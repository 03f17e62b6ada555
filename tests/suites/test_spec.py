import re

import pytest
from pydantic import ValidationError

from tui_eval.model.reduction import Reduce, parse_reduce
from tui_eval.suites.spec import (
    FAULT_KINDS,
    Dataset,
    Gate,
    ModelTargetSpec,
    ReplayTargetSpec,
    RunSettings,
    SimulatedTargetSpec,
    Suite,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mean", Reduce("mean")),
        ("max", Reduce("max")),
        ("majority", Reduce("majority")),
        ("at_least_2", Reduce("at_least", 2)),
        ("pass@10", Reduce("pass@", 10)),
        ("pass^3", Reduce("pass^", 3)),
    ],
)
def test_a_reduction_is_read(text: str, expected: Reduce) -> None:
    assert parse_reduce(text) == expected
    assert RunSettings(reduce=text).reduction == expected


@pytest.mark.parametrize("text", ["", "median", "at_least_k", "at_least_0", "pass@", "pass@-1"])
def test_what_is_no_reduction_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="must be mean, max, majority"):
        parse_reduce(text)


def test_of_several_reductions_the_first_decides() -> None:
    run = RunSettings.model_validate({"reduce": ["pass@2", "mean"]})
    assert run.reduction == Reduce("pass@", 2)
    assert [one.name for one in run.reductions] == ["pass@2", "mean"]
    assert RunSettings.model_validate_json(run.model_dump_json()) == run


@pytest.mark.parametrize(
    ("named", "why"),
    [
        ([], "must name at least one reducer"),
        (["mean", "mean"], '"mean" stands there twice'),
        (["mean", "median"], "must be mean, max, majority"),
        ([1], "or a list of these; not 1"),
    ],
)
def test_a_list_of_reductions_that_cannot_be_is_refused(named: list[object], why: str) -> None:
    with pytest.raises(ValidationError, match=re.escape(why)):
        RunSettings.model_validate({"reduce": named})


def test_nothing_can_be_changed_once_it_is_read() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        field = "epochs"
        setattr(RunSettings(), field, 2)


def test_the_defaults_are_those_of_the_format() -> None:
    run = RunSettings()
    assert (run.concurrency, run.epochs, run.timeout, run.patience, run.retries) == (
        None,
        1,
        300,
        600,
        5,
    )
    assert (run.cache, run.reduce, run.truncated, run.filtered, run.errors) == (
        True,
        "mean",
        "ungraded",
        "ungraded",
        "leave_out",
    )


def test_targets_have_names_by_default() -> None:
    assert ModelTargetSpec(model="m", provider="openai").name == "m"
    assert ReplayTargetSpec(kind="replay", path="x").name == "replay"
    assert SimulatedTargetSpec(kind="simulated", answers=("x",)).name == "simulated"
    assert ModelTargetSpec(name="n", model="m").name == "n"


def test_a_simulated_latency_is_a_number_or_a_range() -> None:
    data = {"kind": "simulated", "answers": "x"}
    assert SimulatedTargetSpec.model_validate({**data, "latency_s": 1}).latency_s == 1.0
    assert SimulatedTargetSpec.model_validate({**data, "latency_s": [0, 1]}).latency_s == (0.0, 1.0)


def test_the_faults_are_those_of_the_format() -> None:
    assert FAULT_KINDS == ("rate_limit", "server_error", "timeout", "empty", "truncated")


def test_a_suite_can_be_made_without_a_file() -> None:
    suite = Suite.model_validate(
        {"name": "x", "cases": [{"id": 1}], "targets": [{"model": "m", "provider": "openai"}]}
    )
    assert suite.dataset == Dataset()
    assert suite.gate is None
    assert Suite.model_validate_json(suite.model_dump_json()) == suite


def test_thresholds_of_a_gate_may_differ_by_target_scorer_and_tag() -> None:
    gate = Gate.model_validate(
        {
            "pass_rate": 0.9,
            "targets": {"a": {"max_p95_latency_s": 2}},
            "scorers": {"exact": {"mean_score": 0.5}},
            "tags": {"hard": {"pass_rate": 0.1}},
        }
    )
    assert gate.targets["a"].max_p95_latency_s == 2
    assert gate.scorers["exact"].mean_score == 0.5
    assert gate.tags["hard"].pass_rate == 0.1
