"""No process of ours gives a key away, and nothing here needs what other systems lack."""

import asyncio
import os
import resource
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.processes.conftest import Lab, parent_of, started
from tests.waiting import until
from tui_eval.processes.capture import Capture
from tui_eval.processes.program import ResourceSample
from tui_eval.processes.supervisor import Processes
from tui_eval.processes.thinning import MOST_SAMPLES, Thinned
from tui_eval.processes.wardens import process_tree
from tui_eval.processes.wardens.process_tree import DescendantTree, GroupTree, ProcessFigures

KEY = "sk-only-for-" + "the-program"
"""Put together, so that no file of this test's byte code holds it."""


def memory_holds(pid: int, text: bytes) -> bool:
    """Whether the memory of a process holds a text, as far as it can be written to."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        for line in maps:
            span, rights = line.split()[:2]
            if rights.startswith("rw"):
                begin, end = (int(one, 16) for one in span.split("-"))
                memory.seek(begin)
                try:
                    if text in memory.read(end - begin):
                        return True
                except OSError:
                    continue
    return False


async def test_a_key_is_in_its_programs_environment_alone(lab: Lab, processes: Processes) -> None:
    agent = lab.agent("sleeps")
    running = await started(processes, replace(agent, env={**agent.env, "KEY": KEY}))
    other = await started(processes, lab.program("sleep", "60", name="other"))
    await until(lab.alive)
    assert running.pid is not None
    assert other.pid is not None
    assert processes.zygote_pid is not None
    warden, zygote = parent_of(running.pid), processes.zygote_pid
    environ = {
        pid: Path(f"/proc/{pid}/environ").read_bytes()
        for pid in (running.pid, warden, zygote, other.pid)
    }
    assert KEY.encode() in environ[running.pid]  # the control: it can be found
    assert [pid for pid, text in environ.items() if KEY.encode() in text] == [running.pid]
    if os.geteuid() == 0:
        assert memory_holds(warden, KEY.encode())  # the control: the search finds it
        assert not memory_holds(zygote, KEY.encode())
        assert not memory_holds(parent_of(other.pid), KEY.encode())
    running.cancel(0.0)
    await running.ended()
    kept = [one.read_bytes() for one in lab.root.rglob("*") if one.is_file()]
    assert kept
    assert not [text for text in kept if KEY.encode() in text]


DUMPABLE = "import ctypes; print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))"
ENGINE = """
import asyncio, ctypes, os
from tui_eval.processes.program import ResourceSample
from tui_eval.processes.supervisor import Processes
from tui_eval.processes.thinning import MOST_SAMPLES, Thinned
from tui_eval.processes.platform_support import forbid_inspection
dumpable = lambda: ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)
async def main():
    print(dumpable())
    async with Processes() as processes:
        processes._living_zygote()
        print(dumpable(), flush=True)
    if os.fork() == 0:
        print(dumpable(), flush=True)  # what is forked is as closed, as wardens are
        os._exit(0)
    os.wait()
asyncio.run(main())
"""


def test_engine_and_all_that_is_forked_are_closed_to_others() -> None:
    done = subprocess.run([sys.executable, "-c", ENGINE], capture_output=True, text=True)
    assert done.stdout.split() == ["1", "0", "0"], done.stderr


SEARCHED = """
import ctypes, os
from tui_eval.processes.platform_support import forbid_inspection

def found():  # by a program of the same user
    told, tell = os.pipe()
    if os.fork() == 0:
        hits = []
        for name in ("environ", "mem"):
            try:
                with open(f"/proc/{os.getppid()}/{name}", "rb") as file:
                    hits.append(name == "mem" or b"sk-searched-for" in file.read())
            except PermissionError:
                hits.append(False)
        os.write(tell, repr(hits).encode())
        os._exit(0)
    os.wait()
    return os.read(told, 100).decode()

if os.geteuid() == 0:  # root reads whatever there is
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)  # as the process of any user is
print(found())
forbid_inspection()
print(found())
"""


def test_a_program_of_the_same_user_reads_no_key_of_the_engine() -> None:
    """The control is what it reads before the engine closes itself."""
    env = {**os.environ, "KEY": "sk-searched-for", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run([sys.executable, "-c", SEARCHED], capture_output=True, text=True, env=env)
    before, after = done.stdout.splitlines()
    assert before.startswith("[True"), done.stderr
    assert after == "[False, False]"


ELSEWHERE = """
import sys
import psutil  # it is built for one system; what is tried is what is ours
sys.platform = "darwin"
import pkgutil, importlib
import tui_eval.processes
for found in pkgutil.walk_packages(tui_eval.processes.__path__, "tui_eval.processes."):
    importlib.import_module(found.name)
from tui_eval.processes.platform_support import become_subreaper, forbid_inspection
become_subreaper(); forbid_inspection()
from tui_eval.processes.isolation.landlock import abi
print(abi())
"""


def test_nothing_needs_linux_to_be_imported() -> None:
    done = subprocess.run([sys.executable, "-c", ELSEWHERE], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "0"


async def test_where_nothing_else_is_known_a_group_is_ended(lab: Lab) -> None:
    program = lab.agent("ignores_term")
    process = await asyncio.create_subprocess_exec(
        *program.command, env=dict(program.env), cwd=program.cwd, stdout=-3, start_new_session=True
    )
    tree = GroupTree(process.pid)
    await until(lab.alive)
    assert tree.look() == {}
    assert tree.left()
    tree.kill()
    await process.wait()
    assert not tree.left()


FAMILY = """
import subprocess, sys, threading
def start():
    subprocess.Popen(["sh", "-c", "sleep 60; true"]).wait()
threading.Thread(target=start).start()
sys.stdin.read()
"""


@pytest.mark.parametrize("told", [True, False], ids=["by its children", "among all"])
async def test_a_tree_is_looked_at_from_its_root_down(
    monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    """Also what a thread has started; where the kernel tells no children, all are looked at."""
    read: list[int] = []
    figures_of = process_tree.figures_of

    def noted(pid: int) -> ProcessFigures | None:
        read.append(pid)
        return figures_of(pid)

    monkeypatch.setattr(process_tree, "_CHILDREN_TOLD", told)
    monkeypatch.setattr(process_tree, "figures_of", noted)
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", FAMILY, stdin=-1)
    tree = DescendantTree(process.pid)
    try:
        await until(lambda: len(tree.look()) == 2)  # the shell, and what it runs
        read.clear()
        found = tree.look()
        assert {one.parent for one in found.values()} - found.keys() == {process.pid}
        assert (sorted(read) == sorted(found)) is told
        assert tree.find().keys() == found.keys()
    finally:
        tree.kill()
        process.kill()
        await process.wait()


def test_a_stream_within_its_bound_is_whole_at_any_moment(tmp_path: Path) -> None:
    for size in (0, 1, 9, 10, 11, 15, 16, 29):
        capture = Capture(tmp_path / f"out{size}", 10)
        data = bytes(range(size))
        for begin in range(0, size, 4):
            os.write(capture.write_end, data[begin : begin + 4])
            capture.read_some()
        path = tmp_path / f"out{size}"
        if size <= 10:
            assert path.read_bytes() == data  # before it is finished, as after a kill
        capture.close_write_end()
        stream = capture.finish()
        assert stream.size == size
        assert path.read_bytes() == (data if size <= 10 else data[:5] + data[-5:])
        assert stream.left_out == max(0, size - 10)


def test_a_full_disk_ends_no_stream(tmp_path: Path) -> None:
    capture = Capture(tmp_path / "out", 1000)
    os.write(capture.write_end, b"x" * 100)
    capture.close_write_end()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (60, hard))  # no file grows beyond
    try:
        stream = capture.finish()
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (stream.size, stream.head, stream.tail) == (100, 60, 0)
    assert (tmp_path / "out").read_bytes() == b"x" * 60
    assert stream.error


@given(count=st.integers(0, 3000))
def test_samples_are_thinned_evenly(count: int) -> None:
    thinned: Thinned[ResourceSample] = Thinned()
    for number in range(count):
        thinned.add(ResourceSample(float(number), 0.0, None, None, None, 0))
    assert len(thinned.kept) <= MOST_SAMPLES
    times = [sample.at for sample in thinned.kept]
    assert times == [float(n) for n in range(0, count, max(1, int(times[1]) if times[1:] else 1))]
