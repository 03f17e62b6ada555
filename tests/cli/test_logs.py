"""How much engines log, who says so, and where it goes."""

import logging
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Beside, Command, Place
from tests.servers.fake_model import FakeModel, first_attempts, refuse
from tui_eval.cli import logs
from tui_eval.suites.config.config_path import config_file

CASES = 3


def the_log(place: Place) -> str:
    (file,) = place.folder.glob("logs/*.log")
    assert file.stat().st_mode & 0o777 == 0o600
    return file.read_text()


async def test_debug_tells_each_retry_and_why(place: Place, beside: Beside) -> None:
    script = first_attempts(refuse(503, retry_after="0"))
    async with FakeModel(script=script) as server:
        done = await beside("--log-level", "debug", "run", place.asking(server.base_url, n=CASES))
    written = the_log(place)
    assert f"its log is {next(place.folder.glob('logs/*.log'))}" in done.err
    assert len(re.findall(r"DEBUG journey: trial \d+, .*503: try 2/.*, again in", written)) == CASES
    assert "DEBUG patience: server_error: the endpoint asks for 0.000 s" in written
    assert "INFO run_hold: run 1 taken by process" in written
    assert "INFO run_hold: run 1 let go as done" in written


JUDGED = """
[[scorers]]
name = "polite"
kind = "judge"
rubric = "Is it polite?"
scale = "pass-fail"

[judge]
kind = "simulated"
batch_size = 2
"""


def test_debug_tells_batches_limits_and_requests_and_no_texts(
    place: Place, tui_eval: Command
) -> None:
    tui_eval("--log-level", "debug", "run", place.suite(n=CASES, more=JUDGED))
    tui_eval("--log-level", "debug", "rescore", "last")
    written = the_log(place)
    assert "DEBUG batcher: 2 questions of polite leave: it is full" in written
    assert "DEBUG batcher: 1 questions of polite leave: it waits no longer" in written
    call = r"DEBUG call_records: judge call 1 to judge: round first, .*\[\d, \d\]"
    assert re.search(call, written)
    assert "DEBUG judge_pool: judge call 1: 2 of 2 answered whole; 0 batches ask again" in written
    assert "INFO request_handler: request 1 rescore by process" in written
    assert "Is it polite?" not in written
    assert " + 1?" not in written


def test_without_a_level_a_run_in_the_foreground_has_no_log(
    place: Place, tui_eval: Command
) -> None:
    done = tui_eval("run", place.suite())
    assert "log" not in done.err
    assert not list(place.folder.glob("logs/*"))


async def test_engines_of_their_own_inherit_the_level(place: Place) -> None:
    running = await place.start("--log-level", "debug", "run", place.suite(), "--detach")
    name = (await running.ended()).out.strip()
    waited = await place.start("resume", name)
    await waited.ended()
    assert "DEBUG staging: staged 4 trials" in the_log(place)


async def test_the_usual_level_tells_what_became_of_the_run_alone(place: Place) -> None:
    running = await place.start("run", place.suite(), "--detach")
    name = (await running.ended()).out.strip()
    await (await place.start("resume", name)).ended()
    assert "INFO run_hold" in the_log(place)
    assert "DEBUG" not in the_log(place)


def test_the_environment_outranks_the_configuration(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert logs.said_level() is None
    config_file().parent.mkdir()
    config_file().write_text('log_level = "warning"\n')
    assert logs.said_level() == "warning"
    monkeypatch.setenv(logs.VARIABLE, "error")
    assert logs.said_level() == "error"


@pytest.mark.parametrize("level", ["loud", "DEBUG"])
def test_an_unknown_level_is_refused(level: str, place: Place, tui_eval: Command) -> None:
    done = tui_eval("--log-level", level, "runs")
    assert done.code == 2
    assert "'debug', 'info', 'warning', 'error'" in done.err


def test_libraries_are_heard_only_when_they_warn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(logs.VARIABLE, "debug")
    file = tmp_path / "logs" / "x.log"
    with logs.logged_to_file(file) as written:
        logging.getLogger("aiosqlite").debug("quiet")
        logging.getLogger("aiosqlite").warning("loud")
        logging.getLogger("tui_eval.store").debug("ours")
    logging.getLogger("tui_eval.store").warning("after")
    assert written
    assert [line.rpartition(" ")[2] for line in file.read_text().splitlines()] == ["loud", "ours"]
