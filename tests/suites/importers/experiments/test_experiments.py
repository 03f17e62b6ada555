"""Experiments of other tools: files that two of them wrote, and two by their documentation."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.suites.importers.test_imports import DATA, brought_in, told
from tui_eval.engine.preflight.import_comparison import compared, recorded_results
from tui_eval.suites.importers.formats import guess, read
from tui_eval.suites.importers.tables import TableChoices
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load


def fates(folder: Path) -> dict[tuple[str, str], str]:
    """Give what each case came to in each column of the suite that was just imported."""
    results = recorded_results(load(folder / "suite.toml"))
    return {(one.case.id, one.column): one.fates[0] for one in results}


def file(folder: Path, name: str, content: object) -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), "utf-8")
    return path


@pytest.mark.parametrize(
    ("name", "format_name"),
    [
        ("deepeval-goldens.json", "deepeval"),
        ("deepeval-goldens.csv", "deepeval"),
        ("deepeval-conversations.json", "deepeval"),
        ("deepeval-test-run.json", "deepeval"),
        ("pydantic-evals.yaml", "pydantic-evals"),
        ("pydantic-evals-report.json", "pydantic-evals"),
        ("langfuse.json", "langfuse"),
        ("braintrust.jsonl", "braintrust"),
    ],
)
def test_a_tool_is_known_by_its_file(name: str, format_name: str) -> None:
    assert guess(DATA / name) == format_name


@pytest.mark.parametrize("ending", ["json", "csv"])
def test_goldens_of_deepeval_are_cases(ending: str, tmp_path: Path) -> None:
    suite, cases, _ = brought_in("deepeval", DATA / f"deepeval-goldens.{ending}", tmp_path)
    first, second = cases
    assert (first["id"], first["input"], first["expected"]) == (
        "fr", "Capital of France?", "Paris",
    )  # fmt: skip
    assert first["metadata"] == {"region": "Europe"}
    assert first["expected_tools"][0]["inputParameters"] == {"q": "x"}
    assert "comments" in first
    assert "comments" not in second
    assert suite["targets"][0]["kind"] == "replay"
    assert second["recorded"] == {"r1": {"output": "Cusco"}}
    assert suite["scorers"] == [
        {"kind": "exact", "expected": "{{ expected }}", "ignore_case": True}
    ]


def test_a_conversation_of_deepeval_is_replayed_with_its_last_answer(tmp_path: Path) -> None:
    suite, (case,), _ = brought_in("deepeval", DATA / "deepeval-conversations.json", tmp_path)
    assert [one["content"] for one in case["chat"]] == ["hi"]
    assert case["recorded"]["r1"]["output"] == "hello"
    assert case["scenario"] == "user wants a refund"
    assert suite["targets"][0]["messages"] == "messages"


def test_a_test_run_of_deepeval_keeps_its_verdicts_and_thresholds(tmp_path: Path) -> None:
    suite, cases, written = brought_in("deepeval", DATA / "deepeval-test-run.json", tmp_path)
    assert suite["targets"][0]["name"] == "gpt-x"
    short, exact = suite["scorers"]
    assert (short["name"], short["threshold"], short["targets"]) == ("Short", 0.5, ["gpt-x"])
    assert exact["name"] == "Exact Match"
    assert cases[1]["given"]["r1"]["Short"] == {
        "value": 0.25,
        "verdict": "fail",
        "reason": "length",
    }
    assert fates(tmp_path) == {("fr", "gpt-x"): "passed", ("test_case_1", "gpt-x"): "failed"}
    assert [*compared(load(tmp_path / "suite.toml"))] == [True, True]
    assert "hyperparameters of the test run are not carried over" in told(written)


def metric(name: str, score: float | None, *, success: bool = True, **more: Any) -> dict[str, Any]:
    return {"name": name, "score": score, "success": success, "threshold": 0.5, **more}


def test_metrics_that_are_right_when_low_or_that_broke_keep_what_was_said(tmp_path: Path) -> None:
    rows = [
        {"name": "a", "input": "?", "actualOutput": "x", "metricsData": [
            metric("Bias", 0.1), metric("Broke", None, success=False, error="no key")]},
        {"name": "b", "input": "?", "actualOutput": "y", "metricsData": [
            metric("Bias", 0.9, success=False), metric("Broke", 0.7)]},
    ]  # fmt: skip
    run = file(tmp_path, "run.json", {"testCases": rows})
    suite, cases, _ = brought_in("deepeval", run, tmp_path)
    bias, broke = suite["scorers"]
    assert bias["value"].endswith(".verdict }}")
    assert "threshold" not in bias
    assert (broke["threshold"], cases[0]["given"]["r1"]["Broke"]["value"]) == (0.5, "ungraded")
    assert fates(tmp_path) == {("a", "recorded"): "ungraded", ("b", "recorded"): "failed"}


def test_a_dataset_of_pydantic_evals_has_its_evaluators(tmp_path: Path) -> None:
    suite, cases, written = brought_in("pydantic-evals", DATA / "pydantic-evals.yaml", tmp_path)
    assert suite["name"] == "capitals"
    kinds = {one["name"]: one["kind"] for one in suite["scorers"]}
    assert kinds == {
        "EqualsExpected": "exact", "Equals": "exact", "MaxDuration": "latency", "LLMJudge": "judge",
        "Contains": "includes", "EqualsExpected as JSON": "json",
    }  # fmt: skip
    assert suite["judges"][0]["model"] == "gpt-5"
    assert cases[0]["scorers"] == [{"kind": "includes", "expected": "Par", "name": "Contains 2"}]
    assert cases[1]["expected"] == {"city": "Lima"}
    lost = told(written)
    assert "line 26, evaluators[2]: the evaluator IsInstance has no like here" in lost
    assert "the evaluator Mine has no like here" in lost
    assert not written.troubles


def test_a_report_of_pydantic_evals_is_replayed(tmp_path: Path) -> None:
    suite, cases, written = brought_in(
        "pydantic-evals", DATA / "pydantic-evals-report.json", tmp_path
    )
    assert {one["name"]: one.get("required", True) for one in suite["scorers"]} == {
        "Contains": True, "EqualsExpected": True, "Mine": False,
    }  # fmt: skip
    assert fates(tmp_path) == {
        ("fr", "baseline"): "passed",
        ("pe", "baseline"): "failed",
        ("bad", "baseline"): "error",
    }
    assert cases[0]["recorded"]["r1"]["latency_s"] > 0
    assert "failures[0]: ended with an error" in told(written)
    assert '"Mine" has values and no threshold' in told(written)


def test_experiments_of_langfuse_stand_side_by_side(tmp_path: Path) -> None:
    suite, cases, written = brought_in("langfuse", DATA / "langfuse.json", tmp_path)
    assert [one["name"] for one in suite["targets"]] == ["gpt-5", "mini"]
    assert [one["name"] for one in suite["scorers"]] == ["correct (gpt-5)", "closeness (gpt-5)"]
    assert [case["id"] for case in cases] == ["fr", "pe"]
    assert cases[0]["given"] == {
        "r1": {
            "correct": {"value": True, "verdict": "pass", "reason": "yes"},
            "closeness": {"value": 0.8},
            "tone": {"value": "nice"},
        },
        "r2": {},
    }
    assert '"tone (gpt-5)" is a label' in told(written)
    assert fates(tmp_path)["pe", "gpt-5"] == "failed"


def test_results_of_langfuses_runner_and_its_tables(tmp_path: Path) -> None:
    item = {"id": "fr", "input": "Capital?", "expected_output": "Paris", "metadata": {"a": 1}}
    ran = {"item": item, "output": "Paris", "evaluations": [{"name": "ok", "value": True}]}
    runner = file(tmp_path, "runner.json", {"run_name": "try", "item_results": [ran]})
    suite, (case,), _ = brought_in("langfuse", runner, tmp_path)
    assert (suite["targets"][0]["name"], case["id"], case["metadata"]) == ("try", "fr", {"a": 1})
    (tmp_path / "b").mkdir()
    table = 'datasetItemId,input,output,scores\nfr,"{""q"": 1}",Paris,"{""ok"": [0]}"\n'
    brought_in("langfuse", file(tmp_path, "t.csv", table), tmp_path / "b")
    assert fates(tmp_path / "b") == {("fr", "recorded"): "failed"}


def test_an_experiment_of_braintrust_is_its_root_spans(tmp_path: Path) -> None:
    suite, cases, written = brought_in("braintrust", DATA / "braintrust.jsonl", tmp_path)
    assert [case["id"] for case in cases] == ["fr", "pe", "fr (2)"]
    assert suite["dataset"]["cluster"] == "item"
    assert [case["item"] for case in cases] == ["fr", "pe", "fr"]
    assert [one["name"] for one in suite["scorers"]] == ['Exact "Match"', "Factuality"]
    assert cases[0]["recorded"]["r1"] == {"output": "Paris", "latency_s": 1.5}
    assert fates(tmp_path) == {
        ("fr", "recorded"): "passed",
        ("pe", "recorded"): "error",
        ("fr (2)", "recorded"): "failed",
    }
    assert "line 2: spans below a result are not carried over" in told(written)
    assert not any("template" in one for one in written.troubles)


def test_the_person_says_which_column_names_the_case(tmp_path: Path) -> None:
    wanted = TableChoices(id="metadata.k")
    _, cases, _ = brought_in("braintrust", DATA / "braintrust.jsonl", tmp_path, wanted)
    assert cases[0]["id"] == 1


def test_hostile_names_and_texts_are_data(tmp_path: Path) -> None:
    name = '{{ 1/0 }} \\ " %} \x1b[2J\n'
    rows = [
        {"span_id": "s", "id": n, "input": "{{ 1/0 }}", "output": "{% x %}", "scores": {name: n}}
        for n in (0, 1)
    ]
    suite, cases, written = brought_in("braintrust", file(tmp_path, "x.json", rows), tmp_path)
    assert suite["scorers"][0]["name"].isprintable()
    assert cases[0]["given"]["r1"] == {name: {"value": 0, "verdict": "fail"}}
    assert not written.troubles
    assert fates(tmp_path) == {("0", "recorded"): "failed", ("1", "recorded"): "passed"}


@pytest.mark.parametrize(
    ("format_name", "name", "content", "said"),
    [
        ("deepeval", "a.json", {"x": 1}, "testCases: is no test run of deepeval"),
        ("deepeval", "a.json", [{"q": 1}], r"\[0\]: is no golden of deepeval"),
        ("deepeval", "a.json", [3], r"\[0\]: must be a table"),
        ("deepeval", "a.json", '[{"input": "a"},\n{,', "line 2: is not JSON"),
        ("deepeval", "a.jsonl", '{"input": "a"}\n{"input": ', "line 2"),
        ("deepeval", "a.json", [], "holds no cases"),
        ("pydantic-evals", "a.yaml", "cases:\n- name: x\n", "line 2: cases.0.: must be a case"),
        ("pydantic-evals", "a.yaml", "cases: 3\n", "cases: is no dataset of pydantic-evals"),
        ("pydantic-evals", "a.yaml", "cases:\n- [\n", "line 3: is not YAML"),
        ("langfuse", "a.json", {"data": [{"id": 1}]}, r"data\[0\]: is no item of Langfuse"),
        ("langfuse", "a.json", {"meta": 1}, "neither a list of results nor a table"),
        ("braintrust", "a.jsonl", '{"id": 1}\n', "line 1: is no event of Braintrust"),
    ],
)
def test_what_is_wrong_in_a_file_is_told_with_its_place(
    format_name: str, name: str, content: object, said: str, tmp_path: Path
) -> None:
    with pytest.raises(SuiteError, match=said):
        brought_in(format_name, file(tmp_path, name, content), tmp_path)
    assert not (tmp_path / "suite.toml").exists()


def test_reading_a_file_by_its_format_takes_what_guess_says(tmp_path: Path) -> None:
    other = file(tmp_path, "prompts.yaml", "prompts: [x]\nproviders: [y]\n")
    assert guess(other) == "promptfoo"
    assert guess(file(tmp_path, "t.csv", "question,answer\n1,2\n")) == "csv"
    assert next(iter(read("deepeval", DATA / "deepeval-goldens.jsonl").cases), None) is not None
