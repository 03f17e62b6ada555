"""Which programs may begin on this machine: admission by its memory, its disk and its processors.

A program begins while what is available, less what those that run may still take, has room for its
own share and a tenth more. A share is the limit that the suite names, or else the case, or else the
most that one of the target's was seen to take. Where nothing runs the next one begins, whatever is
left: what can never fit runs alone instead of waiting for ever.

Nothing here reads the machine, waits or talks: it is told readings, and how much each program was
seen to take. What one has taken counts as taken once a later reading was made, which shows
it; until then all of its share is kept for it. All times are monotonic seconds.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from math import floor
from types import MappingProxyType
from typing import Final

from tui_eval.format import size
from tui_eval.model.outputs.attempt_record import AttemptProgress, ResourceFigures
from tui_eval.model.runs.endpoint_event import EndpointEvent, EndpointEventKind
from tui_eval.processes.machine import MachineReading

SPARE: Final = 0.1
"""The part of its share that is to be left beside the next one's."""
ASSUMED: Final = (200_000_000, 1_000_000_000)
"""Bytes of memory that are kept for a program, at least and at most, until one of its target's has
ended: those that run may not have taken yet what they will."""
_GROWS: Final = 32
"""How many times what a program takes in its first moments it may come to take."""
MOST_PRESSURE: Final = 20.0
"""Percent of the time in which something waits for memory, from which on nothing begins."""
A_PROCESSOR: Final = 2
"""Programs for each processor that busy processors never hold back."""
LITTLE: Final = 0.25
"""The part of all processors' time up to which what programs take is too little to hold any back,
however busy others are."""
_TOLD_S: Final = 0.5
"""Seconds of a program, where nobody waits for a processor, that tell what it takes of them."""
_START_S: Final = 0.02
"""Seconds of processor time that a program's start takes: they do not come again."""
MOST: Final = 500
"""Programs that begin at once at most."""
NO_LIMITS: Final[Mapping[str, int]] = MappingProxyType({})
"""Of a case that says nothing of what it may take, see `Case.limits`."""


@dataclass(eq=False, slots=True)
class ProgramShare:
    """What a program of one target takes, as far as the suite says or was seen."""

    memory_limit: int | None = None
    disk_limit: int | None = None
    largest_memory: int = 0
    largest_disk: int = 0
    ended: int = 0
    """How many have ended that were watched."""
    cpu_s: float = 0.0
    """What those took, their starts not counted."""
    wall_s: float = 0.0
    """How long those ran."""

    def measured(self, case_limits: Mapping[str, int]) -> bool:
        """Return whether anything is known of what a case's takes."""
        limit = self.memory_limit or case_limits.get("memory")
        return limit is not None or bool(self.largest_memory or self.ended)

    def memory(self, case_limits: Mapping[str, int]) -> int:
        """Return the bytes of memory that are kept for one.

        Args:
            case_limits: The limits that its case names.
        """
        limit = self.memory_limit or case_limits.get("memory")
        if limit is not None:
            return limit
        if self.ended and self.largest_memory:
            return self.largest_memory
        least, most = ASSUMED
        return max(self.largest_memory, min(most, max(least, _GROWS * self.largest_memory)))

    def disk(self, case_limits: Mapping[str, int]) -> int:
        """Return the bytes of disk that are kept for one, likewise."""
        return self.disk_limit or case_limits.get("disk") or self.largest_disk

    def learn(self, took: ResourceFigures) -> None:
        """Learn what one that has ended took."""
        self.ended += 1
        self.largest_memory = max(self.largest_memory, took.peak_rss_bytes or 0)
        self.largest_disk = max(self.largest_disk, took.disk_bytes or 0)
        if took.cpu_s is not None and took.wall_s is not None:
            self.cpu_s += max(0.0, took.cpu_s - _START_S)
            self.wall_s += took.wall_s


@dataclass(eq=False, slots=True)
class ProgramHold:
    """What is kept for a program that runs."""

    share: ProgramShare
    case_limits: Mapping[str, int] = field(default_factory=lambda: NO_LIMITS)
    """The limits that its case names."""
    memory: int = 0
    """Of its share, the bytes that a reading shows as taken."""
    disk: int = 0
    """Likewise."""
    seen_memory: int = 0
    seen_disk: int = 0
    """As last seen, whether a reading shows it or not."""
    ran_at: float | None = None
    """When it was first told to run."""
    cpu_s: float | None = None
    """What it has taken, its start not counted; None: it was not looked at yet."""
    looked_s: float = 0.0
    """How long it had run by then."""
    new: bool = True
    """Whether no reading has been made since it was first looked at."""

    @property
    def memory_left(self) -> int:
        """Bytes of memory that it may still take."""
        return max(0, self.share.memory(self.case_limits) - self.memory)

    @property
    def disk_left(self) -> int:
        """Likewise of disk."""
        return max(0, self.share.disk(self.case_limits) - self.disk)


@dataclass(frozen=True, slots=True)
class Room:
    """How many more programs of a target may begin now."""

    more: int
    why: EndpointEvent
    """What the number follows from."""


@dataclass(frozen=True, slots=True)
class _Bound:
    """How many more one thing has room for."""

    more: float
    kind: EndpointEventKind
    """The event where it holds programs back."""
    words: Callable[[], str]


@dataclass(slots=True)
class Admission:
    """Keeps shares for all programs that run, of any target, and says how many more may begin."""

    processors: int
    reading: MachineReading = field(default_factory=MachineReading)
    """The newest."""
    _holds: set[ProgramHold] = field(default_factory=set)

    @property
    def running(self) -> int:
        """How many programs shares are kept for."""
        return len(self._holds)

    def look(self, reading: MachineReading) -> None:
        """Take a reading; it shows all that programs were seen to have taken before."""
        self.reading = reading
        for hold in self._holds:
            hold.memory, hold.disk = hold.seen_memory, hold.seen_disk
            hold.new = hold.cpu_s is None

    def begin(self, share: ProgramShare, case_limits: Mapping[str, int] = NO_LIMITS) -> ProgramHold:
        """Keep a share for a case's program that begins now."""
        hold = ProgramHold(share, case_limits)
        self._holds.add(hold)
        return hold

    def end(self, hold: ProgramHold) -> None:
        """Keep nothing any more for a program that has ended."""
        self._holds.discard(hold)

    def seen(self, hold: ProgramHold, progress: AttemptProgress, now: float) -> None:
        """Learn what a program that runs takes by now."""
        share = hold.share
        if hold.ran_at is None:
            hold.ran_at = now if progress.phase == "running" else None
        elif progress.cpu_s is not None:
            hold.cpu_s = max(0.0, progress.cpu_s - _START_S)
            hold.looked_s = now - hold.ran_at
        if progress.rss_bytes is not None:
            hold.seen_memory = progress.rss_bytes
            share.largest_memory = max(share.largest_memory, progress.rss_bytes)
        if progress.disk_bytes is not None:
            hold.seen_disk = progress.disk_bytes
            share.largest_disk = max(share.largest_disk, progress.disk_bytes)

    def room(self, share: ProgramShare, case_limits: Mapping[str, int] = NO_LIMITS) -> Room:
        """Return how many more programs of a target may begin now, and what says so.

        Where nothing runs it is one at least.

        Args:
            share: What one of the target takes.
            case_limits: The limits that the case of the next one names.
        """
        least = min(self._bounds(share, case_limits), key=lambda bound: bound.more)
        more = max(0, min(MOST, floor(least.more)))
        if more:
            return Room(more, EndpointEvent(EndpointEventKind.ROOM, what=least.words()))
        if self._holds:
            return Room(0, EndpointEvent(least.kind, what=least.words()))
        return Room(1, EndpointEvent(EndpointEventKind.ALONE, what=least.words()))

    def _bounds(self, share: ProgramShare, case_limits: Mapping[str, int]) -> Iterator[_Bound]:
        yield self._untried(share, case_limits)
        memory, disk = self.reading.memory, self.reading.disk
        if memory is not None:
            kept, each = sum(one.memory_left for one in self._holds), share.memory(case_limits)
            yield _of_bytes("memory", memory, kept, each, EndpointEventKind.LOW_MEMORY)
        if disk is not None:
            kept, each = sum(one.disk_left for one in self._holds), share.disk(case_limits)
            yield _of_bytes("disk", disk, kept, each, EndpointEventKind.LOW_DISK)
        yield self._pressure()
        yield self._processors(share)

    def _untried(self, share: ProgramShare, case_limits: Mapping[str, int]) -> _Bound:
        """Begin a few where nobody knows what one takes."""
        running = sum(1 for one in self._holds if one.share is share)
        more = MOST - len(self._holds) if share.measured(case_limits) else self.processors - running
        return _Bound(more, EndpointEventKind.UNMEASURED, lambda: f"concurrency {MOST} at most")

    def _pressure(self) -> _Bound:
        pressure = self.reading.pressure or 0.0
        more = MOST if pressure < MOST_PRESSURE else 0
        return _Bound(
            more, EndpointEventKind.MEMORY_PRESSURE, lambda: f"{pressure:.0f}% of the time"
        )

    def _processors(self, share: ProgramShare) -> _Bound:
        """ProgramHold back what would only wait for a processor, as far as that is known.

        There is room where processors are idle, and where the programs take so little of them
        that it is others who keep them busy.
        """
        all_of_them, idle = self.processors, self.reading.idle or 0.0
        mean = self._mean_rate(share)
        taken = sum(self._rate(one) for one in self._holds)
        more = float(A_PROCESSOR * all_of_them - len(self._holds))
        if idle >= LITTLE * all_of_them or self._is_told(share):
            fresh = sum(self._mean_rate(one.share) for one in self._holds if one.new)
            left = max(idle - fresh, LITTLE * all_of_them - taken)
            more = max(more, MOST if mean <= 0.0 else left / mean)

        def words() -> str:
            return f"{taken:.1f} of {all_of_them} taken by those that run, {idle:.1f} idle"

        return _Bound(more, EndpointEventKind.BUSY_PROCESSORS, words)

    def _is_told(self, share: ProgramShare) -> bool:
        """Return whether it is known what a target's programs take of the processors.

        The first look tells little where they had to wait for one.
        """
        return bool(share.ended) or any(
            one.share is share and one.looked_s >= _TOLD_S for one in self._holds
        )

    def _rate(self, hold: ProgramHold) -> float:
        """Return how many processors a program keeps busy, about."""
        if hold.cpu_s is None or hold.looked_s <= 0.0:
            return self._mean_rate(hold.share)
        return hold.cpu_s / hold.looked_s

    def _mean_rate(self, share: ProgramShare) -> float:
        looked = [one for one in self._holds if one.share is share and one.cpu_s is not None]
        cpu_s = share.cpu_s + sum(one.cpu_s or 0.0 for one in looked)
        wall_s = share.wall_s + sum(one.looked_s for one in looked)
        return cpu_s / wall_s if wall_s > 0.0 else 0.0


def _of_bytes(what: str, available: int, kept: int, share: int, kind: EndpointEventKind) -> _Bound:
    """Return how many more shares there is room for, with something to spare beside the last."""
    left = available - kept
    more = (left - SPARE * share) / share if share else (MOST if left > 0 else 0)

    def words() -> str:
        for_others = f", {size(kept)} of it kept for those that run" if kept else ""
        return f"{size(available)} of {what} available{for_others}, up to {size(share)} each"

    return _Bound(more, kind, words)
