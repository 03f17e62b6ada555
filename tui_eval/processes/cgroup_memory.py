"""The memory that the cgroups of this process leave it: a container may have less than its machine.

Both versions of cgroups are read, the second wherever it is mounted, and every group above the
process's own: each may be the one whose limit is near.
"""

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_UNLIMITED: Final = 1 << 60
"""From here on a limit is none: version 1 has the largest page-aligned number instead."""


@dataclass(frozen=True, slots=True)
class MemoryGroup:
    """One cgroup that may limit memory."""

    folder: Path
    limits: tuple[str, ...]
    """The files with its limits: the lowest counts."""
    usage: str
    reclaimable: str
    """The line of `memory.stat` with what is taken and could be given back at once."""

    def limit(self) -> int | None:
        """Return its limit in bytes; None: it has none."""
        found = [one for one in map(self._number, self.limits) if one is not None]
        return min(found, default=None)

    def available(self) -> int | None:
        """Return the bytes that may be taken yet; None: it has no limit."""
        limit, usage = self.limit(), self._number(self.usage)
        if limit is None or usage is None:
            return None
        return max(0, limit - max(0, usage - self._reclaimable()))

    def _reclaimable(self) -> int:
        with suppress(OSError):
            for line in (self.folder / "memory.stat").read_text("ascii").splitlines():
                name, _, value = line.partition(" ")
                if name == self.reclaimable:
                    return int(value)
        return 0

    def _number(self, name: str) -> int | None:
        try:
            text = (self.folder / name).read_text("ascii").strip()
        except OSError:
            return None
        number = int(text) if text.isdecimal() else _UNLIMITED  # `max`
        return None if number >= _UNLIMITED else number


def memory_groups(proc: Path = Path("/proc")) -> list[MemoryGroup]:
    """Return the groups of this process that may limit its memory, its own first; none: no cgroups.

    Args:
        proc: Where processes are described.
    """
    try:
        mounts = (proc / "self/mountinfo").read_text("utf-8", "surrogateescape").splitlines()
        own = (proc / "self/cgroup").read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return []
    paths = {}
    for line in own:
        _, controllers, path = line.split(":", 2)
        if not controllers or "memory" in controllers.split(","):
            paths["v1" if controllers else "v2"] = path
    return [group for line in mounts for group in _mounted(line, paths)]


def _mounted(mount: str, paths: dict[str, str]) -> Iterator[MemoryGroup]:
    """Yield the process's groups of one mount, where it is one of cgroups that limit memory."""
    fields, _, rest = mount.partition(" - ")
    root, place = fields.split(" ")[3:5]
    kind, _, options = rest.partition(" ")
    if kind == "cgroup2" and "v2" in paths:
        for folder in _upwards(Path(place), root, paths["v2"]):
            yield MemoryGroup(
                folder, ("memory.max", "memory.high"), "memory.current", "inactive_file"
            )
    elif kind == "cgroup" and "memory" in options.split(" ")[-1].split(",") and "v1" in paths:
        for folder in _upwards(Path(place), root, paths["v1"]):
            yield MemoryGroup(
                folder, ("memory.limit_in_bytes",), "memory.usage_in_bytes", "total_inactive_file"
            )


def _upwards(place: Path, root: str, path: str) -> Iterator[Path]:
    """Yield a group's folder and those above it.

    Args:
        place: Where groups are mounted.
        root: Which of them is mounted there.
        path: The group.
    """
    below = path.removeprefix(root.rstrip("/")).strip("/")
    if ".." in below.split("/") or not path.startswith(root):
        below = ""  # it is named from elsewhere: what is mounted is its own
    folder = place / below
    while folder != place:
        yield folder
        folder = folder.parent
    yield place
