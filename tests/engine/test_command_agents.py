"""Agents by their names, and what a level of isolation keeps a program from."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tests.engine.test_command import ECHO, error, output, ran, suite
from tests.support import reading
from tui_eval.store.read.trials import attempt_queries

CLAUDE = """#!{python}
import json, sys
asked = sys.stdin.read()
open('fixed.py', 'w').write('fixed')
for event in (
    {{"type": "system", "subtype": "init", "session_id": "s", "model": "sonnet-1"}},
    {{"type": "assistant", "message": {{"id": "m1", "role": "assistant", "model": "sonnet-1",
      "content": [{{"type": "tool_use", "id": "t1", "name": "Edit", "input": {{"file": "x"}}}}],
      "usage": {{"input_tokens": 10, "output_tokens": 5}}}}}},
    {{"type": "user", "message": {{"role": "user", "content": [
      {{"type": "tool_result", "tool_use_id": "t1", "content": "done"}}]}}}},
    {{"type": "assistant", "message": {{"id": "m2", "role": "assistant", "model": "sonnet-1",
      "content": [{{"type": "text", "text": "Fixed: " + asked}}],
      "usage": {{"input_tokens": 20, "output_tokens": 7}}}}}},
    {{"type": "result", "subtype": "success", "is_error": False, "num_turns": 2,
      "result": "Fixed: " + asked, "total_cost_usd": 0.25, "session_id": "s",
      "usage": {{"input_tokens": 30, "output_tokens": 12}}}},
):
    if event["type"] == "result" and "torn" in asked:
        break
    print(json.dumps(event), flush=True)
"""


@pytest.fixture
def claude(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a stand-in for an agent on PATH."""
    folder = tmp_path / "bin"
    folder.mkdir()
    program = folder / "claude"
    program.write_text(CLAUDE.format(python=sys.executable), encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("claude")
async def test_a_transcript_that_breaks_off_is_no_answer(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"command": None, "agent": "claude-code", "model": "sonnet"}
    prompts = [{"user": "torn {{ q }}"}]
    kind, message = await error(tmp_path, ECHO, **asked, prompts=prompts, run={"retries": 0})
    assert kind == "transcript"
    assert "breaks off" in message


@pytest.mark.usefixtures("claude")
async def test_an_agent_is_asked_with_the_prompt_and_read(tmp_path: Path) -> None:
    harness, _, whole = await ran(
        tmp_path,
        ECHO,
        command=None,
        agent="claude-code",
        model="sonnet",
        args=["--max-turns", "9"],
        prompts=[{"user": "Fix {{ q }}"}],
    )
    got = whole.output
    assert got is not None, whole.trial.error_message
    assert (got.text, got.model, got.finish_reason) == ("Fixed: Fix q0", "sonnet-1", "stop")
    assert [message["role"] for message in got.messages] == ["assistant", "tool", "assistant"]
    with reading(harness.path) as db:
        record = attempt_queries.of_trial(db, whole.trial.id).record
    assert (record.steps, record.tool_calls) == (2, 1)
    assert record.changes is not None
    assert record.changes.added == 1
    assert (whole.trial.cost_usd, whole.trial.about_usd) == (None, 0.25)


SPY = (
    "import json, pathlib, socket, sys\n"
    "def tried(call):\n"
    "    try: call(); return 'could'\n"
    "    except OSError as error: return 'could not'\n"
    "print(json.dumps({\n"
    "    'read': tried(lambda: open(sys.argv[1]).read()),\n"
    "    'write': tried(lambda: open(sys.argv[1] + '.new', 'w')),\n"
    "    'own': tried(lambda: open('own', 'w')),\n"
    "    'home': tried(lambda: (pathlib.Path.home() / 'x').write_text('x')),\n"
    "}))\n"
)


@pytest.mark.parametrize("level", ["auto", "none"])
async def test_a_level_keeps_a_program_from_what_is_not_its_own(tmp_path: Path, level: str) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret", encoding="utf-8")
    # the folder is named by a variable: a file that the command names may be read
    harness, _, whole = await ran(
        tmp_path, SPY.replace("sys.argv[1]", "__import__('os').environ['SECRET']"),
        args=[], isolation=level, env={"SECRET": str(secret)},
    )  # fmt: skip
    with reading(harness.path) as db:
        used = attempt_queries.of_trial(db, whole.trial.id).record.isolation
    assert whole.output is not None
    told = json.loads(whole.output.text or "")
    assert (told["own"], told["home"]) == ("could", "could")
    kept = used in ("bwrap", "landlock")
    assert told["read"] == ("could not" if kept else "could")
    assert secret.with_name("secret.txt.new").exists() is not kept
    assert level == "auto" or used == level


async def test_own_files_of_the_suite_are_found_unless_the_workspace_has_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a suite without a file is at home where it is made
    (tmp_path / "own.py").write_text("print('of the suite')", encoding="utf-8")
    command = [sys.executable, "own.py"]
    got = await output(tmp_path, ECHO, command=command, args=None)
    assert got.text == "of the suite"
    fixture = tmp_path / "fixture"
    fixture.mkdir()
    (fixture / "own.py").write_text("print('of the workspace')", encoding="utf-8")
    got = await output(tmp_path, ECHO, command=command, args=None, workspace="fixture")
    assert got.text == "of the workspace"


async def test_a_workspace_that_a_template_names_stays_inside(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    wanted = suite(tmp_path, ECHO, workspace="{{ '/etc' }}")
    of_a_file = wanted.model_copy(update={"file": str(tmp_path / "suite.toml")})
    (trial,) = harness.trials(await harness.run(of_a_file))
    assert trial.error_kind == "setup"
    assert "outside the suite's folder" in str(trial.error_message)
