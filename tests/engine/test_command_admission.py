"""Programs that begin as the machine has room for them, through a real engine."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.engine.harness import Harness
from tests.engine.test_command import suite
from tests.support import reading
from tui_eval.format import size
from tui_eval.model.runs.endpoint_event import EndpointEventKind
from tui_eval.processes.machine import Machine, MachineReading
from tui_eval.store.read.figures import program_figures
from tui_eval.store.requests import Verb
from tui_eval.suites.loading.suite_file import load
from tui_eval.targets import notes

MB = 1_000_000
K = EndpointEventKind
HOG = """
import pathlib, sys, time
seen, taken = pathlib.Path(sys.argv[1], 'seen'), pathlib.Path(sys.argv[1], 'taken', sys.argv[2])
with seen.open('a') as log:
    log.write('+')
held = bytearray(b'x') * 60_000_000
taken.touch()
while len(seen.read_text()) < 2:
    time.sleep(0.01)
with seen.open('a') as log:
    log.write('-')
taken.unlink()
print(sys.argv[2])
"""
"""Takes 60 MB, says so, and goes on once there have been two."""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "taken").mkdir()
    return tmp_path


def readings(monkeypatch: pytest.MonkeyPatch, place: Path, memory: int) -> None:
    """Have a machine that has so much, less what the programs have taken."""

    def read(_: Machine) -> MachineReading:
        return MachineReading(memory - 60 * MB * len([*(place / "taken").iterdir()]), idle=9.0)

    monkeypatch.setattr(Machine, "read", read)
    monkeypatch.setattr("tui_eval.engine.limits.machine_limiter.processors", lambda: 1)


def hogs(place: Path, n: int, **fields: Any) -> Any:
    settings = {"concurrency": "auto"}
    return suite(place, HOG, n, args=[str(place), "{{ q }}"], run=settings, **fields)


def events(harness: Harness) -> list[tuple[int, str]]:
    return [
        (n, kind) for n, kind in harness.sql("SELECT concurrency, kind FROM limits ORDER BY id")
    ]


async def test_programs_begin_as_far_as_there_is_memory(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings(monkeypatch, place, 250 * MB)
    harness = Harness(place / "store.db")
    run = await harness.run(hogs(place, 6, limits={"memory": "100MB"}))
    assert harness.counts(run).passed == 6
    at_once = [0]
    for one in (place / "seen").read_text():
        at_once.append(at_once[-1] + (1 if one == "+" else -1))
    assert max(at_once) == 2
    first, *others = events(harness)
    assert first == (2, K.START)
    assert {kind for _, kind in others} <= {K.LOW_MEMORY, K.ROOM}
    with reading(harness.path) as db:
        (took,) = program_figures.resources_by_column(db, run).values()
    assert took.peak_rss_bytes is not None
    assert took.peak_rss_bytes < 100 * MB


async def test_what_there_is_never_room_for_runs_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "seen").write_text("+-")
    readings(monkeypatch, tmp_path, 250 * MB)
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(hogs(tmp_path, 3, limits={"memory": "64GB"}))
    assert harness.counts(run).passed == 3
    assert (tmp_path / "seen").read_text() == "+-" * 4
    assert events(harness) == [(1, K.START), (1, K.ALONE)]


async def test_what_a_task_may_take_is_kept_for_it(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings(monkeypatch, place, 250 * MB)
    (place / "hog.py").write_text(HOG)
    for name in "abcd":
        (place / "tasks" / name).mkdir(parents=True)
        (place / "tasks" / name / "task.toml").write_text("[environment]\nmemory_mb = 200\n")
        (place / "tasks" / name / "instruction.md").write_text("Take.")
    (place / "seen").write_text("+-")
    (place / "suite.toml").write_text(
        'name = "tasks"\nrun = { concurrency = "auto" }\n'
        '[dataset]\nformat = "harbor"\npath = "tasks"\n'
        '[[targets]]\nkind = "command"\nisolation = "none"\n'
        f"command = ['{sys.executable}', 'hog.py', '{place}', '{{{{ id }}}}']\n"
        '[[scorers]]\nkind = "includes"\nexpected = "{{ id }}"\n'
    )
    harness = Harness(place / "store.db")
    run = await harness.run(load(place / "suite.toml", trusted=True))
    assert harness.counts(run).passed == 4
    assert (place / "seen").read_text() == "+-" * 5


async def test_an_engine_that_takes_a_run_over_knows_what_its_programs_took(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    readings(monkeypatch, place, 450 * MB)
    (place / "seen").write_text("++")
    harness = Harness(place / "store.db")
    run = await harness.run(hogs(place, 2))
    before = len(events(harness))
    await harness.again(run, Verb.RETRY, cases=["c0", "c1"])
    (first, _), (again, kind) = events(harness)[0], events(harness)[before]
    assert (first, again >= 5, kind) == (1, True, K.START)


@pytest.mark.parametrize(
    ("fields", "warned"),
    [
        ({"limits": {"memory": "1000TB"}}, True),
        ({"limits": {"memory": "1000TB"}, "concurrency": 2}, False),
        ({"limits": {"memory": "1MB"}}, False),
        ({}, False),
    ],
)
def test_a_limit_beyond_the_machine_is_warned_of_where_it_would_be_waited_for(
    place: Path, fields: dict[str, Any], warned: bool
) -> None:
    found = notes(hogs(place, 1, **fields))
    assert [f"limits.memory is {size(10**15)}" in one for one in found] == [True] * warned
