"""What is run, within which limits, and how it ended."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Final, Literal, Self

Network = Literal["full", "none"]
LimitName = Literal["wall", "memory", "cpu_s", "disk", "processes"]

OUT: Final = "out"
ERR: Final = "err"
"""Names of the files in a program's folder that hold what it printed."""


class Orphans(StrEnum):
    """What becomes of a program whose engine has gone."""

    END = "end"
    """Its tree is ended at once."""
    FINISH = "finish"
    """It goes on to its end or its limits; a later engine takes the result."""


class EndCause(StrEnum):
    """Why a program ended."""

    EXITED = "exited"
    """By itself: an exit code, or a signal that nobody here sent."""
    LIMIT = "limit"
    CANCELLED = "cancelled"
    ABANDONED = "abandoned"
    """The engine, or the zygote, had gone."""
    LOST = "lost"
    """Its warden was killed; the tree is ended, but how the program ended is not known."""


class StartFailure(StrEnum):
    """Why a program did not start."""

    NOT_FOUND = "not found"
    NOT_EXECUTABLE = "not executable"
    ISOLATION = "isolation"
    """The level of isolation cannot be had here."""
    NO_ROOM = "no room"
    """The disk is full."""
    OTHER = "other"
    """The machine refuses: no memory, no processes, a missing folder."""


@dataclass(frozen=True)
class ProgramLimits:
    """What a program and all that it starts may take; None is no limit."""

    wall: float | None = None
    """Seconds; neither a change of the time of day nor a sleep of the machine counts."""
    memory: int | None = None
    """Bytes, proportional shares (PSS) summed over the tree."""
    cpu_s: float | None = None
    disk: int | None = None
    """Bytes that its working folder may occupy."""
    processes: int | None = 512
    output: int = 10_000_000
    """Bytes kept of each of its streams; what is beyond is counted, and ends nothing."""
    grace: float = 2.0
    """Seconds between TERM and KILL."""


@dataclass(frozen=True)
class Sandbox:
    """What a program may reach."""

    level: str = "none"
    network: Network = "full"
    image: str | None = None
    """Of a container."""
    workdir: Path | None = None
    """Where the working folder is found in a container; None: where it is outside."""
    readable: tuple[Path, ...] = ()
    """Beside the system's folders and the writable ones."""
    writable: tuple[Path, ...] = ()
    """Beside the working folder."""
    hidden: tuple[Path, ...] = ()
    """Never readable, although they may lie in a folder that is."""
    mounts: tuple[tuple[Path, Path], ...] = ()
    """Folders and files that it finds elsewhere than they are, and may write to: where they are,
    and where it finds them."""
    client_env: Mapping[str, str] = field(default_factory=dict)
    """Environment of a container engine's own command: where its engine is, and its user's home."""


@dataclass(frozen=True)
class Program:
    """One program for one trial."""

    command: tuple[str, ...]
    cwd: Path
    env: Mapping[str, str] = field(repr=False)
    """All of its environment; nothing is added."""
    folder: Path
    """Where its output and its ending are written; it exists, and is this program's alone."""
    stdin: Path | None = None
    """A file; None: nothing to read."""
    talk: bool = False
    """Its stdin and stdout are one socket to the engine, instead of `stdin` and `out`."""
    limits: ProgramLimits = ProgramLimits()
    sandbox: Sandbox = Sandbox()
    orphans: Orphans = Orphans.END

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` reads, once it has been through JSON."""
        return {**vars(self), "limits": vars(self.limits), "sandbox": vars(self.sandbox)}

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> Self:
        """Read what `as_json` gave."""
        sandbox = dict(json["sandbox"])
        for name in ("readable", "writable", "hidden"):
            sandbox[name] = tuple(map(Path, sandbox[name]))
        sandbox["mounts"] = tuple((Path(one), Path(at)) for one, at in sandbox["mounts"])
        if sandbox["workdir"] is not None:
            sandbox["workdir"] = Path(sandbox["workdir"])
        return cls(
            **{
                **json,
                "command": tuple(json["command"]),
                "cwd": Path(json["cwd"]),
                "folder": Path(json["folder"]),
                "stdin": None if json["stdin"] is None else Path(json["stdin"]),
                "limits": ProgramLimits(**json["limits"]),
                "sandbox": Sandbox(**sandbox),
                "orphans": Orphans(json["orphans"]),
            }
        )


@dataclass(frozen=True)
class NotStarted:
    """A program did not start; nothing of it is left."""

    failure: StartFailure
    reason: str
    """For people: what is missing, and what to do."""


@dataclass(frozen=True)
class ResourceSample:
    """What a program and all it started take at one moment; None where it cannot be known."""

    at: float
    """Seconds since its start."""
    cpu_s: float | None
    """Of all that run, and of all that have ended."""
    memory: int | None
    processes: int | None
    disk: int | None
    output: int
    """Bytes printed so far."""


@dataclass(frozen=True)
class ResourceUse:
    """What a program took in all."""

    wall_s: float
    cpu_s: float | None
    peak_memory: int | None
    """Of the samples; of a program too short for one, the kernel's mark of the largest process."""
    peak_processes: int | None
    disk: int | None
    output: int


@dataclass(frozen=True)
class CapturedStream:
    """What is kept of a stream: its file holds the first bytes, and right after them the last."""

    size: int
    """Bytes printed, kept or not."""
    head: int
    """Bytes kept from its beginning."""
    tail: int
    """Bytes kept from its end; all of it is kept where head and tail are the size."""
    error: str | None = None
    """Why less than the limit was kept, as when the disk was full."""

    @property
    def left_out(self) -> int:
        """How many bytes are missing between head and tail."""
        return self.size - self.head - self.tail


@dataclass(frozen=True)
class ProgramEnding:
    """How a program ended. None of its processes is left, except where `survivors` names them."""

    cause: EndCause
    limit: LimitName | None
    """Which limit ended it."""
    exit_code: int | None
    signal: int | None
    """Which signal ended it, where one did."""
    started_at: float
    ended_at: float
    """Times of day, in seconds since 1970."""
    resources: ResourceUse
    out: CapturedStream
    err: CapturedStream
    samples: tuple[ResourceSample, ...]
    """At most 240, evenly thinned."""
    isolation: str
    oom: bool = False
    """Whether the host killed one of its processes because memory ran out."""
    survivors: tuple[int, ...] = ()
    """Processes that could not be ended: another user's, or stuck in the kernel."""

    def as_json(self) -> dict[str, Any]:
        """Return what `from_json` reads, once it has been through JSON."""
        return {
            **vars(self),
            "resources": vars(self.resources),
            "out": vars(self.out),
            "err": vars(self.err),
            "samples": [vars(one) for one in self.samples],
        }

    @classmethod
    def from_json(cls, json: Mapping[str, Any]) -> Self:
        """Read what `as_json` gave."""
        return cls(
            **{
                **json,
                "cause": EndCause(json["cause"]),
                "resources": ResourceUse(**json["resources"]),
                "out": CapturedStream(**json["out"]),
                "err": CapturedStream(**json["err"]),
                "samples": tuple(ResourceSample(**one) for one in json["samples"]),
                "survivors": tuple(json["survivors"]),
            }
        )
