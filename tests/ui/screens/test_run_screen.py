"""The Run screen, driven by keys over real runs."""

import asyncio
from functools import partial
from pathlib import Path

import pytest
from textual.events import DescendantBlur
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input

from tests.support import output
from tests.ui.playing import (
    app_on,
    by_hand,
    cursor_case,
    finished,
    lines,
    made_up,
    plain_run,
    row_texts,
    run_screen,
    shown_on,
    sql,
    stands_on,
    text,
    until,
    until_shown,
)
from tui_eval.engine.control import submit
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.run_deletion import delete
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case
from tui_eval.model.states import RunState, TrialState
from tui_eval.store.errors import StoreFullError
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.menu import Menu
from tui_eval.ui.navigation import OpenRun
from tui_eval.ui.screens.runs_screen import RunsScreen
from tui_eval.ui.widgets.bar import Bar


async def test_a_finished_run_shows_head_rows_and_detail(store: Path) -> None:
    plain_run(store, 30, failing=(3, 7))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "answer 0")
        shown = lines(app)
        assert "30/30" in shown[0]
        assert "done" in shown[0]
        assert "93.3%" in text(app)
        assert "78.7–98.2" in text(app)
        assert "exact 2" in text(app)
        assert screen.trial_list.table.has_focus
        assert cursor_case(screen) == "case-000"
        assert "case-003" in row_texts(screen)[3]
        assert "✗ fail" in row_texts(screen)[3]
        assert "exact: expected 3" in row_texts(screen)[3]


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (120, 40), (200, 60)])
async def test_every_size_has_progress_rows_and_the_keys(
    store: Path, size: tuple[int, int]
) -> None:
    plain_run(store, 100)
    app = app_on(store, run="last")
    async with shown_on(app, size) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "answer 0")
        shown = lines(app)
        assert "100/100" in shown[0]
        assert "? more" in shown[-1]
        assert "case-000" in text(app)
        beside = screen.detail.region.x > 0
        assert beside == (size[0] >= 120)
        assert screen.trial_list.table.size.height >= 5
        assert screen.detail.page.size.height >= 3


async def test_what_there_is_room_for_is_said_as_soon_as_there_is_room(store: Path) -> None:
    plain_run(store, 100)
    app = app_on(store, run="last")
    async with shown_on(app, (60, 20)) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "98.0%", "1/100", "answer 0")
        await until(pilot, lambda: screen.run.figures is not None)
        app.workers.cancel_node(screen)  # nothing else shall have it said again
        rule = "─" * 30
        assert rule not in text(app)
        assert "by-hand ▸" not in text(app)
        await pilot.resize_terminal(120, 36)
        assert "by-hand ▸" in text(app)
        assert rule in text(app)


async def test_the_detail_follows_the_cursor_and_keeps_its_tab(store: Path) -> None:
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "answer 0")
        await pilot.press("right_square_bracket", "right_square_bracket")
        await until_shown(pilot, "pass 1.00  as expected")
        await pilot.press("j", "j", "j")
        await until_shown(pilot, "fail 0.00  expected 3")
        await pilot.press(*["left_square_bracket"] * 3)
        await until_shown(pilot, "case-003", "Id ")


async def test_tabs_can_be_clicked(store: Path) -> None:
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "answer 0")
        row = next(y for y, line in enumerate(lines(app)) if "Result · Messages" in line)
        await pilot.click(offset=(lines(app)[row].index("Attempts"), row))
        await until_shown(pilot, "1 answered")


@pytest.mark.parametrize("size", [(60, 20), (100, 30), (120, 40)])
async def test_every_tab_has_room(store: Path, size: tuple[int, int]) -> None:
    plain_run(store, 3)
    app = app_on(store, run="last")
    async with shown_on(app, size) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "Output", "Scores", "Messages", "Attempts", "Judge", "Case ")


async def test_zoom_gives_the_detail_the_screen_and_j_goes_to_the_next_trial(store: Path) -> None:
    plain_run(store)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: screen.detail.page.size.height > 15)
        assert screen.detail.page.has_focus
        await pilot.press("j", "j")
        await until_shown(pilot, "answer 2")
        await pilot.press("k")
        await until_shown(pilot, "answer 1")
        await pilot.press("escape")
        await until(pilot, lambda: screen.trial_list.table.has_focus)
        assert cursor_case(screen) == "case-001"


async def test_tab_goes_between_table_and_detail(store: Path) -> None:
    plain_run(store)
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("tab")
        assert screen.detail.page.has_focus
        await pilot.press("tab")
        assert screen.trial_list.table.has_focus


async def test_n_goes_to_the_next_failure_and_round(store: Path) -> None:
    plain_run(store, 30, failing=(3, 7))
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        for key, case in (("n", "003"), ("n", "007"), ("n", "003"), ("N", "007")):
            await pilot.press(key)
            wanted = f"case-{case}"
            await until(pilot, partial(stands_on, screen, wanted))


async def test_sorting_keeps_the_selected_trial_selected(store: Path) -> None:
    plain_run(store, 30)
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("j", "j", "o")
        await until(pilot, lambda: isinstance(pilot.app.screen, Menu))
        await pilot.press("j", "j", "j", "j", "enter")
        await until(pilot, lambda: not screen.trial_list.trials.view.plain)
        await until_shown(pilot, "call time, slowest first")
        await until(pilot, lambda: cursor_case(screen) == "case-002")
        assert screen.trial_list.table.cursor == 27
        await pilot.press("home")
        await until(pilot, lambda: cursor_case(screen) == "case-029")


async def test_slash_narrows_by_text_and_escape_takes_it_back(store: Path) -> None:
    plain_run(store, 30)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("slash", *"answer 2")
        await until(pilot, lambda: screen.trial_list.trials.count == 11)
        await pilot.press("enter")
        assert screen.trial_list.table.has_focus
        await until_shown(pilot, "11 of 30 ─ “answer 2” ×")
        await pilot.press("escape")
        await until(pilot, lambda: screen.trial_list.trials.count == 30)
        await pilot.press("slash", *"nothing is so")
        await until(pilot, lambda: screen.trial_list.trials.count == 0)
        await until_shown(pilot, "no match in id, question")
        await pilot.press("escape")
        await until(pilot, lambda: screen.trial_list.trials.count == 30)
        assert screen.trial_list.table.has_focus


async def test_letters_typed_while_finding_do_nothing_else(store: Path) -> None:
    plain_run(store, 5)
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("slash", *"rcq1u")
        await pilot.pause()
        assert screen.is_current
        assert screen.query_one("#find", Input).value == "rcq1u"
        assert sql(store, "SELECT count(*) FROM requests") == [(0,)]


async def test_find_in_the_detail_goes_from_hit_to_hit(store: Path) -> None:
    long = "\n".join("needle" if n in (20, 60) else f"line {n}" for n in range(80))
    by_hand(store, [Case(0, "c", {})], answers=[output(long)])
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "line 0")
        await pilot.press("tab", "slash", *"needle", "enter")
        page = screen.detail.page
        first = [line.strip() for line in page.text.split("\n")].index("needle")
        await until(pilot, lambda: page.scroll_offset.y == first)
        await pilot.press("n")
        await until(pilot, lambda: page.scroll_offset.y == first + 40)
        await pilot.press("N")
        await until(pilot, lambda: page.scroll_offset.y == first)


async def test_a_greyed_key_says_why(store: Path) -> None:
    plain_run(store, 3)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("c")
        await until_shown(pilot, "settled already (done)")
        await pilot.press("C")
        await until_shown(pilot, "nothing to stop")
        assert sql(store, "SELECT count(*) FROM requests") == [(0,)]


async def test_cancelling_what_nobody_works_on_needs_no_engine(store: Path) -> None:
    made = by_hand(
        store,
        [Case(i, f"c{i}", {}) for i in range(3)],
        answers=[None, output("x"), None],
        state=RunState.INTERRUPTED,
    )
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("c")
        await until_shown(pilot, "cancelled: c0", "- cancelled")
        selected = screen.trial_list.selected
        assert selected is not None
        assert selected.id == made.trials[0]
        assert selected.state is TrialState.CANCELLED


async def test_marked_trials_are_acted_on_together_after_a_question(store: Path) -> None:
    by_hand(
        store,
        [Case(i, f"c{i}", {}) for i in range(5)],
        answers=[None] * 5,
        state=RunState.INTERRUPTED,
    )
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("space", "space")
        await until_shown(pilot, "2 marked")
        assert screen.trial_list.table.cursor == 2
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert "Cancel 2 trials?" in text(app)
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is screen)
        assert sql(store, "SELECT count(*) FROM requests") == [(0,)]
        await pilot.press("c")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await pilot.press("enter")
        await until_shown(pilot, "cancelled: 2 trials")
        assert screen.trial_list.marks.count == 0  # they were for that
        await pilot.press("a")
        await until_shown(pilot, "5 marked")
        await pilot.press("escape")
        await until(pilot, lambda: screen.trial_list.marks.count == 0)


async def test_a_live_run_is_shown_as_it_goes_and_steered(store: Path) -> None:
    slow = {"kind": "simulated", "name": "one", "answers": ["{{ a }}"], "latency_s": 0.1}
    run_id = create(store, made_up(2000, targets=[slow]), Settings())
    engine = asyncio.create_task(Engine(store, run_id).run())
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "● running", "of 4 slots")
        await until(pilot, lambda: screen.trial_list.selected is not None)
        await pilot.press("plus")
        await until_shown(pilot, "of 5 slots")
        await pilot.press("end", "c")
        await until(
            pilot,
            lambda: (
                screen.trial_list.selected is not None
                and screen.trial_list.selected.state is TrialState.CANCELLED
            ),
        )
        assert cursor_case(screen) == "sum-1999"
        await pilot.press("p")
        await until_shown(pilot, "‖ paused", "u resume")
        assert lines(app)[-1].count("resume") == 1  # `p` does the same
        await pilot.press("p")
        await until_shown(pilot, "● running")
        await pilot.press("C")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        assert "Stop the run?" in text(app)
        await pilot.press("enter")
        await until_shown(pilot, "○ interrupted")
        await asyncio.wait_for(engine, 20)
        assert cursor_case(screen) == "sum-1999"


async def test_rows_that_change_leave_cursor_and_scroll_alone(store: Path) -> None:
    suite = made_up(
        60,
        targets=[{"kind": "simulated", "name": "one", "answers": ["{{ a }}"], "latency_s": 0.02}],
    )
    run_id = create(store, suite, Settings())
    async with shown_on(app_on(store, run="last")) as pilot:
        engine = asyncio.create_task(Engine(store, run_id).run())
        screen = await run_screen(pilot)
        await until(pilot, lambda: screen.trial_list.table.count == 60)
        await pilot.press("pagedown", "pagedown", "k")
        at, top = screen.trial_list.table.cursor, screen.trial_list.table.scroll_offset.y
        await until_shown(pilot, "60/60", "○ done")
        await engine
        assert (screen.trial_list.table.cursor, screen.trial_list.table.scroll_offset.y) == (
            at,
            top,
        )
        await until(pilot, lambda: all("✓ pass" in row for row in row_texts(screen)))


async def test_a_retry_starts_an_engine_where_there_is_none(store: Path) -> None:
    suite = made_up(3, targets=[{"kind": "simulated", "name": "one", "answers": ["{{ a }}"]}])
    await finished(store, suite)
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("r")
        await until_shown(pilot, "Retry sum-000?", "which cannot be undone")
        await pilot.press("enter")
        await until(
            pilot,
            lambda: (
                screen.trial_list.selected is not None
                and screen.trial_list.selected.attempts == 2
                and screen.trial_list.selected.state is TrialState.DONE
            ),
        )
        await until_shown(pilot, "○ done", "on its way again: sum-000")
        await pilot.press("S")
        await until(pilot, lambda: isinstance(pilot.app.screen, ConfirmDialog))
        assert "Score everything again: 3 trials?" in text(pilot.app)  # type: ignore[arg-type]
        await pilot.press("enter")
        await until(pilot, lambda: sql(store, "SELECT count(*) FROM scores") == [(7,)])


async def test_what_cannot_be_asked_is_said_and_the_app_goes_on(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_run(store, 3)

    def full(*_: object) -> int:
        raise StoreFullError(store)

    monkeypatch.setattr(submit, "ask", full)
    async with shown_on(app_on(store, run="last"), (120, 30)) as pilot:
        await run_screen(pilot)
        await pilot.press("s")
        await until_shown(pilot, "not done:", "make room")
        await pilot.press("j")


async def test_copying_offers_what_there_is(store: Path) -> None:
    suite = made_up(
        2,
        targets=[
            {
                "name": "somewhere",
                "base_url": "http://127.0.0.1:9/v1",
                "model": "some-model",
                "params": {"temperature": 0},
            }
        ],
        run={"concurrency": 2, "retries": 0},
    )
    await finished(store, suite)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "connection")
        for downs, copied in ((0, "What is 0 + 1?"), (2, "sum-000")):
            await pilot.press("y")
            await until(pilot, lambda: isinstance(app.screen, Menu))
            await pilot.press(*["j"] * downs, "enter")
            await until(pilot, partial(_has_copied, app, copied))
        await pilot.press("y")
        await until(pilot, lambda: isinstance(app.screen, Menu))
        await pilot.press("end", "enter")
        await until(pilot, lambda: app.clipboard.startswith("curl"))
        assert "http://127.0.0.1:9/v1/chat/completions" in app.clipboard
        assert '"temperature": 0' in app.clipboard
        assert '"content": "What is 0 + 1?"' in app.clipboard


async def test_messages_are_rendered_out_of_the_frozen_suite(store: Path) -> None:
    await finished(store, made_up(3))
    async with shown_on(app_on(store, run="last"), (120, 30)) as pilot:
        screen = await run_screen(pilot)
        screen.detail.action_open_tab("Messages")
        await until_shown(pilot, "user", "What is 0 + 1?", "assistant")


async def test_epochs_and_several_targets_get_their_columns(store: Path) -> None:
    targets = [
        {"kind": "simulated", "name": name, "answers": ["{{ a }}"]} for name in ("one", "two")
    ]
    await finished(store, made_up(2, targets=targets), Settings(epochs=2))
    app = app_on(store, run="last")
    async with shown_on(app, (120, 30)) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "target", "ep", "two")


async def test_escape_leads_back_to_the_runs(store: Path) -> None:
    plain_run(store, 2)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await until_shown(pilot, "by-hand-")


async def test_a_table_of_many_reads_a_few(store: Path) -> None:
    plain_run(store, 3000)
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        assert len(screen.trial_list.trials._rows) <= 200
        await pilot.press("end")
        await until(pilot, lambda: cursor_case(screen) == "case-2999")
        assert len(screen.trial_list.trials._rows) <= 400


async def test_a_run_that_is_taken_back_closes_its_screen(store: Path) -> None:
    run_id = create(store, made_up(2), Settings())
    plain_run(store, 1)
    app = app_on(store, run="sums")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        sql_write(store, run_id)
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await until_shown(pilot, "could not start")


@pytest.mark.parametrize("over", ["question_mark", "1"])
async def test_a_run_that_is_deleted_closes_its_screen_once_it_is_seen(
    store: Path, over: str
) -> None:
    gone = plain_run(store, 3).run
    plain_run(store, 1)
    app = app_on(store)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "No suite here")
        app.post_message(OpenRun(gone))
        screen = await run_screen(pilot)
        await pilot.press(over)
        await until(pilot, lambda: app.screen is not screen and screen.run.snapshot is not None)
        covering = app.screen
        await until(pilot, lambda: covering.is_mounted)
        delete(store, gone)
        screen.monitor.wake()
        await until_shown(pilot, "The run was deleted.")
        reading = ("_follow_run", "_count", "_rate")
        await until(pilot, lambda: not any(one.name in reading for one in app.workers))
        assert "The run was deleted." in text(app)  # and nothing else is said of it
        assert app.screen is covering
        if over == "question_mark":
            await pilot.press("escape")
        else:
            await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await pilot.pause()
        assert app.return_code is None


def _has_copied(app: TuiEvalApp, copied: str) -> bool:
    return app.clipboard == copied


def sql_write(store: Path, run_id: int) -> None:
    from tests.support import do, writing
    from tui_eval.store.write import run_writes

    with writing(store) as db:
        do(db, lambda tx: run_writes.forget(tx, run_id))


async def test_the_list_is_accented_however_late_a_blur_arrives(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hidden field to find a text in never has the focus; what it lost late, the list keeps."""
    focused: list[Widget | None] = []
    set_focus = Screen.set_focus

    def noted(screen: Screen[None], widget: Widget | None, *args: bool, **kwargs: bool) -> None:
        focused.append(widget)
        set_focus(screen, widget, *args, **kwargs)

    monkeypatch.setattr(Screen, "set_focus", noted)
    plain_run(store, 3)
    async with shown_on(app_on(store, run="last")) as pilot:
        listed = (await run_screen(pilot)).trial_list
        assert listed.field not in focused
        line = listed.query_one("#filter", Bar)
        assert line.frame_tone == "accent"
        listed.post_message(DescendantBlur(listed.field))
        await pilot.pause()
        assert line.frame_tone == "accent"
        await pilot.press("tab")
        await until(pilot, lambda: line.frame_tone == "dim")


async def test_the_detail_says_that_it_has_the_focus(store: Path) -> None:
    plain_run(store, 3)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "─ case-000 ─ Result")
        await pilot.press("tab")
        await until_shown(pilot, "▸ case-000 ─ Result")
        await pilot.press("tab")
        await until_shown(pilot, "─ case-000 ─ Result")
