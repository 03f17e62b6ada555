"""A run as its engine reads and writes it."""

from dataclasses import dataclass, field
from pathlib import Path

from tui_eval.store.connection import Connection
from tui_eval.store.writer import Writer
from tui_eval.targets.disk_room import DiskRoom


@dataclass(frozen=True, slots=True)
class RunStore:
    """Where the parts of an engine look things up and write them down."""

    run: int
    reading: Connection
    writer: Writer
    path: Path | None = None
    """The store's file; None: there is none, as in tests of a part."""
    orphans: dict[int, Path] = field(default_factory=dict)
    """The folders of earlier attempts whose programs went on without an engine, by trial."""
    room: DiskRoom = field(default_factory=DiskRoom)
    """On the disk, for the files of trials."""
