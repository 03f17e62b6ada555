"""Zygote and wardens are stopped, refused, or fail: limits hold, and nothing outlives its trial."""

import asyncio
import os
import signal
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processes.conftest import PYTHON, Lab, parent_of, run, started
from tests.waiting import until
from tui_eval.processes import zygote_client
from tui_eval.processes.channel import WardenChannel, encode
from tui_eval.processes.program import EndCause, NotStarted, Program
from tui_eval.processes.records import CONTROL, ENDING
from tui_eval.processes.running import RunningProgram
from tui_eval.processes.supervisor import Processes
from tui_eval.processes.wardens.engine_link import EngineLink
from tui_eval.processes.zygote_client import ZygoteClient

Instead = Callable[[str], None]


@pytest.fixture
def instead(monkeypatch: pytest.MonkeyPatch) -> Instead:
    """Have the zygotes of a test begin with some code of its own."""
    imports = (
        "import os, resource, signal, sys, time; sys.path.append(sys.argv[1]); "
        "from tui_eval.processes.wardens import process_tree, sampler, warden, zygote\n"
    )

    def begin(code: str) -> None:
        script = f"{imports}{code}\nzygote.main(int(sys.argv[2]))"
        monkeypatch.setattr(zygote_client, "_RUN", script)

    return begin


STOPPED = "zygote.Zygote._continue = lambda *_: None"


def stops_its_warden(lab: Lab, times: str) -> Program:
    script = f"import os, signal\nfor _ in {times}: os.kill(os.getppid(), signal.SIGSTOP)\n"
    agent = lab.agent("ignores_term", wall=0.4)
    sleeps = "import subprocess, sys; subprocess.Popen(sys.argv[1:])\n"
    return replace(agent, command=(PYTHON, "-I", "-S", "-c", f"{sleeps}{script}", *agent.command))


async def test_a_warden_that_its_program_stops_holds_the_limits_all_the_same(
    lab: Lab, processes: Processes
) -> None:
    ending = await run(processes, stops_its_warden(lab, "[1]"))
    assert ending.cause in (EndCause.EXITED, EndCause.LIMIT)
    assert not lab.alive()


async def test_control_a_stopped_warden_holds_none(
    lab: Lab, processes: Processes, instead: Instead
) -> None:
    instead(STOPPED)
    running = await started(processes, lab.agent("sleeps", wall=0.4))
    assert running.pid is not None
    warden = parent_of(running.pid)
    os.kill(warden, signal.SIGSTOP)
    done, _ = await asyncio.wait([asyncio.create_task(running.followed())], timeout=1.0)
    assert not done
    os.kill(warden, signal.SIGCONT)
    assert (await running.ended()).limit == "wall"


async def test_a_warden_that_is_stopped_without_end_is_given_up_with_its_tree(
    lab: Lab, processes: Processes
) -> None:
    ending = await run(processes, stops_its_warden(lab, "iter(int, 1)"))
    assert ending.cause in (EndCause.LOST, EndCause.LIMIT)
    assert not lab.alive()


async def test_a_zygote_that_somebody_stops_goes_on(
    lab: Lab, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote_client, "_LOOK_S", 0.02)
    await run(processes, lab.program("true", name="first"))
    assert processes.zygote_pid is not None
    os.kill(processes.zygote_pid, signal.SIGSTOP)
    assert (await run(processes, lab.program("true"))).exit_code == 0


async def test_control_a_stopped_zygote_starts_nothing(
    lab: Lab, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(zygote_client, "_LOOK_S", 1e6)
    await run(processes, lab.program("true", name="first"))
    zygote = processes.zygote_pid
    assert zygote is not None
    os.kill(zygote, signal.SIGSTOP)
    starting = asyncio.create_task(processes.start(lab.program("true")))
    done, _ = await asyncio.wait([starting], timeout=0.5)
    assert not done
    os.kill(zygote, signal.SIGCONT)
    assert isinstance(await starting, RunningProgram)


OFTEN = "sampler._FIRST_S = sampler._EVERY_S = sampler._SHARE = 0.001\n"
FULL = "def full(*_): raise OSError(28, 'full')\nwarden.write_ending = full"


@pytest.mark.parametrize("forged", [False, True])
async def test_an_ending_for_which_an_engine_has_no_time_is_found_in_the_folder(
    lab: Lab, instead: Instead, forged: bool
) -> None:
    """It has gone through the warden's own hands, or else is not believed."""
    instead(OFTEN + (FULL if forged else ""))
    program = lab.program("sh", "-c", "sleep 0.3; exit 7")
    zygote = ZygoteClient()
    ours, theirs = socket.socketpair()
    with theirs:
        theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)
        ours.sendall(encode({"program": program.as_json()}))
        gone = await zygote.fork([theirs])
    while len(ours.recv(1 << 16, socket.MSG_PEEK)) < 20:
        await asyncio.sleep(0)  # it has started, as is told
    await gone  # a warden waits for an engine that does not read, and ends
    if forged:
        (program.folder / ENDING).write_text("{}")
    ours.setblocking(False)
    running = RunningProgram(ours, program.folder, "none", gone)
    ending = await running.ended()
    assert (ending.cause, ending.exit_code) == (
        (EndCause.LOST, None) if forged else (EndCause.EXITED, 7)
    )
    await zygote.close()


@pytest.mark.parametrize("fails", ["__init__", "watch", "conclude"])
async def test_a_warden_that_fails_ends_its_tree_and_says_how(
    lab: Lab, processes: Processes, instead: Instead, fails: str
) -> None:
    wait = "while len(open(os.environ['LEDGER_']).readlines()) < 10: time.sleep(0.005)"
    instead(
        f"os.environ['LEDGER_'] = {str(lab.ledger)!r}\n"
        f"def broken(*_):\n    {wait}\n    raise MemoryError('none left')\n"
        f"warden.Warden.{fails} = broken"
    )
    lab.ledger.touch()
    program = lab.agent("storms", "10", wall=0.5)
    told = await processes.start(program)
    if isinstance(told, RunningProgram):
        assert (await told.ended()).cause is EndCause.LOST
    else:
        assert "killed before it started" in told.reason
    assert not lab.alive()
    assert "none left" in (program.folder / "warden.txt").read_text()


BLUNT = """
class Blunt(process_tree.DescendantTree):
    def chase(self, reap):
        pass
    def kill(self):
        return ()
warden.tree_of = lambda program: Blunt(os.getpid())
warden._GIVE_UP_S = 0.1
"""
FORGETS = "zygote.Zygote._sweep = lambda self: setattr(self, '_left', False)\n"


@pytest.mark.parametrize("sweeps", [True, False])
async def test_what_a_warden_could_not_end_is_ended_after_it(
    lab: Lab, processes: Processes, instead: Instead, sweeps: bool
) -> None:
    """The control is a zygote that sweeps nothing."""
    instead(BLUNT if sweeps else BLUNT + FORGETS)
    running = await started(processes, lab.agent("storms", "10"))
    await until(lambda: len(lab.entries()) >= 10)
    running.cancel(0.0)
    ending = await running.ended()
    assert len(ending.survivors) >= 10
    if sweeps:
        await until(lambda: not lab.alive())
    else:
        assert lab.alive()
        lab.kill_all()


async def test_a_sweep_that_the_machine_refuses_is_tried_again(
    lab: Lab, processes: Processes, instead: Instead
) -> None:
    instead(
        "find, refused = process_tree.DescendantTree.find, iter(range(3))\n"
        "class Refused(process_tree.DescendantTree):\n"
        "    def find(self):\n"
        "        if next(refused, None) is not None: raise OSError(24, 'no descriptors')\n"
        "        return find(self)\n"
        "zygote.DescendantTree = Refused"
    )
    running = await started(processes, lab.agent("storms", "10"))
    await until(lambda: len(lab.entries()) >= 10)
    assert running.pid is not None
    os.kill(parent_of(running.pid), signal.SIGKILL)
    assert (await running.ended()).cause is EndCause.LOST
    assert not lab.alive()


async def test_a_fork_that_is_refused_is_the_reason(
    lab: Lab, processes: Processes, instead: Instead
) -> None:
    instead("def fork(): raise OSError(11, 'no more processes')\nzygote.os.fork = fork")
    told = await processes.start(lab.program("true"))
    assert isinstance(told, NotStarted)
    assert told.reason == "no process can be started: no more processes"


JUMPS = """
kept, began = time.{clock}, time.perf_counter()
time.{clock} = lambda: kept() + (86400 if time.perf_counter() - began > 0.3 else 0)
"""


@pytest.mark.parametrize("clock", ["time", "monotonic"])
async def test_a_clock_that_jumps_moves_no_wall(
    lab: Lab, processes: Processes, instead: Instead, clock: str
) -> None:
    """The control is the clock that it is held by, which nobody can set."""
    instead(JUMPS.format(clock=clock))
    ending = await run(processes, lab.program("sleep", "0.5", wall=60.0))
    assert (ending.limit is None) == (clock == "time")
    assert ending.resources.wall_s < 60


@pytest.mark.parametrize("kept", [True, False])
async def test_a_file_that_may_not_grow_ends_no_warden(
    lab: Lab, processes: Processes, instead: Instead, kept: bool
) -> None:
    """The control is the signal's default, which ends who writes."""
    default = "" if kept else "signal.signal(signal.SIGXFSZ, signal.SIG_DFL)\n"
    instead(f"{default}resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))")
    ending = await run(processes, lab.agent("prints", "65536"))
    if kept:
        assert (ending.cause, ending.exit_code, ending.out.size) == (EndCause.EXITED, 0, 65536)
        assert ending.out.error == os.strerror(27)
    else:
        assert ending.cause is EndCause.LOST


CGROUPS = Path("/sys/fs/cgroup")


@pytest.fixture
def small_memory() -> Iterator[Path]:
    """Give a group of processes that has 64 MB of memory."""
    newer = (CGROUPS / "cgroup.controllers").exists()
    group = (CGROUPS if newer else CGROUPS / "memory") / f"tui-eval-test-{os.getpid()}"
    limit = "memory.max" if newer else "memory.limit_in_bytes"
    try:
        if not (group.parent / "cgroup.procs").exists():
            pytest.skip("there are no groups of processes here")
        group.mkdir()
        (group / limit).write_text(str(64 << 20))
    except OSError:
        with suppress(OSError):
            group.rmdir()
        pytest.skip("no group of processes with a limit of memory can be made here")
    yield group
    while (group / "cgroup.procs").read_text():
        time.sleep(0.01)
    group.rmdir()


@pytest.mark.parametrize(("size", "oom"), [(500 << 20, True), (1 << 20, False)])
async def test_memory_that_runs_out_ends_the_program_and_is_told(
    lab: Lab, small_memory: Path, size: int, oom: bool
) -> None:
    """The control is a program that somebody kills while there is memory."""
    async with Processes() as processes:
        await run(processes, lab.program("true", name="first"))
        (small_memory / "cgroup.procs").write_text(str(processes.zygote_pid))
        running = await started(processes, lab.agent("takes_memory", str(size)))
        if not oom:
            await until(lab.alive)
            assert running.pid is not None
            os.kill(running.pid, signal.SIGKILL)
        ending = await running.ended()
        assert (ending.cause, ending.signal, ending.oom) == (EndCause.EXITED, signal.SIGKILL, oom)
        assert (await run(processes, lab.program("true", name="last"))).exit_code == 0


async def test_where_no_later_engine_can_connect_nobody_is_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / CONTROL).mkdir()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        link = EngineLink(WardenChannel(theirs))
        assert link.listen() is None
        link.close(0.0)
