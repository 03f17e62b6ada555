"""A program that answers the calls of tools: JSON lines in and out, one process an attempt."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.processes.program import (
    ERR,
    NotStarted,
    Program,
    ProgramEnding,
    Sandbox,
    StartFailure,
)
from tui_eval.processes.running import RunningProgram
from tui_eval.processes.supervisor import Processes
from tui_eval.processes.workspace.removal import remove_folder
from tui_eval.providers import keys
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.command import printed
from tui_eval.targets.command.trial_folder import TrialFolder
from tui_eval.targets.conversation.tool_answers import RequestedCall

FAILED: Final = "tool"
"""The kind of failures of tools: errors of the trial, and not its model's."""
_LONGEST: Final = 10_000_000
"""Bytes of a line, in or out."""
_SHOWN: Final = 200
_ABOUT_ALL: Final = (
    StartFailure.NOT_FOUND,
    StartFailure.NOT_EXECUTABLE,
    StartFailure.ISOLATION,
)


@dataclass(frozen=True, slots=True)
class ToolSurroundings:
    """What the programs of a target share."""

    processes: Processes
    sandbox: Sandbox
    env: Mapping[str, str]
    """Of every program, but for its own folders."""


class ToolProgram:
    """Started with the first call that it answers; as a context, it ends with the block.

    It has a folder of its own to work in, which ends with it. A line that is no answer, or none at
    all, is an error of the trial: what the model would be told is not known.
    """

    def __init__(
        self, around: ToolSurroundings, command: tuple[str, ...], attempt: AttemptContext
    ) -> None:
        self._around = around
        self._command = command
        self._attempt = attempt
        self._folder: TrialFolder | None = None
        self._running: RunningProgram | None = None
        self._rest = bytearray()
        self._calls = 0

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        running, folder = self._running, self._folder
        if running is not None:
            running.cancel()
            await running.followed()
        for root in (self._attempt.orphan, None if folder is None else folder.root):
            if root is not None:
                with suppress(OSError):  # what stays is taken away by a later engine
                    await asyncio.to_thread(remove_folder, root)

    async def answer(self, call: RequestedCall) -> str | Failure:
        """Have a call answered; return what the tool gives, an error of its own included."""
        self._calls += 1
        ident = call.id or f"call-{self._calls}"
        got = await self._asked(
            {"id": ident, "name": call.name, "arguments": call.arguments}, f"the call {call.name}"
        )
        if isinstance(got, Failure):
            return got
        if got is None:
            return await self._gone(f"at the call {call.name}")
        if got.get("id") != ident or ("result" in got) == ("error" in got):
            return _unsuitable(got, f'{{"id": "{ident}", "result": …}}')
        if "error" in got:
            return f"error: {_as_text(got['error'])}"
        return _as_text(got["result"])

    async def fields(self) -> JsonObject | Failure:
        """Tell it that the conversation has ended; return the fields that it gives of it."""
        if self._running is None:
            failed = await self._start()
            if failed is not None:
                return failed
        got = await self._asked({"end": True}, "the end")
        if isinstance(got, Failure):
            return got
        if got is None:  # it has nothing to say
            return {}
        found = got.get("fields")
        if not isinstance(found, dict):
            return _unsuitable(got, '{"fields": {…}}')
        return found

    async def _asked(self, line: JsonObject, what: str) -> JsonObject | Failure | None:
        """Write a line, read one; None: the program says nothing any more."""
        if self._running is None:
            failed = await self._start()
            if failed is not None:
                return failed
        try:
            async with asyncio.timeout(self._attempt.timeout_s):
                return await self._told(line)
        except TimeoutError:
            seconds = f"{self._attempt.timeout_s:g} s"
            return Failure(FAILED, f"the tools' program did not answer {what} within {seconds}")

    async def _told(self, line: JsonObject) -> JsonObject | Failure | None:
        assert self._running is not None
        assert self._running.talk is not None
        reader, writer = self._running.talk
        with suppress(OSError):  # where it has gone, there is nothing to read either
            writer.write(json.dumps(line).encode() + b"\n")
            await writer.drain()
        while (end := self._rest.find(b"\n")) < 0:
            data = b""
            with suppress(OSError):
                data = await reader.read(1 << 16)
            if not data:
                return None
            if len(self._rest) + len(data) > _LONGEST:
                return Failure(FAILED, f"the tools' program wrote a line above {_LONGEST:,} bytes")
            self._rest += data
        line_read = bytes(self._rest[:end])
        del self._rest[: end + 1]
        try:
            got = keys.redact_json(json.loads(line_read))
        except (ValueError, RecursionError):
            got = None
        if not isinstance(got, dict):
            return _unsuitable(line_read.decode("utf-8", "replace"), "a JSON object on each line")
        return got

    async def _start(self) -> Failure | None:
        try:
            folder = await asyncio.to_thread(self._prepared)
        except OSError as error:
            why = error.strerror or error
            return Failure(FAILED, f"there is no folder for the tools' program: {why}", True)
        own = {"HOME": str(folder.home), "TMPDIR": str(folder.tmp), "PWD": str(folder.workspace)}
        sandbox = self._around.sandbox
        started = await self._around.processes.start(
            Program(
                command=self._command,
                cwd=folder.workspace,
                env={**self._around.env, **own},
                folder=folder.program,
                talk=True,
                sandbox=Sandbox(
                    sandbox.level,
                    sandbox.network,
                    readable=sandbox.readable,
                    writable=(folder.home, folder.tmp),
                ),
            )
        )
        if isinstance(started, NotStarted):
            about_all = started.failure in _ABOUT_ALL
            return Failure(
                FAILED, f"the tools' program: {started.reason}", not about_all, about_all
            )
        self._running = started
        return None

    def _prepared(self) -> TrialFolder:
        folder = TrialFolder(self._attempt.folder())
        self._folder = folder
        for path in (folder.home, folder.tmp, folder.program, folder.workspace):
            path.mkdir(mode=0o700)
        return folder

    async def _gone(self, when: str) -> Failure:
        assert self._running is not None
        assert self._folder is not None
        self._running.cancel()
        ending = await self._running.ended()
        said = await asyncio.to_thread(_last_words, self._folder.program, ending)
        return Failure(FAILED, f"the tools' program ended {when}: {said}", retryable=ending.oom)


def _last_words(folder: Path, ending: ProgramEnding) -> str:
    how = f"exit code {ending.exit_code}" if ending.signal is None else f"signal {ending.signal}"
    try:
        lines = printed.text(folder / ERR, ending.err).strip().splitlines()
    except OSError:
        lines = []
    last = f": {lines[-1][:_SHOWN]}" if lines else ""
    return keys.redact(f"{how}{last}")


def _as_text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _unsuitable(got: Json, wanted: str) -> Failure:
    shown = _as_text(got)[:_SHOWN]
    return Failure(FAILED, f"the tools' program answered {shown!r} in place of {wanted}")
