"""Decides checks of the kind `code`: the code of an output is run with its tests."""

import asyncio
import json
import secrets
import signal
import sys
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.engine.grading.grader import Grader, GradingError, GradingMeans, GradingRequest
from tui_eval.engine.grading.program_run import GradingProgram, ProgramRunner
from tui_eval.isolated.code_tests import tester
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.model.visible import visible_line
from tui_eval.processes.program import ERR, OUT, EndCause, ProgramEnding, ProgramLimits, Sandbox
from tui_eval.processes.running import RunningProgram
from tui_eval.scoring.check import Check
from tui_eval.scoring.code_program import CodeProgram, NoCodeInTextError, code_program
from tui_eval.scoring.grading import negated
from tui_eval.scoring.program_request import program_request
from tui_eval.scoring.settings import text, texts
from tui_eval.suites.program_fields import find_interpreter, own_files
from tui_eval.suites.scorers.programs.code import PYTHON
from tui_eval.targets.command import printed
from tui_eval.targets.command.trial_folder import TrialFolder
from tui_eval.targets.python_function.interpreters import known_as

_TESTER: Final = 1
"""Raised when the tester comes to judge differently, so that no old grade is reused."""
_SCRIPT: Final = Path(tester.__file__)
_BESIDE_S: Final = 20.0
"""Seconds in which a tester starts, and those beside the tests' in which it says what came."""
_MOST_SAID: Final = 1 << 20
_MOST_REASON: Final = 1_000
_PROCESSES: Final = 64
_DISK: Final = 200_000_000
_PRINTED: Final = 200_000
_BY_SIGNAL: Final = 128
"""What is added to a signal's number in the exit code of what started the program that it ended."""
_ENV: Final = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""As many gradings run at once as there are processors; each is one thread's work."""


@dataclass(slots=True, eq=False)
class _Tester:
    """A tester's process, kept from one reply to the next."""

    running: RunningProgram
    folder: TrialFolder
    opened: AsyncExitStack
    used: bool = False
    unread: bytes = b""
    """What it has said beyond the last line: that the next can be asked, perhaps."""

    async def ready(self) -> bool:
        """Wait until it can be told what to test; return whether it ever can."""
        try:
            return await self._line() == tester.READY
        except OSError:
            return False

    async def answer(self, asked: JsonObject) -> bytes:
        """Tell it what to test; return the line it says then (empty: none)."""
        assert self.running.talk is not None, "it was started with a socket"
        _, writer = self.running.talk
        try:
            writer.write(json.dumps(asked).encode("ascii") + b"\n")
            await writer.drain()
            return await self._line()
        except (OSError, ValueError):
            return b""

    async def _line(self) -> bytes:
        """Return its next line; empty where it has ended."""
        assert self.running.talk is not None, "it was started with a socket"
        reader, _ = self.running.talk
        while b"\n" not in self.unread and len(self.unread) <= _MOST_SAID:
            piece = await reader.read(_MOST_SAID)
            if not piece:
                return b""
            self.unread += piece
        line, end, self.unread = self.unread.partition(b"\n")
        return line + end

    async def end(self) -> None:
        """End it, with all that it left."""
        await self.opened.aclose()


class CodeGrader(Grader):
    """Runs tests: of Python in a tester, of other languages behind the code."""

    def __init__(self, means: GradingMeans) -> None:
        """Take what is needed to run programs."""
        super().__init__(means)
        self._runner = ProgramRunner(means)
        self._idle: dict[tuple[object, ...], list[_Tester]] = {}
        """Testers that wait for work, by their kind."""

    def made_of(self, asked: GradingRequest) -> JsonObject:
        """Return what judges: by which Python, or with which files of the suite."""
        settings = asked.check.settings
        if settings["language"] != PYTHON:
            own = self._own(asked.check).items()
            return {"files": {w: self._means.digest(asked.check.name, path) for w, path in own}}
        named = settings["python"]
        return {"tester": _TESTER, "python": known_as(None if named is None else text(named))}

    async def grade(self, asked: GradingRequest) -> Grade:
        """Run the tests on the output's code."""
        check = asked.check
        request = program_request(check, asked.output)
        if isinstance(request, Grade):
            return request
        reply = request["output"]
        if not isinstance(reply, str) or not reply.strip():
            return negated(check, Grade.of(False, "the reply is empty"))
        if check.settings["language"] == PYTHON:
            found = await self._by_tester(check, reply)
        else:
            async with self._runner.folder() as folder:
                found = await self._by_program(check, reply, folder)
        return negated(check, found)

    def travels(self, check: Check) -> bool:
        """Return that another machine can: what runs is in the check and the output."""
        return True

    async def close(self) -> None:
        """End the testers that wait for work."""
        idle, self._idle = self._idle, {}
        for testers in idle.values():
            for one in testers:
                await one.end()

    async def _by_tester(self, check: Check, reply: str) -> Grade:
        nonce = secrets.token_hex(16)
        asked: JsonObject = {
            **{name: check.settings[name] for name in ("tests", "given", "entry_point")},
            **{name: check.settings[name] for name in ("memory", "in_process", "timeout")},
            "reply": reply,
            "nonce": nonce,
        }
        while True:
            one = await self._tester(check)
            keep = False
            try:
                found = await self._said(one, check, asked)
                # where the solution shares its process it may have kept the socket
                keep = isinstance(found, bytes) and not check.settings["in_process"]
            finally:
                if keep:
                    one.used = True
                    self._idle.setdefault(_kind(check), []).append(one)
                else:
                    await one.end()
            if isinstance(found, Grade):
                return found
            if found:
                return _told(found, nonce)

    async def _said(self, one: "_Tester", check: Check, asked: JsonObject) -> bytes | Grade | None:
        """Return the line that a tester says, or the grade that its end is.

        None: it has ended since it was used last.

        Raises:
            GradingError: it could not start, or something else than what ran ended it.
        """
        seconds = _seconds(check)
        if not await self._is_ready(one):
            return None
        try:
            async with asyncio.timeout(seconds + _BESIDE_S):
                said = await one.answer(asked)
        except TimeoutError:
            return Grade.of(False, f"took longer than {seconds:g} s")
        return said or _of_ending(await one.running.ended(), seconds, check)

    async def _is_ready(self, one: "_Tester") -> bool:
        """Wait until a tester can be told what to test; return whether one that was kept can.

        Raises:
            GradingError: a new one cannot: nothing of the output has run yet.
        """
        try:
            async with asyncio.timeout(_BESIDE_S):
                if await one.ready():
                    return True
        except TimeoutError:
            if one.used:
                return False
            raise GradingError(f"its tester was not ready within {_BESIDE_S:g} s") from None
        if one.used:
            return False
        ending = await one.running.ended()
        last = printed.last_lines(one.folder.program, ending)
        raise GradingError(f"its tester could not start: {_ended(ending)}: {last}")

    async def _tester(self, check: Check) -> "_Tester":
        """Return a tester that waits for work, or a new one."""
        if idle := self._idle.get(_kind(check)):
            return idle.pop()
        opened = AsyncExitStack()
        try:
            folder = await opened.enter_async_context(self._runner.folder())
            program = GradingProgram(
                command=(self._python(check), "-I", "-B", str(_SCRIPT)),
                limits=_limits(check, None),
                sandbox=_sandbox(check, (_SCRIPT.parent,)),
                env=_ENV,
                talk=True,
            )
            running = await opened.enter_async_context(self._runner.started(folder, program))
        except BaseException:
            await opened.aclose()
            raise
        return _Tester(running, folder, opened)

    async def _by_program(self, check: Check, reply: str, folder: TrialFolder) -> Grade:
        nonce = secrets.token_hex(16)
        try:
            made: CodeProgram = code_program(check.settings, reply, nonce)
        except NoCodeInTextError as error:
            return Grade.of(False, str(error))
        file = folder.workspace / made.file
        await self._runner.off_loop(file.write_text, made.text, "utf-8", "surrogatepass")
        seconds = _seconds(check)
        own = self._own(check)
        program = GradingProgram(
            command=tuple(str(own.get(word, word)) for word in made.command(file)),
            limits=_limits(check, seconds),
            sandbox=_sandbox(check, tuple(own.values())),
        )
        async with self._runner.started(folder, program) as running:
            ending = await running.ended()
        if ending.cause is EndCause.EXITED and ending.exit_code == 0:
            out = await self._runner.off_loop(printed.text, folder.program / OUT, ending.out)
            if nonce in out.splitlines():
                return Grade.of(True, "passes the tests")
            return Grade.of(False, "it ended before the tests did")
        last = await self._runner.off_loop(printed.text, folder.program / ERR, ending.err)
        found = _of_ending(ending, seconds, check)
        lines = [line for line in last.replace(str(file), made.file).splitlines() if line.strip()]
        told = visible_line(_telling(lines), _MOST_REASON)
        return Grade.of(False, f"{found.reason}: {told}" if told else found.reason)

    def _own(self, check: Check) -> dict[str, Path]:
        """Return the words of its command that name files of the suite's folder."""
        return own_files(texts(check.settings["command"]), self._means.folder)

    def _python(self, check: Check) -> str:
        named = check.settings["python"]
        if named is None:
            return sys.executable
        found = find_interpreter(text(named), self._means.folder)
        if found is None:
            raise GradingError(f"there is no interpreter {named}")
        return found


def _told(said: bytes, nonce: str) -> Grade:
    """Return the grade that a tester told."""
    try:
        told: Json = json.loads(said)
        assert isinstance(told, dict)
        verdict, reason = Verdict(text(told["verdict"])), text(told["reason"])
    except (ValueError, KeyError, TypeError, AssertionError, RecursionError):
        raise GradingError("its tester said what none of ours says") from None
    reason = visible_line(reason, _MOST_REASON)
    if verdict is Verdict.UNGRADED:
        return Grade.ungraded(reason)
    if verdict is Verdict.PASS and not secrets.compare_digest(str(told.get("nonce")), nonce):
        return Grade.of(False, "the tests did not come to their end")
    return Grade.of(verdict is Verdict.PASS, reason)


def _of_ending(ending: ProgramEnding, seconds: float, check: Check) -> Grade:
    """Return the fail that an early end is.

    Raises:
        GradingError: something else than what ran brought it about.
    """
    if ending.cause is EndCause.LIMIT:
        if ending.limit == "wall":
            return Grade.of(False, f"took longer than {seconds:g} s")
        if ending.limit == "memory":
            return Grade.of(False, f"needed more than the {check.settings['memory']:,} bytes")
        return Grade.of(False, f"reached the limit of `{ending.limit}`")
    if ending.cause is not EndCause.EXITED or ending.oom:
        why = "the machine ran out of memory" if ending.oom else "it was ended from outside"
        raise GradingError(f"the tests did not come to their end: {why}")
    return Grade.of(False, f"the tests did not come to their end: {_ended(ending)}")


def _ended(ending: ProgramEnding) -> str:
    number = ending.signal
    if number is None and (ending.exit_code or 0) > _BY_SIGNAL:
        number = (ending.exit_code or 0) - _BY_SIGNAL
    if number is not None:
        return f"ended by signal {number} ({signal.strsignal(number) or 'unknown'})"
    return f"ended with exit code {ending.exit_code}"


def _telling(lines: list[str]) -> str:
    """Return the line of an error's output that says most: the first that names an error."""
    for line in lines:
        if "Error" in line or "error" in line:
            return line.strip()
    return lines[-1].strip() if lines else ""


def _seconds(check: Check) -> float:
    seconds = check.settings["timeout"]
    assert isinstance(seconds, float), "as `CodeScorer.settle` has it"
    return seconds


def _kind(check: Check) -> tuple[object, ...]:
    """Return what testers have in common that are there for the same checks."""
    return tuple(check.settings[name] for name in ("python", "isolation", "memory"))


def _limits(check: Check, seconds: float | None) -> ProgramLimits:
    memory = check.settings["memory"]
    assert isinstance(memory, int), "as `CodeScorer` has it"
    return ProgramLimits(
        wall=seconds,
        memory=2 * memory,
        processes=_PROCESSES,
        disk=_DISK,
        output=_PRINTED,
        grace=0.0,
    )


def _sandbox(check: Check, readable: tuple[Path, ...]) -> Sandbox:
    level = text(check.settings["isolation"])
    # nothing takes the network away where there is no isolation, which was asked for
    return Sandbox(level=level, network="full" if level == "none" else "none", readable=readable)
