"""What one key does on a screen is what the list of all keys says of it."""

from pathlib import Path

from tests.ui.playing import app_on, plain_run, run_screen, shown_on
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.keys.available_actions import bound_to


def same(app: TuiEvalApp) -> int:
    """Compare all keys there are anywhere; give how many of them do something here."""
    everywhere = {
        key for _, bindings in app.screen._binding_chain for key in bindings.key_to_bindings
    }
    active = app.screen.active_bindings
    assert {key: bound_to(app.screen, key) for key in active} == active
    assert all(bound_to(app.screen, key) is None for key in everywhere - set(active))
    return len(active)


async def test_one_key_is_looked_up_as_all_are(tmp_path: Path) -> None:
    store = tmp_path / "s.sqlite3"
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        app.set_keymap({"run.cancel": "Z,c"})
        on_the_list = same(app)
        assert (found := bound_to(app.screen, "Z")) and found.binding.id == "run.cancel"
        await pilot.press("slash")
        assert same(app) < on_the_list  # letters are for the field
        await pilot.press("escape", "o")
        same(app)  # a menu
        assert bound_to(app.screen, "no-such-key") is None
