"""The filter menu."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from tests.ui.playing import app_on, plain_run, run_screen, shown_on, until
from tui_eval.store.search.views import Condition, FilterKind
from tui_eval.ui.dialogs.filter_menu import FilterMenu, FilterTotal
from tui_eval.ui.run.list.filters import FilterChoice


async def test_a_count_that_comes_while_the_menu_closes_does_no_harm(store: Path) -> None:
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        gone = asyncio.Event()
        offer = FilterChoice(Condition(FilterKind.TAG, "t0"), None)

        async def count(parts: Sequence[Condition], *, by_case: bool, waited_for: bool) -> int:
            await gone.wait()
            return 15

        menu = FilterMenu([offer], [], FilterTotal(30, "trial"), count, screen.context.glyphs)
        await app.push_screen(menu)
        await menu.remove_children()  # as when it is closed, before its workers are told
        gone.set()
        await until(pilot, lambda: menu.offers[0].n == 15)
        menu.action_close()
        await until(pilot, lambda: app.screen is screen)
