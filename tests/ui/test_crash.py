import stat
from pathlib import Path

from tui_eval.providers.keys import keep_secret
from tui_eval.ui.crash import write_log


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
