"""File systems that other machines have a part in, on which no store can be.

SQLite's log is shared between processes by memory that they map together (sqlite.org/wal.html, "All
processes using a database must be on the same host computer"). Over a network nobody maps the same
memory, and locks may be granted twice: a store would be damaged without a word.
"""

import os
import re
from pathlib import Path
from typing import Final, NamedTuple

from tui_eval.store.errors import StoreRemoteError

MOUNTS: Path = Path("/proc/self/mountinfo")
"""What is mounted, as the kernel tells it (proc_pid_mountinfo(5)); Linux alone has it."""
_REMOTE: Final = frozenset(
    (
        "nfs", "nfs4", "cifs", "smb3", "smbfs", "ncpfs", "afs", "coda", "davfs", "lustre", "gpfs",
        "beegfs", "ceph", "glusterfs", "orangefs", "pvfs2", "panfs", "wekafs", "ocfs2", "gfs2",
        "vboxsf", "vmhgfs", "prl_fs",
    )
)  # fmt: skip
_SHARED: Final = "9p"
"""A folder of the machine around this one, as `/mnt/c` of Windows; but some sandboxes have their
whole root so, which nobody else has a part in."""
_REMOTE_PROGRAMS: Final = re.compile(
    r"fuse\.(sshfs|rclone|s3fs|s3ql|goofys|mount-s3|gcsfuse|blobfuse2?|juicefs|curlftpfs|smbnetfs|"
    r"davfs2?|glusterfs|ceph(-fuse)?|beegfs|moosefs|mfs|lizardfs|nfs-ganesha|gvfsd-fuse|objectivefs|vmhgfs-fuse)"
)
"""Of those that a program serves (`fuse.NAME`): others are on this machine, as mergerfs."""
_OCTAL: Final = re.compile(r"\\([0-7]{3})")


class Mount(NamedTuple):
    """A file system and where it is mounted."""

    point: str
    kind: str


def see_that_it_is_local(path: Path) -> None:
    """Refuse a store on a network file system.

    Args:
        path: The store's file, there already or not.

    Raises:
        StoreRemoteError: it is on one.
    """
    mount = mount_of(path)
    if mount is not None and _is_remote(mount):
        raise StoreRemoteError(path, mount.kind, mount.point)


def mount_of(path: Path) -> Mount | None:
    """Return where a path is mounted; None: this system does not say.

    The longest mount point that the path is in counts, and of one point what was mounted last.
    """
    try:
        lines = MOUNTS.read_text("utf-8", "surrogateescape").splitlines()
    except OSError:
        return None
    real = os.path.realpath(path)
    found: Mount | None = None
    for line in lines:
        before, parted, after = line.partition(" - ")
        fields = before.split(" ")
        if not parted or len(fields) < 5:
            continue
        point = _OCTAL.sub(lambda code: chr(int(code[1], 8)), fields[4])
        inside = real == point or real.startswith(point.rstrip("/") + "/")
        if inside and (found is None or len(point) >= len(found.point)):
            found = Mount(point, after.split(" ", 1)[0])
    return found


def _is_remote(mount: Mount) -> bool:
    if mount.kind == _SHARED:
        return mount.point != "/"
    return mount.kind in _REMOTE or _REMOTE_PROGRAMS.fullmatch(mount.kind) is not None
