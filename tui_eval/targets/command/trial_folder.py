"""The folder of an attempt: where everything of it is, so that a later engine finds it again."""

import json
import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tui_eval.processes.program import ERR, OUT
from tui_eval.processes.workspace.bounds import DEFAULT_LIMITS
from tui_eval.processes.workspace.manifest import EntryKind, Manifest, ManifestEntry
from tui_eval.processes.workspace.removal import remove_entry, remove_folder
from tui_eval.processes.workspace.tree_files import parent_of
from tui_eval.processes.workspace.walk import WalkEntry, walk
from tui_eval.providers import keys
from tui_eval.targets.attempt.attempt_context import PROGRAM
from tui_eval.targets.command.workspace_file import holds


@dataclass(frozen=True)
class TrialFolder:
    """An attempt's own folder."""

    root: Path

    @property
    def workspace(self) -> Path:
        """What the program works in."""
        return self.root / "workspace"

    @property
    def home(self) -> Path:
        """Its HOME."""
        return self.root / "home"

    @property
    def tmp(self) -> Path:
        """Its TMPDIR."""
        return self.root / "tmp"

    @property
    def program(self) -> Path:
        """What its warden writes to."""
        return self.root / PROGRAM

    @property
    def original(self) -> Path:
        """A copy of the workspace as the program found it, where a diff is wanted."""
        return self.root / "original"

    @property
    def stdin(self) -> Path:
        """What it reads on its standard input."""
        return self.root / "stdin"

    def setup(self, number: int) -> Path:
        """What the warden of a command of `setup` writes to."""
        return self.root / f"setup-{number}"

    def see_to_workspace(self) -> None:
        """Put an empty workspace where a program left none: gone, or replaced by a link or file.

        Raises:
            OSError: it cannot be made.
        """
        if self.workspace.is_dir() and not self.workspace.is_symlink():
            return
        self.workspace.unlink(missing_ok=True)
        self.workspace.mkdir(mode=0o700, parents=True)

    def note(self, asked: bytes, before: Manifest) -> None:
        """Write down what a later engine needs to go on: what was asked, and the files before.

        Raises:
            OSError: it cannot be written.
        """
        entries = [
            [
                os.fsdecode(path),
                entry.kind,
                entry.mode,
                entry.size,
                None if entry.digest is None else entry.digest.hex(),
                None if entry.target is None else os.fsdecode(entry.target),
                entry.error,
                list(entry.stamp),
            ]
            for path, entry in before.entries.items()
        ]
        noted = [asked.hex(), entries, before.taken_at, before.incomplete]
        (self.root / "begun.json").write_text(json.dumps(noted), encoding="utf-8")

    def noted(self, asked: bytes) -> Manifest | None:
        """Return the files before; None: nothing was noted, or something else was asked."""
        try:
            noted = json.loads((self.root / "begun.json").read_text("utf-8"))
        except (OSError, ValueError):
            return None
        if noted[0] != asked.hex():
            return None
        entries = {
            os.fsencode(path): ManifestEntry(
                EntryKind(kind),
                mode,
                size,
                None if digest is None else bytes.fromhex(digest),
                None if target is None else os.fsencode(target),
                error,
                tuple(stamp),
            )
            for path, kind, mode, size, digest, target, error, stamp in noted[1]
        }
        return Manifest(entries, noted[2], noted[3])

    def leave(self, *, keep: bool, secrets: Sequence[bytes] = ()) -> None:
        """Take the folder away, or let it stay under a name that nobody takes away.

        Args:
            keep: Whether it stays.
            secrets: Keys: of a folder that stays, what holds one or is named so is taken away, but
                for what was printed, in which they are blotted out.

        Raises:
            OSError: something in it cannot be removed.
        """
        if not keep:
            remove_folder(self.root)
            return
        if secrets:
            self._clear_of(secrets)
        self.root.rename(self.root.with_name(f"{self.root.name}.kept"))

    def _clear_of(self, secrets: Sequence[bytes]) -> None:
        for stream in filter(Path.exists, (self.program / OUT, self.program / ERR)):
            said = stream.read_bytes().decode("utf-8", "surrogateescape")
            stream.write_bytes(keys.redact_answer(said).encode("utf-8", "surrogateescape"))
        entries = (one for one in walk(self.root, unlock=True) if not one.left and not one.error)
        found = [one.path for one in entries if self._tells(one, secrets)]
        root = os.open(self.root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            for path in reversed(found):
                with parent_of(root, path) as (folder, name):
                    remove_entry(folder, name)
        finally:
            os.close(root)

    def _tells(self, entry: WalkEntry, secrets: Sequence[bytes]) -> bool:
        names = [entry.name]
        if stat.S_ISLNK(entry.status.st_mode):
            names.append(os.readlink(entry.name, dir_fd=entry.folder))
        if any(secret in name for name in names for secret in secrets):
            return True
        if not entry.is_file:
            return False
        unread = entry.status.st_size > DEFAULT_LIMITS.bytes
        return unread or holds(self.root, entry.path, secrets)
