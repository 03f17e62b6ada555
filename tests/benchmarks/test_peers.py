"""The comparison with other tools, as far as it goes without a network."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from benchmarks.peers import comparison, environments, faults
from benchmarks.peers.faults import Kind
from benchmarks.peers.tools import PEERS, TUI_EVAL, BrokenError, Installed, Job, Outcome
from tests.servers.fake_model import Reply

Measured = Callable[..., dict[str, list[dict[str, Any]]]]


@pytest.mark.whole
def test_tui_eval_beside_the_floor(measured: Measured, tmp_path: Path) -> None:
    found = measured(comparison.main, str(tmp_path), "--tools", "none", "--cases", "40")
    assert [row["tool"] for row in found["tools"]] == ["floor", "tui-eval"]
    assert [row["note"] for row in found["tools"]] == ["", ""]
    assert found["tools"][0]["wall_ratio"] == 1.0


@pytest.mark.whole
def test_what_becomes_of_faults(
    measured: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = (
        Kind("passing", "", 12, 3, faults=((Reply("invalid_json"), 3),)),
        Kind("meaning", "", 10, 0, True, ((Reply("length", text="quest"), 2),)),
    )
    monkeypatch.setattr(faults, "KINDS", few)
    monkeypatch.setattr(faults, "CASES", 12)
    monkeypatch.setattr(faults, "LATENCY_S", 0.0)
    found = measured(comparison.main, str(tmp_path), "--tools", "none", "--faults")
    for kind, right, ungraded, further, code in (
        ("passing", 12, 0, 3, 0),
        ("meaning", 10, 2, 0, 3),
    ):
        perfect, ours = found[kind]
        assert perfect["right"] == ours["right"] == right
        assert (ours["wrong"], ours["errored"], ours["never_run"]) == (0, 0, 0)
        assert (ours["ungraded"], ours["further"], ours["exit_code"]) == (ungraded, further, code)


def test_a_tool_nobody_knows_is_a_mistake(tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        comparison.main([str(tmp_path), "--tools", "no_such_tool"])
    assert ended.value.code == 2


@pytest.mark.whole
def test_what_cannot_be_installed_is_left_out_with_the_reason(
    measured: Measured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(faults, "KINDS", (Kind("none", "", 12, 0, faults=()),))
    monkeypatch.setattr(faults, "CASES", 12)
    monkeypatch.setattr(faults, "LATENCY_S", 0.0)
    tools = "pydantic-evals,promptfoo"
    found = measured(comparison.main, str(tmp_path), "--tools", tools, "--faults")
    assert [row["tool"] for row in found["skipped"]] == ["pydantic-evals", "promptfoo"]
    assert "No matching distribution" in found["skipped"][0]["why"]
    assert found["skipped"][1]["why"] == "there is no npm"
    assert [row["tool"] for row in found["none"]] == ["perfect", "tui-eval"]


def test_what_is_installed_is_not_installed_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed: list[str] = []
    monkeypatch.setattr(environments, "_install", lambda command: installed.append(command[-1]))
    for version in ("1", "1", "2", "2"):
        environments.python(tmp_path / "made", [f"package=={version}"])
    assert installed == ["package==1", "package==2"]


def test_a_tool_that_says_nothing_is_told_by_its_last_words(tmp_path: Path) -> None:
    job = Job(tmp_path, "http://127.0.0.1:9/v1", 3, 1)
    (tmp_path / "output.txt").write_text("hello\n")
    (tmp_path / "output.txt.err").write_text("first\nit broke\n\n")
    with pytest.raises(BrokenError, match="it broke"):
        Installed(TUI_EVAL, tmp_path).outcome(job)


def test_what_nobody_tells_of_was_never_run() -> None:
    assert Outcome(right=5, wrong=1, errored=2, ungraded=1).never_run(10) == 1


@pytest.mark.parametrize("tool", PEERS.values(), ids=lambda tool: tool.name)
def test_the_command_of_every_tool_names_its_job(tool: Any, tmp_path: Path) -> None:
    job = Job(tmp_path, "http://127.0.0.1:9/v1", 3, 7, timeout_s=5.0)
    job.write()
    told = " ".join([*tool.command(tmp_path / "there", job), *tool.environment(job).values()])
    told += "".join(file.read_text("utf-8") for file in tmp_path.glob("*.json"))
    assert "http://127.0.0.1:9/v1" in told
    assert re.search(r"\b7\b", told)
    assert re.match(r"\d", tool.version)
