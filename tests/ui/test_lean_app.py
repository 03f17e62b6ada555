"""What opens and closes over a screen leaves it as it is; the terminal is told nothing twice."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from textual.app import App

from tests.ui.playing import app_on, plain_run, run_screen, shown_on, until
from tui_eval.ui.dialogs.help_dialog import HelpDialog
from tui_eval.ui.screens.run_screen import RunScreen


async def test_a_dialog_that_closes_has_nothing_laid_out_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    done: Counter[str] = Counter()
    lay_out, shape = RunScreen._refresh_layout, App._set_pointer_shape

    def laid_out(screen: RunScreen, *arguments: Any, **named: Any) -> None:
        done["laid out"] += 1
        lay_out(screen, *arguments, **named)

    def shaped(app: App[Any], name: str) -> None:
        done[name] += 1
        shape(app, name)

    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        monkeypatch.setattr(RunScreen, "_refresh_layout", laid_out)
        monkeypatch.setattr(App, "_set_pointer_shape", shaped)
        for _ in range(2):  # by the second time the run's own screen stands
            await pilot.pause(0.03)  # two ticks of a screen
            done.clear()
            await pilot.press("question_mark")
            await until(pilot, lambda: isinstance(app.screen, HelpDialog))
            dialog = app.screen
            await pilot.press("escape")
            await until(pilot, lambda: not dialog.is_attached)  # noqa: B023 - it is awaited
            await pilot.pause(0.03)
        assert not done
        for name in ("text", "text", "default"):
            app._set_pointer_shape(name)
        assert done == {"text": 1, "default": 1}
