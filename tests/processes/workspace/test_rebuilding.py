"""A workspace is made again as a program left it, but for what is protected."""

import os
from pathlib import Path

import pytest

from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.processes.workspace.changes import WorkspaceChanges, compare, keep_files
from tui_eval.processes.workspace.manifest import take_manifest
from tui_eval.processes.workspace.rebuilding import (
    FixtureError,
    RebuiltWorkspace,
    clear_way,
    lay_over,
    rebuild_workspace,
)
from tui_eval.processes.workspace.source import FolderSource, make_workspace


@pytest.fixture
def fixture(tmp_path: Path) -> Path:
    """Give what a workspace begins with."""
    root = tmp_path / "fixture"
    (root / "tests" / "deep").mkdir(parents=True)
    (root / "tests" / "test_a.py").write_text("right\n")
    (root / "tests" / "deep" / "data").write_text("data\n")
    (root / "main.py").write_text("begun\n")
    return root


class Left:
    """A workspace in which a program works."""

    def __init__(self, tmp_path: Path, fixture: Path) -> None:
        self.root = tmp_path / "work"
        self.store = tmp_path / "files"
        self.store.mkdir()
        self._fixture = fixture
        make_workspace(self.root, FolderSource(fixture))
        self._before = take_manifest(self.root)

    def changes(self) -> WorkspaceChanges:
        """Keep what was changed, and say what it was."""
        changes = compare(self._before, take_manifest(self.root))
        keep_files(self.root, changes, self.store)
        return changes

    def rebuilt(self, *protected: str) -> tuple[Path, RebuiltWorkspace]:
        """Make it anew elsewhere."""
        folder = self.root.with_name("again")
        source = FolderSource(self._fixture)
        return folder, rebuild_workspace(folder, source, self.changes(), self.store, protected)


@pytest.fixture
def left(tmp_path: Path, fixture: Path) -> Left:
    """Give a workspace in which nothing was changed yet."""
    return Left(tmp_path, fixture)


def listed(folder: Path) -> dict[str, str]:
    """Give all files and links of a folder with what they hold."""
    return {
        str(path.relative_to(folder)): f"to {path.readlink()}"
        if path.is_symlink()
        else path.read_text()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


UNTOUCHED = {"tests/test_a.py": "right\n", "tests/deep/data": "data\n"}


def test_it_is_as_it_was_left(left: Left) -> None:
    (left.root / "main.py").write_text("done\n")
    (left.root / "tests" / "test_a.py").unlink()
    (left.root / "new").mkdir()
    (left.root / "new" / "link").symlink_to("/etc/passwd")
    os.mkfifo(left.root / "pipe")
    folder, made = left.rebuilt()
    assert listed(folder) == {
        "main.py": "done\n",
        "tests/deep/data": "data\n",
        "new/link": "to /etc/passwd",
    }
    assert made == RebuiltWorkspace((b"pipe",), ())


def test_what_is_protected_is_put_back_and_told(left: Left) -> None:
    (left.root / "main.py").write_text("done\n")
    (left.root / "tests" / "test_a.py").write_text("passes\n")
    (left.root / "tests" / "conftest.py").write_text("skip all\n")
    (left.root / "tests" / "deep" / "data").unlink()
    folder, made = left.rebuilt("tests/**")
    assert listed(folder) == {"main.py": "done\n", **UNTOUCHED}
    assert made.restored == (b"tests/conftest.py", b"tests/deep/data", b"tests/test_a.py")


@pytest.mark.parametrize("pattern", ["tests", "tests/**", "tests/deep", "**/data"])
def test_a_folder_that_was_replaced_is_put_back_with_what_is_protected_in_it(
    left: Left, pattern: str
) -> None:
    (left.root / "elsewhere").mkdir()
    (left.root / "elsewhere" / "deep").mkdir()
    (left.root / "elsewhere" / "deep" / "data").write_text("forged\n")
    left_tests = left.root / "tests"
    for path in sorted(left_tests.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    left_tests.rmdir()
    left_tests.symlink_to("elsewhere")
    folder, made = left.rebuilt(pattern)
    assert not (folder / "tests").is_symlink()
    assert (folder / "tests" / "deep" / "data").read_text() == "data\n"
    assert b"tests" in made.restored


def test_a_link_is_none_of_the_files_that_are_protected_below_it(left: Left) -> None:
    (left.root / "hidden").symlink_to("tests")
    folder, made = left.rebuilt("hidden/**")
    assert not (folder / "hidden").exists()
    assert made.restored == (b"hidden",)


def test_modes_of_folders_above_what_is_protected_are_put_back(left: Left) -> None:
    (left.root / "tests" / "deep").chmod(0o000)
    (left.root / "tests").chmod(0o500)
    try:
        folder, _ = left.rebuilt("**/data")
    finally:
        (left.root / "tests").chmod(0o700)
        (left.root / "tests" / "deep").chmod(0o700)
    assert (folder / "tests" / "deep").stat().st_mode & 0o777 == 0o755


def test_a_fixture_that_has_changed_is_told_and_leaves_nothing(left: Left, fixture: Path) -> None:
    (left.root / "main.py").write_text("done\n")
    (fixture / "main.py").write_text("other\n")
    with pytest.raises(FixtureError, match="changed since"):
        left.rebuilt()
    assert not left.root.with_name("again").exists()


@pytest.fixture
def filled(tmp_path: Path) -> Path:
    """Give a folder that an agent has filled with what is in the way."""
    root = tmp_path / "filled"
    root.mkdir()
    (root / "tests").symlink_to("/etc")
    os.mkfifo(root / "check.py")
    (root / "kept").mkdir()
    (root / "kept" / "own").write_text("own\n")
    (root / "kept" / "test_a.py").mkdir()
    (root / "locked").mkdir(mode=0o000)
    return root


def test_a_folder_is_laid_over_whatever_stands_there(filled: Path, fixture: Path) -> None:
    source = fixture / "tests"
    (source / "link").symlink_to("test_a.py")
    for name in (b"tests", b"kept", b"locked/below", b"check.py/x"):
        lay_over(filled, name, source)
        there = filled / os.fsdecode(name)
        assert (there / "test_a.py").read_text() == "right\n"
        assert (there / "deep" / "data").read_text() == "data\n"
        assert (there / "link").readlink() == Path("test_a.py")
    assert (filled / "kept" / "own").read_text() == "own\n"
    assert not Path("/etc/test_a.py").exists()


def test_a_file_is_laid_over_whatever_stands_there(filled: Path, fixture: Path) -> None:
    source = fixture / "main.py"
    source.chmod(0o755)
    for name in (b"check.py", b"tests", b"kept", b"new/below/main.py"):
        lay_over(filled, name, source)
        there = filled / os.fsdecode(name)
        assert not there.is_symlink()
        assert there.read_text() == "begun\n"
        assert there.stat().st_mode & 0o777 == 0o755
    assert Path("/etc").is_dir()


def test_what_is_not_there_or_no_file_is_told(filled: Path, tmp_path: Path) -> None:
    for source in (tmp_path / "nothing", filled / "check.py"):
        with pytest.raises(WorkspaceError):
            lay_over(filled, b"x", source)


def test_nothing_stands_where_a_file_is_to_be_written(filled: Path) -> None:
    clear_way(filled, b"tests/report.json")
    assert list((filled / "tests").iterdir()) == []
    clear_way(filled, b"check.py")
    assert not (filled / "check.py").exists()
