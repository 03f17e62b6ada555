"""The app in a real pseudo-terminal, read back by a terminal emulator."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from tests.sampling import one_in
from tests.support import output
from tests.ui.playing import by_hand, made_up, plain_run, sql
from tests.ui.terminal import COLUMNS, ROWS, Terminal, assert_restored
from tui_eval.engine.launch.create_run import create, spawn
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case


@pytest.fixture
def terminal(store: Path) -> Iterator[Callable[..., Terminal]]:
    opened: list[Terminal] = []

    def opening(*arguments: str, columns: int = COLUMNS, rows: int = ROWS) -> Terminal:
        opened.append(Terminal(*arguments, "--store", str(store), columns=columns, rows=rows))
        return opened[-1]

    yield opening
    for one in opened:
        one.close()


def test_a_first_run_in_a_real_terminal(terminal: Callable[..., Terminal]) -> None:
    app = terminal()
    app.until_shown("arithmetic", "Case 1 ", "? more")
    app.press("\r")
    app.until_shown("Launch arithmetic", "150 new")
    app.press("\r")
    app.until_shown("150/150", "○ done", "✓ pass")
    app.press("n")
    app.until_shown("✗ fail")
    app.press("\x1b")
    app.until_shown("Runs", "arithmetic-", "○ done")
    app.press("q")
    assert app.until_ended() == 0
    assert_restored(app)


def test_it_draws_again_when_the_terminal_changes_its_size(
    terminal: Callable[..., Terminal], store: Path
) -> None:
    plain_run(store, 40)
    app = terminal("watch", "last")
    app.until_shown("case-000", "answer 0", "40/40")
    app.screen.resize(30, 120)
    app.process.setwinsize(30, 120)
    app.until(lambda: any("case-0" in row and "answer 0" in row for row in app.screen.display))
    app.press("q")
    app.until_shown("Runs")
    app.press("q")
    assert app.until_ended() == 0


@pytest.mark.whole
def test_keys_typed_in_one_burst_after_slash_go_into_the_field(
    terminal: Callable[..., Terminal], store: Path
) -> None:
    plain_run(store, 12)
    app = terminal("watch", "last")
    app.until_shown("case-000", "12/12")
    app.press("/CaR 7")
    app.until_shown("CaR 7", "no match in id, question")
    assert "marked" not in app.text()
    assert "engine" not in app.text()
    app.press("\x1b")
    app.until_shown("case-000", "all 12")
    app.press("/answer 7\r")
    app.until_shown("answer 7", "1/1")
    app.press("\x1b")
    app.until_shown("all 12")
    app.press("q")
    app.until_shown("Runs")
    app.press("q")
    assert app.until_ended() == 0


@pytest.mark.whole
def test_a_burst_of_keys_does_what_the_same_keys_do_typed_slowly(
    terminal: Callable[..., Terminal], store: Path
) -> None:
    plain_run(store, 30)
    app = terminal("watch", "last")
    app.until_shown("case-000", "answer 0", "30/30")
    for keys, listed in (
        ("/answer 29\x7f\r", ["11 of 30", "“answer 2”"]),
        ("/answer 3\x7f\x7f\x7f 1\x7f2\r", ["“answe 2”", "no match in id, question"]),
        ("/answer 19\x7f\rjj", ["11 of 30", "“answer 1”"]),
    ):
        app.press(keys)
        app.until_shown(*listed)
        app.press("\x1b")
        app.until_shown("all 30")
    app.press("fj\r")
    app.until_shown("2 of 30", "failed", "case-003")


@pytest.mark.whole
def test_a_burst_after_slash_narrows_the_suites(terminal: Callable[..., Terminal]) -> None:
    app = terminal()
    app.until_shown("arithmetic", "Case 1 ")
    app.press("/zz")
    app.until_shown("zz", "No suite is called so")


def test_ctrl_z_suspends_and_comes_back_and_leaving_says_what_goes_on(
    terminal: Callable[..., Terminal], store: Path
) -> None:
    slow = {"kind": "simulated", "name": "one", "answers": ["{{ a }}"], "latency_s": 0.5}
    run = create(store, made_up(1000, targets=[slow]), Settings())
    name = sql(store, "SELECT name FROM runs WHERE id = ?", run)[0][0]
    engine = spawn(store, name)
    app = terminal("watch", name)
    try:
        app.until_shown("● running", "of 4 slots", "sum-000")
        app.press("\x03")
        app.until_shown("ctrl+q quits", "C stops the run")
        app.press("\x1a")
        app.until(lambda: psutil.Process(app.process.pid).status() == psutil.STATUS_STOPPED)
        app.until(lambda: app.raw.rfind(b"?1049l") > app.raw.rfind(b"?1049h"))
        app.process.kill(signal.SIGCONT)
        app.until(lambda: app.raw.rfind(b"?1049h") > app.raw.rfind(b"?1049l"))
        app.until_raw()
        app.until_shown("● running", "sum-000")
        app.press("\x11")
        app.until_shown("Quit while", "leave it running")
        app.press("\r")
        assert app.until_ended() == 0
        assert_restored(app)
        told = app.raw[app.raw.rfind(b"?1049l") :].decode()
        assert f"{name} goes on; `tui-eval watch {name} --store" in " ".join(told.split())
        assert engine.poll() is None, "it does go on"
    finally:
        engine.terminate()
        engine.wait(30)


@pytest.mark.parametrize("ended_by", one_in(2, [signal.SIGTERM, signal.SIGHUP]))
def test_a_signal_ends_it_with_the_terminal_as_it_was(
    terminal: Callable[..., Terminal], store: Path, ended_by: signal.Signals
) -> None:
    plain_run(store, 3)
    app = terminal("watch", "last")
    app.until_shown("case-000")
    app.process.kill(ended_by)
    app.until_ended()
    assert_restored(app)


def test_no_escape_sequence_of_a_model_reaches_the_terminal(
    terminal: Callable[..., Terminal], store: Path
) -> None:
    evil = "\x1b]0;owned\x07\x1b]52;c;ZXZpbA==\x07\x1b[8mhidden\x9b31m"
    by_hand(store, [Case(0, evil, {"q": evil})], answers=[output(evil)], reasons=[evil])
    app = terminal("watch", "last")
    app.until_shown("␛]0;owned", "1/1", "cannot be read by this version")
    app.press("]]")
    app.until_shown("by code")
    app.press("q")
    app.until_shown("Runs")
    app.press("q")
    assert app.until_ended() == 0
    for sequence in (b"\x1b]0;owned", b"\x1b]52;", b"\x1b[8m", b"\xc2\x9b"):
        assert sequence not in app.raw
