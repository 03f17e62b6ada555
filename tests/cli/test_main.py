import json
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

import tui_eval as package
from tests.cli.conftest import Command, Done, Place
from tests.sampling import one_in
from tui_eval.cli import main
from tui_eval.ui.suites.suite_list import found

ROOT = Path(package.__file__).parents[1]
TUI_EVAL = f"{sys.executable} -m tui_eval"


def in_shell(place: Place, command: str) -> Done:
    done = subprocess.run(
        ["sh", "-c", command],
        cwd=place.folder,
        env=place.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def test_the_program_says_its_version(place: Place) -> None:
    assert place.program("--version") == Done(0, f"tui-eval {package.__version__}\n", "")


def test_help_lists_every_command_once(tui_eval: Command) -> None:
    done = tui_eval("--help")
    assert done.code == 0
    listed = [line.split()[0] for line in done.out.splitlines() if line.startswith("  ")]
    for name in (name for name, entry in main._COMMANDS.items() if not entry.hidden):
        assert listed.count(name) == 1
    assert "engine" not in listed


def test_help_says_what_the_app_opens_on_as_it_does(tui_eval: Command, place: Place) -> None:
    place.suite()
    files = [file for file, _ in found([])]
    assert [file.name for file in files[:2]] == ["s.toml", "arithmetic.toml"]
    said = " ".join(tui_eval("--help").out.split())
    assert "on the current folder), then on the samples." in said


@pytest.mark.parametrize("name", [*main._COMMANDS])
def test_every_command_has_help(tui_eval: Command, name: str) -> None:
    done = tui_eval(name, "--help")
    assert done.code == 0
    assert f"tui-eval {name}" in done.out


def test_a_word_that_is_nothing_gets_the_nearest_command(tui_eval: Command) -> None:
    done = tui_eval("rescor", "last")
    assert (done.code, done.out) == (2, "")
    assert "'rescor' is neither a command nor a file or folder; did you mean `rescore`?" in done.err


def test_a_path_that_is_not_there_points_to_the_help_there_is(
    tui_eval: Command, place: Place
) -> None:
    for words in (["nothere.toml"], [place.suite(), "nothere.toml"]):
        done = tui_eval(*words)
        assert done.code == 2
        assert "nothere.toml" in done.err
        assert "`tui-eval --help` says what there is" in done.err


def test_a_word_near_nothing_gets_the_list(tui_eval: Command) -> None:
    assert "the commands are run, check," in tui_eval("qqqq").err


def test_without_a_terminal_the_bare_command_prints_help_and_exits_2(place: Place) -> None:
    done = place.program()
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("Usage: tui-eval")


def test_a_path_without_a_terminal_is_no_app_either(place: Place) -> None:
    done = place.program(place.suite())
    assert (done.code, done.out) == (2, "")


def test_watching_needs_a_terminal(tui_eval: Command) -> None:
    done = tui_eval("watch", "last")
    assert done.code == 2
    assert "needs a terminal" in done.err


@pytest.mark.parametrize(
    "words",
    [
        ["run"],
        ["run", "s.toml", "--concurrency", "0"],
        ["run", "s.toml", "--concurrency", "10001"],
        ["run", "s.toml", "--concurrency", "9" * 5000],
        ["run", "s.toml", "--epochs", "x"],
        ["run", "s.toml", "--limit", "9" * 5000],
        ["run", "s.toml", "--json", "--events"],
        ["run", "s.toml", "--set", "run.epochs"],
        ["run", "s.toml", "--max-cost", "0"],
        ["show", "last", "--nonsense"],
        ["export", "last"],
    ],
)
def test_a_wrong_command_line_is_code_2_and_leaves_stdout_empty(
    tui_eval: Command, words: list[str]
) -> None:
    done = tui_eval(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("error: ")


@pytest.mark.parametrize("before", [True, False])
def test_the_store_may_be_named_before_and_after_the_command(
    tui_eval: Command, place: Place, before: bool
) -> None:
    other = str(place.folder / "other.sqlite3")
    words = ["--store", other, "run"] if before else ["run", "--store", other]
    assert tui_eval(*words, place.suite()).code == 0
    assert Path(other).exists()
    assert not place.store.exists()


def test_what_nobody_foresaw_is_one_line_and_a_log(
    tui_eval: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down() -> None:
        raise RuntimeError("secret \x1b[31m details")

    monkeypatch.setattr("tui_eval.suites.loading.json_schema.json_schema", break_down)
    done = tui_eval("schema")
    assert done.code == 2
    assert done.out == ""
    assert done.err.count("\n") == 1
    assert "RuntimeError" in done.err
    assert "\x1b" not in done.err
    (log,) = place.folder.glob("state/**/*.log")
    assert str(log) in done.err
    assert "Traceback" in log.read_text()


def test_what_broke_together_is_told_by_its_first(
    tui_eval: Command, place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    def break_down() -> None:
        inner = ExceptionGroup("inner", [ValueError("the reason"), KeyError("x")])
        raise ExceptionGroup("outer", [inner, TypeError("y")])

    monkeypatch.setattr("tui_eval.suites.loading.json_schema.json_schema", break_down)
    done = tui_eval("schema")
    assert "(ValueError: the reason)" in done.err
    (log,) = place.folder.glob("state/**/*.log")
    assert "KeyError" in log.read_text()


@pytest.mark.parametrize(("term", "drawn"), [("xterm", True), ("dumb", False)])
def test_a_dumb_terminal_gets_lines_and_no_escape_sequences(
    place: Place, term: str, drawn: bool
) -> None:
    suite = place.suite(n=12, target="latency_s = 0.2\nconcurrency = 2")
    ours, theirs = os.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "tui_eval", "run", suite],
        cwd=place.folder,
        env={**place.environment, "TERM": term},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    )
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # the terminal's other end has gone
        while piece := os.read(ours, 65536):
            shown += piece
    os.close(ours)
    assert process.wait(60) == 0
    assert b"100.0%" in shown
    assert (b"\x1b" in shown) == drawn


def test_a_reader_that_goes_away_is_no_mistake(place: Place) -> None:
    done = in_shell(place, f"{{ {TUI_EVAL} schema; echo ended $? >&2; }} | head -c 1")
    assert done.err == "ended 0\n"


@pytest.mark.parametrize(
    ("streams", "code"),
    one_in(4, [("<&- >&- 2>&-", 0), ("<&-", 0), (">&-", 0), ("2>&-", 0), (">/dev/full", 3)]),
)
def test_streams_that_are_closed_or_full_do_not_keep_a_run_from_its_end(
    place: Place, tui_eval: Command, streams: str, code: int
) -> None:
    place.suite(n=2)
    done = in_shell(place, f"{TUI_EVAL} run s.toml {streams}")
    assert done.code == code
    assert "broke" not in done.err
    shown = tui_eval("show", "last", "--json")
    assert json.loads(shown.out)["counts"]["done"] == 2
    assert not list(place.folder.glob("state/**/*.log"))


@pytest.mark.parametrize("command", ["check .", "import x.json", "run suite.toml"])
def test_a_current_folder_that_is_gone_is_said_in_a_word(place: Place, command: str) -> None:
    gone = f"mkdir gone && cd gone && rmdir ../gone && PYTHONPATH={ROOT} {TUI_EVAL} {command}"
    done = in_shell(place, gone)
    assert done.code == 2
    assert "something broke" not in done.err
    if command == "check .":
        assert "the current folder is gone" in done.err


def test_the_app_is_not_opened_on_a_dumb_terminal_or_in_a_folder_that_is_gone(
    place: Place,
) -> None:
    app = f"PYTHONPATH={ROOT} timeout 20 script -qec '{TUI_EVAL}' /dev/null </dev/null"
    dumb = in_shell(place, f"TERM=dumb {app}")
    assert "TERM=dumb" in dumb.out
    assert "\x1b" not in dumb.out
    gone = in_shell(place, f"mkdir gone && cd gone && rmdir ../gone && TERM=xterm {app}")
    assert "the current folder is gone" in gone.out
    assert "\x1b" not in gone.out
