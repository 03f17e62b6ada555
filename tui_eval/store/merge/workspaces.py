"""The files that programs left in their workspaces, from beside one store to beside another."""

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from tui_eval.store.files import FileStore, MissingFileError


class WorkspaceFiles:
    """Copies what programs left in their workspaces from beside one store to beside another."""

    def __init__(self, files: FileStore, other: FileStore) -> None:
        self._files = files
        self._other = other
        self.missing = 0
        """Files that are not beside the other store."""

    def held(self) -> AbstractContextManager[object]:
        """Keep files from being removed meanwhile that are not named yet."""
        return self._files.hold() if self._other.folder.is_dir() else nullcontext()

    def take(self, digests: Sequence[bytes]) -> None:
        """Copy files by their digests, which what comes is compared with."""
        for digest in digests:
            try:
                content = self._other.get(digest)
            except MissingFileError:
                self.missing += 1
            else:
                self._files.put(content)
