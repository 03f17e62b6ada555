"""All that a process started, and what they started, whatever group or session they are in."""

import os
import signal
import time
from collections.abc import Callable, Container, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Protocol

from tui_eval.processes.platform_support import LINUX

_CHILDREN_TOLD: Final = os.path.exists("/proc/thread-self/children")
"""Whether the kernel tells which children a process has."""
_ROUNDS: Final = 20
"""How often more are looked for before those that are known are killed."""
_CHASE_S: Final = 1.0
_CHASE_PAUSE_S: Final = 0.001
_ALIKE: Final = 50
"""Looks that find the same ones, after which a chase is over: nothing runs away."""
_DEATHS: Final = frozenset({signal.SIGCHLD})


@dataclass(frozen=True, slots=True)
class ProcessFigures:
    """A line of `/proc`."""

    pid: int
    parent: int
    group: int
    session: int
    cpu_ticks: int
    """Its own, and of its children that have ended."""
    resident_pages: int
    ended: bool
    """Whether it is a zombie: only its exit code is left."""


class Tree(Protocol):
    """What was started by a process, and is to be ended."""

    def look(self) -> dict[int, ProcessFigures]:
        """Find what is alive, by process id; quickly, which may pass over what moves meanwhile."""

    def find(self) -> dict[int, ProcessFigures]:
        """Find all that is alive, by process id."""

    def signal_all(self, number: signal.Signals, spared: int = 0) -> None:
        """Send a signal to all that is alive, but not to the first generations."""

    def chase(self, reap: Callable[[], object]) -> None:
        """Kill what runs away from whoever looks at all, for a moment.

        Args:
            reap: Takes note of children that have ended: the dead are in the way of a look.
        """

    def kill(self) -> tuple[int, ...]:
        """Stop and kill all, once; return those that may not be killed."""

    def left(self) -> bool:
        """Whether there is something alive that `waitpid` knows nothing of."""


class DescendantTree:
    """The descendants of a subreaper, which no process can leave."""

    def __init__(self, root: int, spared: Container[int] = ()) -> None:
        """Prepare.

        Args:
            root: The subreaper; not itself part of the tree.
            spared: Children of the root that are not part of it, with all below them.
        """
        self._root = root
        self._spared = spared

    def look(self) -> dict[int, ProcessFigures]:
        """Find the descendants from parent to child, however many other processes there are.

        Whatever gets another parent meanwhile may be passed over.
        """
        if not _CHILDREN_TOLD:
            return self.find()
        found: dict[int, ProcessFigures] = {}
        pids = _children_of(self._root)
        while pids:
            pid = pids.pop()
            if pid in found or pid in self._spared or (figures := figures_of(pid)) is None:
                continue
            found[pid] = figures
            pids += _children_of(pid)
        return found

    def find(self) -> dict[int, ProcessFigures]:
        """Find all descendants among all processes there are."""
        read = ((pid, figures_of(pid)) for pid in _all_pids() if pid != self._root)
        found = {pid: figures for pid, figures in read if figures is not None}
        ours: dict[int, bool] = {}
        for pid in found:
            self._judge(pid, found, ours)
        return {pid: figures for pid, figures in found.items() if ours.get(pid)}

    def _judge(self, pid: int, found: dict[int, ProcessFigures], ours: dict[int, bool]) -> None:
        """Decide of a process and its ancestors, where it can be: a parent may vanish meanwhile."""
        chain = []
        while pid not in ours:
            if pid in self._spared or pid <= 1:
                ours[pid] = False
            elif pid == self._root:
                ours[pid] = True
            elif (figures := found.get(pid)) is None or pid in chain:
                return
            else:
                chain.append(pid)
                pid = figures.parent
        for one in chain:
            ours[one] = ours[pid]

    def signal_all(self, number: signal.Signals, spared: int = 0) -> None:
        """Send a signal to all descendants, but not to the first generations."""
        found = self.find()
        generation = {self._root}
        for _ in range(spared):
            generation = {pid for pid, one in found.items() if one.parent in generation}
            found = {pid: one for pid, one in found.items() if pid not in generation}
        _send(number, found, os.kill)

    def chase(self, reap: Callable[[], object]) -> None:
        """Kill children of the subreaper as fast as they can be read.

        Whatever outlives its parent is one, and to read them takes microseconds: what forks and
        exits is caught, where a look at all processes would come too late, and the dead be many.
        """
        signal.pthread_sigmask(signal.SIG_BLOCK, _DEATHS)  # each would cost more than a look
        try:
            ends, before, alike = time.monotonic() + _CHASE_S, [0], 0
            while before and alike < _ALIKE and time.monotonic() < ends:
                reap()
                children = [pid for pid in _children_of(self._root) if pid not in self._spared]
                if children == before:
                    alike += 1
                    time.sleep(_CHASE_PAUSE_S)  # they are about to end, or cannot
                else:
                    alike = 0
                before = children
                _send(signal.SIGKILL, children, os.kill)
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, _DEATHS)

    def kill(self) -> tuple[int, ...]:
        """Stop all, so that none starts another, then kill all.

        Whole groups at once, which is what outruns a fork storm, and each by itself.
        """
        stopped: dict[int, ProcessFigures] = {}
        for _ in range(_ROUNDS):
            found = {pid: one for pid, one in self.find().items() if not one.ended}
            new = {pid: found[pid] for pid in found.keys() - stopped.keys()}
            if not new:
                break
            self._send_groups(signal.SIGSTOP, new.values())
            _send(signal.SIGSTOP, new, os.kill)
            stopped |= new
        self._send_groups(signal.SIGKILL, stopped.values())
        return _send(signal.SIGKILL, stopped, os.kill)

    def left(self) -> bool:
        """Return False: whatever lives is a child of the subreaper, or below one."""
        return False

    def _send_groups(self, number: signal.Signals, processes: Iterable[ProcessFigures]) -> None:
        own = os.getsid(self._root)
        _send(number, {one.group for one in processes if one.session != own}, os.killpg)


class GroupTree:
    """A program's process group, where the system knows no more."""

    def __init__(self, group: int) -> None:
        self._group = group

    def look(self) -> dict[int, ProcessFigures]:
        """Return nothing: it is not known."""
        return {}

    find = look

    def signal_all(self, number: signal.Signals, spared: int = 0) -> None:
        """Send a signal to the group."""
        _send(number, [self._group], os.killpg)

    def chase(self, reap: Callable[[], object]) -> None:
        """Do nothing: nobody knows what has left the group."""

    def kill(self) -> tuple[int, ...]:
        """Kill the group."""
        return _send(signal.SIGKILL, [self._group], os.killpg)

    def left(self) -> bool:
        """Whether the group has a member."""
        try:
            os.killpg(self._group, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return False  # zombies only, in macOS's words
        return True


def tree_of(program: int) -> Tree:
    """Return the tree of a program that this process has started."""
    return DescendantTree(os.getpid()) if LINUX else GroupTree(program)


def is_descendant(pid: int, ancestor: int) -> bool:
    """Whether a process descends from another."""
    while pid > 1:
        figures = figures_of(pid)
        if figures is None:
            return False
        pid = figures.parent
        if pid == ancestor:
            return True
    return False


def figures_of(pid: int) -> ProcessFigures | None:
    """Read the figures of a process; None where there is none."""
    try:
        with open(f"/proc/{pid}/stat", "rb", buffering=0) as file:
            line = file.read(1024)
    except OSError:
        return None
    fields = line[line.rfind(b")") + 2 :].split()  # a name may hold anything, brackets too
    if len(fields) < 22:
        return None
    return ProcessFigures(
        pid=pid,
        parent=int(fields[1]),
        group=int(fields[2]),
        session=int(fields[3]),
        cpu_ticks=sum(map(int, fields[11:15])),
        resident_pages=int(fields[21]),
        ended=fields[0] in (b"Z", b"X"),
    )


def _all_pids() -> Iterator[int]:
    return (int(name) for name in os.listdir("/proc") if name.isdigit())


def _children_of(pid: int) -> list[int]:
    """Return the children that each thread of a process has; none where it has gone."""
    children: list[int] = []
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb", buffering=0) as file:
                children += map(int, file.readall().split())
    return children


def _send(
    number: signal.Signals, targets: Iterable[int], send: Callable[[int, int], None]
) -> tuple[int, ...]:
    """Send a signal; return whom we may not send any."""
    refused = []
    for target in targets:
        try:
            send(target, number)
        except ProcessLookupError:
            pass
        except PermissionError:
            refused.append(target)
    return tuple(refused)
