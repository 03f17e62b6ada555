"""What this machine has left: memory, disk and processors."""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Final

import psutil

from tui_eval.processes.cgroup_memory import memory_groups

_SOME: Final = re.compile(r"^some avg10=([0-9.]+)", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class MachineReading:
    """What the machine has left at one moment; None where that cannot be known here."""

    memory: int | None = None
    """Bytes that programs may take: the machine's, or the cgroup's where that is lower."""
    pressure: float | None = None
    """In how many percent of the last ten seconds something waited for memory (PSI)."""
    disk: int | None = None
    """Bytes that are free where programs write."""
    idle: float | None = None
    """Processors that had nothing to do since the reading before."""


class Machine:
    """Reads what is left; in less than a millisecond, so that nobody has to wait for it."""

    def __init__(self, folder: Path, proc: Path = Path("/proc")) -> None:
        """Prepare.

        Args:
            folder: Programs write on its file system; it need not be there yet.
            proc: Where the kernel tells of processes and pressure.
        """
        self._folder = folder
        self._groups = memory_groups(proc)
        pressures = (
            proc / "pressure/memory",
            *(g.folder / "memory.pressure" for g in self._groups),
        )
        self._pressures = [path for path in pressures if path.is_file()]
        self._idle_before: tuple[float, float] | None = None

    def read(self) -> MachineReading:
        """Return what is left now."""
        return MachineReading(
            memory=min(self._memories()),
            pressure=max(self._waits(), default=None),
            disk=self._disk(),
            idle=self._idle(),
        )

    def memory(self) -> int:
        """Return all the memory there is, taken or not: the machine's, or the cgroup's limit."""
        limits = (group.limit() for group in self._groups)
        return min([psutil.virtual_memory().total, *(one for one in limits if one is not None)])

    def _memories(self) -> Iterator[int]:
        yield psutil.virtual_memory().available
        for group in self._groups:
            left = group.available()
            if left is not None:
                yield left

    def _waits(self) -> Iterator[float]:
        for path in self._pressures:
            try:
                found = _SOME.search(path.read_text("ascii"))
            except OSError:  # the kernel has it and does not keep count
                continue
            if found is not None:
                yield float(found[1])

    def _disk(self) -> int | None:
        for folder in (self._folder, *self._folder.parents):
            try:
                found = os.statvfs(folder)
            except FileNotFoundError:
                continue
            except OSError:
                return None
            return found.f_bavail * found.f_frsize
        return None

    def _idle(self) -> float | None:
        times = psutil.cpu_times()
        now, idle = monotonic(), times.idle + getattr(times, "iowait", 0.0)
        before, self._idle_before = self._idle_before, (now, idle)
        if before is None or now <= before[0]:
            return None
        return min(max((idle - before[1]) / (now - before[0]), 0.0), float(processors()))


def processors() -> int:
    """Return how many processors this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
