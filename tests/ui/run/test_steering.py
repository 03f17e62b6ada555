"""The Run screen as it is steered: zoom and marks, caps that ask, quick changes, the palette."""

import asyncio
import re
from functools import partial
from pathlib import Path

import pytest

from tests.engine.harness import suite as asking
from tests.servers.fake_model import FakeModel
from tests.support import do, output, writing
from tests.support import key as made_key
from tests.ui.playing import (
    app_on,
    by_hand,
    cursor_case,
    finished,
    lines,
    made_up,
    open_run,
    plain_run,
    run_screen,
    settle,
    shown_on,
    sql,
    text,
    until,
    until_shown,
)
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.store.tx import Tx
from tui_eval.store.write import trial_verbs
from tui_eval.ui.dialogs.cap_dialog import CapDialog
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.help_dialog import HelpDialog
from tui_eval.ui.dialogs.menu import Menu
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.keys.palette import Actions
from tui_eval.ui.run.snapshot import MOST_CHANGES, Snapshot
from tui_eval.ui.screens.run_screen import RunScreen

PRICED = {"model": "m", "prices": {"input": 1_000_000.0, "output": 1_000_000.0}}


def five_open(store: Path) -> tuple[int, ...]:
    """Write an interrupted run of five open trials; give their ids."""
    made = by_hand(
        store,
        [Case(i, f"c{i}", {}) for i in range(5)],
        answers=[None] * 5,
        state=RunState.INTERRUPTED,
    )
    return made.trials


# -- zoom and marks


async def test_in_zoom_keys_act_on_the_trial_that_is_shown_alone(store: Path) -> None:
    trials = five_open(store)
    app = app_on(store, run="last")
    async with shown_on(app, (120, 30)) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("space", "space")
        await until_shown(pilot, "2 marked")
        assert "cancel 2" in lines(app)[-1]
        await pilot.press("enter")
        await until_shown(pilot, "cancel this one", "2 marked", "c2")
        await pilot.press("c")
        await until_shown(pilot, "cancelled: c2; U undoes it")
        assert not isinstance(app.screen, ConfirmDialog)
        asked = sql(store, "SELECT args FROM requests")
        assert asked == [(f'{{"trials": [{trials[2]}]}}',)]
        await pilot.press("a")
        await until_shown(pilot, "the list is hidden")
        await pilot.press("escape")
        await until(pilot, lambda: not screen.detail.zoomed)
        assert screen.trial_list.marks.count == 2
        await until(pilot, lambda: "cancel 2" in lines(app)[-1])
        await pilot.press("escape")
        assert screen.trial_list.marks.count == 0


async def test_escape_for_marks_that_went_with_their_action_does_not_leave_the_run(
    store: Path,
) -> None:
    five_open(store)
    app = app_on(store, run="last")
    async with shown_on(app, (120, 30)) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("space", "space", "c")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("enter")
        await until(pilot, lambda: screen.trial_list.marks.count == 0)
        await pilot.press("escape")
        await pilot.pause()
        assert app.screen is screen
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is not screen)


async def test_what_is_marked_is_seen_and_marked_in_zoom_too(store: Path) -> None:
    plain_run(store, 5)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("enter")
        await until_shown(pilot, "answer 0")
        assert "◆" not in text(app)
        await pilot.press("space")
        await until_shown(pilot, "answer 1", "1 marked")
        await pilot.press("k")
        await until_shown(pilot, "answer 0", "◆")
        assert screen.trial_list.marks.count == 1


async def test_escape_in_zoom_leaves_what_the_hidden_list_is_narrowed_to(store: Path) -> None:
    plain_run(store, 30)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("slash", *"answer 2", "enter", "enter")
        await until(pilot, lambda: screen.detail.zoomed)
        await pilot.press("escape")
        await until(pilot, lambda: not screen.detail.zoomed)
        assert screen.trial_list.view.text == "answer 2"
        await pilot.press("escape")
        await until(pilot, lambda: screen.trial_list.trials.count == 30)


# -- an engine that does not come


async def test_a_run_that_no_engine_begins_is_started_by_u(store: Path) -> None:
    run = create(store, made_up(3), Settings())
    with writing(store) as db:
        db.execute("UPDATE runs SET created_at = created_at - 60")
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await until_shown(pilot, "not started", "No engine has begun this run", "u starts one")
        await pilot.press("u")
        await until_shown(pilot, "3/3", "○ done")
        assert "No engine" not in text(app)
    assert sql(store, "SELECT state FROM runs WHERE id = ?", run) == [("done",)]


# -- caps


async def test_a_run_at_its_cap_asks_when_told_to_and_goes_on_with_a_higher_one(
    store: Path,
) -> None:
    async with FakeModel() as server:
        target = {"base_url": server.base_url, **PRICED}
        capped = asking(
            server.base_url, 12, targets=[target], run={"max_cost_usd": 10.0, "concurrency": 1}
        )
        await finished(store, capped)
        app = app_on(store, run="last")
        async with shown_on(app) as pilot:
            screen = await run_screen(pilot)
            await until_shown(pilot, "○ paused", "/10", "u asks how to resume", "waits at its cap")
            await pilot.pause(1.2)
            assert screen.is_current, "nothing opens by itself"
            await pilot.press("u")
            await until(pilot, lambda: isinstance(app.screen, CapDialog))
            await until_shown(pilot, "of $10 is spent", "new cap, $", "leave it paused")
            await pilot.press("home", "shift+end", *"u5x")
            await until_shown(pilot, "is spent already")
            await pilot.press("enter")
            assert isinstance(app.screen, CapDialog)
            await pilot.press("backspace", *"1000", *"q.0.", "enter")
            await until_shown(pilot, "12/12", "○ done", "/1000")
    assert sql(store, "SELECT outcome FROM requests") == [("accepted",)]


async def test_resuming_a_capped_run_from_the_list_asks_for_the_cap(store: Path) -> None:
    async with FakeModel() as server:
        target = {"base_url": server.base_url, **PRICED}
        run = {"max_cost_usd": 10.0, "concurrency": 1}
        await finished(store, asking(server.base_url, 12, targets=[target], run=run))
    app = app_on(store)
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "○ paused")
        await pilot.press("u")
        await run_screen(pilot)
        await until_shown(pilot, "u asks how to resume")
        await pilot.press("u")
        await until_shown(pilot, "of $10 is spent", "new cap, $")
        with writing(store) as db:  # as an engine would that somebody else has started
            db.execute("UPDATE runs SET state = 'done', stopped_by = NULL, reason = NULL")
        await until_shown(pilot, "the run has moved on meanwhile")
        assert isinstance(app.screen, RunScreen)
    assert not sql(store, "SELECT 1 FROM requests"), "nothing is asked before a person says so"


async def test_a_run_at_its_error_cap_asks_what_becomes_of_them(store: Path) -> None:
    broken = {"kind": "simulated", "name": "one", "answers": ["x"], "faults": {"server_error": 1.0}}
    limits = {"max_errors": 3, "retries": 0, "concurrency": 1}
    await finished(store, made_up(10, targets=[broken], run=limits))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await until_shown(pilot, "u asks how to resume")
        await pilot.press("u")
        await until(pilot, lambda: isinstance(app.screen, Menu))
        await until_shown(pilot, "3 trials have errored", "try the 3 errored again", "6 errors")
        await pilot.press("enter")
        await run_screen(pilot)
        assert sql(store, "SELECT count(*) FROM requests") == [(0,)]
        await pilot.press("u")
        await until(pilot, lambda: isinstance(app.screen, Menu))
        await pilot.press("k", "enter")
        await until(
            pilot,
            lambda: sql(store, "SELECT count(*) FROM trials WHERE state = 'error'") == [(6,)],
        )
        await until_shown(pilot, "6 trials errored")
    assert sql(store, "SELECT count(*) FROM attempts") == [(6,)]


async def test_ctrl_q_leaves_from_a_box_and_its_field_too(store: Path) -> None:
    five_open(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, NameDialog))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: not app.is_running)


# -- nothing moves


async def test_selection_scroll_and_focus_stay_while_hundreds_of_rows_a_second_change(
    store: Path,
) -> None:
    n = 3000
    made = open_run(store, n)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        table, page = screen.trial_list.table, screen.detail.page
        await pilot.press(*["pagedown"] * 3, "k", "k", "right_square_bracket", "tab")
        await until(pilot, lambda: cursor_case(screen) is not None)
        before = (
            cursor_case(screen),
            table.cursor,
            table.scroll_offset,
            screen.focused,
            screen.detail.tab,
        )

        def change(tx: Tx, first: int) -> None:
            for place in range(first, first + 50):
                settle(tx, made.trials[place], made_key("by-hand", place), output(f"o {place}"))

        def keep_changing() -> None:
            with writing(store) as db:
                for first in range(0, 1000, 50):
                    do(db, partial(change, first=first))

        await asyncio.to_thread(keep_changing)
        await until_shown(pilot, "1,000/3,000")
        after = (
            cursor_case(screen),
            table.cursor,
            table.scroll_offset,
            screen.focused,
            screen.detail.tab,
        )
        assert after == before
        assert page.has_focus


@pytest.mark.parametrize("zoomed", [False, True])
async def test_rows_and_the_selected_trial_stay_where_more_change_than_are_told(
    store: Path, zoomed: bool
) -> None:
    n = MOST_CHANGES + 100
    made = open_run(store, n)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        table = screen.trial_list.table
        await pilot.press("j", *["enter"] * zoomed)
        seen: list[tuple[object, ...]] = []

        def look() -> None:
            assert screen.run.snapshot is not None
            rows = [table.row(index) for index in table.shown]
            seen.append((screen.run.snapshot.overflow, cursor_case(screen), None in rows))

        screen.run.watch(look, Snapshot)

        def change(tx: Tx) -> None:
            for place in range(n):
                settle(tx, made.trials[place], made_key("by-hand", place), output(f"o {place}"))

        with writing(store) as db:
            do(db, change)
        await until(pilot, lambda: (True, "case-0001", False) in seen)
        await until(
            pilot,
            lambda: (
                screen.trial_list.selected is not None
                and screen.trial_list.selected.state == "done"
            ),
        )
        assert {one[1:] for one in seen} == {("case-0001", False)}
        await pilot.press(*["escape"] * zoomed)
        await until_shown(pilot, "case-0005")


async def test_a_sorted_list_keeps_its_row_on_its_line_while_others_come_before_it(
    store: Path,
) -> None:
    made = by_hand(
        store,
        [Case(i, f"case-{i:03}", {}) for i in range(200)],
        answers=[output(str(i)) if i < 100 else None for i in range(200)],
        reasons=["no"] * 100,
        state=RunState.RUNNING,
    )
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("f", "j", "enter")
        await until(pilot, lambda: screen.trial_list.trials.count == 100)
        await pilot.press("end", *["k"] * 30)
        await until(pilot, lambda: cursor_case(screen) == "case-069")
        table = screen.trial_list.table
        line = table.cursor - table.scroll_offset.y

        def retried(tx: Tx) -> None:
            for trial in made.trials[:60]:
                trial_verbs.retry(tx, trial)

        with writing(store) as db:
            do(db, retried)
        await until(pilot, lambda: screen.trial_list.trials.count == 40)
        await until(pilot, lambda: cursor_case(screen) == "case-069")
        assert table.cursor == 9
        assert table.cursor - table.scroll_offset.y == min(line, 9)


# -- every action in words, and a place to click


async def test_every_action_of_the_screen_is_in_the_palette_once(store: Path) -> None:
    plain_run(store, 3)
    app = app_on(store, run="last")
    async with shown_on(app, (100, 40)) as pilot:
        screen = await run_screen(pilot)
        await until(pilot, lambda: screen.trial_list.selected is not None)
        entries = [entry.words for entry in Actions(screen)._entries()]
        names = [words for words in entries if not words.startswith(("Theme ", "Open "))]
        assert len(names) == len(set(names))
        enabled = {
            active.binding.action
            for active in screen.active_bindings.values()
            if active.binding.id is not None and active.enabled
        }
        assert len(names) == len(enabled - {"command_palette"})  # one is in it


async def test_concurrency_is_found_in_the_palette(store: Path) -> None:
    slow = {"kind": "simulated", "name": "one", "answers": ["{{ a }}"], "latency_s": 0.3}
    run_id = create(store, made_up(400, targets=[slow]), Settings())
    engine = Engine(store, run_id)
    working = asyncio.create_task(engine.run())
    app = app_on(store, run="last")
    async with shown_on(app, (100, 40)) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "of 4 slots")
        await until(pilot, lambda: screen.why_not("limit") is None)
        await pilot.press("ctrl+p")
        await until_shown(pilot, "Search for commands")
        await pilot.press(*"concurrency")
        await until_shown(pilot, "more concurrency", "less concurrency")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        row = next(y for y, line in enumerate(lines(app)) if "of 4 slots" in line)
        await pilot.click(offset=(lines(app)[row].index("slots - +") + len("slots - "), row))
        await until_shown(pilot, "of 5 slots")
    engine.stop()
    await asyncio.wait_for(working, 20)


async def test_a_key_is_chosen_in_the_list_of_keys(store: Path) -> None:
    plain_run(store, 5)
    app = app_on(store, run="last")
    async with shown_on(app, (80, 50)) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "answer 0")
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        await until_shown(pilot, "Sort the list")
        row = next(y for y, line in enumerate(lines(app)) if "Sort the list" in line)
        await pilot.click(offset=(30, row), times=2)
        await until(pilot, lambda: isinstance(app.screen, Menu))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        row = next(y for y, line in enumerate(lines(app)) if "Cancel this trial" in line)
        await pilot.click(offset=(30, row), times=2)
        await until_shown(pilot, "settled already (done)")


# -- looks


@pytest.mark.parametrize("theme", ["light", "textual-light"])
async def test_no_colour_of_another_theme_stays(store: Path, theme: str) -> None:
    plain_run(store, 30, failing=(3,))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "answer 0")
        dark = {"#15191f", "#1d232c", "#2b3a4d", "#222a34", "#7d8896"}
        assert dark & _colours(app.export_screenshot()), "the control: it begins dark"
        app.theme = theme
        await until(pilot, lambda: not dark & _colours(app.export_screenshot()))


def _colours(svg: str) -> set[str]:
    return set(re.findall(r"#[0-9a-f]{6}", svg))
