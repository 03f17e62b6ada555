"""The small process that forks a warden for each program, and ends what a killed warden leaves."""

import gc
import os
import select
import signal
import socket
import sys
import time
from collections import Counter
from contextlib import suppress
from typing import Final

from tui_eval.processes.channel import encode
from tui_eval.processes.platform_support import LINUX, become_subreaper, forbid_inspection
from tui_eval.processes.wardens import warden
from tui_eval.processes.wardens.process_tree import DescendantTree
from tui_eval.processes.wardens.wakeup import Wakeup, catch, ignore_none
from tui_eval.processes.wardens.warden import WardenExit

REQUEST: Final = 8
"""Bytes of a request: the program's number; with it come one or two sockets."""
_KILL_AGAIN_S: Final = 0.01
_GIVE_UP_S: Final = 10.0
"""Seconds in which an engine is not told that a warden has gone that left something."""
_KILL_LATER_S: Final = 1.0
"""Between two rounds after that."""
_MOST_STOPS: Final = 20
"""How often a warden is continued that somebody stops: its program has found it."""


def main(descriptor: int) -> None:
    """Serve an engine until it has gone and no warden is left."""
    become_subreaper()
    forbid_inspection()
    ignore_none()
    catch(signal.SIGCHLD, signal.SIGTERM, signal.SIGINT)
    gc.collect()
    gc.freeze()
    gc.disable()  # so that pages which wardens share stay shared
    engine = socket.socket(fileno=descriptor)
    engine.set_inheritable(False)
    Zygote(engine).serve()


class Zygote:
    """Forks wardens, and is the subreaper above them.

    All its children are wardens, until one is killed or gives up: then what that one watched
    becomes the zygote's own, and is ended, for as long as there is anything. The engine is told of
    each warden that has gone, and whether it had done its work, once nothing of it is left. A
    warden that is stopped, and would hold no limit meanwhile, is continued.
    """

    def __init__(self, engine: socket.socket) -> None:
        self._engine = engine
        self._asks = True
        """Whether the engine may ask for more: it has neither gone nor closed."""
        self._wakeup = Wakeup()
        self._alive, self._alive_end = os.pipe()
        """What every warden sees the end of when this process has ended."""
        self._wardens: dict[int, int] = {}
        """Numbers of programs by the process ids of their wardens."""
        self._strays = DescendantTree(os.getpid(), self._wardens)
        self._stops: Counter[int] = Counter()
        """How often wardens were stopped, by their process ids."""
        self._killed: list[int] = []
        """Programs whose wardens were killed, while what they left is ended."""
        self._give_up_at = 0.0
        """When the engine is told of them, whatever is left by then."""
        self._left = False
        """Whether there is something that wardens have left, as far as is known."""

    def serve(self) -> None:
        """Fork what is asked for, and reap."""
        while self._asks or self._wardens or self._sweeping:
            poll = select.poll()
            poll.register(self._wakeup.descriptor, select.POLLIN)
            if self._asks:
                poll.register(self._engine, select.POLLIN)
            ready = dict(poll.poll(self._pause_ms()))
            if signal.SIGTERM in self._wakeup.taken():
                return  # wardens see it, and end what they watch
            if self._engine.fileno() in ready:
                self._fork_asked()
            self._reap()
            if self._left:
                self._sweep()

    @property
    def _sweeping(self) -> bool:
        """Whether what wardens have left may still be ended in time."""
        return self._left and time.monotonic() < self._give_up_at

    def _pause_ms(self) -> float | None:
        if not self._left:
            return None
        return (_KILL_AGAIN_S if self._sweeping else _KILL_LATER_S) * 1000

    def _fork_asked(self) -> None:
        try:
            request, descriptors, _, _ = socket.recv_fds(self._engine, REQUEST, 2)
        except ConnectionError:
            request, descriptors = b"", []
        if not request:
            self._asks = False
            return
        sockets = [socket.socket(fileno=one) for one in descriptors]
        for one in sockets:
            one.set_inheritable(False)  # what comes through a socket would be handed on
        number = int.from_bytes(request, "little")
        try:
            pid = os.fork()
            if pid == 0:
                self._become_warden(sockets)
            self._wardens[pid] = number
        except OSError as error:
            self._tell(number, refused=error.strerror)
        finally:
            for one in sockets:
                one.close()

    def _become_warden(self, sockets: list[socket.socket]) -> None:
        code = WardenExit.UNWRITTEN
        try:
            self._engine.close()
            self._wakeup.close()
            os.close(self._alive_end)
            talk = sockets[1] if len(sockets) > 1 else None
            code = warden.main(sockets[0], talk, self._alive)
        finally:
            os._exit(code)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG | os.WUNTRACED)
            except ChildProcessError:
                return
            if pid == 0:
                return
            if os.WIFSTOPPED(status):
                self._continue(pid)
                continue
            number = self._wardens.pop(pid, None)
            if number is None:
                continue
            self._stops.pop(pid, None)
            code = os.waitstatus_to_exitcode(status)
            if code == WardenExit.CONCLUDED or not LINUX:
                self._tell(number, concluded=code == WardenExit.CONCLUDED)
                continue
            self._left, self._give_up_at = True, time.monotonic() + _GIVE_UP_S
            if code == WardenExit.SURVIVED:
                self._tell(number, concluded=True)
            else:
                self._killed.append(number)

    def _continue(self, pid: int) -> None:
        """Continue a warden that was stopped; strays stay stopped until they are killed."""
        if pid in self._wardens:
            self._stops[pid] += 1
            often = self._stops[pid] > _MOST_STOPS
            os.kill(pid, signal.SIGKILL if often else signal.SIGCONT)

    def _sweep(self) -> None:
        """End what wardens have left."""
        with suppress(OSError):  # no descriptor, no memory: there will be, and nobody else does it
            self._strays.chase(self._reap)
            self._left = bool(self._strays.find())
            if self._left:
                self._strays.kill()
        if not self._sweeping:
            for number in self._killed:
                self._tell(number)
            self._killed.clear()

    def _tell(self, number: int, concluded: bool = False, refused: str | None = None) -> None:
        with suppress(OSError):  # it has gone
            message = {"gone": number, "concluded": concluded, "refused": refused}
            self._engine.sendall(encode(message))


if __name__ == "__main__":
    main(int(sys.argv[1]))
