"""What a tree of processes takes, twice a second, and the most it ever took."""

import os
import resource
from pathlib import Path
from time import monotonic
from typing import Final

from tui_eval.processes.platform_support import LINUX
from tui_eval.processes.program import LimitName, ProgramLimits, ResourceSample, ResourceUse
from tui_eval.processes.thinning import Thinned
from tui_eval.processes.wardens.disk_meter import DiskMeter
from tui_eval.processes.wardens.process_tree import ProcessFigures, Tree

_EVERY_S: Final = 0.5
_FIRST_S: Final = 0.1
_SOON_S: Final = 0.1
"""Between two looks once more than half of what may be taken is."""
_SHARE: Final = 20
"""How many times a look's own length is waited after it, at least."""
_DISK_STEP_S: Final = 0.005
_LAST_DISK_S: Final = 0.05
_TICKS: Final = os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class Sampler:
    """Looks at a tree, remembers samples evenly thinned, and says which limit was passed."""

    def __init__(self, tree: Tree | None, cwd: Path, limits: ProgramLimits) -> None:
        """Begin.

        Args:
            tree: What is looked at; None where what runs is elsewhere, and its figures not known.
            cwd: The folder whose size counts.
            limits: What may be taken.
        """
        self._tree = tree
        self._limits = limits
        self._disk = DiskMeter(cwd)
        self._began = monotonic()
        self._peak_memory: int | None = None
        self._peak_processes: int | None = None
        self.next_at = self._began + _FIRST_S
        """When the next look is due, by the monotonic clock."""
        self.samples: Thinned[ResourceSample] = Thinned()

    def look(self, output: int) -> ResourceSample:
        """Take a sample."""
        began = monotonic()
        tree = {} if self._tree is None else self._tree.look()
        alive = {pid: one for pid, one in tree.items() if not one.ended}
        memory = sum(map(_memory, alive.values())) if alive else None
        processes = len(alive) or None
        self._peak_memory = _larger(self._peak_memory, memory)
        self._peak_processes = _larger(self._peak_processes, processes)
        self._disk.step(_DISK_STEP_S)
        ticks = sum(one.cpu_ticks for one in alive.values())
        sample = ResourceSample(
            at=round(began - self._began, 3),
            cpu_s=self._cpu_s(ticks),
            memory=memory,
            processes=processes,
            disk=self._disk.bytes,
            output=output,
        )
        self.samples.add(sample)
        now = monotonic()
        pause = _SOON_S if self._near(sample) else _EVERY_S
        self.next_at = now + max(pause, _SHARE * (now - began))
        return sample

    def exceeded(self, sample: ResourceSample) -> LimitName | None:
        """Return the limit that a sample is beyond; `wall` is held by a clock instead."""
        limits = self._limits
        disk = self._disk.least
        if limits.processes is not None and (sample.processes or 0) > limits.processes:
            return "processes"
        if limits.memory is not None and (sample.memory or 0) > limits.memory:
            return "memory"
        if limits.cpu_s is not None and (sample.cpu_s or 0) > limits.cpu_s:
            return "cpu_s"
        if limits.disk is not None and disk > limits.disk:
            return "disk"
        return None

    def total(self, output: int) -> ResourceUse:
        """Return what was taken in all, once nothing runs any more."""
        self._disk.finish(_LAST_DISK_S)
        known = LINUX and self._tree is not None
        largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 if known else None
        return ResourceUse(
            wall_s=round(monotonic() - self._began, 3),
            cpu_s=self._cpu_s(),
            peak_memory=largest if self._peak_memory is None else self._peak_memory,
            peak_processes=self._peak_processes or (1 if known else None),
            disk=self._disk.bytes,
            output=output,
        )

    def _near(self, sample: ResourceSample) -> bool:
        limits = self._limits
        return any(
            limit is not None and taken is not None and 2 * taken > limit
            for taken, limit in (
                (sample.memory, limits.memory),
                (sample.processes, limits.processes),
                (sample.cpu_s, limits.cpu_s),
            )
        )

    def _cpu_s(self, ticks: int = 0) -> float | None:
        if self._tree is None:
            return None
        reaped = resource.getrusage(resource.RUSAGE_CHILDREN)
        return round(reaped.ru_utime + reaped.ru_stime + ticks / _TICKS, 3)


def _memory(process: ProcessFigures) -> int:
    """Return the proportional share of a process; its resident size where that is not to be had."""
    try:
        with open(f"/proc/{process.pid}/smaps_rollup", "rb", buffering=0) as file:
            for line in file.read(2048).splitlines():
                if line.startswith(b"Pss:"):
                    return int(line.split()[1]) * 1024
    except OSError:
        pass
    return process.resident_pages * _PAGE


def _larger(known: int | None, seen: int | None) -> int | None:
    return seen if known is None or (seen is not None and seen > known) else known
