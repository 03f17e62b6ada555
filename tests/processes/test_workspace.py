"""Workspaces are made, listed, compared, kept, rebuilt and removed, whatever is in them."""

import os
import socket
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tui_eval.processes.wardens.disk_meter import DiskMeter
from tui_eval.processes.workspace.bounds import WorkspaceError, WorkspaceLimits
from tui_eval.processes.workspace.changes import (
    WorkspaceChanges,
    apply_changes,
    compare,
    keep_files,
)
from tui_eval.processes.workspace.kept_content import kept_path
from tui_eval.processes.workspace.manifest import (
    EntryKind,
    Manifest,
    take_manifest,
)
from tui_eval.processes.workspace.path_patterns import PathPatterns
from tui_eval.processes.workspace.removal import remove_folder
from tui_eval.processes.workspace.source import (
    FolderSource,
    GitSource,
    make_workspace,
    read_from,
    source_digest,
)
from tui_eval.processes.workspace.walk import walk

ODD = b"caf\xe9 \x1b[2J\n\xff"
ROOT = os.geteuid() == 0


@pytest.fixture
def fixture(tmp_path: Path) -> Path:
    """Give a folder with what fixtures have."""
    root = tmp_path / "fixture"
    (root / "src" / "deep").mkdir(parents=True)
    (root / "src" / "main.py").write_text("print(1)\n")
    (root / "src" / "deep" / "data").write_bytes(bytes(range(256)) * 100)
    (root / "run").write_text("#!/bin/sh\n")
    (root / "run").chmod(0o755)
    (root / "link").symlink_to("src/main.py")
    (root / "out").symlink_to("/etc")
    (root / "empty").mkdir(mode=0o750)
    (root / "gone").mkdir()
    (root / "gone" / "file").write_text("x")
    Path(os.fsdecode(os.fsencode(root) + b"/" + ODD)).write_text("odd")
    return root


@pytest.fixture
def store(tmp_path: Path) -> Path:
    made = tmp_path / "store"
    made.mkdir()
    return made


def made(tmp_path: Path, fixture: Path) -> tuple[Path, Manifest]:
    """Make a workspace of the fixture; give it and what is in it."""
    root = tmp_path / "workspace"
    make_workspace(root, FolderSource(fixture))
    return root, take_manifest(root)


def after(root: Path, before: Manifest) -> WorkspaceChanges:
    return compare(before, take_manifest(root, former=before, unlock=True))


def test_a_copy_is_what_the_folder_is(tmp_path: Path, fixture: Path) -> None:
    root, manifest = made(tmp_path, fixture)
    assert stat.S_IMODE(root.stat().st_mode) == 0o700
    assert (
        manifest.digest() == take_manifest(fixture).digest() == source_digest(FolderSource(fixture))
    )
    assert manifest.entries[b"run"].mode == 0o755
    assert manifest.entries[b"empty"].mode == 0o750
    assert manifest.entries[b"out"].target == b"/etc"
    assert ODD in manifest.entries
    assert not [path for path in manifest.entries if path.startswith(b"out/")]  # not followed
    assert not after(root, manifest).added


@pytest.mark.parametrize(
    "change",
    [
        lambda root: (root / "src" / "main.py").write_text("print(2)\n"),
        lambda root: (root / "run").chmod(0o700),
        lambda root: (root / "new").touch(),
        lambda root: (root / "gone" / "file").unlink(),
        lambda root: os.replace(root / "gone", root / "moved"),
        lambda root: ((root / "link").unlink(), (root / "link").symlink_to("src")),
    ],
)
def test_every_change_changes_the_digest(fixture: Path, change: Callable[[Path], object]) -> None:
    before = source_digest(FolderSource(fixture))
    os.utime(fixture / "run", (1, 1))
    assert source_digest(FolderSource(fixture)) == before  # times are no content
    change(fixture)
    assert source_digest(FolderSource(fixture)) != before


def alter(root: Path) -> None:
    """Change a workspace in every way."""
    (root / "src" / "main.py").write_text("print(2)\n")
    (root / "src" / "added" / "below").mkdir(parents=True)
    (root / "src" / "added" / "below" / "file").write_text("added")
    (root / "run").chmod(0o700)
    (root / "link").unlink()
    (root / "link").mkdir()
    (root / "link" / "inside").write_text("a folder now")
    (root / "out").unlink()
    (root / "out").symlink_to("/usr")
    (root / "gone" / "file").unlink()
    (root / "gone").rmdir()
    (root / "empty").rmdir()
    (root / "empty").write_text("a file now")
    Path(os.fsdecode(os.fsencode(root) + b"/" + ODD + b"2")).write_text("odd too")


def test_changes_are_found_kept_and_made_again(tmp_path: Path, fixture: Path, store: Path) -> None:
    root, before = made(tmp_path, fixture)
    alter(root)
    changes = after(root, before)
    added = {path for path, _ in changes.added}
    changed = {path for path, _ in changes.changed}
    assert added == {
        b"link/inside", b"src/added", b"src/added/below", b"src/added/below/file", ODD + b"2"
    }  # fmt: skip
    assert changed == {b"empty", b"link", b"out", b"run", b"src/main.py"}
    assert set(changes.removed) == {b"gone", b"gone/file"}
    kept = keep_files(root, changes, store)
    assert kept.left_out == ()
    assert kept_path(store, next(iter(kept.digests))).is_file()
    remove_folder(root)
    again = tmp_path / "again"
    make_workspace(again, FolderSource(fixture))
    apply_changes(again, changes, store)
    assert take_manifest(again).digest() == _with(before, changes).digest()


def _with(before: Manifest, changes: WorkspaceChanges) -> Manifest:
    entries = {path: one for path, one in before.entries.items() if path not in changes.removed}
    return Manifest({**entries, **dict((*changes.added, *changes.changed))}, 0)


def test_a_change_right_after_the_first_look_is_seen(tmp_path: Path, fixture: Path) -> None:
    root, before = made(tmp_path, fixture)
    path = root / "src" / "main.py"
    was = path.stat()
    path.write_text("print(2)\n")  # as long as it was
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    assert [name for name, _ in after(root, before).changed] == [b"src/main.py"]


def test_what_was_not_touched_is_not_read_again(
    tmp_path: Path, fixture: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, _ = made(tmp_path, fixture)
    time.sleep(0.06)  # longer than what two changes may share a time for
    before = take_manifest(root)
    (root / "new").write_text("new")
    opened: list[bytes] = []
    original = os.open

    def counting(path: object, flags: int, *rest: int, dir_fd: int | None = None) -> int:
        if isinstance(path, bytes) and not flags & os.O_DIRECTORY:
            opened.append(path)
        return original(path, flags, *rest, dir_fd=dir_fd)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", counting)
    take_manifest(root, former=before)
    assert opened == [b"new"]


def test_what_cannot_be_opened_safely_is_told_and_not_opened(tmp_path: Path, store: Path) -> None:
    root = tmp_path / "workspace"
    make_workspace(root, None)
    before = take_manifest(root)
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
        (root / "device").symlink_to("/dev/zero")
        (root / "loop").symlink_to(root)
        changes = after(root, before)
    kinds = {path: entry.kind for path, entry in changes.added}
    assert kinds == {
        b"fifo": EntryKind.OTHER,
        b"socket": EntryKind.OTHER,
        b"device": EntryKind.LINK,
        b"loop": EntryKind.LINK,
    }
    assert keep_files(root, changes, store).digests == frozenset()
    remove_folder(root)
    assert Path("/dev/zero").exists()


@pytest.mark.skipif(not ROOT, reason="devices are made by root")
def test_a_device_is_not_opened(tmp_path: Path) -> None:
    os.mknod(tmp_path / "zero", stat.S_IFCHR | 0o600, os.makedev(1, 5))
    assert take_manifest(tmp_path).entries[b"zero"].kind is EntryKind.OTHER


def test_a_sparse_file_costs_nothing(tmp_path: Path, store: Path) -> None:
    root = tmp_path / "workspace"
    make_workspace(root, None)
    before = take_manifest(root)
    with (root / "sparse").open("wb") as file:
        file.truncate(1 << 40)
    (root / "small").write_text("small")
    changes = after(root, before)
    entries = dict(changes.added)
    assert entries[b"sparse"].size == 1 << 40
    assert entries[b"sparse"].digest is None
    kept = keep_files(root, changes, store)
    assert [path for path, _ in kept.left_out] == [b"sparse"]
    assert len(kept.digests) == 1
    meter = DiskMeter(root)
    meter.finish(10.0)
    assert meter.bytes is not None
    assert meter.bytes < 1 << 20


def test_copies_of_a_sparse_file_are_sparse(tmp_path: Path, store: Path) -> None:
    fixture, root = tmp_path / "fixture", tmp_path / "workspace"
    fixture.mkdir()
    with (fixture / "given").open("wb") as file:
        file.truncate(20 << 20)
    make_workspace(root, FolderSource(fixture))
    before = take_manifest(root)
    with (root / "made").open("wb") as file:
        file.write(b"begin")
        file.seek(20 << 20)
        file.write(b"end")
        file.truncate(30 << 20)
    changes = after(root, before)
    keep_files(root, changes, store)
    make_workspace(tmp_path / "again", FolderSource(fixture))
    apply_changes(tmp_path / "again", changes, store)
    for name in ("given", "made"):
        assert (tmp_path / "again" / name).read_bytes() == (root / name).read_bytes()
    meter = DiskMeter(tmp_path)
    meter.finish(10.0)
    assert meter.bytes is not None
    assert meter.bytes < 15 << 20


def test_control_a_file_within_the_limits_is_read(tmp_path: Path) -> None:
    with (tmp_path / "sparse").open("wb") as file:
        file.truncate(1 << 20)
    assert take_manifest(tmp_path).entries[b"sparse"].digest is not None
    small = WorkspaceLimits(bytes=1 << 19)
    assert take_manifest(tmp_path, small).entries[b"sparse"].digest is None


def unreadable(root: Path) -> None:
    (root / "closed").mkdir()
    (root / "closed" / "file").write_text("closed")
    (root / "closed" / "file").chmod(0)
    (root / "closed").chmod(0)


AS_NOBODY = """
import os, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from tests.processes.test_workspace import unreadable
from tui_eval.processes.workspace.manifest import take_manifest
from tui_eval.processes.workspace.path_patterns import PathPatterns
from tui_eval.processes.workspace.removal import remove_folder
from tui_eval.processes.workspace.changes import compare, keep_files
if os.geteuid() == 0:  # to whom nothing is closed
    os.setgid(65534)
    os.setuid(65534)
root = Path("workspace")
root.mkdir()
Path("store").mkdir()
before = take_manifest(root)
unreadable(root)
assert take_manifest(root).entries[b"closed"].error
after = take_manifest(root, former=before, unlock=True)
changes = compare(before, after)
modes = [(path, entry.mode) for path, entry in changes.added]
assert modes == [(b"closed", 0), (b"closed/file", 0)], modes
kept = keep_files(root, changes, Path("store"))
assert len(kept.digests) == 1 and not kept.left_out, kept
(root / "closed").chmod(0)
remove_folder(root)
assert not root.exists()
"""


def test_what_is_closed_to_its_owner_is_read_and_removed(tmp_path: Path) -> None:
    if ROOT:
        os.chown(tmp_path, 65534, 65534)
    script = AS_NOBODY.format(root=str(Path(__file__).parents[2]))
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


def test_a_thousand_levels_cost_neither_recursion_nor_descriptors(tmp_path: Path) -> None:
    root = tmp_path / "deep"
    root.mkdir()
    here = os.open(root, os.O_RDONLY)
    for _ in range(1100):
        os.mkdir("d", dir_fd=here)
        below = os.open("d", os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    os.close(here)
    before = len(os.listdir("/proc/self/fd"))
    most = 0
    for number, _ in enumerate(walk(root)):
        most = most if number % 50 else max(most, len(os.listdir("/proc/self/fd")))
    assert most - before < 100
    manifest = take_manifest(root)
    assert len(manifest.entries) == 1101
    remove_folder(root)
    assert not root.exists()
    assert len(os.listdir("/proc/self/fd")) == before


def many(root: Path, count: int) -> None:
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for number in range(count):
        os.mknod(f"f{number}", dir_fd=folder)
    os.close(folder)


@pytest.mark.whole
def test_ten_thousand_files_are_listed_and_removed(tmp_path: Path) -> None:
    root = tmp_path / "many"
    root.mkdir()
    many(root, 10_000)
    assert len(take_manifest(root).entries) == 10_000
    limited = take_manifest(root, WorkspaceLimits(entries=1000))
    assert len(limited.entries) == 1000
    assert limited.incomplete is not None
    assert compare(take_manifest(root), limited).removed == ()  # they may be there
    remove_folder(root)
    assert not root.exists()


@pytest.fixture
def in_memory(tmp_path: Path) -> Iterator[Path]:
    """Give a folder in memory: where many files were removed, ext4 makes new ones slowly."""
    shared = "/dev/shm"
    if not os.access(shared, os.W_OK):
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(dir=shared) as folder:
        yield Path(folder)


@pytest.mark.whole
@pytest.mark.timeout(400)
def test_a_million_files_cost_no_more_than_the_limits_say(in_memory: Path) -> None:
    root = in_memory / "many"
    root.mkdir()
    many(root, 1_000_000)
    began = time.monotonic()
    manifest = take_manifest(root)
    assert len(manifest.entries) == WorkspaceLimits().entries
    assert time.monotonic() - began < 60
    meter = DiskMeter(root)
    began = time.monotonic()
    meter.step(0.005)
    assert time.monotonic() - began < 1
    remove_folder(root)
    assert not root.exists()


def test_a_file_that_is_not_what_was_listed_is_left_out(
    tmp_path: Path, fixture: Path, store: Path
) -> None:
    root, before = made(tmp_path, fixture)
    (root / "one").write_text("one")
    (root / "two").write_text("two")
    changes = after(root, before)
    (root / "one").write_text("another")
    (root / "two").unlink()
    (root / "two").symlink_to("/etc/passwd")
    kept = keep_files(root, changes, store)
    assert kept.digests == frozenset()
    assert {path for path, _ in kept.left_out} == {b"one", b"two"}
    assert [one for one in store.rglob("*") if one.is_file()] == []


def test_nothing_is_rebuilt_through_a_link_or_outside(tmp_path: Path, store: Path) -> None:
    root = tmp_path / "workspace"
    make_workspace(root, None)
    before = take_manifest(root)
    (root / "file").write_text("x")
    changes = after(root, before)
    keep_files(root, changes, store)
    entry = changes.added[0][1]
    (tmp_path / "outside").mkdir()
    fixture = tmp_path / "fixture"
    fixture.mkdir()
    (fixture / "link").symlink_to(tmp_path / "outside")
    for number, path in enumerate((b"link/file", b"../outside/file", b"/tmp/file", b"a/../../x")):
        forged = WorkspaceChanges(((path, entry),), (), ())
        again = tmp_path / f"r{number}"
        make_workspace(again, FolderSource(fixture))
        with pytest.raises(WorkspaceError):
            apply_changes(again, forged, store)
    assert not list((tmp_path / "outside").iterdir())


def test_a_source_that_is_not_there_or_too_large_is_told(tmp_path: Path, fixture: Path) -> None:
    with pytest.raises(WorkspaceError, match="nowhere"):
        make_workspace(tmp_path / "a", FolderSource(tmp_path / "nowhere"))
    with pytest.raises(WorkspaceError, match="nowhere"):
        source_digest(FolderSource(tmp_path / "nowhere"))
    with pytest.raises(WorkspaceError, match="more than"):
        make_workspace(tmp_path / "b", FolderSource(fixture), WorkspaceLimits(entries=3))
    with pytest.raises(WorkspaceError, match="more than"):
        make_workspace(tmp_path / "c", FolderSource(fixture), WorkspaceLimits(bytes=100))


def git(repository: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=A", "-c", "user.email=a@example.org"]
    done = subprocess.run(
        ["git", *identity, "-C", str(repository), *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path, fixture: Path) -> Path:
    """Give a repository with two commits, and every trick that `git archive` falls for."""
    root = tmp_path / "repository"
    make_workspace(root, FolderSource(fixture))
    git(root, "init", "-q")
    (root / ".gitattributes").write_text("secret export-ignore\n*.py filter=evil\n")
    (root / "secret").write_text("exported all the same")
    git(root, "add", "--all")
    git(root, "commit", "-q", "-m", "one")
    (root / "src" / "main.py").write_text("print('solved')\n")
    git(root, "commit", "-q", "-a", "-m", "the solution")
    git(root, "config", "filter.evil.smudge", f"touch {tmp_path}/ran; cat")
    return root


def test_a_tree_has_its_files_and_no_history(
    tmp_path: Path, repository: Path, fixture: Path
) -> None:
    root = tmp_path / "workspace"
    source = GitSource(repository, "HEAD~1")
    make_workspace(root, source)
    paths = set(take_manifest(root).entries)
    assert (root / "src" / "main.py").read_text() == "print(1)\n"
    assert (root / "secret").exists()
    assert (root / "run").stat().st_mode & 0o111
    assert os.readlink(root / "out") == "/etc"
    assert ODD in paths
    assert not [path for path in paths if b".git" in path.split(b"/")]
    assert b"solved" not in b"".join(
        path.read_bytes() for path in root.rglob("*") if path.is_file() and not path.is_symlink()
    )
    assert not (tmp_path / "ran").exists()
    assert source_digest(source) != source_digest(GitSource(repository, "HEAD"))
    assert source_digest(source).hex() == git(repository, "rev-parse", "HEAD~1^{tree}")


def test_one_file_of_a_source_is_read_and_no_link_is_followed(
    tmp_path: Path, repository: Path, fixture: Path
) -> None:
    for source in (GitSource(repository, "HEAD~1"), FolderSource(fixture)):
        assert read_from(source, b"src/main.py", 100) == b"print(1)\n"
        assert read_from(source, b"src/main.py", 5) == b"print"
        assert read_from(source, ODD, 100) is not None
        for gone in (b"no-such", b"src/no-such"):
            with pytest.raises(FileNotFoundError):
                read_from(source, gone, 100)
    with pytest.raises(OSError):
        read_from(FolderSource(fixture), b"../fixture/src/main.py", 100)
    with pytest.raises(WorkspaceError):
        read_from(GitSource(repository, "no-such-commit"), b"run", 100)


def test_control_a_checkout_runs_the_repositorys_filters(tmp_path: Path, repository: Path) -> None:
    (tmp_path / "checkout").mkdir()
    git(repository, f"--work-tree={tmp_path / 'checkout'}", "checkout", "-f", "HEAD", "--", ".")
    assert (tmp_path / "ran").exists()


@pytest.mark.parametrize("at", ["no-such-commit", "--output=file", ""])
def test_a_commit_that_is_not_there_is_told(tmp_path: Path, repository: Path, at: str) -> None:
    for source in (GitSource(repository, at), GitSource(tmp_path / "nowhere", "HEAD")):
        with pytest.raises(WorkspaceError):
            make_workspace(tmp_path / f"w{source.repository.name}", source)
        with pytest.raises(WorkspaceError):
            source_digest(source)


def test_a_repository_around_the_folder_is_not_taken(tmp_path: Path, repository: Path) -> None:
    inside = repository / "inside"
    inside.mkdir()
    with pytest.raises(WorkspaceError, match="not a git repository"):
        make_workspace(tmp_path / "workspace", GitSource(inside, "HEAD"))


def test_a_tree_whose_paths_leave_it_is_refused(tmp_path: Path, repository: Path) -> None:
    blob = git(repository, "rev-parse", "HEAD:run")
    raw = b"100644 ..\0" + bytes.fromhex(blob)
    tree = subprocess.run(
        ["git", "-C", str(repository), "hash-object", "-t", "tree", "-w", "--stdin", "--literally"],
        input=raw, check=True, capture_output=True,
    ).stdout.decode().strip()  # fmt: skip
    with pytest.raises(WorkspaceError, match="leaves it"):
        make_workspace(tmp_path / "w", GitSource(repository, tree))


@pytest.mark.parametrize(
    ("pattern", "named", "not_named"),
    [
        ("tests", ["tests", "tests/a.py", "tests/a/b"], ["test", "a/tests", "tests2"]),
        ("tests/", ["tests/a.py"], ["a/tests/b"]),
        ("tests/**", ["tests/a", "tests/a/b"], ["tests"]),
        ("**/test_*.py", ["test_a.py", "a/b/test_é.py", "test_d.py/in"], ["a/test.py"]),
        ("*.c?g", ["a.cfg", "é.cég"], ["a/b.cfg", "a.cg"]),
        ("a.b", ["a.b"], ["axb"]),
    ],
)
def test_a_pattern_names_paths(pattern: str, named: list[str], not_named: list[str]) -> None:
    patterns = PathPatterns([pattern, "other"])
    assert [one for one in named if not patterns.match(os.fsencode(one))] == []
    assert [one for one in not_named if patterns.match(os.fsencode(one))] == []
    assert not PathPatterns([]).match(b"")
    assert patterns.match(b"other/" + ODD)
