"""Signals, odd terminals, hostile texts and false keys: the terminal stays its owner's."""

import asyncio
import base64
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests import hostile
from tests.engine.harness import Harness, suite
from tests.faults.guards import failing, guarded
from tests.faults.processes import Command, assert_whole, resume
from tests.faults.terminal import Screen, assert_restored, kinds
from tests.servers.fake_model import FakeModel
from tests.support import output
from tests.ui.playing import by_hand, plain_run
from tests.waiting import until
from tui_eval.cli.running.signals import TOGETHER_S
from tui_eval.engine.engine import Engine
from tui_eval.isolated.calls import IsolatedCalls
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import Grade
from tui_eval.model.states import RunState, Verdict


@pytest.mark.whole
@guarded("handlers of signals")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_one_signal_stops_the_run_with_all_that_was_in_flight_written(
    harness: Harness, number: signal.Signals, guard: str | None
) -> None:
    async with FakeModel(latency=0.1) as server:
        run = harness.create(suite(server.base_url, 100, run={"concurrency": 4}))
        with failing(guard):
            command = await resume(harness, run, "--json", guard=guard)
            await until(lambda: server.requests >= 6)
            command.signal(number)
            assert await command.ended() == 130
            assert command.out, "it ended without a word of the run"
            assert command.document()["exit_code"] == 130
            assert harness.row(run).state is RunState.INTERRUPTED
            assert harness.counts(run).done == server.requests
            assert f"tui-eval resume {harness.row(run).name}" in command.err


async def test_a_second_interrupt_stops_at_once_and_the_run_resumes(harness: Harness) -> None:
    async with FakeModel(latency=60) as server:
        run = harness.create(suite(server.base_url, 8, run={"concurrency": 4}))
        command = await resume(harness, run, "--json")
        await until(lambda: server.in_flight == 4)
        command.signal(signal.SIGINT)
        await until(lambda: "stopping" in command.err)
        await asyncio.sleep(1.2 * TOGETHER_S)  # sooner it would be one with the first
        command.signal(signal.SIGINT)
        assert await command.ended() == 130
        await until(lambda: server.dropped == 4)
        assert harness.counts(run).queued == 8
        server.latency = 0
        again = await resume(harness, run, "--json")
        assert await again.ended() == 0
    assert harness.counts(run).passed == 8
    assert_whole(harness, run)


async def test_a_stop_waits_no_longer_than_its_grace_for_what_is_being_scored(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tui_eval.engine.engine.GRACE_S", 0.2)
    hangs = {"kind": "regex", "expected": r"^(\w|\w\w)*$"}  # ended after a second, each time
    scorers = [{**hangs, "name": f"slow {n}"} for n in range(3)]
    async with FakeModel(answers={"q0": "a" * 60 + "!"}) as server:
        async with harness.working(suite(server.base_url, 1, scorers=scorers)) as (run, engine):
            await until(scores)
            engine.stop()
        assert harness.row(run).state is RunState.INTERRUPTED
        assert harness.counts(run).scoring == 1, "it was waited for"
        monkeypatch.setattr(IsolatedCalls, "call", lambda *_: Grade(Verdict.PASS, 1.0, "quick"))
        await Engine(harness.path, run).run()
        assert server.requests == 1
    assert harness.counts(run).passed == 1
    assert_whole(harness, run, len(scorers))


def scores() -> bool:
    """Tell whether there is a process that scores."""
    found = psutil.Process().children(recursive=True)
    return any("tui_eval.isolated" in one.cmdline() for one in found)


@pytest.mark.whole
async def test_a_stopped_process_goes_on_where_it_was(harness: Harness) -> None:
    async with FakeModel() as server:
        server.hold()
        run = harness.create(suite(server.base_url, 60, run={"concurrency": 4, "timeout": 300}))
        command = await resume(harness, run, "--json")
        await until(lambda: server.in_flight == 4)
        command.signal(signal.SIGTSTP)
        await until(lambda: psutil.Process(command.process.pid).status() == psutil.STATUS_STOPPED)
        server.let_go()
        await until(lambda: server.in_flight == 0)
        held = server.requests
        await asyncio.sleep(0.3)
        assert server.requests == held
        command.signal(signal.SIGCONT)
        assert await command.ended() == 0
        assert set(server.counts.values()) == {1}
    assert harness.counts(run).passed == 60
    assert_whole(harness, run)


@pytest.mark.parametrize("form", ["--events", pytest.param("--json", marks=pytest.mark.whole)])
async def test_a_closed_stdout_stops_no_run_and_makes_no_noise(harness: Harness, form: str) -> None:
    async with FakeModel(latency=0.02) as server:
        run = harness.create(suite(server.base_url, 30, run={"concurrency": 4}))
        reading, writing = os.pipe()
        os.close(reading)
        name = harness.row(run).name
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tui_eval", "resume", name, form),
            stdout=writing,
            stderr=asyncio.subprocess.PIPE,
        )
        os.close(writing)
        async with asyncio.timeout(60):
            said = (await process.communicate())[1].decode()
        assert server.requests == 30
    assert harness.counts(run).passed == 30
    assert "Traceback" not in said
    assert "Exception ignored" not in said


# --- the app in a terminal ----------------------------------------------------------------------


@pytest.fixture
def screens() -> Iterator[list[Screen]]:
    """Collect what was opened, to be closed."""
    opened: list[Screen] = []
    yield opened
    for one in opened:
        one.close()


def watching(screens: list[Screen], store: Path, **how: object) -> Screen:
    """Open the app on the last run of a store."""
    screens.append(Screen("watch", "last", "--store", str(store), **how))  # type: ignore[arg-type]
    return screens[-1]


def leave(app: Screen) -> None:
    app.press("q")
    app.until_shown("Runs")
    app.press("q")
    assert app.until_ended() == 0
    assert_restored(app)


@pytest.mark.whole
def test_a_storm_of_sizes_leaves_a_screen_that_is_right(
    harness: Harness, seed: int, screens: list[Screen]
) -> None:
    draw = random.Random(seed)
    plain_run(harness.path, 40)
    app = watching(screens, harness.path)
    app.until_shown("case-000")
    for columns, rows in [(20, 5), (500, 200), (1, 1), *((draw.randrange(2, 300),
                          draw.randrange(2, 90)) for _ in range(60))]:  # fmt: skip
        app.resize(columns, rows)
        app._take(0.02)
        app.press(draw.choice("jk]["))
    app.resize(100, 30)
    app.until(lambda: "case-0" in app.text() and "40/40" in app.text())
    leave(app)


@pytest.mark.whole
@pytest.mark.parametrize(("columns", "rows"), [(20, 5), (500, 200)])
def test_the_smallest_and_the_largest_terminal_show_a_run(
    harness: Harness, screens: list[Screen], columns: int, rows: int
) -> None:
    plain_run(harness.path, 40)
    app = watching(screens, harness.path, columns=columns, rows=rows)
    app.until(lambda: "by-hand" in app.text())
    app.press("jjk")
    app.press("q")
    app.until(lambda: "Runs" in app.text() or "by-hand" in app.text())
    app.press("q")
    assert app.until_ended() == 0


@pytest.mark.whole
@pytest.mark.parametrize("way", ["q", "SIGTERM", "SIGHUP", "SIGINT", "crash"])
def test_the_terminal_is_as_it_was_after_every_way_out(
    harness: Harness, screens: list[Screen], way: str
) -> None:
    plain_run(harness.path, 5)
    app = watching(screens, harness.path)
    app.until_shown("case-000")
    if way == "q":
        leave(app)
        return
    if way == "crash":
        harness.path.write_bytes(b"no store any more" * 4000)  # under the app's feet
        for _ in range(3):
            app.press("j")
        app._take(0.5)
        app.press("q")
        app._take(0.5)
        app.press("q")
        app._take(1.0)
        if app.process.isalive():
            app.process.kill(signal.SIGTERM)
    else:
        app.process.kill(signal.Signals[way])
        app._take(1.0)
        if way == "SIGINT" and app.process.isalive():
            app.process.kill(signal.SIGTERM)
    app.until_ended()
    assert_restored(app)


def hostile_run(store: Path, texts: list[str]) -> None:
    """Write a run with hostile text in every place that foreign text can have."""
    cases = [
        Case(at, f"{text[:30]}{at}", {"q": text, text[:20] or "k": [text[:100]]}, tags=(text[:20],))
        for at, text in enumerate(texts)
    ]
    answers = [
        Failure(text[:20], text[:300], partial=text[:300])
        if at % 5 == 4
        else output(
            text,
            reasoning=text[:500],
            finish_reason=text[:20],
            model=text[:20],
            messages=({"role": text[:10], "content": text[:1000], "tool_calls": [text[:50]]},),
        )
        for at, text in enumerate(texts)
    ]
    by_hand(store, cases, answers=answers, reasons=[text[:300] for text in texts], suite=texts[0])


def payloads(seed: int) -> list[str]:
    """Make sequences whose arrival would be seen: each carries the seed."""
    mark = f"{seed}-owned"
    packed = base64.b64encode(mark.encode()).decode()
    return [
        f"\x1b]0;{mark}\x07",
        f"\x1b]52;c;{packed}\x1b\\",
        f"\x1b]8;;http://{mark}/\x1b\\link",
        f"\x1bP$q{mark}\x1b\\",
        f"\x1b_{mark}\x1b\\",
        f"\x9d0;{mark}\x9c",
        f"\x9b8m{mark}",
        f"\x1b[8m{mark}\x1b[5m",
        f"\x1b[6n\x1b[c{mark}",
        f"\x1bc{mark}\x1b#8",
        f"{mark}\x00\x07\x08\x0e\x7f",
        f"{mark}\x1b]1337;File=inline=1:{packed}\x07",
    ]


@guarded("the choke point", slow=True)
@pytest.mark.parametrize("corpus", [False, pytest.param(True, marks=pytest.mark.whole)])
def test_no_byte_of_a_payload_reaches_the_terminal_from_any_widget(
    harness: Harness, seed: int, screens: list[Screen], corpus: bool, guard: str | None
) -> None:
    texts = [*payloads(seed), *(hostile.outputs() if corpus else [])]
    hostile_run(harness.path, texts)
    app = watching(screens, harness.path, columns=120, rows=40, guard=guard)
    with failing(guard):
        app.until(lambda: "owned" in app.text())
        for _ in range(len(texts)):
            app.press("j]")
            app._take(0.02)
        for keys in ("/", "owned\r", "\x1b", "f", "\x1b", "o", "\r", "\r", "?", "\x1b"):
            app.press(keys)
            app._take(0.15)
        end = time.monotonic() + 1
        while time.monotonic() < end:
            app._take(0.05)
        assert not kinds(app.raw), kinds(app.raw)
    if guard is None:
        app.process.kill(signal.SIGTERM)
        app.until_ended()
        assert_restored(app)


@pytest.mark.whole
async def test_a_paste_and_a_terminals_replies_trigger_nothing(
    harness: Harness, screens: list[Screen]
) -> None:
    false_keys = "\x1b[200~qCy\rRSc\rq\x1b[201~"
    replies = ["\x1b[?1;2c", "\x1b[24;80R", "\x1b]11;rgb:0000/0000/0000\x07", "\x1b[?2026;2$y",
               "\x1bP1$r0m\x1b\\", "\x1b[?u", "\x1b[I", "\x1b[O"]  # fmt: skip
    async with FakeModel(latency=0.2) as server:
        run = harness.create(suite(server.base_url, 60, run={"concurrency": 4}))
        engine = await resume(harness, run)
        await until(lambda: server.requests >= 4)

        def play() -> None:
            app = watching(screens, harness.path)
            app.until_shown("c0")
            for keys in (false_keys, *replies):
                app.press(keys)
                app._take(0.2)
            app.until_shown("c0")
            assert app.process.isalive()
            app.press("q")  # the control: a key that was pressed does something
            app.until_shown("Runs")

        await asyncio.to_thread(play)
        assert harness.sql("SELECT verb FROM requests WHERE verb <> 'resume'") == []
        assert await engine.ended() == 0
    assert harness.counts(run).passed == 60


@pytest.mark.whole
@pytest.mark.parametrize(
    "surroundings",
    [{"TERM": "dumb"}, {"NO_COLOR": "1"}, {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0"}],
    ids=["dumb", "no colour", "C"],
)
async def test_plain_surroundings_get_plain_output(
    harness: Harness, surroundings: dict[str, str]
) -> None:
    async with FakeModel(answers=lambda _: "héllo \x1b[31m") as server:
        run = harness.create(suite(server.base_url, 3))
        command = await resume(harness, run, environment=surroundings)
        assert await command.ended() == 0
    shown = await Command.start("show", "last", "--failed", environment=surroundings)
    assert await shown.ended() == 0
    for said in ("".join(command.out), command.err, "".join(shown.out), shown.err):
        assert "\x1b" not in said
        assert "Traceback" not in said
    watched = await Command.start("watch", "last", environment=surroundings)
    assert await watched.ended() == 2
    assert "needs a terminal" in watched.err
