"""The last line, as the app is left."""

from pathlib import Path

from tests.ui.playing import (
    first_snapshot,
    plain_run,
)
from tui_eval.store.rows import RunRow
from tui_eval.ui.exit_message import farewell


def test_the_last_line_says_what_goes_on_and_how_to_come_back(tmp_path: Path, store: Path) -> None:
    first, second = (first_snapshot(store, plain_run(store, 1).run).run for _ in range(2))
    here = {"TUI_EVAL_STORE": str(store)}

    def line(live: list[RunRow], *, stopped: bool, environ: dict[str, str] = here) -> str:
        return farewell(live, store, stopped=stopped, environ=environ)

    name = first.name
    assert line([first], stopped=False) == (
        f"{name} goes on; `tui-eval watch {name}` comes back to it"
    )
    assert line([first], stopped=True) == (
        f"{name} is being stopped; `tui-eval resume {name}` finishes it"
    )
    assert f"{name} and 1 other run go on" in line([first, second], stopped=False)
    elsewhere = line([first], stopped=False, environ={"TUI_EVAL_STORE": str(tmp_path / "o")})
    assert f"`tui-eval watch {name} --store {store.name}`" in elsewhere
