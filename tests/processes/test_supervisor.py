"""A program is run, and how it ended is told whole."""

import asyncio
import os
import signal
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from tests.processes.conftest import Lab, run, started
from tests.waiting import until
from tui_eval.processes.program import (
    EndCause,
    NotStarted,
    Program,
    ProgramEnding,
    StartFailure,
)
from tui_eval.processes.records import read_ending
from tui_eval.processes.running import RunningProgram
from tui_eval.processes.supervisor import Processes


async def test_an_exit_code_and_both_streams_are_told(lab: Lab, processes: Processes) -> None:
    program = lab.program("sh", "-c", "echo out; echo err >&2; exit 3")
    ending = await run(processes, program)
    assert (ending.cause, ending.exit_code, ending.signal) == (EndCause.EXITED, 3, None)
    assert (program.folder / "out").read_bytes() == b"out\n"
    assert (program.folder / "err").read_bytes() == b"err\n"
    assert (ending.out.size, ending.err.size, ending.resources.output) == (4, 4, 8)
    assert ending.isolation == "none"
    assert ending.started_at <= ending.ended_at
    assert read_ending(program.folder) == ending


async def test_a_signal_is_told(lab: Lab, processes: Processes) -> None:
    ending = await run(processes, lab.agent("crashes"))
    assert (ending.exit_code, ending.signal) == (None, signal.SIGSEGV)
    assert not ending.oom


async def test_a_program_gets_its_environment_folder_and_input_alone(
    lab: Lab, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_KEY", "of somebody else")
    entered = lab.root / "entered"
    entered.write_text("asked")
    script = "import os, sys; print(sorted(os.environ.items()), os.getcwd(), sys.stdin.read())"
    program = lab.program(sys.executable, "-I", "-S", "-c", script)
    program = replace(program, env={"ONE": "1"}, stdin=entered)
    await run(processes, program)
    printed = (program.folder / "out").read_text()
    assert "SECRET_KEY" not in printed
    assert "('ONE', '1')" in printed
    assert f"{lab.workspace} asked" in printed


async def test_nothing_is_read_where_no_input_is_named(lab: Lab, processes: Processes) -> None:
    program = lab.agent("reads_stdin")
    assert (await run(processes, program)).exit_code == 0
    assert (program.folder / "out").read_bytes() == b""


async def test_no_descriptor_is_handed_on(lab: Lab, processes: Processes) -> None:
    program = lab.program("sh", "-c", "ls /proc/self/fd")
    await run(processes, program)
    names = (program.folder / "out").read_text().split()
    assert set(names) <= {"0", "1", "2", "3"}  # the last is of `ls` itself


async def test_what_is_not_there_is_a_value(lab: Lab, processes: Processes) -> None:
    not_found = await processes.start(lab.program("no-such-program"))
    assert isinstance(not_found, NotStarted)
    assert not_found.failure is StartFailure.NOT_FOUND
    assert "no-such-program" in not_found.reason


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("#!/bin/sh\n", 0o600, "chmod"),
        ("#!/no/such/interpreter\n", 0o700, "interpreter"),
        ("echo without a first line\n", 0o700, "#!/bin/sh"),
    ],
)
async def test_what_cannot_be_executed_is_a_value(
    lab: Lab, processes: Processes, text: str, mode: int, said: str
) -> None:
    script = lab.root / "script"
    script.write_text(text)
    script.chmod(mode)
    refused = await processes.start(lab.program(str(script)))
    assert isinstance(refused, NotStarted)
    assert refused.failure is StartFailure.NOT_EXECUTABLE
    assert said in refused.reason


async def test_missing_folders_are_values(lab: Lab, processes: Processes) -> None:
    for program in (
        replace(lab.program("true"), cwd=lab.root / "gone"),
        replace(lab.program("true"), folder=lab.root / "gone"),
        replace(lab.program("true"), stdin=lab.root / "gone"),
    ):
        refused = await processes.start(program)
        assert isinstance(refused, NotStarted)
        assert refused.failure is StartFailure.OTHER
        assert "gone" in refused.reason
    assert (await run(processes, lab.program("true"))).exit_code == 0


async def test_names_that_are_no_text_are_kept(lab: Lab, processes: Processes) -> None:
    odd = lab.root / os.fsdecode(b"caf\xe9")
    odd.mkdir()
    program = replace(lab.program("pwd", os.fsdecode(b"\xff")), cwd=odd)
    program = replace(program, command=("sh", "-c", "pwd; echo $1", "sh", os.fsdecode(b"\xff")))
    await run(processes, program)
    assert (program.folder / "out").read_bytes() == os.fsencode(odd) + b"\n\xff\n"


async def test_many_run_at_once(lab: Lab, processes: Processes) -> None:
    programs = [lab.program("sh", "-c", f"echo {n}; exit {n}", name=f"r{n}") for n in range(20)]
    endings = await asyncio.gather(*(run(processes, program) for program in programs))
    assert [ending.exit_code for ending in endings] == list(range(20))
    assert [(one.folder / "out").read_text() for one in programs] == [f"{n}\n" for n in range(20)]


async def test_an_engine_talks_to_a_program(lab: Lab, processes: Processes) -> None:
    script = "import sys\nfor line in sys.stdin: print(line[::-1].strip(), flush=True)"
    program = replace(lab.program(sys.executable, "-I", "-S", "-c", script), talk=True)
    async with await started(processes, program) as running:
        assert running.talk is not None
        reader, writer = running.talk
        for text in (b"abc", b"xyz"):
            writer.write(text + b"\n")
            assert (await reader.readline()).strip() == text[::-1]
        writer.write_eof()
        assert (await running.ended()).exit_code == 0


async def test_samples_come_while_it_runs_and_end_with_it(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("sleeps"))
    seen = []
    async for sample in running.samples():
        seen.append(sample)
        if sample.memory and sample.output:
            running.cancel()
    ending = await running.ended()
    assert ending.cause is EndCause.CANCELLED
    assert seen
    assert seen[-1].processes == 1
    assert seen[-1].output == len("begun\n")
    assert set(seen) <= set(ending.samples)
    assert ending.resources.peak_memory == max(one.memory or 0 for one in ending.samples)


async def test_whoever_waits_and_is_cancelled_has_it_ended(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("sleeps"))
    async for sample in running.samples():
        if sample.output:
            break
    waiting = asyncio.create_task(running.ended())
    await asyncio.sleep(0)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    ending = await running.ended()
    assert ending.cause is EndCause.CANCELLED
    assert (running.folder / "out").read_bytes() == b"begun\n"


async def test_a_start_that_is_cancelled_leaves_nothing(lab: Lab) -> None:
    async with Processes() as processes:
        await run(processes, lab.program("true"))
        for n in range(10):
            starting = asyncio.create_task(processes.start(lab.agent("sleeps", name=f"r{n}")))
            for _ in range(n):
                await asyncio.sleep(0)
            starting.cancel()
            (came,) = await asyncio.gather(starting, return_exceptions=True)
            if isinstance(
                came, RunningProgram
            ):  # it was there before the loop had gone round n times
                came.cancel()
                await came.ended()
            else:
                assert isinstance(came, asyncio.CancelledError)
            assert not lab.alive()


async def test_leaving_ends_all_that_still_runs(lab: Lab) -> None:
    async with Processes() as processes:
        many = [await started(processes, lab.agent("sleeps", name=f"r{n}")) for n in range(3)]
        zygote = processes.zygote_pid
    endings: list[ProgramEnding] = [await one.ended() for one in many]
    assert {ending.cause for ending in endings} == {EndCause.CANCELLED}
    assert f"{zygote}" not in os.listdir("/proc")


async def test_a_program_goes_through_json(lab: Lab) -> None:
    program = replace(lab.agent("sleeps", wall=3.0), stdin=Path("/dev/null"))
    assert Program.from_json(program.as_json()) == program


async def test_nothing_is_left_of_a_start_that_is_cancelled(
    lab: Lab, processes: Processes, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def never(_: RunningProgram) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(RunningProgram, "started", never)
    start = asyncio.create_task(processes.start(lab.agent("ignores_term")))
    await until(lab.alive)
    start.cancel()
    with pytest.raises(asyncio.CancelledError):
        await start
    assert not lab.alive()
