"""What is wrong with a program's table is told with line and field."""

from pathlib import Path

import pytest

from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.loading.suite_file import load, look
from tui_eval.suites.trust.trust_store import TrustStore

HEAD = '[[cases]]\nq = "one"\n[prompt]\nuser = "{{ q }}"\n[[targets]]\nkind = "command"\n'
PROGRAM = 'command = ["echo"]'


def refused(folder: Path, *lines: str) -> list[str]:
    path = folder / "suite.toml"
    path.write_text(HEAD + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    with pytest.raises(SuiteError) as caught:
        load(path, trusted=True)
    return [str(mistake).partition("suite.toml, ")[2] for mistake in caught.value.mistakes]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        ([PROGRAM, 'agent = "codex"'], "line 7: targets[0].command: stands beside agent"),
        ([PROGRAM, 'model = "m"'], "line 8: targets[0].model: is for an agent"),
        ([PROGRAM, 'output = "last_message"'], "line 8: targets[0].output: needs a transcript"),
        ([PROGRAM, "limits = { turns = 3 }"], "line 8: targets[0].limits.turns: cannot be watched"),
        ([PROGRAM, 'isolation = "docker"'], "targets[0].image: is missing"),
        ([PROGRAM, 'output = "file:../x"'], 'output: must be a path inside the workspace, not "'),
        ([PROGRAM, 'output = "file:/etc/passwd"'], "must be a path inside the workspace"),
        (
            [PROGRAM, 'transcript = { from = "file:../x", format = "atif" }'],
            "line 8: targets[0].transcript.from: must be a path inside the workspace",
        ),
        ([PROGRAM, "exit_codes = [0, 256]"], "exit_codes[1]: must be from 0 to 255, not 256"),
        ([PROGRAM, "exit_codes = [-9]"], "exit_codes[0]: must be from 0 to 255, not -9"),
        ([PROGRAM, 'workspace = { git = "r" }'], "line 8: targets[0].workspace.at: is missing"),
        (['command = [""]'], "line 7: targets[0].command: must begin with a program"),
        (['agent = "aider"', 'protected = ["../a"]'], "must be a path inside the workspace"),
    ],
)
def test_what_does_not_go_together_is_told(tmp_path: Path, lines: list[str], said: str) -> None:
    [mistake] = refused(tmp_path, *lines)
    assert said in mistake


def wanted(folder: Path, *lines: str) -> list[str]:
    path = folder / "suite.toml"
    path.write_text(HEAD + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return [ask.permission.does for ask in look(path).refused]


def test_trust_is_asked_for_all_that_decides_what_runs(tmp_path: Path) -> None:
    for name in ("own.sh", "fixture/run.sh", "fixture/own.sh"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("true")
    lines = [
        'command = ["sh"]',
        'stdin = "{{ q }}"',
        'workspace = "fixture"',
        'setup = [["./run.sh"], ["sh", "own.sh"]]',
        'env = { PATH = "bin", LD_PRELOAD = "a b.so" }',
        'network = "none"',
    ]
    assert wanted(tmp_path, *lines) == [
        "run sh",
        "run ./run.sh",
        "run what fixture/run.sh holds",
        "run sh own.sh",
        "run what fixture/own.sh holds",
        "give the programs it runs the environment PATH=bin 'LD_PRELOAD=a b.so'",
        "have its program read '{{ q }}'",
    ]
    path = tmp_path / "suite.toml"
    TrustStore().trust_suite(path, [ask.permission for ask in look(path).asks])
    assert wanted(tmp_path, *lines) == []
    (tmp_path / "fixture" / "run.sh").write_text("false")
    assert wanted(tmp_path, *lines) == ["run what fixture/run.sh holds"]


def test_trust_names_the_model_that_an_agent_is_told_to_ask(tmp_path: Path) -> None:
    found = wanted(tmp_path, 'agent = "opencode"', 'model = "a/b"', 'args = ["--auto"]')
    assert found[0] == "run opencode run --format json --model a/b --auto"
