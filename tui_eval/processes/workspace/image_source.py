"""The files that an image has in its working folder, as a container begins with them."""

import errno
import os
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Final

from tui_eval.processes.isolation.images import ContainerEngine, ImageError, ImageFacts
from tui_eval.processes.workspace.bounds import RoomLeft, WorkspaceError, WorkspaceLimits
from tui_eval.processes.workspace.tree_files import parent_of, write_file

_CHUNK: Final = 1 << 20


@dataclass(frozen=True)
class ImageSource:
    """A folder of an image, from a container that is made and never started."""

    engine: ContainerEngine
    image: str
    """Its digest, or the name of one that is not made anew."""
    folder: PurePosixPath

    def write(self, target: Path, limits: WorkspaceLimits) -> None:
        """Write the files of the folder."""
        left = RoomLeft(limits, f"{self.folder} of the image {self.image}")
        modes: list[tuple[bytes, int]] = []
        root = os.open(target, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            with self._archive(f"{self.folder}/.") as archive:
                for member in archive:
                    path = os.fsencode(os.path.normpath(member.name))
                    if path != b".":
                        left.take(member.size if member.isreg() else 0)
                        _write_member(root, path, archive, member)
                        if member.isdir():
                            modes.append((path, member.mode & 0o7777))
            for path, mode in reversed(modes):  # a folder may not let itself be written to
                with parent_of(root, path) as (parent, name):
                    os.chmod(name, mode, dir_fd=parent)
        finally:
            os.close(root)

    def digest(self, limits: WorkspaceLimits) -> bytes:
        """Return what stands for the image and the folder: an image never changes."""
        return f"{self.image}:{self.folder}".encode()

    def read(self, path: bytes, at_most: int) -> bytes:
        """Read a file of the folder."""
        name = os.fsdecode(path)
        if any(part in ("", ".", "..") for part in name.split("/")):
            raise OSError(f"{name!r} leaves its folder")
        try:
            with self._archive(f"{self.folder}/{name}") as archive:
                member = archive.next()
                regular = member is not None and member.isreg()
                content = archive.extractfile(member) if member is not None and regular else None
                if content is not None:
                    return content.read(at_most)
        except WorkspaceError:
            if self.engine.image(self.image) is None:
                raise
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)

    @contextmanager
    def _archive(self, path: str) -> Iterator[tarfile.TarFile]:
        """Give a stream of what an image has at a path.

        Raises:
            WorkspaceError: the image, or what should be in it, is not there.
        """
        try:
            with self.engine.files(self.image, path) as stream:
                try:
                    with tarfile.open(fileobj=stream, mode="r|") as archive:
                        yield archive
                    while stream.read(_CHUNK):  # padding: the engine is to end well
                        pass
                except tarfile.TarError as error:
                    raise WorkspaceError(f"the image {self.image}: {path}: {error}") from error
        except ImageError as error:
            raise WorkspaceError(str(error)) from error


def image_files(engine: ContainerEngine, image: ImageFacts) -> ImageSource | None:
    """Return the files that a container of an image begins with in its working folder.

    Returns:
        None: the image names no working folder.
    """
    return None if image.folder is None else ImageSource(engine, image.id, image.folder)


def _write_member(
    root: int, path: bytes, archive: tarfile.TarFile, member: tarfile.TarInfo
) -> None:
    """Write one thing of an archive; what is neither file, folder nor link is left out."""
    with parent_of(root, path, make=True) as (folder, name):
        if member.isdir():
            with suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=folder)
        elif member.issym():
            os.symlink(os.fsencode(member.linkname), name, dir_fd=folder)
        elif member.islnk():
            linked = os.fsencode(os.path.normpath(member.linkname))
            with parent_of(root, linked) as (other, first):
                os.link(first, name, src_dir_fd=other, dst_dir_fd=folder, follow_symlinks=False)
        elif member.isreg():
            content = archive.extractfile(member)
            assert content is not None, "a regular file has content"
            write_file(folder, name, member.mode & 0o7777, _pieces(content))


def _pieces(content: IO[bytes]) -> Iterator[bytes]:
    while piece := content.read(_CHUNK):
        yield piece
