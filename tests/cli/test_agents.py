"""Agents as targets: stubs on PATH print what the real ones printed, and end as they ended."""

import json
import sys
from typing import Any

import pytest

from tests.cli.conftest import Command, Place
from tests.targets.transcripts.recordings import RECORDED, WHAT_IS_SAID

STUB = """#!{python}
import pathlib, sys
told = pathlib.Path({recorded!r}).read_text()
asked = sys.argv[1:] + ([] if sys.stdin is None else [sys.stdin.read()])
assert any("Make a file." in word for word in asked), asked
pathlib.Path("made.txt").write_text("one\\n")
if {file!r}:
    pathlib.Path({file!r}).write_text(told)
else:
    print(told, end="")
sys.exit({code})
"""
SUITE = """\
name = "agents"
[[cases]]
id = "a"
[prompt]
user = "Make a file."
[[targets]]
kind = "command"
agent = "{agent}"
isolation = "none"
[[scorers]]
kind = "includes"
expected = "one"
[run]
retries = 0
"""


Stub = tuple[str, str, str, int]
"""An agent, its program, what it tells, its exit code."""


@pytest.fixture
def found(
    place: Place, tui_eval: Command, monkeypatch: pytest.MonkeyPatch, stub: Stub
) -> dict[str, Any]:
    """Run a stub as a target; give its trial."""
    agent, program, recorded, code = stub
    folder = place.folder / "bin"
    folder.mkdir()
    file = "trajectory.json" if agent == "mini-swe-agent" else ""
    told = str(RECORDED / recorded)
    text = STUB.format(python=sys.executable, recorded=told, file=file, code=code)
    (folder / program).write_text(text, encoding="utf-8")
    (folder / program).chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")
    suite = place.folder / "agents.toml"
    suite.write_text(SUITE.format(agent=agent), encoding="utf-8")
    tui_eval("run", str(suite), "--trust")
    [line] = tui_eval("export", "last", "--format", "jsonl").out.splitlines()
    trial: dict[str, Any] = json.loads(line)
    return trial


OK = [
    ("claude-code", "claude", "claude-code-ok.jsonl", 0),
    ("codex", "codex", "codex-ok.jsonl", 0),
    ("gemini", "gemini", "gemini-ok.jsonl", 0),
    ("opencode", "opencode", "opencode-ok.jsonl", 0),
]


@pytest.mark.parametrize("stub", OK, ids=lambda stub: stub[0])
def test_an_agent_answers_with_its_last_message(found: dict[str, Any], stub: Stub) -> None:
    said = WHAT_IS_SAID[stub[2]]
    assert (found["state"], found["error"]) == ("done", None)
    assert found["output"] == said.text
    assert found["tokens"] == {"input": said.usage.input, "output": said.usage.output}
    assert found["steps"] == said.roles.count("a")
    assert found["tool_calls"] == len(said.tools)
    assert found["changes"]["added"] == 1


@pytest.mark.parametrize(
    "stub",
    [
        ("aider", "aider", "aider-ok.txt", 0),
        ("mini-swe-agent", "mini", "mini-swe-agent-ok.json", 0),
    ],
    ids=lambda stub: stub[0],
)
def test_an_agent_that_edits_answers_with_what_it_changed_and_not_with_its_transcript(
    found: dict[str, Any],
) -> None:
    assert found["verdict"] == "pass"
    assert found["output"].count("diff --git") == 1
    assert "b/made.txt" in found["output"]
    assert found["messages"]


@pytest.mark.parametrize(
    "stub",
    [
        ("claude-code", "claude", "claude-code-turns.jsonl", 1),
        ("gemini", "gemini", "gemini-turns.jsonl", 53),
    ],
    ids=lambda stub: stub[0],
)
def test_an_agent_that_keeps_to_its_own_limit_is_cut_short_whatever_code_it_ends_with(
    found: dict[str, Any],
) -> None:
    assert (found["state"], found["error"]) == ("done", None)
    assert found["finish_reason"] == "limit:turns"
    assert found["output"] == "I will look."


@pytest.mark.parametrize(
    ("stub", "kind"),
    [
        (("claude-code", "claude", "claude-code-401.jsonl", 1), "auth"),
        (("claude-code", "claude", "claude-code-429.jsonl", 1), "rate_limit"),
        (("codex", "codex", "codex-500.jsonl", 1), "server_error"),
        (("gemini", "gemini", "gemini-401.jsonl", 145), "auth"),
        (("gemini", "gemini", "README.md", 41), "auth"),
        (("opencode", "opencode", "opencode-401.jsonl", 1), "auth"),
        (("aider", "aider", "aider-401.txt", 0), "auth"),
        (("mini-swe-agent", "mini", "mini-swe-agent-401.json", 1), "auth"),
        (("codex", "codex", "opencode-ok.jsonl", 0), "transcript"),
        (("codex", "codex", "README.md", 2), "exit"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[2],
)
def test_what_an_agent_says_of_its_failure_is_its_failure(found: dict[str, Any], kind: str) -> None:
    assert found["state"] == "error"
    assert found["error"]["kind"] == kind
    assert found["output"] is None
