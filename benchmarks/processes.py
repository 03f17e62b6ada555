"""Commands in processes of their own: what each took, with all that it started."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

_ROOT = Path(__file__).parents[1]
_LOOK_S = 0.2
MB = 1 << 20


@dataclass(frozen=True)
class Cost:
    """What a command took."""

    wall_s: float
    cpu_s: float
    """Of the process and of all it started and waited for."""
    peak_mb: float
    """The largest sum of resident memory of the tree, looked at five times a second."""
    exit_code: int


class TimedOutError(Exception):
    """A command took longer than it may; it was killed."""


OWN = {"PYTHONPATH": str(_ROOT)}
"""What tui-eval finds around it beside what everybody does: itself, as it is in this tree."""


def program(*arguments: str) -> list[str]:
    """Give the command line of tui-eval as it is in this tree."""
    return [sys.executable, "-P", "-m", "tui_eval", *arguments]


def surroundings(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """Give what a measured program finds around it: no key, nobody's settings, no way out.

    A proxy that nobody serves stands between it and everything but the loopback.
    """
    nowhere = "http://127.0.0.1:9"
    proxies = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), nowhere)
    local = dict.fromkeys(("no_proxy", "NO_PROXY"), "127.0.0.1,localhost")
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "LC_ALL": "C.UTF-8",
        "TERM": "xterm-256color",
        "HOME": str(home),
        **proxies,
        **local,
        **(more or {}),
    }


def run(
    command: Sequence[str],
    *,
    folder: Path,
    environment: Mapping[str, str],
    timeout_s: float = 600.0,
    output: str = "output.txt",
) -> Cost:
    """Run a command to its end and give what it took.

    Args:
        command: The command line.
        folder: Where it works.
        environment: All it finds around it.
        timeout_s: Seconds it may take.
        output: The file in the folder that takes what it says.

    Raises:
        TimedOutError: it took longer.
    """
    with (folder / output).open("wb") as out, (folder / f"{output}.err").open("wb") as errors:
        began = time.monotonic()
        process = subprocess.Popen(
            list(command),
            cwd=folder,
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=errors,
            start_new_session=True,
        )
        watch = _Watch(process.pid, began + timeout_s)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    peak = watch.end()
    if watch.timed_out:
        raise TimedOutError(f"{command[0]} took longer than {timeout_s:g} s")
    return Cost(wall, usage.ru_utime + usage.ru_stime, peak, process.returncode)


class _Watch:
    """Looks at a process and its descendants until told to end; kills them at the deadline."""

    def __init__(self, pid: int, deadline: float) -> None:
        self._pid = pid
        self._deadline = deadline
        self._over = threading.Event()
        self._peak = 0
        self.timed_out = False
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> float:
        """Give the largest sum of memory that was seen, in MB."""
        self._over.set()
        self._thread.join()
        return self._peak / MB

    def _look(self) -> None:
        while not self._over.wait(_LOOK_S):
            self._peak = max(self._peak, resident(self._pid))
            if time.monotonic() > self._deadline:
                self.timed_out = True
                with suppress(ProcessLookupError):
                    os.killpg(self._pid, signal.SIGKILL)
                return


def resident(pid: int) -> int:
    """Give the bytes of memory a process and its descendants hold; shared ones count for each."""
    try:
        first = psutil.Process(pid)
        tree = [first, *first.children(recursive=True)]
    except psutil.NoSuchProcess:
        return 0
    total = 0
    for one in tree:
        with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
            total += one.memory_info().rss
    return total
