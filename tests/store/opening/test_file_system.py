"""A store on a network file system is refused before anything there is touched."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from tui_eval.store.connection import open_readable, open_writable
from tui_eval.store.errors import StoreRemoteError
from tui_eval.store.opening import file_system
from tui_eval.store.opening.file_system import Mount, mount_of, see_that_it_is_local

Mounted = Callable[..., None]


@pytest.fixture
def mounted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mounted:
    """Give what has the kernel tell of mounts: (point, kind), in the order they were mounted."""

    def tell(*mounts: tuple[object, str]) -> None:
        file = tmp_path / "mountinfo"
        lines = [
            f"{n} 1 0:{n} / {str(point).replace(' ', chr(92) + '040')} rw,relatime shared:{n} "
            f"master:2 - {kind} some:/source rw,vers=4.2"
            for n, (point, kind) in enumerate([("/", "ext4"), *mounts])
        ]
        file.write_text("\n".join([*lines, "", "of another kernel"]), "utf-8")
        monkeypatch.setattr(file_system, "MOUNTS", file)

    return tell


@pytest.mark.parametrize(
    "kind",
    [
        *("nfs", "nfs4", "cifs", "smb3", "lustre", "gpfs", "beegfs", "ceph", "9p", "vboxsf"),
        *("fuse.sshfs", "fuse.glusterfs", "fuse.vmhgfs-fuse"),
    ],
)
@pytest.mark.parametrize("opener", [open_writable, open_readable])
def test_it_is_refused_by_name_and_nothing_is_made(
    tmp_path: Path, mounted: Mounted, kind: str, opener: Callable[[Path], object]
) -> None:
    far = tmp_path / "far away"
    far.mkdir()
    mounted((far, kind))
    store = far / "not" / "there" / "store.sqlite3"
    with pytest.raises(StoreRemoteError) as refused:
        opener(store)
    said = str(refused.value)
    assert said.startswith(f"{store}: on a network file system ({kind}, mounted at {far})")
    assert "--store FILE, or TUI_EVAL_STORE" in said
    assert [*far.iterdir()] == []


@pytest.mark.parametrize(
    "kind", ["ext4", "tmpfs", "overlay", "virtiofs", "fuse.mergerfs", "fuseblk"]
)
def test_what_is_on_this_machine_is_not(tmp_path: Path, mounted: Mounted, kind: str) -> None:
    mounted((tmp_path, kind))
    see_that_it_is_local(tmp_path / "store.sqlite3")


def test_a_sandbox_whose_root_is_shared_with_it_has_a_store(
    tmp_path: Path, mounted: Mounted
) -> None:
    mounted(("/", "9p"))
    see_that_it_is_local(tmp_path / "store.sqlite3")


def test_the_longest_mount_point_counts_and_of_one_the_last(
    tmp_path: Path, mounted: Mounted
) -> None:
    far, near = tmp_path / "far", tmp_path / "far" / "near"
    mounted((near, "ext4"), (far, "nfs4"))
    assert mount_of(near / "store") == Mount(str(near), "ext4")
    assert mount_of(far / "nearby") == Mount(str(far), "nfs4")
    assert mount_of(tmp_path / "farther") == Mount("/", "ext4")
    mounted((far, "nfs4"), (far, "tmpfs"))
    see_that_it_is_local(far / "store")


def test_a_link_is_followed(tmp_path: Path, mounted: Mounted) -> None:
    far = tmp_path / "far"
    far.mkdir()
    (tmp_path / "link").symlink_to(far)
    mounted((far, "nfs4"))
    with pytest.raises(StoreRemoteError):
        see_that_it_is_local(tmp_path / "link" / "store")


def test_where_nobody_says_what_is_mounted_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(file_system, "MOUNTS", tmp_path / "none")
    assert mount_of(tmp_path) is None
    open_writable(tmp_path / "store.sqlite3").close()


@pytest.mark.skipif(not file_system.MOUNTS.exists(), reason="only Linux tells")
def test_the_kernel_is_understood() -> None:
    found = mount_of(Path(os.devnull))
    assert found is not None
    assert found.point in ("/", "/dev", os.devnull)
