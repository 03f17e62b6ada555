"""The files of a workspace's source as bytes, for machines that do not have them."""

import io
import tarfile
import tempfile
from pathlib import Path

from tui_eval.processes.workspace.removal import remove_folder
from tui_eval.processes.workspace.source import WorkspaceSource, make_workspace


def parcel(source: WorkspaceSource) -> bytes:
    """Return the files of a source, in one form. Blocking.

    Raises:
        WorkspaceError: it is not there, or has more than a workspace may.
        OSError: a file of it cannot be read.
    """
    place = Path(tempfile.mkdtemp(prefix="tui-eval-parcel-"))
    try:
        make_workspace(place / "files", source)  # holds the limits, and leaves history behind
        data = io.BytesIO()
        with tarfile.open(fileobj=data, mode="w", format=tarfile.PAX_FORMAT) as packed:
            packed.add(place / "files", arcname=".")
        return data.getvalue()
    finally:
        remove_folder(place)


def unpacked(data: bytes, folder: Path) -> None:
    """Make a folder with the files of a parcel. Blocking.

    Its links are made as they are, as `FolderSource` copies them; none is followed.

    Raises:
        OSError: it cannot be written.
        tarfile.TarError: it is no parcel.
    """
    folder.mkdir(mode=0o700)
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as packed:
        packed.extractall(folder, filter=_as_it_is)  # noqa: S202 - see below


def _as_it_is(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    """Let a member be, but for its owner: workspaces may have absolute links, as on the engine."""
    return member.replace(uid=None, gid=None, uname=None, gname=None, deep=False)  # type: ignore[arg-type]
