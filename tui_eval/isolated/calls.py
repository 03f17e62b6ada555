"""Call functions in kept processes, with a limit in processor time and memory.

Each process has one socket, its standard input: pickles with their length pass over it
(`multiprocessing.connection`). A pool of `multiprocessing` itself would hand the whole environment
on, keys included, and limit no processor time.
"""

import asyncio
import os
import pickle
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Final, TypeVar, TypeVarTuple

import tui_eval
from tui_eval.isolated.outcome import CallOutcome

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

MOST: Final = 2
"""The most processes of a pool."""
_PATIENCE: Final = 10
"""How many times its processor time a call may take on the clock, on a busy machine."""
_STARTED_S: Final = 30.0
"""Seconds a process may take to start and to import what it needs."""
_STANDSTILL: Final = struct.pack("@ll", int(_STARTED_S), 0)
"""The longest a socket waits for the other side to take or to give a piece: a C `timeval`."""
_PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR")
"""The variables that a process gets; there may be keys in the others."""


class OutOfBoundsError(Exception):
    """A call was ended because it went over a limit."""


class TookTooLongError(OutOfBoundsError):
    """It used more processor time than its limit."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"took longer than {seconds:g} s")


class TookTooMuchError(OutOfBoundsError):
    """It used more memory than its limit."""

    def __init__(self) -> None:
        super().__init__("took more memory than 1 GB")


class EndedError(OutOfBoundsError):
    """Its process ended by itself or could not be started; the message says why."""


class AbandonedError(Exception):
    """The pool was closed while the call was under way, or before."""


class CallFailedError(Exception):
    """The function raised; the message is its traceback."""


class IsolatedCalls:
    """A pool of processes: each is started when first needed, kept, and replaced once it ended.

    They have no keys in their environment and no terminal, and end when this process does: at once
    where they are idle, within the limit of the call where they are busy. Safe to use from any
    thread.
    """

    def __init__(self, most: int = MOST) -> None:
        """Make a pool; no process is started yet.

        Args:
            most: How many processes there are at most.
        """
        self._turn = threading.BoundedSemaphore(most)
        self._most = most
        self._lock = threading.Lock()
        self._free: list[_Process] = []
        self._busy: set[_Process] = set()
        self._closed = False
        self._threads: ThreadPoolExecutor | None = None

    def call(self, seconds: float, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Return what a function of a module returns, called in a process of the pool.

        Args:
            seconds: The processor time it may take.
            function: Pickled by its name.
            args: Pickled.

        Raises:
            OutOfBoundsError: it was ended, or could not be started.
            AbandonedError: `close` was called.
            CallFailedError: it raised.
        """
        asked = pickle.dumps((seconds, function, args))
        with self._turn:
            process = self._taken()
            try:
                outcome, result = process.call(seconds, asked)
            except (OSError, EOFError) as error:
                with self._lock:
                    abandoned = process not in self._busy
                    self._busy.discard(process)
                code = process.end()
                if abandoned:
                    raise AbandonedError from None
                if isinstance(error, TimeoutError | BlockingIOError) or code == -signal.SIGPROF:
                    raise TookTooLongError(seconds) from None
                raise EndedError(f"ended its process ({_how(code)})") from None
            except BaseException:  # the answer cannot be read
                with self._lock:
                    self._busy.discard(process)
                process.end()
                raise
            with self._lock:
                abandoned = process not in self._busy
                self._busy.discard(process)
                keep = not abandoned and outcome is not CallOutcome.TOO_MUCH
                if keep:
                    self._free.append(process)
            if not keep:
                process.end()
        if outcome is CallOutcome.TOO_MUCH:
            raise TookTooMuchError
        if outcome is CallOutcome.FAILED:
            raise CallFailedError(result)
        return result  # type: ignore[return-value]

    async def beside(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Run in a thread what makes such calls, so that the running loop goes on.

        Raises:
            AbandonedError: `close` was called before.
        """
        if self._closed:
            raise AbandonedError
        if self._threads is None:
            self._threads = ThreadPoolExecutor(self._most, "isolated")
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *args)

    def close(self) -> None:
        """End all processes; calls raise `AbandonedError` from now on."""
        with self._lock:
            self._closed = True
            free, self._free = self._free, []
            busy, self._busy = self._busy, set()
        for process in busy:
            process.kill()  # the thread that waits for it cleans up
        for process in free:
            process.end()
        if self._threads is not None:
            self._threads.shutdown(wait=False)

    def _taken(self) -> "_Process":
        with self._lock:
            if self._closed:
                raise AbandonedError
            process = next((one for one in iter(self._next_free, None) if one.alive), None)
            if process is None:
                try:
                    process = _Process()
                except OSError as error:
                    raise EndedError(f"no process can be started: {error}") from error
            self._busy.add(process)
            return process

    def _next_free(self) -> "_Process | None":
        return self._free.pop() if self._free else None


def _how(code: int) -> str:
    return f"exit code {code}" if code >= 0 else f"signal {-code}, {signal.strsignal(-code)}"


class _Process:
    """One process and the socket to it."""

    def __init__(self) -> None:
        ours, theirs = socket.socketpair()
        for option in (socket.SO_SNDTIMEO, socket.SO_RCVTIMEO):
            ours.setsockopt(socket.SOL_SOCKET, option, _STANDSTILL)
        with theirs, ours:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-m", "tui_eval.isolated"],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_environment(),
                process_group=0,  # Ctrl+C is for the caller
            )
            self._socket = Connection(ours.detach())

    @property
    def alive(self) -> bool:
        """Whether it still runs; one that does not is cleaned up."""
        if self._process.poll() is None:
            return True
        self.end()
        return False

    def call(self, seconds: float, asked: bytes) -> tuple[CallOutcome, object]:
        """Make a call and return what came of it.

        Raises:
            OSError: it has ended; `BlockingIOError`: it stands still.
            EOFError: it has ended.
            TimeoutError: it does not answer.
        """
        self._socket.send_bytes(asked)
        if not self._socket.poll(_STARTED_S + seconds * _PATIENCE):
            raise TimeoutError
        answer = self._socket.recv_bytes()
        outcome, result = pickle.loads(answer)  # noqa: S301 - of a process of ours
        return outcome, result

    def kill(self) -> None:
        """Kill it without waiting."""
        self._process.kill()

    def end(self) -> int:
        """Kill it if it has not ended, close its socket and return its exit code."""
        self._process.kill()
        self._socket.close()
        return self._process.wait()


def _environment() -> dict[str, str]:
    passed = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return {**passed, "PYTHONPATH": import_path()}


def import_path() -> str:
    """Return the `PYTHONPATH` on which a process imports this very package, installed or not."""
    ours = str(Path(tui_eval.__file__).parents[1])
    return os.pathsep.join([ours, *filter(None, [os.environ.get("PYTHONPATH")])])
