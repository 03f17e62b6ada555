"""No agent outlives its trial, holds up its end, or is lost; each test has a control.

The control runs the same agent as a program is commonly run, and shows that the agent does what it
is there for: it survives, or it holds up whoever waits.
"""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import pytest

from tests.processes.conftest import Lab, run, started
from tests.waiting import until
from tui_eval.processes.program import EndCause
from tui_eval.processes.supervisor import Processes

GRACE = 0.3
SLACK = 20.0
"""Seconds an end may take beyond the grace on a machine that has other things to do."""


@contextmanager
def control(lab: Lab, *agent: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run an agent as `subprocess` does, with pipes; whatever is left is killed afterwards."""
    program = lab.agent(*agent)
    process = subprocess.Popen(
        program.command,
        cwd=program.cwd,
        env=dict(program.env),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        lab.kill_all()
        process.communicate()


def naive_end(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """End an agent's process group, as most do."""
    os.killpg(process.pid, number)


async def test_who_ignores_term_is_killed_after_the_grace(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("ignores_term"))
    await until(lab.alive)
    began = time.monotonic()
    running.cancel()
    ending = await running.ended()
    took = time.monotonic() - began
    assert ending.signal == signal.SIGKILL
    assert GRACE <= took < GRACE + SLACK
    assert not lab.alive()
    assert (running.folder / "out").read_bytes() == b"ignoring\n"


async def test_control_who_ignores_term_survives_it(lab: Lab) -> None:
    with control(lab, "ignores_term") as process:
        await until(lab.alive)
        naive_end(process, signal.SIGTERM)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)


async def test_who_heeds_term_is_not_killed(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("sleeps"))
    await until(lab.alive)
    running.cancel(grace=30.0)
    assert (await running.ended()).signal == signal.SIGTERM


@pytest.mark.parametrize("agent", ["forks_away", "holds_the_pipe"])
async def test_what_is_left_behind_is_ended(lab: Lab, processes: Processes, agent: str) -> None:
    began = time.monotonic()
    ending = await run(processes, lab.agent(agent))
    assert time.monotonic() - began < GRACE + SLACK
    assert (ending.cause, ending.exit_code) == (EndCause.EXITED, 0)
    assert (lab.folder() / "out").read_bytes() == b"done\n"
    assert lab.entries()
    assert not lab.alive()


async def test_control_what_forks_away_survives_its_group(lab: Lab) -> None:
    with control(lab, "forks_away") as process:
        assert process.wait(30) == 0
        with pytest.raises(ProcessLookupError):
            naive_end(process, signal.SIGKILL)
        assert lab.alive()


async def test_control_who_holds_the_pipe_holds_up_its_reader(lab: Lab) -> None:
    with control(lab, "holds_the_pipe") as process:
        assert process.wait(30) == 0
        with pytest.raises(subprocess.TimeoutExpired):
            process.communicate(timeout=0.5)


async def test_both_pipes_are_drained(lab: Lab, processes: Processes) -> None:
    ending = await run(processes, lab.agent("prints", "5000000", "2", "1"))
    assert (ending.exit_code, ending.out.size, ending.err.size) == (0, 5_000_000, 5_000_000)
    assert (ending.out.head, ending.out.tail) == (5_000_000, 0)


async def test_control_a_reader_of_one_pipe_waits_for_ever(lab: Lab) -> None:
    with control(lab, "prints", "5000000", "2", "1") as process:
        assert process.stdout is not None
        process.stdout.read(1000)
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.5)


async def test_closed_streams_end_nothing(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("closes_stdout"))
    await until(lab.alive)
    seen = 0
    async for sample in running.samples():
        assert sample.processes == 1
        seen += 1
        if seen == 2:
            running.cancel()
    assert (await running.ended()).signal == signal.SIGTERM


async def test_control_who_waits_for_the_streams_thinks_it_has_ended(lab: Lab) -> None:
    with control(lab, "closes_stdout") as process:
        assert process.stdout is not None
        assert process.stdout.read() == b""
        await until(lab.alive)
        assert process.poll() is None


async def test_a_fork_storm_is_ended(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("storms", "150"))
    await until(lambda: len(lab.entries()) > 100)
    began = time.monotonic()
    running.cancel()
    ending = await running.ended()
    assert time.monotonic() - began < GRACE + SLACK
    assert ending.survivors == ()
    assert not lab.alive()


async def test_control_a_fork_storm_survives_its_group(lab: Lab) -> None:
    with control(lab, "storms", "50") as process:
        await until(lambda: len(lab.entries()) > 50)
        naive_end(process, signal.SIGKILL)
        process.wait(30)
        assert lab.alive()


async def test_a_storm_beyond_the_limit_is_ended_without_grace(
    lab: Lab, processes: Processes
) -> None:
    ending = await run(processes, lab.agent("storms", "150", processes=20, grace=30.0))
    assert (ending.cause, ending.limit) == (EndCause.LIMIT, "processes")
    assert (ending.resources.peak_processes or 0) > 20
    assert ending.resources.wall_s < 25
    assert not lab.alive()


async def test_control_a_storm_within_the_limit_goes_on(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("storms", "30", processes=200))
    async for sample in running.samples():
        if (sample.processes or 0) > 30:
            break
    running.cancel(0.0)
    assert (await running.ended()).cause is EndCause.CANCELLED


async def test_a_chain_that_runs_away_is_caught(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("endless_storm", "2000"))
    ending = await running.ended()  # its first process exits at once, and the chain goes on
    assert ending.survivors == ()
    assert not lab.alive()


async def test_chains_that_roll_on_for_ever_are_caught(lab: Lab, processes: Processes) -> None:
    running = await started(processes, lab.agent("rolling_storm", "5"))
    async for sample in running.samples():
        if (sample.processes or 0) > 2:
            break
    running.cancel(0.0)
    ending = await running.ended()
    assert (ending.cause, ending.survivors) == (EndCause.CANCELLED, ())
    assert not lab.alive()


async def test_endless_output_is_ended_and_bounded(lab: Lab, processes: Processes) -> None:
    program = lab.agent("prints_without_end", output=100_000)
    running = await started(processes, program)
    async for sample in running.samples():
        if sample.output > 1_000_000:
            running.cancel()
    ending = await running.ended()
    assert ending.out.size > 500_000
    for name, stream in (("out", ending.out), ("err", ending.err)):
        assert (stream.head, stream.tail) == (50_000, 50_000)
        assert (program.folder / name).read_bytes() == name[0].encode() * 100_000
    assert not lab.alive()


async def printed_whole(lab: Lab, processes: Processes, count: int) -> float:
    """Have so much printed that the file wraps; return the engine's own processor time."""
    program = replace(lab.agent("prints", str(count), output=1_000_000))
    before = time.process_time()
    ending = await run(processes, program)
    used = time.process_time() - before
    assert (ending.exit_code, ending.out.size) == (0, count)
    assert ending.out.left_out == count - 1_000_000
    stream = bytes(range(256)) * 4096
    kept = (program.folder / "out").read_bytes()
    assert kept[:500_000] == stream[:500_000]
    end = count % 65536  # the last block begins the pattern anew
    assert kept[500_000:] == (stream[:1_048_576] + stream[:end])[-500_000:]
    return used


async def test_much_output_costs_the_engine_nothing(lab: Lab, processes: Processes) -> None:
    await run(processes, lab.program("true"))
    assert await printed_whole(lab, processes, 200_000_001) < 0.5


@pytest.mark.whole
async def test_a_gigabyte_costs_the_engine_nothing(lab: Lab, processes: Processes) -> None:
    await run(processes, lab.program("true"))
    assert await printed_whole(lab, processes, 1_000_000_001) < 0.5


@pytest.mark.parametrize(
    ("agent", "limits", "limit"),
    [
        (("ignores_term",), {"wall": 0.3}, "wall"),
        (("takes_memory", "80000000"), {"memory": 50_000_000, "grace": 30.0}, "memory"),
        (("burns",), {"cpu_s": 0.2}, "cpu_s"),
        (("writes", "20000000"), {"disk": 10_000_000}, "disk"),
    ],
)
async def test_a_limit_ends_it_and_is_named(
    lab: Lab,
    processes: Processes,
    agent: tuple[str, ...],
    limits: dict[str, Any],
    limit: str,
) -> None:
    ending = await run(processes, lab.agent(*agent, **limits))
    assert (ending.cause, ending.limit) == (EndCause.LIMIT, limit)
    assert ending.resources.wall_s < 25
    assert not lab.alive()


@pytest.mark.parametrize(
    ("agent", "limits"),
    [
        (("takes_memory", "80000000"), {"memory": 500_000_000}),
        (("writes", "20000000"), {"disk": 100_000_000}),
    ],
)
async def test_control_within_its_limits_it_goes_on(
    lab: Lab, processes: Processes, agent: tuple[str, ...], limits: dict[str, Any]
) -> None:
    running = await started(processes, lab.agent(*agent, **limits))
    await until(lab.alive)
    seen = 0
    async for sample in running.samples():
        seen += (sample.memory or 0) > 0
        if seen == 3:
            running.cancel(0.0)
    ending = await running.ended()
    assert (ending.cause, ending.limit) == (EndCause.CANCELLED, None)


async def test_processor_time_of_all_that_ended_is_counted(lab: Lab, processes: Processes) -> None:
    burn = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    program = lab.program("sh", "-c", f"({burn}) & ({burn}) & wait; {burn}")
    before = os.times()
    ending = await run(processes, program)
    alone = await run(processes, lab.program("sh", "-c", burn, name="alone"))
    assert os.times().children_user == before.children_user  # nothing of it is the engine's own
    assert ending.resources.cpu_s
    assert alone.resources.cpu_s
    assert ending.resources.cpu_s > 1.5 * alone.resources.cpu_s
