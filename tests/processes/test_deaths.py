"""Engine, zygote and wardens are killed: no tree outlives them, and no wanted result is lost."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processes.conftest import Lab, parent_of, started
from tests.waiting import until
from tui_eval.processes.capture import Capture, surviving_stream
from tui_eval.processes.channel import encode
from tui_eval.processes.program import EndCause, Orphans, Program, ProgramEnding
from tui_eval.processes.running import RunningProgram, written_ending
from tui_eval.processes.supervisor import Processes, has_warden
from tui_eval.processes.zygote_client import ZygoteClient

ROOT = Path(__file__).parents[2]


@asynccontextmanager
async def engine(programs: Sequence[Program]) -> AsyncIterator[tuple[int, int]]:
    """Run an engine of its own; give its process id and its zygote's, once all programs run."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "tests.processes.engine",
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(b"".join(encode(program.as_json()) for program in programs))
        process.stdin.close()
        told = json.loads(await process.stdout.readline())
        yield process.pid, told["zygote"]
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


def gone(pid: int) -> bool:
    return not Path(f"/proc/{pid}").exists()


async def ending_of(processes: Processes, folder: Path) -> ProgramEnding:
    """Take what a former engine's program came to."""
    found = await processes.adopt(folder)
    if isinstance(found, RunningProgram):
        return await found.ended()
    assert found is not None
    return found


async def test_an_engine_killed_amid_many_leaves_nothing(lab: Lab, processes: Processes) -> None:
    names = ["ignores_term", "sleeps", "prints_without_end", "storms"] * 3
    programs = [
        lab.agent(name, *(["20"] if name == "storms" else []), name=f"r{n}")
        for n, name in enumerate(names)
    ]
    async with engine(programs) as (pid, zygote):
        await until(lambda: (programs[0].folder / "out").stat().st_size)
        await until(lambda: len(lab.entries()) >= len(programs))
        os.kill(pid, signal.SIGKILL)
        await until(lambda: not lab.alive())
        endings = [await ending_of(processes, one.folder) for one in programs]
        await until(lambda: gone(zygote))
    assert {ending.cause for ending in endings} == {EndCause.ABANDONED}
    assert endings[0].out.size == len("ignoring\n")


async def test_control_what_an_engine_starts_itself_outlives_it(lab: Lab) -> None:
    program = lab.agent("sleeps")
    script = (
        "import json, subprocess, sys, time\n"
        "command, env = json.loads(sys.argv[1])\n"
        "subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL); time.sleep(60)"
    )
    told = json.dumps([program.command, dict(program.env)])
    process = await asyncio.create_subprocess_exec(sys.executable, "-c", script, told)
    await until(lab.alive)
    process.kill()
    await process.wait()
    assert lab.alive()
    lab.kill_all()


async def test_orphans_that_may_finish_are_taken_over(lab: Lab, processes: Processes) -> None:
    release = lab.root / "release"
    script = f"echo begun; while [ ! -e {release} ]; do sleep 0.02; done; echo done; exit 7"
    programs = [
        replace(lab.program("sh", "-c", script, name=f"r{n}"), orphans=Orphans.FINISH)
        for n in range(2)
    ]
    async with engine(programs) as (pid, zygote):
        os.kill(pid, signal.SIGKILL)
        taken = await processes.adopt(programs[0].folder)
        assert isinstance(taken, RunningProgram)
        release.touch()
        endings = [await taken.ended()]
        await until(lambda: (programs[1].folder / "ending.json").exists())
        endings.append(await ending_of(processes, programs[1].folder))
        await until(lambda: gone(zygote))
    for program, ending in zip(programs, endings, strict=True):
        assert (ending.cause, ending.exit_code) == (EndCause.EXITED, 7)
        assert (program.folder / "out").read_bytes() == b"begun\ndone\n"


async def test_an_engine_that_has_gone_is_written_to_and_nothing_is_left(lab: Lab) -> None:
    program = lab.agent("storms", "10")
    zygote = ZygoteClient()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        ours.sendall(encode({"program": program.as_json()}))
        gone = await zygote.fork([theirs])
    await gone
    ending = written_ending(program.folder)
    assert ending is not None
    assert ending.cause is EndCause.ABANDONED
    assert not lab.alive()
    await zygote.close()


async def test_the_zygote_of_an_engine_that_has_gone_watches_over_what_goes_on(lab: Lab) -> None:
    """It tells of what has ended, to nobody; a warden that is killed after that has it still."""
    release = lab.root / "release"
    first = lab.program("sh", "-c", f"while [ ! -e {release} ]; do sleep 0.02; done", name="first")
    second = lab.agent("storms", "10", name="second")
    programs = [replace(one, orphans=Orphans.FINISH) for one in (first, second)]
    async with engine(programs) as (pid, zygote):
        await until(lambda: len(lab.entries()) >= 10)
        os.kill(pid, signal.SIGKILL)
        warden, _ = lab.entries()[0]
        while (parent := parent_of(warden)) != zygote:
            warden = parent
        release.touch()
        await until(lambda: not has_warden(first.folder))
        os.kill(warden, signal.SIGKILL)
        await until(lambda: not lab.alive())
        await until(lambda: gone(zygote))


async def test_an_orphan_keeps_its_limits(lab: Lab, processes: Processes) -> None:
    program = replace(lab.agent("ignores_term", wall=1.0), orphans=Orphans.FINISH)
    async with engine([program]) as (pid, _):
        os.kill(pid, signal.SIGKILL)
        ending = await ending_of(processes, program.folder)
    assert (ending.cause, ending.limit) == (EndCause.LIMIT, "wall")


async def test_a_program_is_taken_over_from_one_engine_after_the_other(
    lab: Lab, processes: Processes
) -> None:
    program = replace(lab.agent("sleeps"), orphans=Orphans.FINISH)
    async with engine([program]) as (pid, _):
        await until(lab.alive)
        os.kill(pid, signal.SIGKILL)
        for _ in range(2):
            taken = await processes.adopt(program.folder)
            assert isinstance(taken, RunningProgram)
            assert [taken.pid] == lab.alive()
            async for _sample in taken.samples():
                break
            taken.leave()
            await taken.followed()
        last = await processes.adopt(program.folder)
        assert isinstance(last, RunningProgram)
        last.cancel()
        assert (await last.ended()).cause is EndCause.CANCELLED


async def test_the_program_itself_cannot_pose_as_an_engine(lab: Lab, processes: Processes) -> None:
    program = lab.program("true")
    script = (
        "import socket, time\n"
        "s = socket.socket(socket.AF_UNIX)\n"
        f"while s.connect_ex({str(program.folder / 'control')!r}): time.sleep(0.01)\n"
        "s.settimeout(20); print(s.recv(100))"
    )
    command = (sys.executable, "-I", "-S", "-c", script)
    program = replace(program, command=command, orphans=Orphans.FINISH)
    async with engine([program]) as (pid, _):
        os.kill(pid, signal.SIGKILL)
        await until((program.folder / "ending.json").exists)
    assert (await ending_of(processes, program.folder)).exit_code == 0
    assert (program.folder / "out").read_text() == "b''\n"


async def test_a_second_engine_is_refused_while_there_is_one(
    lab: Lab, processes: Processes
) -> None:
    running = await started(processes, lab.agent("sleeps"))
    async with Processes() as other:
        adopting = asyncio.create_task(other.adopt(running.folder))
        done, _ = await asyncio.wait([adopting], timeout=0.3)
        assert not done
        running.cancel()
        ending = await running.ended()
        assert await adopting == ending


async def test_a_killed_warden_takes_its_tree_along(lab: Lab, processes: Processes) -> None:
    kept = await started(processes, lab.program("sleep", "60", name="kept"))
    agents = [("storms", "30"), ("ignores_term",)]
    many = [await started(processes, lab.agent(*agent, name=agent[0])) for agent in agents]
    await until(lambda: len(lab.entries()) >= 20)
    await until(lambda: (many[1].folder / "out").stat().st_size)
    for one in many:
        assert one.pid is not None
        os.kill(parent_of(one.pid), signal.SIGKILL)
    endings = [await one.ended() for one in many]
    assert not lab.alive()
    assert {ending.cause for ending in endings} == {EndCause.LOST}
    assert endings[1].out.size == len("ignoring\n")
    assert (many[1].folder / "out").read_bytes() == b"ignoring\n"
    kept.cancel()
    assert (await kept.ended()).cause is EndCause.CANCELLED  # a neighbour is not touched


async def test_a_killed_warden_of_an_orphan_takes_its_tree_along(
    lab: Lab, processes: Processes
) -> None:
    program = replace(lab.agent("storms", "20"), orphans=Orphans.FINISH)
    async with engine([program]) as (pid, zygote):
        await until(lambda: len(lab.entries()) >= 10)
        os.kill(pid, signal.SIGKILL)
        taken = await processes.adopt(program.folder)
        assert isinstance(taken, RunningProgram)
        assert taken.pid is not None
        os.kill(parent_of(taken.pid), signal.SIGKILL)
        assert (await taken.ended()).cause is EndCause.LOST
        await until(lambda: not lab.alive())
        await until(lambda: gone(zygote))


async def test_a_killed_zygote_ends_all_and_is_replaced(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("storms", "20"))
    await until(lambda: len(lab.entries()) >= 10)
    former = processes.zygote_pid
    assert former is not None
    os.kill(former, signal.SIGKILL)
    ending = await running.ended()
    assert ending.cause is EndCause.ABANDONED
    assert not lab.alive()
    further = await started(processes, lab.program("true", name="further"))
    assert (await further.ended()).exit_code == 0
    assert processes.zygote_pid != former


async def test_an_orphan_that_may_finish_outlives_the_zygote(
    lab: Lab, processes: Processes
) -> None:
    release = lab.root / "release"
    script = f"while [ ! -e {release} ]; do sleep 0.02; done; exit 7"
    program = replace(lab.program("sh", "-c", script), orphans=Orphans.FINISH)
    running = await started(processes, program)
    assert processes.zygote_pid is not None
    os.kill(processes.zygote_pid, signal.SIGKILL)
    release.touch()
    assert (await running.ended()).exit_code == 7


async def test_engine_zygote_and_wardens_killed_at_once_leave_no_program(
    lab: Lab, processes: Processes
) -> None:
    programs = [lab.agent("ignores_term", name=f"r{n}") for n in range(4)]
    async with engine(programs) as (pid, zygote):
        await until(lambda: len(lab.alive()) == 4)
        wardens = {parent_of(one) for one in lab.alive()}
        for one in (pid, zygote, *wardens):
            os.kill(one, signal.SIGSTOP)
        for one in (pid, zygote, *wardens):
            os.kill(one, signal.SIGKILL)
        await until(lambda: not lab.alive())
    found = await processes.adopt(programs[0].folder)
    assert isinstance(found, ProgramEnding)
    assert found.cause is EndCause.LOST
    assert found.out.size == len("ignoring\n")


async def test_a_folder_in_which_nothing_was_started(lab: Lab, processes: Processes) -> None:
    assert await processes.adopt(lab.folder()) is None
    assert await processes.adopt(lab.root / "gone") is None


async def test_a_term_to_the_warden_ends_the_tree(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("sleeps"))
    await until(lab.alive)
    assert running.pid is not None
    os.kill(parent_of(running.pid), signal.SIGTERM)
    assert (await running.ended()).cause is EndCause.ABANDONED
    assert not lab.alive()


async def test_an_ending_that_the_program_forged_is_not_believed(
    lab: Lab, processes: Processes
) -> None:
    told = await (await started(processes, lab.program("true", name="model"))).ended()
    forged = json.dumps({**told.as_json(), "exit_code": 0})
    program = lab.program("true")
    go = lab.root / "go"
    script = (
        f"while [ ! -e {go} ]; do sleep 0.01; done; "
        f"printf '%s' '{forged}' > {program.folder}/ending.json; kill -9 $PPID; sleep 60"
    )
    running = await started(processes, replace(program, command=("sh", "-c", script)))
    go.touch()
    ending = await running.ended()
    assert (ending.cause, ending.exit_code) == (EndCause.LOST, None)


@pytest.mark.parametrize("name", ["ending.json", "out.ring"])
async def test_what_a_program_puts_in_place_of_records_holds_nobody_up(
    lab: Lab, processes: Processes, name: str
) -> None:
    program = replace(lab.program("true"), orphans=Orphans.FINISH)
    script = (
        f"while [ ! -e {program.folder}/control ]; do sleep 0.01; done; "
        f"mkfifo {program.folder}/{name}; echo done; kill -9 $PPID; sleep 60"
    )
    async with engine([replace(program, command=("sh", "-c", script))]) as (pid, _):
        os.kill(pid, signal.SIGKILL)
        ending = await ending_of(processes, program.folder)
    assert ending.cause is EndCause.LOST


def test_a_stream_whose_warden_was_killed_is_read_as_far_as_it_is_in_order(tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert surviving_stream(out).size == 0
    for size in (6, 14):  # within the bound, and beyond
        capture = Capture(out, 10)
        os.write(capture.write_end, bytes(range(size)))
        capture.read_some()
        copied = tmp_path / f"copy{size}"
        copied.write_bytes(out.read_bytes())
        if (tmp_path / "out.ring").exists():
            (tmp_path / f"copy{size}.ring").write_bytes((tmp_path / "out.ring").read_bytes())
        capture.close_write_end()
        capture.finish()
        stream = surviving_stream(copied)
        kept = copied.read_bytes()[: stream.head]
        assert kept == bytes(range(size))[: 6 if size == 6 else 5]
        out.unlink()
