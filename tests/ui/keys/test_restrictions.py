"""What a session does not permit: greyed, refused with the reason, and not reached otherwise."""

from pathlib import Path

import pytest

from tests.ui.playing import finished, made_up, run_screen, shown_on, text, until, until_shown
from tui_eval.store.errors import StoreError
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.keys.available_actions import area_of
from tui_eval.ui.keys.keyboard import keyboard
from tui_eval.ui.keys.restrictions import CHANGES, NEEDS_TERMINAL, Restrictions
from tui_eval.ui.navigation import LaunchSuite
from tui_eval.ui.store_access.store_client import StoreClient

READ_ONLY = Restrictions(read_only=True, in_browser=True)
BROWSER = Restrictions(in_browser=True)
REASON = "this session is read-only"

LOOKS = {"charts", "diff", "filter", "groups", "help", "history", "menu", "page", "suite-history",
         "table", "workspace", "would-change", "form"}  # fmt: skip
"""Areas where nothing is changed."""
OPENED_BY_CHANGES = {"cap", "consent", "import", "launch", "modal", "name", "verdict"}
"""Areas of boxes that only an action that changes something opens."""
READS = {
    "compare.next", "compare.kind", "compare.groups", "compare.diff", "compare.swap",
    "compare.order", "compare.trial-b", "compare.other", "compare.previous", "compare.trial-a",
    "compare.question", "compare.next-epoch", "compare.epoch-before", "compare.read",
    "compare.pane", "compare.pane-before",
    "grade.before", "grade.agreement", "grade.more", "grade.question",
    "run.charts", "run.compare", "run.what-would-change", "run.next", "run.by-case",
    "run.next-target", "run.filter", "run.groups", "run.find", "run.zoom", "run.mark", "run.sort",
    "run.copy", "run.diff", "run.follow", "run.target-before", "run.drop-filter", "run.previous",
    "run.mark-all-shown", "run.table-detail", "run.workspace", "run.history", "run.raw",
    "run.unfold", "run.next-tab", "run.tab-before",
    "runs.open", "runs.mark", "runs.mark-all", "runs.compare", "runs.sort", "runs.find",
    "runs.history",
    "suites.find", "suites.next-case", "suites.previous-case", "suites.history", "suites.read",
    "suites.focus",
    "back", "leave", "suites", "runs", "help", "palette", "settings", "quit",
}  # fmt: skip


def held(store: Path) -> tuple[bytes, bool]:
    """Give what the store holds, and whether the app has remembered anything."""
    return store.read_bytes(), Path("state.json").exists()


def test_of_every_action_it_is_said_whether_it_changes_anything() -> None:
    known = set(keyboard().actions)
    said = CHANGES | NEEDS_TERMINAL | READS
    assert said <= known
    rest = {name for name in known - said if area_of(name) not in LOOKS | OPENED_BY_CHANGES}
    assert not rest, "put them into CHANGES of ui/keys/restrictions.py, or into READS here"
    assert not READS & (CHANGES | NEEDS_TERMINAL)


async def test_a_read_only_run_is_looked_at_and_nothing_else(store: Path) -> None:
    run_id = await finished(store, made_up())
    before = held(store)
    app = TuiEvalApp(store, (), "last", restrictions=READ_ONLY)
    async with shown_on(app, (160, 40)) as pilot:
        screen = await run_screen(pilot)
        assert screen.run.id == run_id
        for active in screen.active_bindings.values():
            name = active.binding.id or ""
            if name in CHANGES | NEEDS_TERMINAL:
                assert not active.enabled, name
        for key in ("t", "R", "E", "e", "ctrl+z"):
            app.clear_notifications()
            await pilot.press(key)
            await until_shown(pilot, REASON)
        await pilot.press("space", "n", "o")
        await pilot.press("escape")
        await app.run_action("set_theme('textual-dark')")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running or app._exit, "the app leaves unasked")
    assert held(store) == before


async def test_a_click_or_the_palette_launches_nothing_either(store: Path, tmp_path: Path) -> None:
    suite = tmp_path / "s.toml"
    suite.write_text('name = "s"\n[[cases]]\nid = "a"\n[prompt]\nuser = "?"\n[[targets]]\n'
                     'kind = "simulated"\nanswers = ["x"]\n'
                     '[[scorers]]\nkind = "exact"\nexpected = "x"\n')  # fmt: skip
    await finished(store, made_up(1))
    app = TuiEvalApp(store, (suite,), restrictions=READ_ONLY)
    async with shown_on(app) as pilot:
        await until(pilot, lambda: app.context.suites, "the suite")
        app.post_message(LaunchSuite(str(app.context.suites[0].path)))
        await until_shown(pilot, REASON)
        await pilot.press("ctrl+p", *"launch")
        await pilot.pause()
        assert "Launch s…" not in text(app)


async def test_in_a_browser_the_terminal_is_given_to_nobody(store: Path) -> None:
    await finished(store, made_up())
    app = TuiEvalApp(store, (), "last", restrictions=BROWSER)
    async with shown_on(app, (160, 40)) as pilot:
        screen = await run_screen(pilot)
        enabled = {one.binding.id: one.enabled for one in screen.active_bindings.values()}
        assert enabled["run.note"]
        assert not enabled["run.edit-suite"]
        await pilot.press("ctrl+z")
        await until_shown(pilot, "in a browser there is no terminal")


async def test_a_read_only_client_writes_nothing(store: Path) -> None:
    await finished(store, made_up(1))
    client = StoreClient(store, read_only=True)
    done: list[int] = []
    with pytest.raises(StoreError, match=REASON):
        await client.act(done.append, 1)
    assert not done
