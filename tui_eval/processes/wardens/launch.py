"""A program's start: its files, its streams, its confinement."""

import errno
import os
import socket
import time
from contextlib import ExitStack
from dataclasses import dataclass
from typing import get_args

from tui_eval.processes.capture import Capture
from tui_eval.processes.isolation.execution import CannotStartError, Execution
from tui_eval.processes.isolation.levels import LEVELS
from tui_eval.processes.program import ERR, OUT, LimitName, Program, StartFailure
from tui_eval.processes.wardens.spawn import StandardStreams, spawn


@dataclass(frozen=True)
class LaunchedProgram:
    """A program that has started, and what it prints to."""

    program: Program
    pid: int
    execution: Execution
    out: Capture
    err: Capture
    started_at: float
    """The time of day."""

    @property
    def printed(self) -> int:
        """How many bytes it has printed so far."""
        return self.out.size + self.err.size


def launch(program: Program, talk: socket.socket | None) -> LaunchedProgram:
    """Start a program, with its output going to its folder.

    Args:
        program: What to start.
        talk: What becomes its stdin and stdout, in the place of a file and `out`; closed here.

    Raises:
        CannotStartError: it did not start; nothing is left of it.
    """
    try:
        with ExitStack() as opened:
            execution = _execution(program)
            out = Capture(program.folder / OUT, program.limits.output)
            opened.callback(out.close_write_end)
            err = Capture(program.folder / ERR, program.limits.output)
            opened.callback(err.close_write_end)
            if talk is None:
                stdin = os.open(program.stdin or os.devnull, os.O_RDONLY | os.O_CLOEXEC)
                opened.callback(os.close, stdin)
                streams = StandardStreams(stdin, out.write_end, err.write_end)
            else:
                opened.callback(talk.close)
                streams = StandardStreams(talk.fileno(), talk.fileno(), err.write_end)
            started_at = time.time()
            pid = spawn(execution, streams)
    except OSError as error:
        where = error.filename or program.folder
        full = error.errno in (errno.ENOSPC, errno.EDQUOT)
        failure = StartFailure.NO_ROOM if full else StartFailure.OTHER
        raise CannotStartError(failure, f"{where}: {error.strerror}") from error
    return LaunchedProgram(program, pid, execution, out, err, started_at)


def _execution(program: Program) -> Execution:
    name = program.sandbox.level
    if name not in LEVELS:
        reason = f"there is no isolation {name!r}; there are {', '.join(LEVELS)}"
        raise CannotStartError(StartFailure.ISOLATION, reason)
    level = LEVELS[name]
    why_not = level.available(program)
    if why_not is not None:
        raise CannotStartError(StartFailure.ISOLATION, why_not)
    limits = vars(program.limits)
    unwatched = [one for one in get_args(LimitName) if one not in level.watches and limits[one]]
    if unwatched:
        reason = f"{name} cannot watch {', '.join(unwatched)}: leave it out of the limits"
        raise CannotStartError(StartFailure.ISOLATION, reason)
    return level.prepare(program)
