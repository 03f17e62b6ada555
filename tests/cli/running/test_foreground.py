import asyncio
import fcntl
import json
import os
import re
import signal
import sqlite3
import sys
import termios

import pytest

from tests.cli.conftest import Beside, Command, Done, Place, Running
from tests.sampling import one_in
from tests.servers.fake_model import Call, FakeModel, Reply
from tests.waiting import until


def done_trials(place: Place) -> int:
    if not place.store.exists():
        return 0
    db = sqlite3.connect(place.store)
    try:
        return int(db.execute("SELECT count(*) FROM trials WHERE state = 'done'").fetchone()[0])
    except sqlite3.OperationalError:
        return 0
    finally:
        db.close()


def name_of(done: Done) -> str:
    """Return the run's name; a signal may have been answered before it was said."""
    said = re.search(r"^run (\S+)$", done.err, re.MULTILINE)
    assert said, done.err
    return said[1]


@pytest.mark.parametrize("number", one_in(3, [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
async def test_a_signal_stops_writes_down_and_says_how_to_resume(
    place: Place, number: signal.Signals, beside: Beside
) -> None:
    async with FakeModel(latency=0.1) as server:
        suite = place.asking(server.base_url, n=60)
        running = await place.start("run", suite, "--json", "--concurrency", "4")
        await until(lambda: done_trials(place) >= 4)
        running.signal(number)
        done = await running.ended()
        asked = server.requests
        whole = json.loads(done.out)
        assert (done.code, whole["exit_code"], whole["state"]) == (130, 130, "interrupted")
        assert whole["counts"]["done"] == asked  # what was in flight had its grace
        assert whole["targets"]["served"]["pass_rate_ci95"] is None
        assert f"`tui-eval resume {whole['run']}` goes on from here" in done.err

        server.latency = 0.0
        resumed = await beside("resume", whole["run"], "--json")
        assert resumed.code == 0
        assert json.loads(resumed.out)["counts"]["done"] == 60
        assert server.requests == 60  # nothing finished was asked twice


async def test_a_store_that_is_moved_away_stops_the_run_and_loses_nothing(
    place: Place, beside: Beside
) -> None:
    async with FakeModel(latency=0.1) as server:
        suite = place.asking(server.base_url, n=200)
        running = await place.start("run", suite, "--json", "--concurrency", "4")
        await until(lambda: done_trials(place) >= 4)
        waiting = await place.start("resume", "last")
        await waiting.says("waiting for it")
        aside = place.store.with_name("aside.sqlite3")
        server.hold()
        await until(lambda: server.in_flight == 4)
        asked = server.requests
        place.store.rename(aside)
        for done in (await running.ended(), await waiting.ended()):
            assert (done.code, done.out) == (3, "")
            assert f"{place.store}: moved, removed or replaced while it was in use" in done.err
            assert "Traceback" not in done.err
        assert server.requests == asked, "it went on asking with nowhere to write to"

        aside.rename(place.store)
        server.let_go()
        server.latency = 0.0
        resumed = await beside("resume", "last", "--json")
        assert resumed.code == 0, resumed.err
        assert json.loads(resumed.out)["counts"]["done"] == 200
        assert server.requests <= 200 + 4  # what was in flight


async def test_a_terminal_that_goes_away_stops_a_run_like_a_signal(
    place: Place, tui_eval: Command
) -> None:
    ours, theirs = os.openpty()
    async with FakeModel(latency=0.1) as server:
        suite = place.asking(server.base_url, n=60)
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tui_eval", "run", suite, "--concurrency", "4"),
            cwd=place.folder,
            env=place.environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(theirs)
        await until(lambda: done_trials(place) >= 4)
        os.close(ours)
        async with asyncio.timeout(30):
            code = await process.wait()
        asked = server.requests
    shown = json.loads(tui_eval("show", "last", "--json").out)
    assert (code, shown["state"]) == (130, "interrupted")
    assert shown["counts"]["done"] == asked < 60
    assert not list(place.folder.glob("state/**/*.log"))


async def test_a_second_signal_stops_at_once(place: Place) -> None:
    async with FakeModel(latency=60.0) as server:
        running = await place.start("run", place.asking(server.base_url, n=3))
        await until(lambda: server.in_flight == 3)
        running.signal(signal.SIGINT)
        await running.says("stopping")
        await running.signal_again(signal.SIGINT)
        done = await running.ended()
    assert done.code == 130
    assert f"tui-eval resume {name_of(done)}" in done.out
    assert server.dropped == 3


async def test_a_second_signal_ends_even_what_waits_for_a_locked_store(
    place: Place, beside: Beside
) -> None:
    async with FakeModel(latency=0.1) as server:
        running = await place.start("run", place.asking(server.base_url, n=90))
        await until(lambda: done_trials(place) >= 8)
        other = sqlite3.connect(place.store, isolation_level=None, timeout=30)
        try:
            other.execute("BEGIN IMMEDIATE")
            await until(lambda: server.in_flight == 0)  # nothing goes on: nothing can be written
            running.signal(signal.SIGINT)
            await running.says("stopping")
            await running.signal_again(signal.SIGINT)
            done = await running.ended()
        finally:
            other.close()
        assert done.code == 130
        assert f"`tui-eval resume {name_of(done)}` goes on" in done.err
        server.latency = 0.0
        resumed = await beside("resume", "last", "--json")
    assert json.loads(resumed.out)["counts"]["done"] == 90


async def test_a_signal_that_arrives_twice_is_one(place: Place) -> None:
    async with FakeModel(latency=0.5) as server:
        running = await place.start("run", place.asking(server.base_url, n=30), "--json")
        await until(lambda: server.in_flight >= 3)
        running.signal(signal.SIGINT)
        running.signal(signal.SIGTERM)  # as `timeout` does, to the process and to its group
        done = await running.ended()
    assert done.code == 130
    assert done.err.count("stopping") == 1
    assert server.dropped == 0
    assert json.loads(done.out)["counts"]["done"] == server.requests


async def test_a_killed_run_is_interrupted_and_resumes(place: Place, beside: Beside) -> None:
    async with FakeModel(latency=0.05) as server:
        suite = place.asking(server.base_url, n=40)
        running = await place.start("run", suite, "--concurrency", "4")
        await until(lambda: done_trials(place) >= 8)
        running.signal(signal.SIGKILL)
        await running.ended()
        shown = await beside("show", "last", "--json")
        assert json.loads(shown.out)["state"] == "interrupted"
        server.latency = 0.0
        resumed = await beside("resume", "last", "--json")
    whole = json.loads(resumed.out)
    assert (resumed.code, whole["counts"]["done"]) == (0, 40)
    assert server.requests <= 44  # at most what was in flight is asked again


async def test_a_cancel_whose_engine_dies_before_it_answers_is_done_and_done_once(
    place: Place, beside: Beside
) -> None:
    def asked() -> list[tuple[str, str | None]]:
        db = sqlite3.connect(place.store)
        try:
            return db.execute("SELECT verb, outcome FROM requests ORDER BY id").fetchall()
        finally:
            db.close()

    async with FakeModel(latency=0.05) as server:
        suite = place.asking(server.base_url, n=40)
        running = await place.start("run", suite, "--concurrency", "4")
        await until(lambda: done_trials(place) >= 4)
        running.signal(signal.SIGSTOP)  # alive, and answers nobody
        cancelling = await place.start("cancel", "last")
        await until(lambda: asked() == [("cancel-run", None)])
        running.signal(signal.SIGKILL)
        await running.ended()
        cancelled = await cancelling.ended()
        assert cancelled.code == 0
        assert asked() == [("cancel-run", "accepted")]
        server.latency = 0.0
        again = await beside("retry", "last", "--json")
    whole = json.loads(again.out)
    assert (whole["state"], whole["counts"]["done"]) == ("done", 40)


async def test_a_request_to_a_live_run_is_sent_and_waited_for(place: Place, beside: Beside) -> None:
    async with FakeModel(latency=0.1) as server:
        suite = place.asking(server.base_url, n=40)
        running = await place.start("run", suite, "--concurrency", "2", "--json")
        await until(lambda: done_trials(place) >= 2)
        asked = await beside("retry", "last", "--case", "case-0", "--json")
        first = await running.ended()
    assert (asked.code, first.code) == (0, 0)
    assert json.loads(asked.out)["counts"]["done"] == 40
    assert server.counts["0 + 1?"] == 2
    assert "retry: accepted: 1 trial" in asked.err


async def test_who_only_waits_may_go_and_the_run_goes_on(place: Place) -> None:
    async with FakeModel(latency=0.05) as server:
        suite = place.asking(server.base_url, n=30)
        running = await place.start("run", suite, "--concurrency", "2", "--json")
        await until(lambda: done_trials(place) >= 2)
        server.hold()  # the run lasts for as long as it takes
        waiting = await place.start("resume", "last")
        await _followed(place, waiting)
        waiting.signal(signal.SIGINT)
        left = await waiting.ended()
        assert left.code == 130
        assert "the run goes on" in left.err
        server.let_go()
        first = await running.ended()
    assert json.loads(first.out)["counts"]["done"] == 30


async def _followed(place: Place, waiting: Running) -> None:
    """Wait until a command has asked and follows: its request is answered."""

    def answered() -> bool:
        db = sqlite3.connect(place.store)
        try:
            found = db.execute("SELECT count(*) FROM requests WHERE outcome IS NOT NULL")
            return bool(found.fetchone()[0])
        finally:
            db.close()

    await until(answered)
    await waiting.says("run ")


async def test_a_background_engine_minds_no_lost_terminal_and_stops_when_told(
    place: Place, beside: Beside
) -> None:
    async with FakeModel(latency=0.1) as server:
        suite = place.asking(server.base_url, n=200)
        detached = await beside("run", suite, "--detach", "--concurrency", "2")
        await until(lambda: done_trials(place) >= 2)
        pid = _engine(place)
        os.kill(pid, signal.SIGHUP)
        before = done_trials(place)
        await until(lambda: done_trials(place) > before + 4)
        os.kill(pid, signal.SIGTERM)
        await until(lambda: _engine(place) == 0)
        shown = await beside("show", detached.out.strip(), "--json")
    whole = json.loads(shown.out)
    assert whole["state"] == "interrupted"
    assert whole["counts"]["done"] == server.requests


def _engine(place: Place) -> int:
    db = sqlite3.connect(place.store)
    try:
        return int(db.execute("SELECT ifnull(lease_pid, 0) FROM runs").fetchone()[0])
    finally:
        db.close()


def test_who_reads_the_events_may_go_away_and_the_run_goes_on(place: Place) -> None:
    import subprocess
    import sys

    suite = place.suite(n=50, target="latency_s = 0.01")
    command = f"{sys.executable} -m tui_eval run {suite} --events --concurrency 2 | head -n 1"
    subprocess.run(
        ["sh", "-c", command], cwd=place.folder, env=place.environment, capture_output=True
    )
    assert done_trials(place) == 50


async def test_an_endpoint_that_is_left_alone_is_told_of_and_that_it_answers_again(
    place: Place, beside: Beside
) -> None:
    gone = {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1s"}

    def script(call: Call) -> Reply | None:
        return Reply("answer", headers=gone) if call.n == 5 else None

    async with FakeModel(script=script, latency=0.05) as server:
        suite = place.asking(server.base_url, n=20)
        done = await beside("run", suite, "--concurrency", "2")
    said = f"{server.base_url}: nothing remains of its requests: paused for 1 s\n"
    assert said in done.err
    assert f"{server.base_url}: answers again after " in done.err.partition(said)[2]


async def test_who_waits_is_told_for_which_process_and_that_it_is_stopped(place: Place) -> None:
    async with FakeModel(latency=0.2) as server:
        suite = place.asking(server.base_url, n=20)
        running = await place.start("run", suite, "--concurrency", "2", "--json")
        await until(lambda: done_trials(place) >= 2)
        running.signal(signal.SIGSTOP)
        waiting = await place.start("resume", "last")
        await waiting.says("is stopped: `kill -CONT")
        server.hold()  # lest it ends before anybody sees that it goes on
        running.signal(signal.SIGCONT)
        await waiting.says("waiting for it")
        server.let_go()
        second = await waiting.ended()
        first = await running.ended()
    assert (first.code, second.code) == (0, 0)
    assert server.requests == 20
