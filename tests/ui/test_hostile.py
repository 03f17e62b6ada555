"""Whatever models, suites and errors say, no control character reaches the screen."""

from dataclasses import replace
from pathlib import Path

from textual.pilot import Pilot

from tests import hostile
from tests.sampling import some
from tests.support import output
from tests.ui.playing import app_on, assert_clean, by_hand, run_screen, shown_on, until
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.filter_menu import FilterMenu
from tui_eval.ui.run.detail.detail_title import Tab
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.screens.groups_screen import GroupsScreen
from tui_eval.ui.screens.launch_screen import LaunchScreen
from tui_eval.ui.screens.run_screen import RunScreen
from tui_eval.ui.suites.suite_list import read

NASTY = "\x1b]52;c;ZXZpbA==\x07[@click=app.quit]x[/]\x9b31m\u202e\ud800[/b]"


async def go_to(pilot: Pilot[None], screen: RunScreen, index: int) -> None:
    """Go to a trial and wait until the detail shows it."""
    screen.trial_list.table.cursor = index
    await until(
        pilot,
        lambda: (
            screen.trial_list.selected is not None
            and screen.detail.found is not None
            and screen.detail.found.trial.id == screen.trial_list.selected.id
        ),
    )


async def test_hostile_outputs_ids_reasons_and_errors_are_shown_literally(store: Path) -> None:
    texts = some(3, hostile.outputs())
    cases = [
        Case(at, f"{text[:40]}{at}", {"q": text, text[:20] or "k": [text[:100]]}, tags=(text[:20],))
        for at, text in enumerate(texts)
    ]
    answers = [
        output(
            text,
            reasoning=text[:500],
            finish_reason=text[:20],
            model=text[:20],
            messages=({"role": text[:10], "content": text[:1000], "tool_calls": [text[:50]]},),
        )
        if at % 5
        else Failure(text[:20], text[:300], partial=text[:300])
        for at, text in enumerate(texts)
    ]
    for change in ("", "changed"):
        by_hand(
            store,
            cases,
            answers=[
                replace(answer, text=f"{answer.text}{change}")
                if isinstance(answer, Output)
                else answer
                for answer in answers
            ],
            reasons=[text[:300] for text in texts],
            columns=(NASTY.replace("\ud800", ""),),
            suite=NASTY.replace("\ud800", ""),
        )
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        for at in range(len(texts)):
            screen.detail.action_open_tab(list(Tab)[at % len(Tab)])
            await go_to(pilot, screen, at)
            assert_clean(app)
            screen.detail.action_raw()
            screen.detail.action_unfold()
            await pilot.pause()
            assert_clean(app)
        await go_to(pilot, screen, 1)  # it has an output
        for key in ("y", "h", "d"):
            await pilot.press(key)
            await until(pilot, lambda: app.screen is not screen)
            await pilot.pause(0.1)
            assert_clean(app)
            await pilot.press("escape")
            await until(pilot, lambda: app.screen is screen)
        await pilot.press("f")
        await until(pilot, lambda: isinstance(app.screen, FilterMenu))
        assert_clean(app)
        await pilot.press("escape", "b")
        await until(pilot, lambda: isinstance(app.screen, GroupsScreen) and app.screen.groups)
        assert_clean(app)
        await pilot.press("enter")
        await until(pilot, lambda: bool(screen.trial_list.view.parts))
        assert_clean(app)
        await pilot.press("enter")
        await pilot.pause()
        assert_clean(app)
        await pilot.press("q", "2")
        await pilot.pause(0.1)
        assert_clean(app)


async def test_words_in_a_corner_and_questions_are_literal(store: Path) -> None:
    app = app_on(store)
    async with shown_on(app) as pilot:
        screen = app.screen
        assert isinstance(screen, BaseScreen)
        for words in [*hostile.outputs(), NASTY]:
            screen.say(words)
        await pilot.pause()
        assert_clean(app)
        app.push_screen(ConfirmDialog(NASTY, yes="go", no=NASTY, more=NASTY))
        await pilot.pause()
        assert_clean(app)


async def test_a_hostile_suite_is_previewed_and_launched_literally(
    store: Path, tmp_path: Path
) -> None:
    nasty = r"\u001B]0;owned\u0007[@click=app.quit]x[/]\u202E"
    (tmp_path / "hostile.toml").write_text(
        f'''
name = "[@click=app.quit]x[/]"
description = "{nasty}"
[prompt]
user = "{nasty} {{{{ q }}}}"
[[targets]]
kind = "simulated"
name = "[/b][@click=app.quit]y"
answers = ["{nasty}"]
[[scorers]]
kind = "exact"
name = "[/]"
expected = "{nasty}"
[[cases]]
id = "{nasty}"
q = "{nasty}"
''',
        encoding="utf-8",
    )
    (tmp_path / "wrong.toml").write_text(
        f'name = 3\n"{nasty}" = 1\n[[targets]]\nname = "{nasty}"\n[[cases]]\nid = "a"\n',
        encoding="utf-8",
    )
    assert read(tmp_path / "hostile.toml", False).suite is not None
    app = app_on(store, tmp_path)
    async with shown_on(app, (120, 40)) as pilot:
        await until(pilot, lambda: "owned" in str(app.screen._compositor.render_strips()))
        await pilot.pause(0.3)
        assert_clean(app)
        await pilot.press("n")
        await until(pilot, lambda: isinstance(app.screen, LaunchScreen))
        await pilot.pause(0.4)
        assert_clean(app)
        await pilot.press("escape", "j")
        await pilot.pause(0.3)
        assert_clean(app)
