"""What an attempt leaves beside its output: how a program ended, what it took and changed."""

from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json


@frozen
class ProgramExit:
    """How a program ended."""

    code: int | None = None
    signal: int | None = None
    """The signal that ended it; None: none did."""

    def as_json(self) -> dict[str, Json]:
        """Return the form exports use."""
        return {"code": self.code, "signal": self.signal}


@frozen
class ResourceFigures:
    """What a program and all that it started took; None where it could not be measured."""

    cpu_s: float | None = None
    wall_s: float | None = None
    peak_rss_bytes: int | None = None
    peak_processes: int | None = None
    disk_bytes: int | None = None
    output_bytes: int | None = None
    """All that it printed, kept or not."""

    def as_json(self) -> dict[str, Json]:
        """Return the form exports use."""
        return {
            "cpu_s": self.cpu_s,
            "wall_s": self.wall_s,
            "peak_rss_bytes": self.peak_rss_bytes,
            "peak_processes": self.peak_processes,
            "disk_bytes": self.disk_bytes,
            "output_bytes": self.output_bytes,
        }


@frozen
class ChangeCounts:
    """How much of its workspace a program changed."""

    added: int
    changed: int
    removed: int
    bytes: int
    """Of the files that were added or changed."""

    def as_json(self) -> dict[str, Json]:
        """Return the form exports use."""
        return {
            "added": self.added,
            "changed": self.changed,
            "removed": self.removed,
            "bytes": self.bytes,
        }


@frozen
class KeptFile:
    """A file that is kept beside the store."""

    digest: bytes
    """SHA-256 of what it holds; it is found by that."""
    size: int


@frozen
class PhaseStart:
    """That an attempt came into a phase."""

    name: str
    """As in `AttemptProgress.phase`."""
    at_s: float
    """Seconds since the attempt began."""


@frozen
class UsageSample:
    """What an attempt took at one moment; None where it was not known."""

    at_s: float
    """Seconds since the attempt began."""
    cpu_s: float | None
    """Taken so far."""
    rss_bytes: int | None


@frozen
class AttemptRecord:
    """All of it; None where an attempt has no such thing, as a call to a model has none of it.

    Nothing of it is part of what an output is scored by.
    """

    exit: ProgramExit | None = None
    isolation: str | None = None
    """The level that the program really ran on."""
    resources: ResourceFigures | None = None
    changes: ChangeCounts | None = None
    steps: int | None = None
    """Replies of the assistant in its transcript."""
    tool_calls: int | None = None
    files: tuple[KeptFile, ...] = ()
    """What was kept of its workspace, the list of changes included; never read back."""
    printed: str | None = None
    """The beginning and the end of what was printed beside the output; no part of exports."""
    phases: tuple[PhaseStart, ...] = ()
    """What it went through, in order; no part of exports."""
    samples: tuple[UsageSample, ...] = ()
    """What it took, evenly thinned; no part of exports."""
    turns: tuple[float, ...] = ()
    """When each reply of the assistant was first seen, in seconds since the attempt began; no part
    of exports."""

    def as_json(self) -> dict[str, Json]:
        """Return the form exports use."""
        return {
            "exit": None if self.exit is None else self.exit.as_json(),
            "isolation": self.isolation,
            "resources": None if self.resources is None else self.resources.as_json(),
            "changes": None if self.changes is None else self.changes.as_json(),
            "steps": self.steps,
            "tool_calls": self.tool_calls,
        }


NO_RECORD = AttemptRecord()
"""What an attempt leaves that ran no program and took no steps."""


@frozen
class AttemptProgress:
    """How far an attempt is; figures are None while they are not known."""

    phase: str
    """`preparing`, `running`, `ending`, `collecting`, or a kind's own word."""
    turn: int | None = None
    """Replies of the assistant so far."""
    tool: str | None = None
    """The tool that was called last."""
    cpu_s: float | None = None
    rss_bytes: int | None = None
    processes: int | None = None
    disk_bytes: int | None = None
    output_bytes: int | None = None
