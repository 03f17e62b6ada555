"""Workspaces that programs decide about, as agents left them, through a real engine."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.grading.test_command_grader import scores
from tests.engine.harness import Harness
from tests.support import reading
from tui_eval.engine.control.changed_scorers import rescoring
from tui_eval.engine.grading.grading_folder import GradingFolder
from tui_eval.model.json import JsonObject
from tui_eval.model.states import Verdict
from tui_eval.store.location import attempt_folders
from tui_eval.store.read import run_queries
from tui_eval.store.requests import Verb
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.trust.needs_trust import NeedsTrust
from tui_eval.targets.command.trial_folder import TrialFolder

CHECK = """
import json, os, subprocess, sys
seen = json.load(sys.stdin)
assert seen["workspace"] == os.getcwd()
done = subprocess.run([sys.executable, "tests/test_it.py"], capture_output=True, text=True)
said = (done.stderr.strip().splitlines() or ["fine"])[-1]
there = sorted(os.listdir("tests"))
print(json.dumps({"verdict": "fail" if done.returncode else "pass", "reason": f"{said} {there}"}))
"""
TEST = "assert open('answer').read() == {answer!r}, open('answer').read()\n"


def write(folder: Path, agents: list[str], **scorer: Any) -> Path:
    """Write a suite of agents that work on one fixture, each a line of a shell."""
    for name, text in {
        "fixture/answer": "0",
        "fixture/tests/test_it.py": TEST.format(answer="0"),
        "fixture/tests/helper.py": "",
        "check.py": CHECK,
        **{f"hidden/c{i}/test_it.py": TEST.format(answer="1") for i in range(len(agents))},
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    given: JsonObject = {
        "kind": "command",
        "command": [sys.executable, "check.py"],
        "workspace": True,
        "files": {"tests": "hidden/{{ id }}"},
        "isolation": "none",
        **scorer,
    }
    lines = ["name = 'hidden'", "[[targets]]", 'kind = "command"', 'isolation = "none"']
    lines += ['command = ["sh", "-c", "echo x >> ../../../ran; {{ do }}"]', 'workspace = "fixture"']
    lines += ["[[scorers]]", *(f"{name} = {toml(value)}" for name, value in given.items())]
    for i, do in enumerate(agents):
        lines += ["[[cases]]", f"id = 'c{i}'", f"do = {json.dumps(do)}"]
    (folder / "suite.toml").write_text("\n".join(lines))
    return folder / "suite.toml"


def toml(value: object) -> str:
    """Give a value as TOML has it."""
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{k}" = {toml(v)}' for k, v in value.items()) + "}"
    return json.dumps(value)


async def decided(folder: Path, agents: list[str], **scorer: Any) -> list[tuple[Verdict, str]]:
    """Run agents; give the verdict and the reason of each."""
    harness = Harness(folder / "store.db")
    run = await harness.run(load(write(folder, agents, **scorer), trusted=True))
    assert not any(attempt_folders(harness.path).iterdir())
    return [(one.verdict, one.reason) for one in scores(harness, run)]


RIGHT = "printf 1 > answer"


async def test_hidden_tests_decide_whatever_an_agent_put_in_their_place(tmp_path: Path) -> None:
    fine = "fine ['helper.py', 'test_it.py']"
    attacks = {
        RIGHT: (Verdict.PASS, fine),
        "true": (Verdict.FAIL, "AssertionError: 0 ['helper.py', 'test_it.py']"),
        "echo pass > tests/test_it.py": (Verdict.FAIL, "put back: tests/test_it.py"),
        f"{RIGHT}; rm -rf tests; mkfifo tests": (Verdict.PASS, fine),
        f"{RIGHT}; rm -rf tests; ln -s /etc tests": (Verdict.PASS, fine),
        f"{RIGHT}; mkfifo tests/pipe; echo 1 > tests/conftest.py": (Verdict.PASS, fine),
        f"{RIGHT}; rm tests/*; mkdir tests/test_it.py": (Verdict.PASS, fine),
        f"{RIGHT}; chmod 000 tests": (Verdict.PASS, fine),
        "rm answer; mkfifo answer": (Verdict.FAIL, "No such file"),
        "echo 'print(1)' > check.py": (Verdict.FAIL, "AssertionError"),
        "rm -rf ./* ; mkfifo fixture": (Verdict.FAIL, "No such file"),
    }
    found = await decided(tmp_path, list(attacks))
    for (verdict, reason), (attack, (expected, said)) in zip(found, attacks.items(), strict=True):
        assert verdict is expected, (attack, reason)
        assert said in reason, attack


async def test_a_script_of_the_workspace_that_decides_is_put_back(tmp_path: Path) -> None:
    source = write(tmp_path, [])
    (tmp_path / "fixture" / "grade.py").write_text("print(0)\n")
    assert source.is_file()
    for command in (
        [sys.executable, "grade.py"],
        [sys.executable, "-u", "./grade.py"],
        [sys.executable, "-W", "ignore", "grade.py"],
        ["env", "A=1", sys.executable, "grade.py"],
        ["sh", "-c", f"{sys.executable} grade.py"],
        [sys.executable, "-m", "grade"],
    ):
        ((verdict, reason),) = await decided(
            tmp_path, ["echo 'print(1)' > grade.py"], command=command
        )
        assert verdict is Verdict.FAIL
        assert "1 protected path put back: grade.py" in reason


@pytest.mark.parametrize(
    ("scorer", "reason"),
    [
        ({"files": {"tests": "hidden/of-{{ id }}"}}, "there is no hidden/of-c0"),
        ({"files": {"tests": "{{ '../' ~ id }}"}}, "outside the suite's folder"),
        ({"reply": "file:out/report.json"}, "its program wrote no reply"),
        ({"files": {"/tests": "hidden/{{ id }}"}}, "they take a container or bwrap"),
    ],
)
async def test_what_cannot_be_graded_is_ungraded_with_the_reason(
    tmp_path: Path, scorer: JsonObject, reason: str
) -> None:
    # what the agent left in its place is no reply
    agent = f"{RIGHT}; mkdir out; echo 1 > out/report.json"
    ((verdict, said),) = await decided(tmp_path, [agent], **scorer)
    assert verdict is Verdict.UNGRADED
    assert reason in said


async def test_a_reply_may_be_a_file_whatever_the_exit_code(tmp_path: Path) -> None:
    code = "import os, sys; os.mkdir('out'); open('out/r', 'w').write('1'); sys.exit(3)"
    ((verdict, _),) = await decided(
        tmp_path,
        ["ln -s /etc out"],
        command=[sys.executable, "-c", code.replace("os.mkdir('out'); ", "")],
        reply=["file:out/other", "file:out/r"],
    )
    assert verdict is Verdict.PASS


async def test_a_hidden_test_that_changed_is_another_scorer_and_no_agent_runs_for_it(
    tmp_path: Path,
) -> None:
    harness = Harness(tmp_path / "store.db")
    path = write(tmp_path, [RIGHT, RIGHT])
    run = await harness.run(load(path, trusted=True))
    assert harness.counts(run).passed == 2
    ran = (tmp_path / "ran").read_text()
    (tmp_path / "hidden" / "c1" / "test_it.py").write_text(TEST.format(answer="2"))
    with reading(harness.path) as db:
        row = run_queries.run(db, run)
    await harness.again(run, Verb.RESCORE, **rescoring(harness.path, row, path, trusted=True))
    assert (harness.counts(run).passed, harness.counts(run).failed) == (1, 1)
    second = await harness.run(load(path, trusted=True))
    assert (harness.counts(second).passed, harness.counts(second).failed) == (1, 1)
    (tmp_path / "check.py").write_text("print(1)")
    await harness.again(run, Verb.RESCORE)
    assert harness.counts(run).ungraded == 2
    assert "check.py has changed since the scorer was read" in scores(harness, run)[0].reason
    await harness.again(run, Verb.RESCORE, **rescoring(harness.path, row, path, trusted=True))
    assert harness.counts(run).passed == 2
    assert (tmp_path / "ran").read_text() == ran


async def test_files_of_a_grader_that_hold_something_else_need_trust_anew(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    path = write(tmp_path, [RIGHT])
    run = await harness.run(load(path, trusted=True))
    with reading(harness.path) as db:
        row = run_queries.run(db, run)
    assert "permit" not in rescoring(harness.path, row, path)
    (tmp_path / "check.py").write_text("print(1)")
    with pytest.raises(NeedsTrust) as refused:
        rescoring(harness.path, row, path)
    assert "run what check.py holds" in refused.value.permissions


async def test_hidden_tests_outside_the_suite_are_read_where_that_is_trusted(
    tmp_path: Path,
) -> None:
    inside = tmp_path / "suite"
    path = write(inside, [RIGHT])
    shutil.move(inside / "hidden", tmp_path / "hidden")
    text = path.read_text().replace("hidden/{{ id }}", "../hidden/{{ id }}")
    path.write_text(text)
    with pytest.raises(NeedsTrust) as refused:
        load(path)
    assert "read ../hidden outside the suite's folder" in refused.value.permissions
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(load(path, trusted=True))
    assert harness.counts(run).passed == 1
    # a rescore may bring other places
    shutil.move(tmp_path / "hidden", tmp_path / "moved")
    path.write_text(text.replace("../hidden", "../moved"))
    (tmp_path / "moved" / "c0" / "test_it.py").write_text(TEST.format(answer="2"))
    with reading(harness.path) as db:
        row = run_queries.run(db, run)
    await harness.again(run, Verb.RESCORE, **rescoring(harness.path, row, path, trusted=True))
    assert "AssertionError: 1" in scores(harness, run)[0].reason


async def test_a_workspace_that_cannot_be_made_anew_is_ungraded(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    path = write(tmp_path, [RIGHT])
    run = await harness.run(load(path, trusted=True))
    (tmp_path / "fixture" / "answer").write_text("5")
    (tmp_path / "hidden" / "c0" / "test_it.py").write_text("pass")
    with reading(harness.path) as db:
        row = run_queries.run(db, run)
    args = rescoring(harness.path, row, path, trusted=True)
    await harness.again(run, Verb.RESCORE, **args)
    assert "the files that it began with have changed since" in scores(harness, run)[0].reason
    shutil.rmtree(tmp_path / "store.db.files")
    await harness.again(run, Verb.RESCORE, **args)
    assert "store.db.files" in scores(harness, run)[0].reason


async def test_paths_from_the_root_are_there_with_bwrap(tmp_path: Path) -> None:
    code = (
        "import pathlib as p; text = p.Path('/tests/deep/test_it.py').read_text()\n"
        "assert not p.Path('/logs/verifier/reward.json').exists()\n"
        "p.Path('/logs/verifier/reward.txt').write_text(str(float('answer' in text)))"
    )
    ((verdict, reason),) = await decided(
        tmp_path,
        ["mkdir -p logs/verifier; echo 1 > logs/verifier/reward.json"],
        command=[sys.executable, "-c", code],
        isolation="auto",
        files={"/tests": "fixture", "/tests/deep": "hidden/{{ id }}"},
        reply=["file:/logs/verifier/reward.json", "file:/logs/verifier/reward.txt"],
    )
    if "isolation cannot be had" in reason:
        pytest.skip(reason)
    assert verdict is Verdict.PASS, reason


def test_no_folder_is_mounted_over_what_lies_in_it(tmp_path: Path) -> None:
    (tmp_path / "checks").mkdir()
    trial = TrialFolder(tmp_path / "trial")
    trial.root.mkdir()
    folder = GradingFolder(trial)
    folder.fill({"/logs/checks": tmp_path / "checks"})
    folder.expect("/logs/reward.txt")
    assert [str(inside) for _, inside in folder.mounted()] == ["/logs", "/logs/checks"]
