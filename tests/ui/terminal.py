"""The program in a pseudo-terminal, read back by a terminal emulator."""

import os
import select
import sys
import termios
import time
from collections.abc import Callable

import ptyprocess
import pyte

COLUMNS, ROWS = 80, 24


class Terminal:
    """The program in a terminal of its own."""

    def __init__(
        self,
        *arguments: str,
        columns: int = COLUMNS,
        rows: int = ROWS,
        module: str = "tui_eval",
        environment: dict[str, str] | None = None,
    ) -> None:
        self.screen = pyte.Screen(columns, rows)
        self.raw = b""
        """Everything that was written to the terminal."""
        self._stream = pyte.ByteStream(self.screen)
        self.process = ptyprocess.PtyProcess.spawn(
            [sys.executable, "-m", module, *arguments],
            dimensions=(rows, columns),
            env={**_surroundings(), **(environment or {})},
        )
        self.modes = termios.tcgetattr(self.process.fd)
        """How the terminal was when the program began."""

    def text(self) -> str:
        return "\n".join(self.screen.display)

    def press(self, keys: str) -> None:
        self.process.write(keys.encode())

    def until(self, condition: Callable[[], bool], seconds: float = 30.0) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < end, f"never came:\n{self.text()}"
            self._take(0.05)

    def until_raw(self) -> None:
        """Wait until keys go to the program as they are: before, the terminal itself takes some."""
        self.until(lambda: not termios.tcgetattr(self.process.fd)[3] & termios.ICANON)

    def until_shown(self, *words: str) -> None:
        self.until(lambda: all(word in self.text() for word in words))

    def until_ended(self) -> int:
        self.until(lambda: not self.process.isalive())
        self._take(0.0)
        status = self.process.exitstatus
        return -self.process.signalstatus if status is None else int(status)

    def close(self) -> None:
        self.process.close(force=True)

    def _take(self, wait: float) -> None:
        if not select.select([self.process.fd], [], [], wait)[0]:
            return
        try:
            written = os.read(self.process.fd, 1 << 16)
        except OSError:
            return  # the other end has gone
        self.raw += written
        # modes that the emulator does not know are looked at in `raw`
        self._stream.feed(written)


def _surroundings() -> dict[str, str]:
    """Give what the program finds around it; a test runner may claim a size of its own."""
    kept = {name: value for name, value in os.environ.items() if name not in ("COLUMNS", "LINES")}
    return {**kept, "TERM": "xterm-256color", "LC_ALL": "C.UTF-8"}


def assert_restored(terminal: Terminal) -> None:
    """Check that the terminal is as it was: screen, cursor, mouse, pasting, line discipline."""
    for mode in (b"?1049", b"?1000", b"?1003", b"?1006", b"?2004"):
        on, off = terminal.raw.rfind(mode + b"h"), terminal.raw.rfind(mode + b"l")
        assert off > on, f"{mode!r} was left on"
    assert terminal.raw.rfind(b"\x1b[?25h") > terminal.raw.rfind(b"\x1b[?25l")
