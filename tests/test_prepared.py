import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.prepared import Prepared

TUI_EVAL = [sys.executable, "-m", "tui_eval"]


def begun_here(process: int) -> bool:
    """Whether a process is a copy of one that had the package imported."""
    return b"tests.prepared" in Path(f"/proc/{process}/cmdline").read_bytes()


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if sys.platform != "linux":
        pytest.skip("processes are started in the ordinary way here")
    monkeypatch.setenv("TUI_EVAL_STORE", str(tmp_path / "store.sqlite3"))
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    monkeypatch.chdir(tmp_path)


def test_a_program_has_its_words_folder_variables_and_streams(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "s.toml").write_text("name = 1", "utf-8")
    done = subprocess.run(
        [*TUI_EVAL, "check", "s.toml"], cwd="there", capture_output=True, text=True
    )
    assert done.returncode == 2, done.stderr
    assert "s.toml" in done.stdout + done.stderr

    environment = {**os.environ, "TUI_EVAL_STORE": str(tmp_path / "nothing" / "here.sqlite3")}
    done = subprocess.run(
        [*TUI_EVAL, "show", "last"], env=environment, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert (done.stdout, "here.sqlite3" in done.stderr) == ("", True)
    assert not Path("store.sqlite3").exists()


@pytest.mark.parametrize(
    ("given", "own_session", "own_group"),
    [
        ({"start_new_session": True}, True, True),
        ({"process_group": 0}, False, True),
        ({}, False, False),
    ],
    ids=["own session", "own group", "usual"],
)
def test_it_is_a_child_with_a_session_that_gets_signals(
    given: dict[str, Any], own_session: bool, own_group: bool
) -> None:
    Path("s.toml").write_text(
        'name = "s"\nprompt = { user = "x" }\nscorers = [{ kind = "exact", expected = "x" }]\n'
        'targets = [{ kind = "simulated", name = "t", answers = ["x"], latency_s = [60, 60] }]\n'
        'cases = [{ id = "one" }]\n',
        "utf-8",
    )
    words = [*TUI_EVAL, "run", "s.toml"]
    with subprocess.Popen(words, stderr=subprocess.PIPE, **given) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        assert begun_here(process.pid), said
        assert os.getsid(process.pid) == (process.pid if own_session else os.getsid(0))
        assert os.getpgid(process.pid) == (process.pid if own_group else os.getpgid(0))
        assert f"PPid:\t{os.getpid()}\n" in Path(f"/proc/{process.pid}/status").read_text("utf-8")
        process.kill()
    assert process.returncode == -signal.SIGKILL


@pytest.mark.parametrize(
    "words",
    [[sys.executable, "-I", "-m", "tui_eval"], [sys.executable, "-c", ""], ["true"]],
    ids=["options", "code", "another program"],
)
def test_others_start_in_the_ordinary_way(words: list[str]) -> None:
    started = Prepared()

    def ordinary(*_: object) -> int:
        return -5

    given = (words, [b"x"], True, (9,), None, None, -1, -1, -1, -1, -1, -1, 8, 9, True, False, -1)
    assert started.fork_exec(ordinary)(*given, None, None, None, -1, None, False) == -5


def test_variables_of_python_s_own_need_an_interpreter_of_its_own() -> None:
    environment = {**os.environ, "PYTHONWARNINGS": "error"}
    process = subprocess.Popen([*TUI_EVAL, "--version"], env=environment, stdout=subprocess.PIPE)
    assert not begun_here(process.pid)
    assert process.communicate()[0].startswith(b"tui-eval")
