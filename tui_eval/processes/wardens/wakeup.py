"""Signals as something that a poll waits for."""

import os
import signal
from contextlib import suppress


def catch(*signals: signal.Signals) -> None:
    """Have signals do nothing but arrive, here and in all that is forked from here."""
    for number in signals:
        signal.signal(number, lambda _number, _frame: None)


def ignore_none() -> None:
    """Ignore no signal, as what is executed would go on to; none that was ignored ends this.

    A handler is what `execve` takes away. Python itself ignores SIGPIPE, and an engine that has
    been killed is written to until its end is noticed.
    """
    catch(*(one for one in signal.Signals if signal.getsignal(one) is signal.SIG_IGN))


class Wakeup:
    """A pipe on which this process's signals arrive, of those that `catch` has named."""

    def __init__(self) -> None:
        self.descriptor, self._write_end = os.pipe()
        os.set_blocking(self.descriptor, False)
        os.set_blocking(self._write_end, False)
        signal.set_wakeup_fd(self._write_end, warn_on_full_buffer=False)

    def taken(self) -> set[int]:
        """Return which signals have come since the last time."""
        with suppress(BlockingIOError):
            return set(os.read(self.descriptor, 1 << 12))
        return set()

    def close(self) -> None:
        """Close the pipe, as a fork does that makes its own."""
        signal.set_wakeup_fd(-1)
        os.close(self.descriptor)
        os.close(self._write_end)
