"""Start a program in a process of its own, and know whether it started."""

import errno
import os
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, NoReturn

from tui_eval.processes.isolation.execution import CannotStartError, Execution
from tui_eval.processes.platform_support import signal_when_parent_dies
from tui_eval.processes.program import StartFailure

_OOM_SCORE: Final = b"500"
"""Memory that runs out is to end agents before it ends whoever keeps their results."""


_LOOK_AGAIN_S: Final = 0.02
_SAID: Final = 4096
"""Bytes that a failure to start has room in, written at once."""


@dataclass(frozen=True)
class StandardStreams:
    """Descriptors that become a program's own."""

    stdin: int
    stdout: int
    stderr: int


def spawn(execution: Execution, streams: StandardStreams) -> int:
    """Start a program as the leader of a session of its own; return its process id.

    It is killed when this process is: the last resort where whoever watches is killed with all
    that watches over it.

    Raises:
        CannotStartError: it could not be executed; nothing of it is left.
    """
    told, tell = os.pipe()  # closed by a call of `execve` that succeeds
    try:
        parent = os.getpid()
        pid = os.fork()
    except OSError as error:
        os.close(told)
        os.close(tell)
        raise CannotStartError(
            StartFailure.OTHER, f"no process can be started: {error.strerror}"
        ) from error
    if pid == 0:
        _become(execution, streams, parent, tell)
    os.close(tell)
    failed = os.read(told, _SAID)
    os.close(told)
    if failed:
        os.waitpid(pid, 0)
        raise _failure(execution, failed)
    _prefer_for_oom(pid)
    return pid


def run_quietly(command: tuple[str, ...], env: Mapping[str, str], seconds: float) -> bytes:
    """Run a command of our own to its end, or kill it after the seconds.

    Returns:
        The first that it printed; nothing where it could not be run.
    """
    told, tell = os.pipe()
    os.set_blocking(told, False)
    try:
        nowhere = [(os.POSIX_SPAWN_OPEN, one, os.devnull, os.O_RDWR, 0) for one in (0, 2)]
        printed = (os.POSIX_SPAWN_DUP2, tell, 1)
        pid = os.posix_spawnp(command[0], command, env, file_actions=[*nowhere, printed])
        _wait(pid, seconds)
        return os.read(told, _SAID)
    except OSError:  # it could not be run, or printed nothing
        return b""
    finally:
        os.close(told)
        os.close(tell)


def _wait(pid: int, seconds: float) -> None:
    """Wait for the end of a child; it is killed after the seconds."""
    ends = time.monotonic() + seconds
    while os.waitpid(pid, os.WNOHANG)[0] == 0:
        if time.monotonic() > ends:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return
        time.sleep(_LOOK_AGAIN_S)


def _become(execution: Execution, streams: StandardStreams, parent: int, tell: int) -> NoReturn:
    step = "start"
    try:
        os.setsid()
        signal_when_parent_dies(signal.SIGKILL)
        if os.getppid() != parent:
            os._exit(127)
        for descriptor, target in enumerate((streams.stdin, streams.stdout, streams.stderr)):
            os.dup2(target, descriptor)
        step = "cwd"
        os.chdir(execution.cwd)
        if execution.enter is not None:
            step = "isolation"
            execution.enter()
        step = "execute"
        os.execve(execution.path, execution.command, execution.env)  # noqa: S606
    except OSError as error:
        os.write(tell, f"{step} {error.errno} {error.strerror}".encode())
    except BaseException as error:  # noqa: BLE001 - the edge of a process: told to its parent
        os.write(tell, f"{step} 0 {error!r}".encode())
    finally:
        os._exit(127)


def _failure(execution: Execution, told: bytes) -> CannotStartError:
    step, number, text = told.decode("utf-8", "replace").split(" ", 2)
    path = execution.path
    if step == "isolation":
        return CannotStartError(StartFailure.ISOLATION, f"it could not be confined: {text}")
    if step == "cwd":
        return CannotStartError(StartFailure.OTHER, f"{execution.cwd} cannot be entered: {text}")
    match int(number):
        case errno.ENOENT:
            reason = f"{path} was taken away, or the interpreter that it names is not there"
        case errno.ENOEXEC:
            reason = f"{path} is no program: a script begins with a line as #!/bin/sh"
        case errno.EACCES | errno.EPERM:
            reason = f"{path} may not be executed ({text}), or the interpreter that it names"
        case _:
            return CannotStartError(StartFailure.OTHER, f"{path} could not be executed: {text}")
    return CannotStartError(StartFailure.NOT_EXECUTABLE, reason)


def _prefer_for_oom(pid: int) -> None:
    try:
        with open(f"/proc/{pid}/oom_score_adj", "wb", buffering=0) as file:
            file.write(_OOM_SCORE)
    except OSError:
        pass  # not Linux, ended already, or another user's by now: it is a preference
