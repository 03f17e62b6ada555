"""Files beside the store: put once, held until they are named, removed with their last run."""

import errno
import hashlib
import os
import sqlite3
import stat
from contextlib import closing
from pathlib import Path

import pytest

from tests.support import do, key, output, staged
from tui_eval.model.outputs.attempt_record import AttemptRecord
from tui_eval.processes.workspace import kept_content, tree_files
from tui_eval.processes.workspace.bounds import WorkspaceLimits
from tui_eval.processes.workspace.changes import WorkspaceChanges, compare
from tui_eval.processes.workspace.kept_content import kept_path
from tui_eval.processes.workspace.manifest import EntryKind, take_manifest
from tui_eval.store.connection import open_readable
from tui_eval.store.files import FileStore, KeptWorkspace, MissingFileError
from tui_eval.store.tx import Tx
from tui_eval.store.write import attempt_writes, deletion

ODD = b"caf\xe9 \x1b[2J\n\xff"


@pytest.fixture
def files(path: Path) -> FileStore:
    return FileStore.beside(path)


def left(tmp_path: Path, contents: dict[str, str]) -> tuple[Path, WorkspaceChanges]:
    """Give a workspace in which a program made these files, and what that changed."""
    root = tmp_path / f"workspace-{len(list(tmp_path.iterdir()))}"
    root.mkdir()
    before = take_manifest(root)
    for name, content in contents.items():
        (root / name).write_text(content)
    return root, compare(before, take_manifest(root))


def keep(files: FileStore, tmp_path: Path, **contents: str) -> KeptWorkspace:
    """Keep a workspace with these files."""
    root, changes = left(tmp_path, contents)
    with files.hold():
        return files.keep_workspace(root, changes)


def answered(db: sqlite3.Connection, trial: int, kept: KeptWorkspace) -> None:
    """Let a trial have an output that left a workspace."""
    made = output(
        workspace=kept.digest, record=AttemptRecord(changes=kept.counts, files=kept.files)
    )

    def unit(tx: Tx) -> None:
        attempt = attempt_writes.start_attempt(tx, trial, queue_s=None, wait_s=None)
        assert attempt is not None
        attempt_writes.answer(tx, attempt, trial, key("kept", trial), made, 1.0)

    do(db, unit)


def there(files: FileStore) -> set[bytes]:
    """Give the digests of all files in the folder."""
    return {bytes.fromhex(path.parent.name + path.name) for path in files.folder.glob("*/*")}


def test_what_is_put_is_found_by_its_digest_and_is_nobody_elses(files: FileStore) -> None:
    with files.hold():
        one, again = files.put(b"some"), files.put(b"some")
    assert one == again
    assert one.digest == hashlib.sha256(b"some").digest()
    assert files.get(one.digest) == b"some"
    assert files.get(one.digest, at_most=2) == b"so"
    assert files.size(one.digest) == one.size == 4
    place = kept_path(files.folder, one.digest)
    for path, mode in ((files.folder, 0o700), (place.parent, 0o700), (place, 0o600)):
        assert stat.S_IMODE(path.stat().st_mode) == mode
    assert len(there(files)) == 1


def test_names_are_written_to_the_disk_once_a_folder_has_settled(
    files: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[Path] = []
    monkeypatch.setattr(kept_content, "sync_folder", synced.append)
    folder = kept_path(files.folder, hashlib.sha256(b"a fix").digest()).parent

    def written() -> set[Path]:
        synced.clear()
        with files.hold():
            files.put(b"a fix")
        return set(synced)

    assert written() == {files.folder, folder}
    assert written() == {files.folder, folder}  # what came since may bear the same time
    monkeypatch.setattr(kept_content, "_SETTLED_S", -10.0)
    assert written() == {files.folder, folder}
    assert written() == set()
    changed = folder.stat().st_ctime_ns
    while folder.stat().st_ctime_ns == changed:
        (folder / "another").touch()
        (folder / "another").unlink()
    assert written() == {folder}


def test_what_is_not_there_or_damaged_says_what_to_do(files: FileStore) -> None:
    with pytest.raises(MissingFileError, match="put it back beside the store"):
        files.get(bytes(32))
    with files.hold():
        one = files.put(b"some")
    with pytest.raises(MissingFileError, match="restore it"):
        files.get(bytes(32))
    kept_path(files.folder, one.digest).write_bytes(b"else")
    with pytest.raises(MissingFileError, match="damaged"):
        files.get(one.digest)
    assert files.size(bytes(32)) is None


def test_a_workspace_comes_back_as_it_was_kept(files: FileStore, tmp_path: Path) -> None:
    root = tmp_path / "work"
    root.mkdir()
    (root / "old").write_text("old")
    (root / "gone").write_text("gone")
    before = take_manifest(root)
    (root / "old").write_text("new")
    (root / "gone").unlink()
    (root / "link").symlink_to("/etc")
    Path(os.fsdecode(os.fsencode(root) + b"/" + ODD)).write_text("odd")
    os.mkfifo(root / "fifo")
    changes = compare(before, take_manifest(root))
    with files.hold():
        kept = files.keep_workspace(root, changes)
        assert files.keep_workspace(root, changes).digest == kept.digest
    back = files.changes(kept.digest)
    assert [path for path, _ in back.added] == [ODD, b"fifo", b"link"]
    assert dict(back.added)[b"link"].target == b"/etc"
    assert dict(back.added)[b"fifo"].kind is EntryKind.OTHER
    assert back.removed == (b"gone",)
    digest = dict(back.changed)[b"old"].digest
    assert digest is not None
    assert files.get(digest) == b"new"
    assert (kept.counts.added, kept.counts.changed, kept.counts.removed) == (3, 1, 1)
    assert {file.digest for file in kept.files} == there(files)


def test_what_cannot_be_kept_is_listed_with_the_reason(files: FileStore, tmp_path: Path) -> None:
    root, changes = left(tmp_path, {"large": "x" * 1000, "small": "y"})
    with files.hold():
        kept = files.keep_workspace(root, changes, WorkspaceLimits(bytes=10))
    listed = dict(files.changes(kept.digest).added)
    assert kept.left_out == ((b"large", "more than is kept of a workspace"),)
    assert listed[b"large"].error == "more than is kept of a workspace"
    assert listed[b"large"].size == 1000
    assert listed[b"small"].error is None


def test_the_digest_is_the_changes_and_nothing_else(files: FileStore, tmp_path: Path) -> None:
    one = keep(files, tmp_path, a="1")
    assert keep(files, tmp_path, a="1").digest == one.digest
    assert keep(files, tmp_path, a="2").digest != one.digest
    assert keep(files, tmp_path, b="1").digest != one.digest


def test_files_go_with_the_last_run_that_needs_them(
    db: sqlite3.Connection, files: FileStore, tmp_path: Path
) -> None:
    first, second = staged(db, 2), staged(db, 2, suite="other")
    shared = keep(files, tmp_path, shared="in both", first="of the first")
    apart = keep(files, tmp_path, shared="in both", second="of the second")
    answered(db, first.trials[0], shared)
    answered(db, second.trials[0], apart)
    answered(db, second.trials[1], shared)
    everything = there(files)
    assert deletion.deletion_extent(db, [first.run]).files == 0
    both = deletion.deletion_extent(db, [first.run, second.run])
    assert (both.files, both.file_bytes) == (
        len(everything),
        sum(files.size(digest) or 0 for digest in everything),
    )
    deletion.delete(db, first.run)
    assert there(files) == everything  # the second has both
    deletion.delete(db, second.run)
    assert there(files) == set()
    assert db.execute("SELECT count(*) FROM kept_files").fetchone() == (0,)
    assert db.execute("SELECT count(*) FROM workspace_files").fetchone() == (0,)


def test_content_that_two_workspaces_share_stays_until_both_are_gone(
    db: sqlite3.Connection, files: FileStore, tmp_path: Path
) -> None:
    first, second = staged(db, 1), staged(db, 1, suite="other")
    answered(db, first.trials[0], keep(files, tmp_path, shared="in both", first="1"))
    kept = keep(files, tmp_path, shared="in both", second="2")
    answered(db, second.trials[0], kept)
    assert deletion.deletion_extent(db, [first.run]).files == 2
    deletion.delete(db, first.run)
    assert there(files) == {file.digest for file in kept.files}


def test_a_file_that_somebody_counts_on_is_not_removed(
    db: sqlite3.Connection, files: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An attempt found the file there, and has not named it yet."""
    monkeypatch.setattr("tui_eval.store.files._PATIENCE_S", 0.0)
    run = staged(db, 2)
    kept = keep(files, tmp_path, a="1")
    answered(db, run.trials[0], kept)
    with files.hold():
        again = files.keep_workspace(*left(tmp_path, {"a": "1"}))
        deletion.delete(db, run.run)
        assert files.sweep(db) == (0, 0)
        other = staged(db, 1, suite="other")
        answered(db, other.trials[0], again)
    assert files.sweep(db) == (0, 0)
    assert there(files) == {file.digest for file in again.files}


def test_what_is_named_by_nobody_is_swept(
    db: sqlite3.Connection, files: FileStore, tmp_path: Path
) -> None:
    run = staged(db, 1)
    kept = keep(files, tmp_path, a="1")
    answered(db, run.trials[0], kept)
    keep(files, tmp_path, b="of an engine that was killed")
    half = kept_path(files.folder, kept.digest).parent / "new-0123"
    half.write_bytes(b"half")
    size = files.measure(db)
    assert (size.files, size.unnamed, size.missing) == (5, 3, 0)
    count, _ = files.sweep(db)
    assert count == 3
    assert there(files) == {file.digest for file in kept.files}
    assert not half.exists()


def test_a_store_without_its_folder_tells_what_is_missing(
    db: sqlite3.Connection, files: FileStore, tmp_path: Path
) -> None:
    run = staged(db, 1)
    kept = keep(files, tmp_path, a="1")
    answered(db, run.trials[0], kept)
    files.folder.rename(tmp_path / "elsewhere")
    assert files.measure(db).missing == 2
    assert files.sweep(db) == (0, 0)
    with pytest.raises(MissingFileError, match=r"store.*\.files: not there"):
        files.changes(kept.digest)
    deletion.delete(db, run.run)


def test_deleting_under_a_reader_that_only_reads_is_refused_by_nobody(
    db: sqlite3.Connection, path: Path, files: FileStore, tmp_path: Path
) -> None:
    run = staged(db, 1)
    answered(db, run.trials[0], keep(files, tmp_path, a="1"))
    with closing(open_readable(path)) as reading:
        assert files.measure(reading).files == 2
        deletion.delete(db, run.run)
        assert files.measure(reading).files == 0


class Full:
    """A disk that is full for a while."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, room: int) -> None:
        self.room = room
        monkeypatch.setattr(tree_files, "write_all", self._write)

    def _write(self, descriptor: int, data: bytes) -> None:
        self.room -= len(data)
        if self.room < 0:
            os.write(descriptor, data[: len(data) // 2])
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.write(descriptor, data)


def test_a_full_disk_leaves_nothing_half_and_the_next_try_goes_on(
    files: FileStore, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, changes = left(tmp_path, {"a": "1" * 100, "b": "2" * 100})
    disk = Full(monkeypatch, 150)
    with files.hold(), pytest.raises(OSError, match="No space left"):
        files.keep_workspace(root, changes)
    assert {files.size(digest) for digest in there(files)} == {100}  # whole, and nothing beside it
    disk.room = 10_000
    with files.hold():
        kept = files.keep_workspace(root, changes)
    assert {file.digest for file in kept.files} == there(files)
    assert disk.room > 10_000 - 1000  # what was there was not written again


def test_however_much_there_is_the_list_is_bounded_and_says_so(
    files: FileStore, tmp_path: Path
) -> None:
    root = tmp_path / "work"
    root.mkdir()
    before = take_manifest(root)
    for number in range(3000):
        (root / f"link-{number}").symlink_to("nowhere")
    changes = compare(before, take_manifest(root, WorkspaceLimits(entries=1000)))
    with files.hold():
        kept = files.keep_workspace(root, changes)
    back = files.changes(kept.digest)
    assert len(back.added) == kept.counts.added == 1000
    assert back.incomplete == "there are more than 1000 entries"
    assert kept.files[0].size < 1000 * 100
