"""What a program works in that decides something: a workspace made anew, and files laid over it."""

import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Final

from tui_eval.engine.grading.grader import GradingError, GradingMeans, GradingRequest
from tui_eval.format import many
from tui_eval.model.home import from_home
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.visible import visible_line
from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.rebuilding import (
    RebuiltWorkspace,
    clear_way,
    lay_over,
    make_way,
    rebuild_workspace,
)
from tui_eval.store.files import FileStore, MissingFileError
from tui_eval.suites.templates.template import TemplateError
from tui_eval.targets.command.trial_folder import TrialFolder
from tui_eval.targets.command.workspace_file import content

_REPLY: Final = 1_000_000
"""Bytes of a file that may be a reply."""
_NAMED: Final = 3


@dataclass(slots=True)
class GradingFolder:
    """A folder for one grading, and what is found in it elsewhere than it is. All of it blocks."""

    folder: TrialFolder
    mounts: dict[PurePosixPath, Path] = field(default_factory=dict)
    """Where folders and files are, by where the program finds them."""

    def fill(self, files: Mapping[str, Path]) -> None:
        """Lay files and folders over it, by where they go.

        Raises:
            GradingError: one is not there, or cannot be copied.
        """
        for name, source in files.items():
            try:
                if name.startswith("/"):
                    lay_over(self.folder.root, self._place(PurePosixPath(name)), source)
                else:
                    lay_over(self.folder.workspace, _bytes(name), source)
            except (OSError, WorkspaceError) as error:
                raise GradingError(
                    f"files.{name} cannot be laid over its folder: {error}"
                ) from error

    def expect(self, path: str) -> None:
        """See that nothing stands where the program is to write a file."""
        if path.startswith("/"):
            parent = PurePosixPath(path).parent
            if self._mount_of(parent) is None:
                make_way(self.folder.root, self._place(parent))
            return
        clear_way(self.folder.workspace, _bytes(path))

    def written(self, path: str) -> str | None:
        """Return what a file holds that the program has written; None: there is none.

        Raises:
            GradingError: it cannot be read, or holds more than a reply.
        """
        root, name = self.folder.workspace, _bytes(path)
        if path.startswith("/"):
            at = PurePosixPath(path)
            found = self._mount_of(at.parent)
            assert found is not None, "it was expected"
            root, name = self.mounts[found], os.fsencode(at.relative_to(found))
        try:
            return _text(root, name)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise GradingError(f"its reply {path} cannot be read: {error}") from error

    def mounted(self) -> tuple[tuple[Path, Path], ...]:
        """Return where folders are and where the program finds them, none before what holds it."""
        outermost_first = sorted(self.mounts.items(), key=lambda mount: len(mount[0].parts))
        return tuple((outside, Path(inside)) for inside, outside in outermost_first)

    def _place(self, inside: PurePosixPath) -> bytes:
        """Return where in its root stands what the program finds at a path from its own root."""
        found = self._mount_of(inside)
        if found is None:
            self.mounts[inside] = self.folder.root / f"mount-{len(self.mounts)}"
            found = inside
        place = PurePosixPath(self.mounts[found].name, inside.relative_to(found))
        return os.fsencode(place)

    def _mount_of(self, inside: PurePosixPath) -> PurePosixPath | None:
        return next((one for one in (inside, *inside.parents) if one in self.mounts), None)


def _text(root: Path, name: bytes) -> str:
    said = content(root, name, _REPLY + 1)
    if len(said) > _REPLY:
        raise GradingError(f"its reply has more than {_REPLY:,} bytes")
    return said.decode("utf-8", "replace")


def _bytes(name: str) -> bytes:
    return os.fsencode(PurePosixPath(name))


def sources(means: GradingMeans, asked: GradingRequest) -> dict[str, Path]:
    """Return what a check's `files` are taken from, by where they go.

    Raises:
        GradingError: one lies where the suite may not read.
    """
    files = asked.check.settings["files"]
    assert isinstance(files, dict), "as `ProgramScorer.settle` has it"
    found: dict[str, Path] = {}
    for name, source in files.items():
        path = means.folder / from_home(str(source))
        if not means.reach().may_read(path):
            raise GradingError(
                f"files.{name}: {visible_line(str(path), 200)} lies outside the suite's folder and "
                "what it may read: name a folder outside as it is"
            )
        if not path.exists():
            raise GradingError(f"files.{name}: there is no {visible_line(str(source), 200)}")
        found[name] = path
    return found


def digests(means: GradingMeans, asked: GradingRequest) -> JsonObject:
    """Return what is known of the files and the workspace that a check is decided with. Blocking.

    Raises:
        GradingError: some of it is not there.
    """
    held: JsonObject = {
        name: means.digest(asked.check.name, path) for name, path in sources(means, asked).items()
    }
    if asked.check.settings["workspace"] is not True:
        return {"laid over": held}
    target = means.targets()[asked.column.target]
    protected: list[Json] = [*target.protected]
    try:
        image = target.image_of(asked.column, asked.case)
    except (TemplateError, WorkspaceError) as error:
        raise GradingError(f"the image of its target: {error}") from error
    return {"laid over": held, "protected": protected, "image": image}


def rebuilt(
    means: GradingMeans, asked: GradingRequest, folder: TrialFolder, protected: Collection[str]
) -> str:
    """Make a trial's workspace anew in a folder for its grading. Blocking.

    Args:
        means: What is needed.
        asked: The output whose workspace it is.
        folder: The folder; its workspace is empty so far.
        protected: Patterns of paths that stay as they were, beside the target's.

    Returns:
        What a person is to know of it; empty: nothing.

    Raises:
        GradingError: it cannot be made.
    """
    if asked.output.workspace is None:
        raise GradingError("its target left no workspace: it takes one that works in a folder")
    target = means.targets()[asked.column.target]
    try:
        changes = FileStore(means.kept).changes(asked.output.workspace)
        source = target.workspace_source(asked.column, asked.case)
        folder.workspace.rmdir()
        made = rebuild_workspace(
            folder.workspace, source, changes, means.kept, (*target.protected, *protected)
        )
    except (MissingFileError, TemplateError, WorkspaceError) as error:
        raise GradingError(f"its workspace cannot be made anew: {error}") from error
    if changes.incomplete is not None:
        raise GradingError(f"its workspace is not known wholly: {changes.incomplete}")
    return _told(made)


def _told(made: RebuiltWorkspace) -> str:
    said = []
    if made.restored:
        said.append(
            f"{many(len(made.restored), 'protected path')} put back: {_names(made.restored)}"
        )
    if made.left_out:
        said.append(f"{many(len(made.left_out), 'thing')} not kept: {_names(made.left_out)}")
    return "; ".join(said)


def _names(paths: Collection[bytes]) -> str:
    shown = [visible_line(os.fsdecode(path), 80) for path in list(paths)[:_NAMED]]
    return ", ".join(shown) + (" …" if len(paths) > _NAMED else "")
