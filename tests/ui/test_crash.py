import os
import stat
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

from tui_eval.providers.keys import keep_secret
from tui_eval.ui.crash import replaced_since, write_log


def boom() -> None:
    raise RuntimeError("the story\ud800 \x1b[2J secret-key-0001")


def test_the_story_is_written_for_its_owner_alone(tmp_path: Path) -> None:
    keep_secret("secret-key-0001", "MY_KEY")
    try:
        boom()
    except RuntimeError as error:
        file = write_log(error, tmp_path / "logs")
    assert file is not None
    story = file.read_text()
    assert "RuntimeError: the story‹U+D800› ␛[2J [MY_KEY]" in story
    assert "in boom" in story
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_no_place_for_a_log_is_no_second_crash(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    assert write_log(ValueError("x"), tmp_path / "file") is None


def test_a_program_whose_files_were_replaced_is_known(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "part.py"
    file.write_text("")
    part = ModuleType("tui_eval.part")
    part.__file__ = str(file)
    monkeypatch.setitem(sys.modules, "tui_eval.part", part)
    now = time.time()
    assert not replaced_since(now + 60)
    os.utime(file, (now + 120, now + 120))
    assert replaced_since(now + 60)
    file.unlink()
    assert replaced_since(now + 60)
