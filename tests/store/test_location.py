from pathlib import Path

import pytest

from tui_eval.store.location import attempt_folders, naming, naming_in_python


def test_folders_of_attempts_are_found_from_any_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert attempt_folders(Path("s.sqlite")) == tmp_path / "s.sqlite.attempts"


def test_commands_name_a_store_that_is_not_found_without(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    here = {"TUI_EVAL_STORE": "s.sqlite"}
    assert naming(tmp_path / "s.sqlite", here) == ""
    assert naming(Path("s.sqlite"), here) == ""
    assert naming(tmp_path / "a b" / "s.sqlite", here) == " --store 'a b/s.sqlite'"
    assert naming(Path("/elsewhere/s.sqlite"), here) == " --store /elsewhere/s.sqlite"


def test_calls_in_python_name_it_likewise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    here = {"TUI_EVAL_STORE": "s.sqlite"}
    assert naming_in_python(Path("s.sqlite"), here) == ""
    named = naming_in_python(tmp_path / 'a "b" c' / "s.sqlite", here)
    assert named == r', store="a \"b\" c/s.sqlite"'
    assert eval(f"dict(run='r'{named})")["store"] == 'a "b" c/s.sqlite'
