"""The recipes of the page about CI, run as they stand in a clean checkout."""

import io
import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import junitparser
import pytest
import yaml

from tests.test_guides import DOCS, ran, steps

GH = """#!/bin/sh
printf '%s\\n' "$*" >> "$GH_TOLD"
case "$*" in *--jq*) printf '%s' "$GH_COMMENTS";; esac
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give a folder with the files of the page, and nothing of any CI server around."""
    for language, text in steps(DOCS / "how-to" / "ci.md"):
        name = text.partition("\n")[0].removeprefix("# ")
        if language in ("toml", "yaml", "python"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    for name in ("GITHUB_ACTIONS", "GITHUB_STEP_SUMMARY", "GITLAB_CI", "TUI_EVAL_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    return tmp_path


def said(line: str, **given: str) -> tuple[int, str]:
    """Run a line of a recipe, in this process, as the server would."""
    for name, value in given.items():
        line = re.sub(r"\$\{\{ " + re.escape(name.replace("_", ".")) + r" \}\}", value, line)
    assert "${{" not in line
    words = [
        part
        for word in shlex.split(line)
        for part in (sorted(map(str, Path.cwd().glob(word))) if "*" in word else [word])
    ]
    if words[:2] == ["pip", "install"]:
        assert words[2:] == ["tui-eval"]
        return 0, ""
    return ran(words)


def commands(workflow: Path, job: str) -> list[str]:
    """Give what a job of a GitHub workflow runs."""
    steps_of = yaml.safe_load(workflow.read_text("utf-8"))["jobs"][job]["steps"]
    return [step["run"] for step in steps_of if "run" in step]


def test_the_workflow_reports_to_github_and_keeps_its_store(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    summary = checkout / "summary.md"
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    *lines, comment = commands(checkout / ".github/workflows/evals.yml", "evals")
    assert [said(line)[0] for line in lines] == [0, 0, 0]
    assert "`capitals`: the gate holds" in summary.read_text("utf-8")
    suite = checkout / "evals" / "capitals.toml"
    suite.write_text(suite.read_text("utf-8").replace('"{{ capital }}"', '"Paris"', 1), "utf-8")
    code, told = said(lines[-1])
    assert code == 1
    assert re.search(r"^::error.*pass_rate", told, re.MULTILINE)
    report = checkout / "report-capitals.md"
    assert report.read_text("utf-8").startswith("<!-- tui-eval capitals -->\n")
    tried(comment, checkout)


def tried(script: str, folder: Path) -> None:
    """Have the comment written, then written anew: `gh` is a stand-in that tells what it got."""
    stand_in = folder / "bin" / "gh"
    stand_in.parent.mkdir()
    stand_in.write_text(GH)
    stand_in.chmod(0o755)
    told = folder / "told"
    mine = "7 <!-- tui-eval other -->\n8 <!-- tui-eval capitals -->\r\n9 hello\n"
    for comments, expected in (
        ("", "pr comment 12 --body-file report-capitals.md"),
        (mine, "--method PATCH repos/o/r/issues/comments/8 --field body=@report-capitals.md"),
    ):
        told.unlink(missing_ok=True)
        env = {
            **os.environ,
            "PATH": f"{stand_in.parent}:{os.environ['PATH']}",
            "GITHUB_REPOSITORY": "o/r", "PULL": "12", "GH_TOLD": str(told),
            "GH_COMMENTS": comments,
        }  # fmt: skip
        # as GitHub starts a step that names its shell
        done = subprocess.run(
            ["bash", "-eo", "pipefail", "-c", script], env=env, cwd=folder, timeout=60
        )
        assert done.returncode == 0
        assert expected in told.read_text()


def test_the_parts_of_a_matrix_are_one_run_that_asks_nobody_again(checkout: Path) -> None:
    workflow = checkout / ".github/workflows/nightly.yml"
    for part in "12":
        for line in commands(workflow, "part"):
            code, told = said(line, matrix_part=part)
            assert code in (0, 3), told
    for line in commands(workflow, "whole"):
        code, told = said(line)
        assert code == 0, told
    assert "2 outputs from the cache" in told
    assert "</html>" in (checkout / "report.html").read_text("utf-8")


def test_gitlab_gets_a_report_for_each_suite(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITLAB_CI", "true")
    suite = checkout / "evals" / "capitals.toml"
    other = suite.read_text("utf-8").replace('"capitals"', '"others"')
    (checkout / "evals" / "others.toml").write_text(other, "utf-8")
    job = yaml.safe_load((checkout / ".gitlab-ci.yml").read_text("utf-8"))["evals"]
    assert [said(line)[0] for line in job["script"]] == [0, 0, 0]
    (pattern,) = [job["artifacts"]["reports"]["junit"]]
    files = sorted(checkout.glob(pattern))
    assert [file.name for file in files] == ["junit-capitals.xml", "junit-others.xml"]
    for file in files:
        (column,) = junitparser.JUnitXml.fromfile(str(file))
        assert column.tests == 2
    assert len([*checkout.glob(job["artifacts"]["paths"][0])]) == 2


@pytest.fixture
def finished(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Give the events of a run in a store of its own."""
    monkeypatch.setenv("TUI_EVAL_STORE", str(checkout / "store.sqlite3"))
    code, told = said("tui-eval run evals/capitals.toml --events")
    assert code == 0
    return "".join(f"{line}\n" for line in told.splitlines() if line.startswith("{"))


def script(checkout: Path, name: str) -> None:
    file = checkout / name
    assert len(file.read_text("utf-8").splitlines()) < 25
    runpy.run_path(str(file), run_name="__main__")


def test_scores_become_events_of_opentelemetry(
    checkout: Path,
    finished: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(finished))
    script(checkout, "to_otlp.py")
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(lines) == 2
    (resource,) = lines[0]["resourceLogs"]
    ((record,),) = [scope["logRecords"] for scope in resource["scopeLogs"]]
    assert record["eventName"] == "gen_ai.evaluation.result"
    assert record["timeUnixNano"].isdecimal()
    told = {one["key"]: next(iter(one["value"].values())) for one in record["attributes"]}
    assert told["gen_ai.evaluation.name"] == "exact"
    assert told["gen_ai.evaluation.score.label"] == "pass"
    assert told["gen_ai.evaluation.score.value"] == 1.0
    assert told["tui_eval.case_id"] == "fr"


def test_a_run_goes_to_mlflow(
    checkout: Path, finished: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {}

    @contextmanager
    def start_run(run_name: str) -> Any:
        told["run"] = run_name
        yield

    client = ModuleType("mlflow")
    vars(client).update(
        start_run=start_run,
        log_params=lambda params: told.update(params=params),
        log_metrics=lambda metrics: told.update(metrics=metrics),
        log_text=lambda text, artifact_file: told.update({artifact_file: text}),
        log_dict=lambda dictionary, artifact_file: told.update({artifact_file: dictionary}),
    )
    monkeypatch.setitem(sys.modules, "mlflow", client)
    script(checkout, "to_mlflow.py")
    assert told["metrics"]["assistant/pass_rate"] == 1.0
    assert all(isinstance(value, int | float) for value in told["metrics"].values())
    assert told["params"] == {"suite": "capitals", "run": told["run"]}
    assert json.dumps(told["run.json"])
    assert "the gate holds" in told["report.txt"]


def test_a_run_goes_to_weights_and_biases(
    checkout: Path, finished: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: dict[str, Any] = {}
    logged = SimpleNamespace(log=told.update, summary={})

    @contextmanager
    def init(*, project: str, name: str, config: dict[str, Any]) -> Any:
        told.update(project=project, name=name, config=config)
        yield logged

    client = ModuleType("wandb")
    vars(client).update(init=init, Table=lambda columns, data: [columns, *data])
    monkeypatch.setitem(sys.modules, "wandb", client)
    script(checkout, "to_wandb.py")
    assert told["trials"][1] == ["fr", "assistant", "pass", 1.0, "Paris"]
    assert logged.summary == {"assistant/pass_rate": 1.0}
