from pathlib import Path

from tui_eval.suites.config.app_state import AppState, state_file


def test_what_is_set_is_there_at_the_next_start(tmp_path: Path) -> None:
    file = tmp_path / "deep" / "app.json"
    assert AppState(file).set("theme", "light")
    assert AppState(file).get("theme") == "light"


def test_a_broken_file_is_no_reason_to_stop(tmp_path: Path) -> None:
    file = tmp_path / "app.json"
    for broken in ("{", "[]", '{"theme": 3}', "\x00"):
        file.write_text(broken)
        assert AppState(file).get("theme") is None


def test_a_place_that_cannot_be_written_is_no_reason_to_stop(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    remembered = AppState(tmp_path / "file" / "app.json")
    assert not remembered.set("theme", "light")
    assert remembered.get("theme") == "light"


def test_the_environment_names_the_file() -> None:
    assert state_file({"TUI_EVAL_STATE": "/x/y.json"}) == Path("/x/y.json")
    assert state_file({}).name == "app.json"
