"""Commands in processes of their own, to be killed, stopped, starved and lied to."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from tests.engine.harness import Harness
from tests.servers.fake_model import FakeModel


def had(server: FakeModel, requests: int) -> Callable[[], bool]:
    """Give the question whether a server has had so many requests."""
    return lambda: server.requests >= requests


def staged(harness: Harness, run: int, done: int = 0) -> Callable[[], bool]:
    """Give the question whether a run is staged, and so many of its trials are done."""
    return lambda: harness.row(run).staged and harness.counts(run).done >= done


class Command:
    """A command that goes on; what it writes is read as it comes."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process
        self.out: list[str] = []
        """Whole lines of stdout so far."""
        self.err = ""
        self._reading = [
            asyncio.ensure_future(self._read_out()),
            asyncio.ensure_future(self._read_err()),
        ]

    @classmethod
    async def start(
        cls,
        *arguments: str,
        guard: str | None = None,
        kill: str | None = None,
        environment: dict[str, str] | None = None,
        before: Callable[[], None] | None = None,
    ) -> "Command":
        """Start the command line.

        Args:
            arguments: Of the command line.
            guard: A guard taken away in it.
            kill: A moment it dies at.
            environment: Further variables.
            before: Called in the new process first, to set limits.
        """
        more = {"FAULTS_WITHOUT": guard, "FAULTS_KILL": kill, **(environment or {})}
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.faults.program", *arguments),
            env={**os.environ, **{name: value for name, value in more.items() if value}},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            preexec_fn=before,
            # a group of its own with a parent outside it: in an orphaned group the system drops
            # SIGTSTP, and tests may themselves run in one
            process_group=0,
            limit=1 << 24,
        )
        return cls(process)

    async def _read_out(self) -> None:
        assert self.process.stdout is not None
        async for line in self.process.stdout:
            if line.endswith(b"\n"):
                self.out.append(line.decode())

    async def _read_err(self) -> None:
        assert self.process.stderr is not None
        while piece := await self.process.stderr.read(1 << 16):
            self.err += piece.decode("utf-8", "replace")

    def events(self, name: str = "trial") -> list[dict[str, Any]]:
        """Give the events of a kind that were told so far."""
        told = [json.loads(line) for line in self.out]
        return [event for event in told if event["event"] == name]

    def document(self) -> dict[str, Any]:
        """Give the one document of a command with `--json`."""
        found = json.loads("".join(self.out))
        assert isinstance(found, dict)
        return found

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    async def killed(self) -> None:
        """Kill it; give what it said until then."""
        with suppress(ProcessLookupError):
            self.process.kill()
        await self.ended()

    async def ended(self, seconds: float = 60.0) -> int:
        """Wait for its end; give its exit code."""
        async with asyncio.timeout(seconds):
            await asyncio.gather(*self._reading)
            return await self.process.wait()


async def resume(harness: Harness, run: int, *more: str, **how: Any) -> Command:
    """Start `resume` on a run of a bench."""
    arguments = ("resume", harness.row(run).name, *more, "--store", str(harness.path))
    return await Command.start(*arguments, **how)


def attempts(harness: Harness, run: int) -> dict[str, dict[str, int]]:
    """Give for each case how many of its attempts ended in which way."""
    found: dict[str, dict[str, int]] = {trial.case_id: {} for trial in harness.trials(run)}
    ids = {trial.id: trial.case_id for trial in harness.trials(run)}
    counted = harness.sql("SELECT trial, state, count(*) FROM attempts GROUP BY 1, 2")
    for trial, state, n in counted:
        of_case = found[ids[trial]]
        of_case[state] = of_case.get(state, 0) + n
    return found


def assert_whole(harness: Harness, run: int, scorers: int = 1) -> None:
    """Check that a settled run's store is sound and that its figures are what its rows say."""
    assert harness.sql("PRAGMA integrity_check") == [("ok",)]
    counts, trials = harness.counts(run), harness.trials(run)
    assert [trial.place for trial in trials] == list(range(counts.total))
    assert counts.queued == counts.running == counts.scoring == 0, "not every case settled"
    done = [trial for trial in trials if trial.state == "done"]
    assert len(done) == counts.done
    scored = harness.sql("SELECT trial, count(*) FROM scores WHERE current = 1 GROUP BY 1")
    assert {trial.id: scorers for trial in done}.items() <= dict(scored).items(), "lost or doubled"
    sent = harness.sql("SELECT count(*) FROM attempts WHERE state = 'sent'")
    assert sent == [(0,)], "an attempt nobody waits for was left open"
    written = sum(sum(ends.values()) for ends in attempts(harness, run).values())
    assert written == counts.attempts + counts.lost + unsent(harness, run)


def unsent(harness: Harness, run: int) -> int:
    """Count the attempts that never left: withdrawn before, or with nobody there to send to."""
    return int(
        harness.sql(
            "SELECT count(*) FROM attempts a JOIN trials t ON t.id = a.trial "
            "WHERE t.run = ? "
            "AND (a.unsent = 1 OR (a.state = 'cancelled' AND ifnull(a.call_s, 0) = 0))",
            run,
        )[0][0]
    )


def names(cases: Sequence[dict[str, Any]]) -> set[str]:
    """Give the ids that events are about."""
    return {event["case_id"] for event in cases}
