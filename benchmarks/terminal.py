"""The app in a pseudo-terminal, and what it shows."""

import os
import select
import signal
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil
import pyte
from ptyprocess import PtyProcess

_TABLE_CURSOR = "▸"
_LATE_S = 5.0
"""Seconds after which a key was lost."""


@dataclass(frozen=True, slots=True)
class Came:
    """Some bytes that a program wrote after a key."""

    after_s: float
    """Seconds since the key."""
    data: bytes
    waited_s: float | None
    """Seconds since the key in which threads of the program were ready and had no core, added up;
    None: this system does not tell."""


class Terminal:
    """A program in a terminal of its own.

    Args:
        arguments: Its command line.
        environment: All it finds around it.
        size: Columns and rows.
        drawn: Whether what it writes is drawn; else it is only counted, which takes no time.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str],
        size: tuple[int, int] = (80, 24),
        *,
        drawn: bool = True,
    ) -> None:
        columns, rows = size
        self.screen = pyte.Screen(columns, rows)
        self._stream = pyte.ByteStream(self.screen)
        self._drawn = drawn
        self.written = 0
        """Bytes that came so far."""
        self.began = time.monotonic()
        self.process = PtyProcess.spawn(
            list(arguments),
            dimensions=(rows, columns),
            env={**environment, "TERM": "xterm-256color"},
        )
        self.usage = psutil.Process(self.process.pid)

    def read(self, seconds: float) -> bool:
        """Take in what arrives within a time; False where nothing does, or it has ended."""
        ready, _, _ = select.select([self.process.fd], [], [], seconds)
        if not ready:
            return False
        try:
            came = os.read(self.process.fd, 1 << 16)
        except OSError:  # the other end has gone
            time.sleep(seconds)
            return False
        self.written += len(came)
        if self._drawn:
            self._stream.feed(came)
        return True

    def until(self, shown: Callable[["Terminal"], object], seconds: float = 60.0) -> float:
        """Wait until it shows something; give the seconds since it was started.

        Raises:
            TimeoutError: it does not; with what it shows instead.
        """
        deadline = time.monotonic() + seconds
        while not shown(self):
            if time.monotonic() > deadline:
                raise TimeoutError("\n".join(self.screen.display))
            self.read(0.1)
        return time.monotonic() - self.began

    def rest(self, seconds: float) -> None:
        """Read for a while."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            self.read(left)

    def press(self, keys: bytes) -> None:
        """Press keys."""
        self.process.write(keys)

    def seen_after(
        self, keys: bytes, seconds: float, *shown: Callable[["Terminal"], object]
    ) -> list["Came | None"]:
        """Press keys; give that with which it showed each of several things, None: it did not.

        What comes is only kept until the time is over, as drawing it takes as long as the program
        itself: a key is timed while nothing else is done. Then all of it is drawn, bit by bit.

        Args:
            keys: What is pressed.
            seconds: How long it is looked at, longer where the first thing has not come.
            shown: The things.

        Raises:
            TimeoutError: the first has not come at all; with what it shows instead.
        """
        found: list[Came | None] = [None for _ in shown]
        began, waited = time.monotonic(), _waited_s(self.process.pid)
        self.process.write(keys)
        until = began + seconds
        while True:
            for one in self._kept(began, until, waited):
                self.written += len(one.data)
                self._stream.feed(one.data)
                for at, condition in enumerate(shown):
                    if found[at] is None and condition(self):
                        found[at] = one
            if found[0] is not None:
                return found
            until = time.monotonic() + seconds
            if until > began + _LATE_S:
                raise TimeoutError("\n".join([f"nothing seen of {keys!r}:", *self.lines]))

    def bursts_after(self, keys: bytes, quiet_s: float, apart_s: float) -> list[float]:
        """Press keys; give when each burst of what comes ended, in seconds since then.

        What comes is drawn when all of it is there: drawing would take part of the time.

        Args:
            keys: What is pressed.
            quiet_s: Seconds after which nothing more comes, once something has.
            apart_s: Seconds without anything between two bursts.

        Raises:
            TimeoutError: nothing has come at all; with what it shows instead.
        """
        ends: list[float] = []
        kept: list[bytes] = []
        began = last = time.monotonic()
        self.process.write(keys)
        while (left := last + (quiet_s if ends else _LATE_S) - time.monotonic()) > 0:
            if select.select([self.process.fd], [], [], left)[0]:
                kept.append(os.read(self.process.fd, 1 << 16))
                before, last = last, time.monotonic()
                if ends and last - before <= apart_s:
                    ends.pop()
                ends.append(last - began)
        if not ends:
            raise TimeoutError("\n".join([f"nothing seen of {keys!r}:", *self.lines]))
        for data in kept:
            self.written += len(data)
            self._stream.feed(data)
        return ends

    def _kept(self, began: float, until: float, waited: float | None) -> list["Came"]:
        found = []
        while (left := until - time.monotonic()) > 0:
            if select.select([self.process.fd], [], [], left)[0]:
                now = time.monotonic()
                data = os.read(self.process.fd, 1 << 16)
                late = _waited_s(self.process.pid)
                between = None if waited is None or late is None else late - waited
                found.append(Came(now - began, data, between))
        return found

    @property
    def lines(self) -> list[str]:
        """What is on the screen."""
        return self.screen.display

    def place(self) -> int | None:
        """Give the line of the terminal the table's cursor is on."""
        for number, line in enumerate(self.lines):
            if _TABLE_CURSOR in line[:3]:
                return number
        return None

    def cpu_s(self) -> float:
        """Give the seconds of CPU the program has taken."""
        times = self.usage.cpu_times()
        return times.user + times.system

    def close(self) -> None:
        """End the program, and the terminal."""
        if self.process.isalive():
            self.process.kill(signal.SIGKILL)
            self.process.wait()
        self.process.close()


def _waited_s(pid: int) -> float | None:
    """Give how long the threads of a process have waited for a core so far, added up."""
    total = 0
    try:
        for thread in Path(f"/proc/{pid}/task").iterdir():
            total += int((thread / "schedstat").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return None
    return total / 1e9


def anything(terminal: Terminal) -> bool:
    """Whether there is any letter on the screen: the first picture has been painted."""
    return any(line.strip() for line in terminal.lines)
