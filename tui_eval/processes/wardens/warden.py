"""The process that watches one program: it starts it, holds its limits, and ends all it started."""

import os
import select
import signal
import socket
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, IntEnum, auto
from functools import partial
from pathlib import Path
from typing import Final

from tui_eval.processes.capture import Capture
from tui_eval.processes.channel import Message, WardenChannel
from tui_eval.processes.isolation.execution import CannotStartError
from tui_eval.processes.platform_support import become_subreaper
from tui_eval.processes.program import (
    EndCause,
    LimitName,
    Orphans,
    Program,
    ProgramEnding,
    StartFailure,
)
from tui_eval.processes.records import write_ending
from tui_eval.processes.wardens.engine_link import EngineLink
from tui_eval.processes.wardens.launch import LaunchedProgram, launch
from tui_eval.processes.wardens.oom import oom_kills
from tui_eval.processes.wardens.process_tree import Tree, tree_of
from tui_eval.processes.wardens.sampler import Sampler
from tui_eval.processes.wardens.spawn import run_quietly
from tui_eval.processes.wardens.wakeup import Wakeup

TRACEBACK: Final = "warden.txt"
"""In a program's folder: how its warden failed, by a mistake of ours."""

_KILL_AGAIN_S: Final = 0.01
"""Between two rounds of killing, where no child's end comes first."""
_REAPS_S: Final = 0.1
"""In a storm of forks there may always be one more that has ended."""
_GIVE_UP_S: Final = 10.0
"""Seconds after which what cannot be killed is named instead."""
_TELL_S: Final = 1.0
"""Seconds an engine that is there, but does not read, is waited for at the end: after that it finds
the ending in the program's folder."""
_AFTERWARDS_S: Final = 20.0
_KILLED: Final = 128 + signal.SIGKILL
"""The exit code of a command that ran something elsewhere which was killed."""
_DANGEROUS: Final[frozenset[LimitName]] = frozenset({"memory", "processes"})
"""Limits beyond which there is no grace: it would be used to take more."""


class WardenExit(IntEnum):
    """Exit codes of a warden, by which the zygote knows what it leaves behind."""

    CONCLUDED = 0
    """Nothing; the program's ending was told or is written down."""
    UNWRITTEN = 1
    """Perhaps processes, and no ending: also what Python ends with at a mistake of ours."""
    SURVIVED = 2
    """Processes that it could not end, which its ending names."""


def main(connection: socket.socket, talk: socket.socket | None, supervisor: int) -> WardenExit:
    """Run the program that the engine names, to the end; return how this process is to exit.

    Args:
        connection: To the engine.
        talk: What becomes the program's stdin and stdout, where the engine wants to talk to it.
        supervisor: A pipe that ends when the zygote does.
    """
    os.setsid()
    become_subreaper()
    wakeup = Wakeup()
    channel = WardenChannel(connection)
    asked = channel.first()
    if asked is None:
        return WardenExit.CONCLUDED
    oom_before = oom_kills()
    try:
        program = Program.from_json(asked["program"])
        _enter(program.folder)
        launched = launch(program, talk)
    except CannotStartError as error:
        channel.send({"not_started": {"failure": error.failure, "reason": str(error)}})
        channel.drain(_TELL_S)
        return WardenExit.CONCLUDED
    link = EngineLink(channel)
    tree = tree_of(launched.pid)
    try:
        warden = Warden(launched, tree, link, wakeup, supervisor)
        warden.watch()
        ending, written = warden.conclude(oom_before)
    except Exception:
        _end_at_once(tree)
        _write_traceback()
        raise
    link.send({"ended": ending.as_json()})
    told = link.close(_TELL_S)
    if not (told or written):
        return WardenExit.UNWRITTEN
    return WardenExit.SURVIVED if ending.survivors else WardenExit.CONCLUDED


def _enter(folder: Path) -> None:
    try:
        os.chdir(folder)
    except OSError as error:
        reason = f"{folder} cannot be entered: {error.strerror}"
        raise CannotStartError(StartFailure.OTHER, reason) from error


class _Phase(Enum):
    RUNNING = auto()
    TERMINATING = auto()
    """TERM is sent, and the grace is on."""
    KILLING = auto()


class Warden:
    """Watches a program that has started until the last process of its tree has ended."""

    def __init__(
        self,
        launched: LaunchedProgram,
        tree: Tree,
        link: EngineLink,
        wakeup: Wakeup,
        supervisor: int,
    ) -> None:
        self._launched = launched
        self._program = launched.program
        self._link = link
        self._wakeup = wakeup
        self._tree = tree
        watched = self._tree if launched.execution.descendants else None
        self._sampler = Sampler(watched, self._program.cwd, self._program.limits)
        wall = self._program.limits.wall
        self._wall_at = None if wall is None else time.monotonic() + wall
        self._phase = _Phase.RUNNING
        self._cause = EndCause.EXITED
        self._limit: LimitName | None = None
        self._kill_at = self._give_up_at = 0.0
        self._status: int | None = None
        self._killed = False
        """Whether somebody else killed one of its processes."""
        self._survivors: tuple[int, ...] = ()
        self._poll = select.poll()
        self._handlers: dict[int, Callable[[], None]] = {}
        self._handle(supervisor, partial(self._unsupervised, supervisor))
        self._handle(wakeup.descriptor, self._signalled)
        for capture in (launched.out, launched.err):
            self._handle(capture.read_end, partial(self._printed, capture))

    def watch(self) -> None:
        """Watch until no process of the tree is left, or none that may be killed."""
        self._greet()
        while not self._over():
            self._turn()

    def conclude(self, oom_before: int) -> tuple[ProgramEnding, bool]:
        """Return how it ended, and whether that is written down; with no engine, on the disk."""
        self._see_to_what_ran_elsewhere()
        sync = self._link.connection is None or self._program.orphans is Orphans.FINISH
        out, err = self._launched.out.finish(sync), self._launched.err.finish(sync)
        status = self._status
        signalled = status is not None and os.WIFSIGNALED(status)
        ending = ProgramEnding(
            cause=self._cause,
            limit=self._limit,
            exit_code=os.WEXITSTATUS(status) if status is not None and not signalled else None,
            signal=os.WTERMSIG(status) if status is not None and signalled else None,
            started_at=self._launched.started_at,
            ended_at=time.time(),
            resources=self._sampler.total(out.size + err.size),
            out=out,
            err=err,
            samples=tuple(self._sampler.samples.kept),
            isolation=self._program.sandbox.level,
            oom=self._killed and oom_kills() > oom_before,
            survivors=self._survivors,
        )
        try:
            write_ending(self._program.folder, ending, sync)
        except OSError:  # a full disk: an engine that is there is told all the same
            return ending, False
        return ending, True

    def _see_to_what_ran_elsewhere(self) -> None:
        """Find out whether it was killed at its limit of memory, and take it away."""
        execution, status = self._launched.execution, self._status
        killed = status is not None and os.waitstatus_to_exitcode(status) == _KILLED
        if killed and execution.out_of_memory and self._cause is EndCause.EXITED:
            told = run_quietly(execution.out_of_memory, execution.env, _AFTERWARDS_S)
            if told.strip() == b"true" and self._program.limits.memory is not None:
                self._cause, self._limit = EndCause.LIMIT, "memory"
        for command in execution.afterwards:
            run_quietly(command, execution.env, _AFTERWARDS_S)

    def _turn(self) -> None:
        pause = max(0.0, self._next_deadline() - time.monotonic())
        for descriptor, _ in self._poll.poll(pause * 1000 + 1):
            handler = self._handlers.get(descriptor)
            if handler is not None:
                handler()
        now = time.monotonic()
        if self._wall_at is not None and now >= self._wall_at:
            self._wall_at = None
            self._begin_end(EndCause.LIMIT, "wall")
        if now >= self._sampler.next_at:
            self._look()
        if self._phase is _Phase.TERMINATING and now >= self._kill_at:
            self._phase, self._give_up_at = _Phase.KILLING, now + _GIVE_UP_S
        if self._phase is _Phase.KILLING and now >= self._kill_at:
            self._tree.chase(self._reap)
            self._survivors = self._tree.kill()
            self._kill_at = time.monotonic() + _KILL_AGAIN_S

    def _next_deadline(self) -> float:
        deadlines = [self._sampler.next_at]
        if self._wall_at is not None:
            deadlines.append(self._wall_at)
        if self._phase is not _Phase.RUNNING:
            deadlines.append(self._kill_at)
        return min(deadlines)

    def _over(self) -> bool:
        """Return whether nothing is left, or nothing that can be ended."""
        if not self._reap() and not self._tree.left():
            self._survivors = ()
            return True
        if self._phase is _Phase.KILLING and time.monotonic() >= self._give_up_at:
            self._survivors = self._survivors or tuple(self._tree.find())
            return True
        if self._status is not None:
            self._begin_end(EndCause.EXITED)  # it left children behind
        return False

    def _reap(self) -> bool:
        """Take note of what has ended, but not for ever; return whether there are children left."""
        ends = time.monotonic() + _REAPS_S
        while time.monotonic() < ends:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self._launched.pid:
                self._status = status
            if self._phase is not _Phase.KILLING and os.WIFSIGNALED(status):
                self._killed |= os.WTERMSIG(status) == signal.SIGKILL
        return True

    def _look(self) -> None:
        sample = self._sampler.look(self._launched.printed)
        self._link.send({"sample": vars(sample)}, droppable=True)
        limit = self._sampler.exceeded(sample)
        if limit is not None:
            self._begin_end(EndCause.LIMIT, limit)

    def _begin_end(
        self, cause: EndCause, limit: LimitName | None = None, grace: float | None = None
    ) -> None:
        """Begin the end of the tree; what comes later can but shorten the grace."""
        if self._phase is _Phase.KILLING:
            return
        given = self._program.limits.grace if grace is None else grace
        hurry = limit in _DANGEROUS
        kill_at = time.monotonic() + (0.0 if hurry else given)
        if self._phase is _Phase.RUNNING:
            self._phase, self._cause, self._limit = _Phase.TERMINATING, cause, limit
            self._kill_at = kill_at
            if given > 0 and not hurry:
                self._tree.signal_all(signal.SIGTERM, self._launched.execution.wrappers)
        elif hurry or grace is not None:
            self._kill_at = min(self._kill_at, kill_at)

    def _greet(self) -> None:
        """Tell the engine that there is what it is linked to."""
        message: Message = {"pid": self._launched.pid, "at": self._launched.started_at}
        self._link.send({"started": message})
        if self._link.connection is not None:
            self._handle(self._link.connection.fileno(), self._told)
            self._told()  # it may have said something right after what to run

    def _told(self) -> None:
        assert self._link.connection is not None
        descriptor = self._link.connection.fileno()
        messages = self._link.receive()
        if messages is None:
            self._ignore(descriptor)
            listening = self._link.listen()
            if listening is not None:
                self._handle(listening, self._asked_for)
            self._left_alone()
        for message in messages or ():
            if "end" in message:
                self._begin_end(EndCause.CANCELLED, grace=message["end"])

    def _asked_for(self) -> None:
        if self._link.accept():
            self._greet()

    def _unsupervised(self, supervisor: int) -> None:
        self._ignore(supervisor)
        self._left_alone()

    def _left_alone(self) -> None:
        if self._program.orphans is Orphans.END:
            self._begin_end(EndCause.ABANDONED)

    def _signalled(self) -> None:
        """Take note of signals; that a child has ended is looked at after every turn."""
        if self._wakeup.taken() & {signal.SIGTERM, signal.SIGINT}:
            self._begin_end(EndCause.ABANDONED)

    def _printed(self, capture: Capture) -> None:
        with suppress(BlockingIOError):
            if capture.read_some() == 0:
                self._ignore(capture.read_end)

    def _handle(self, descriptor: int, handler: Callable[[], None]) -> None:
        self._handlers[descriptor] = handler
        self._poll.register(descriptor, select.POLLIN)

    def _ignore(self, descriptor: int) -> None:
        del self._handlers[descriptor]
        self._poll.unregister(descriptor)


def _end_at_once(tree: Tree) -> None:
    """Kill a tree that is watched no more; the zygote goes on where this gives up."""
    ends = time.monotonic() + _GIVE_UP_S
    while time.monotonic() < ends:
        with suppress(OSError):  # as it may be what has brought us here: no descriptor, no memory
            tree.kill()
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            return
        time.sleep(_KILL_AGAIN_S)


def _write_traceback() -> None:
    Path(TRACEBACK).write_text(traceback.format_exc(), "utf-8")
