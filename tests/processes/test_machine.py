"""What this machine has left, read."""

from pathlib import Path

import psutil
import pytest

from tui_eval.processes.machine import Machine, processors


def test_it_is_read_of_the_real_machine(tmp_path: Path) -> None:
    machine = Machine(tmp_path / "not" / "there")
    first = machine.read()
    assert first.memory is not None
    assert 0 < first.memory <= machine.memory() <= psutil.virtual_memory().total
    assert first.disk is not None
    assert first.disk <= psutil.disk_usage(str(tmp_path)).total
    assert first.idle is None
    second = machine.read().idle
    assert second is not None
    assert 0.0 <= second <= processors()


def test_a_group_has_less_than_its_machine_and_the_highest_pressure_counts(tmp_path: Path) -> None:
    place, proc = tmp_path / "fs", tmp_path / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "pressure").mkdir()
    place.mkdir()
    (proc / "self/mountinfo").write_text(f"31 23 0:28 / {place} rw - cgroup2 cg rw\n")
    (proc / "self/cgroup").write_text("0::/\n")
    (proc / "pressure/memory").write_text("some avg10=1.50 avg60=9.00 avg300=0.00 total=0\n")
    (place / "memory.pressure").write_text("some avg10=31.25 avg60=0.00 avg300=0.00 total=0\n")
    (place / "memory.max").write_text("5000000\n")
    (place / "memory.current").write_text("4000000\n")
    machine = Machine(tmp_path, proc)
    found = machine.read()
    assert (found.memory, machine.memory(), found.pressure) == (1_000_000, 5_000_000, 31.25)


def test_where_the_kernel_keeps_no_count_of_pressure_there_is_none(tmp_path: Path) -> None:
    (tmp_path / "pressure").mkdir()
    (tmp_path / "pressure/memory").write_text("")
    assert Machine(tmp_path, tmp_path).read().pressure is None


def test_the_processors_are_those_that_this_process_may_use(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {3, 5, 7}, raising=False)
    assert processors() == 3
