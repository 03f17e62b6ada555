"""The small process that forks a warden for each program, and ends what a killed warden leaves."""

import gc
import os
import select
import signal
import socket
import sys
import time
from contextlib import suppress
from typing import Final

from tui_eval.processes.channel import encode
from tui_eval.processes.platform_support import LINUX, become_subreaper, forbid_inspection
from tui_eval.processes.wardens import warden
from tui_eval.processes.wardens.process_tree import DescendantTree
from tui_eval.processes.wardens.wakeup import Wakeup, catch, ignore_none

REQUEST: Final = 8
"""Bytes of a request: the program's number; with it come one or two sockets."""
_KILL_AGAIN_S: Final = 0.01
_GIVE_UP_S: Final = 10.0


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

    All its children are wardens, until one is killed: then what that one watched becomes the
    zygote's own, and is ended. The engine is told of each warden that has gone once nothing of it
    is left.
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
        self._killed: list[int] = []
        """Programs whose wardens were killed, while what they left is ended."""
        self._give_up_at = 0.0

    def serve(self) -> None:
        """Fork what is asked for, and reap."""
        while self._asks or self._wardens or self._killed:
            poll = select.poll()
            poll.register(self._wakeup.descriptor, select.POLLIN)
            if self._asks:
                poll.register(self._engine, select.POLLIN)
            ready = dict(poll.poll(_KILL_AGAIN_S * 1000 if self._killed else None))
            if signal.SIGTERM in self._wakeup.taken():
                return  # wardens see it, and end what they watch
            if self._engine.fileno() in ready:
                self._fork_asked()
            self._reap()
            if self._killed:
                self._sweep()

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
        except OSError:
            pid = None  # the engine sees its socket close
        if pid == 0:
            self._become_warden(sockets)
        for one in sockets:
            one.close()
        if pid is None:
            self._tell(number)
        else:
            self._wardens[pid] = number

    def _become_warden(self, sockets: list[socket.socket]) -> None:
        code = 1
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
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return
            if pid == 0:
                return
            number = self._wardens.pop(pid, None)
            if number is None:
                continue
            if status == 0 or not LINUX:
                self._tell(number)
            else:
                self._killed.append(number)
                self._give_up_at = time.monotonic() + _GIVE_UP_S

    def _sweep(self) -> None:
        """End what killed wardens have left."""
        if self._strays.look(fresh=True) and time.monotonic() < self._give_up_at:
            self._strays.kill()
            return
        for number in self._killed:
            self._tell(number)
        self._killed.clear()

    def _tell(self, number: int) -> None:
        with suppress(OSError):  # it has gone
            self._engine.sendall(encode({"gone": number}))


if __name__ == "__main__":
    main(int(sys.argv[1]))
