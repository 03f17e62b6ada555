"""The app as a whole: starting, going about, asking, leaving."""

import asyncio
import importlib
import inspect
import json
import os
import pkgutil
import re
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path

import pytest
from textual import events
from textual.binding import Binding
from textual.worker import WorkerFailed

from tests.ui.making import SLOW
from tests.ui.playing import (
    app_on,
    by_hand,
    lines,
    made_up,
    plain_run,
    run_screen,
    shown_on,
    sql,
    stands_on,
    text,
    until,
    until_shown,
)
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.resources import styles_dir
from tui_eval.store import schema
from tui_eval.store.read import run_queries
from tui_eval.store.rows import RunRow
from tui_eval.ui import dialogs, screens
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.filter_menu import FilterMenu
from tui_eval.ui.dialogs.help_dialog import HelpDialog
from tui_eval.ui.dialogs.menu import Menu
from tui_eval.ui.dialogs.quit_menu import QuitMenu
from tui_eval.ui.navigation import LaunchSuite, OpenRun
from tui_eval.ui.runs.run_list import ListedRun, listed
from tui_eval.ui.screens.launch_screen import LaunchScreen
from tui_eval.ui.screens.run_screen import RunScreen
from tui_eval.ui.screens.runs_screen import RunsScreen
from tui_eval.ui.screens.suites_screen import SuitesScreen
from tui_eval.ui.store_access import run_requests
from tui_eval.ui.store_access import store_client as desk_module
from tui_eval.ui.widgets.form_controls import ChoiceField, FormButton, TickBox
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.rows import Rows

EVERYWHERE = (
    TuiEvalApp,
    SuitesScreen,
    RunsScreen,
    RunScreen,
    LaunchScreen,
    ConfirmDialog,
    Menu,
    HelpDialog,
    Rows,
    Page,
    TickBox,
    ChoiceField,
    FormButton,
)


@pytest.mark.parametrize("place", EVERYWHERE)
def test_every_action_has_an_id_words_and_a_tooltip(place: type) -> None:
    own = place.__dict__.get("BINDINGS", [])
    assert own
    for binding in own:
        assert isinstance(binding, Binding)
        assert binding.id, binding
        assert binding.description, binding
        assert binding.tooltip, binding


def test_every_style_sheet_is_named_like_the_module_of_its_screen() -> None:
    styled: dict[str, str] = {}
    for package in (screens, dialogs):
        for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
            for value in vars(importlib.import_module(info.name)).values():
                sheet = vars(value).get("CSS_PATH") if isinstance(value, type) else None
                if sheet and value.__module__ == info.name:
                    styled[info.name.rpartition(".")[2]] = Path(sheet).stem
    assert {module: sheet for module, sheet in styled.items() if module != sheet} == {}
    assert {file.stem for file in styles_dir().glob("*.tcss")} == {"app", *styled.values()}


@pytest.mark.usefixtures("samples")
async def test_the_first_start_leads_to_a_run_on_the_samples_in_two_keys(store: Path) -> None:
    app = app_on(store)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "▸ arithmetic", "sample", "Case 1 ")
        await pilot.press("enter")
        await until_shown(pilot, "Launch arithmetic", "150 new")
        await pilot.press("enter")
        screen = await run_screen(pilot)
        await until_shown(pilot, "150/150", "○ done", "smollm2-")
        await until(pilot, lambda: re.search(r"\d\d\.\d% .* \d\d\.\d–\d\d\.\d +150", text(app)))
        assert screen.trial_list.table.has_focus


async def test_the_store_is_made_where_there_is_none(tmp_path: Path) -> None:
    store = tmp_path / "deep" / "down" / "store.sqlite3"
    async with shown_on(app_on(store)) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "No runs yet")
    assert store.exists()


async def test_a_damaged_store_is_refused_and_left_alone(tmp_path: Path) -> None:
    store = tmp_path / "store.sqlite3"
    store.write_text("this is no database, but it is long enough to be taken for one" * 20)
    before = store.read_bytes()
    app = app_on(store)
    async with shown_on(app) as pilot:
        await until(pilot, lambda: app.return_code == 2)
    assert store.read_bytes() == before


async def test_an_older_store_is_brought_up_to_date_and_its_copy_named(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_run(store, 1)

    def second(db: sqlite3.Connection) -> None:
        db.execute("CREATE TABLE more (a)")

    monkeypatch.setattr(schema, "MIGRATIONS", (*schema.MIGRATIONS, second))
    app = app_on(store, run="last")
    async with shown_on(app, (120, 30)) as pilot:
        copy = f"{store.name}.schema-{len(schema.MIGRATIONS) - 1}"
        # where its lines break hangs on the length of the folder's name
        await until(pilot, lambda: [told for told in app._notifications if copy in told.message])
        await until_shown(pilot, "brought")
        await run_screen(pilot)
    assert store.with_name(f"{store.name}.schema-{len(schema.MIGRATIONS) - 1}").exists()


async def test_keys_wait_for_a_run_that_is_being_opened_and_nothing_claims_there_is_none(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_run(store, 3)
    go_on, found = threading.Event(), run_queries.run_named

    def slowly(db: sqlite3.Connection, name: str) -> RunRow:
        go_on.wait(20)
        return found(db, name)

    monkeypatch.setattr(run_queries, "run_named", slowly)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        try:
            await until_shown(pilot, "opening last…")
            for key in (
                "j2"
            ):  # of the Run screen; the pilot's own press waits until a key has been dealt with
                app.post_message(events.Key(key, key))
            await pilot.pause(0.1)
            assert "opening last…" in text(app)
        finally:
            go_on.set()
        await until(pilot, lambda: isinstance(app.screen, RunsScreen) and app.screen.table.count)
        assert "No runs" not in text(app)


async def test_runs_that_are_still_being_read_are_not_none(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_run(store, 1)
    go_on, found = threading.Event(), listed

    def slowly(db: sqlite3.Connection, known: Mapping[int, ListedRun]) -> list[ListedRun]:
        go_on.wait(20)
        return found(db, known)

    monkeypatch.setattr("tui_eval.ui.screens.runs_screen.listed", slowly)
    app = app_on(store)
    async with shown_on(app) as pilot:
        try:
            await pilot.press("2", "slash", "x", "escape")
            await until_shown(pilot, "reading…")
            assert "No runs" not in text(app)
        finally:
            go_on.set()
        await until(pilot, lambda: "reading…" not in text(app))


async def test_a_run_nobody_knows_is_refused(store: Path) -> None:
    plain_run(store, 1)
    app = app_on(store, run="nobody")
    async with shown_on(app) as pilot:
        await until(pilot, lambda: app.return_code == 2)


async def test_the_number_keys_go_between_the_first_screens(store: Path) -> None:
    plain_run(store, 2)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("1")
        await until(pilot, lambda: isinstance(app.screen, SuitesScreen))
        await pilot.press("2")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))
        await pilot.press("escape")
        await until_shown(pilot, "this is a first screen; q quits", "▸ by-hand")
        await pilot.press("enter")
        await run_screen(pilot)
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))


async def test_without_a_live_run_q_leaves_at_once(store: Path) -> None:
    plain_run(store, 1)
    app = app_on(store)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "Suites")
        await pilot.press("q")
        await until(pilot, lambda: app._exit)
    assert app.return_code == 0


async def test_leaving_a_live_run_asks_and_leaves_it_running(store: Path) -> None:
    run_id = create(store, made_up(60, targets=[SLOW]), Settings())
    engine = Engine(store, run_id)
    working = asyncio.create_task(engine.run())
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "● running")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, QuitMenu))
        assert "leave it running" in text(app)
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, QuitMenu))
        await pilot.press("enter")
        await until(pilot, lambda: app._exit)
    assert sql(store, "SELECT state FROM runs") == [("running",)]
    await asyncio.wait_for(working, 20)
    assert sql(store, "SELECT state FROM runs") == [("done",)]


async def test_leaving_a_live_run_can_stop_it(store: Path) -> None:
    run_id = create(store, made_up(300, targets=[SLOW]), Settings())
    working = asyncio.create_task(Engine(store, run_id).run())
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "● running")
        await pilot.press("ctrl+q")
        await until(pilot, lambda: isinstance(app.screen, QuitMenu))
        await pilot.press("j", "enter")
        await until(pilot, lambda: app._exit)
    await asyncio.wait_for(working, 20)
    assert sql(store, "SELECT state FROM runs") == [("interrupted",)]


async def test_help_lists_the_keys_of_the_screen(store: Path) -> None:
    plain_run(store, 1)
    app = app_on(store, run="last")
    async with shown_on(app, (100, 90)) as pilot:
        await run_screen(pilot)
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, HelpDialog))
        shown = text(app)
        assert shown.index("Ask again for this trial") < shown.index("The next row")
        assert "Change the colours" not in shown
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))


async def test_the_palette_offers_every_action_that_makes_sense(store: Path) -> None:
    plain_run(store, 3)
    app = app_on(store, run="last")
    async with shown_on(app, (100, 40)) as pilot:
        await run_screen(pilot)
        await pilot.press("ctrl+p")
        await until_shown(pilot, "Search for commands")
        await pilot.press(*"sort")
        await until_shown(pilot, "sort")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, Menu))
        assert "dataset order" in text(app)


async def test_a_theme_is_chosen_in_the_palette_and_remembered(store: Path, tmp_path: Path) -> None:
    app = app_on(store)
    async with shown_on(app) as pilot:
        assert app.theme == "dark"
        await pilot.press("ctrl+p")
        await until_shown(pilot, "Search for commands")
        await pilot.press(*"theme light")
        await until_shown(pilot, "Theme light")
        await pilot.press("enter")
        await until(pilot, lambda: app.theme == "light")
    assert json.loads((tmp_path / "state.json").read_text()) == {"theme": "light"}
    assert app_on(store).theme == "light"


async def test_keys_in_the_last_line_can_be_clicked(store: Path) -> None:
    plain_run(store, 5)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "answer 0", "f filter", "n next")
        last = lines(app)[-1]
        await pilot.click(offset=(last.index("filter"), 23))
        await until(pilot, lambda: isinstance(app.screen, FilterMenu))
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        await pilot.click(offset=(last.index("next"), 23))
        await until(pilot, lambda: stands_on(app.screen, "case-003"))


async def test_a_greyed_key_in_the_last_line_says_why_when_it_is_clicked(store: Path) -> None:
    plain_run(store, 5)
    app = app_on(store, run="last")
    async with shown_on(app, (160, 24)) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "c cancel")
        await pilot.click(offset=(lines(app)[-1].index("cancel"), 23))
        await until_shown(pilot, "settled already (done)")
    assert sql(store, "SELECT count(*) FROM requests") == [(0,)]


async def test_a_terminal_without_unicode_gets_ascii_shapes(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "C")
    plain_run(store, 10, failing=(1,))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "v pass", "x fail", "> case-000")
        shown = text(app)
        assert not {"✓", "✗", "▸", "─", "⏎"} & set(shown)


async def test_colours_are_never_the_only_sign(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    plain_run(store, 10, failing=(1,))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "✓ pass", "✗ fail", "▸ case-000")
        svg = app.export_screenshot()
        assert "✗" in svg
        for color in ("#7cc48a", "#ea7b7b"):
            assert color not in svg


@pytest.mark.parametrize("in_a_worker", [False, True])
async def test_a_crash_ends_with_one_line_and_a_log(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], in_a_worker: bool
) -> None:
    app = app_on(store)

    async def broken() -> None:
        raise RuntimeError("a bug [/x]\x1b[2J")

    with pytest.raises((RuntimeError, WorkerFailed)):
        async with shown_on(app) as pilot:
            if in_a_worker:
                app.run_worker(broken())
            else:
                app.call_later(broken)
            await until(pilot, lambda: app._exit or not app.is_running)
    told = capsys.readouterr().err
    assert "tui-eval stopped: RuntimeError: a bug [/x]␛[2J" in told
    assert "\x1b[2J" not in told
    assert "Traceback" not in told
    assert app.crash_log is not None
    assert "in broken" in app.crash_log.read_text()
    assert app.crash_log.is_relative_to(tmp_path)


def test_the_first_picture_loads_nothing_heavy_and_no_store() -> None:
    late = ("openai", "pydantic", "jinja2", "jsonschema", "jsonpath", "httpx", "aiohttp",
            "rapidfuzz",
            "sqlite3", "aiosqlite", "psutil", "tui_eval.ui.screens.run_screen")  # fmt: skip
    program = (
        "import sys, tui_eval.ui.app, tui_eval.ui.screens.suites_screen\n"
        f"print([name for name in {late!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env=os.environ
    )
    assert done.stdout.strip() == "[]"


def test_the_app_closes_its_connections(store: Path) -> None:
    plain_run(store, 2)

    async def look() -> None:
        app = app_on(store, run="last")
        async with shown_on(app) as pilot:
            await run_screen(pilot)
        assert app.context.client.closed

    asyncio.run(look())
    db = sqlite3.connect(store, timeout=1)
    db.execute("BEGIN EXCLUSIVE")
    db.close()


async def test_a_store_that_is_replaced_ends_the_app_before_anything_is_written_to_another(
    store: Path,
) -> None:
    plain_run(store)
    other = store.with_name("other.sqlite3")
    plain_run(other)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await until_shown(pilot, "case-003")
        other.replace(store)
        await pilot.press("t", *"wrong", "enter")
        await until(pilot, lambda: app.return_code is not None)
    assert app.return_code == 2
    assert sql(store, "SELECT count(*) FROM notes") == [(0,)]


async def test_what_waits_for_a_locked_store_is_told_and_quitting_waits_for_it(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain_run(store, 2)
    monkeypatch.setattr(desk_module, "_LATE_S", 0.1)
    other = sqlite3.connect(store, isolation_level=None)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        other.execute("BEGIN IMMEDIATE")
        await pilot.press("t", *"kept", "enter")
        await until_shown(pilot, "not written yet")
        await pilot.press("ctrl+q")
        await until_shown(pilot, "quitting, once it is written")
        assert app.is_running
        other.execute("ROLLBACK")
        await until(pilot, lambda: app._exit)
    other.close()
    assert sql(store, "SELECT text FROM notes") == [("kept",)]


async def test_quitting_waits_for_the_engine_of_what_was_asked(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    by_hand(store, [Case(0, "c0", {})], answers=[None], state=RunState.INTERRUPTED)
    started: list[str] = []
    monkeypatch.setattr(desk_module, "_LATE_S", 0.1)
    monkeypatch.setattr(run_requests, "start_engine", lambda _, name: started.append(name))
    other = sqlite3.connect(store, isolation_level=None)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        other.execute("BEGIN IMMEDIATE")
        await pilot.press("u")
        await until_shown(pilot, "not written yet")
        await pilot.press("ctrl+q")
        await until_shown(pilot, "quitting, once it is written")
        other.execute("ROLLBACK")
        await until(pilot, lambda: app._exit)
    other.close()
    assert len(started) == 1


async def test_a_store_that_is_damaged_under_the_app_is_told_with_what_can_be_done(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plain_run(store, 2)
    app = app_on(store, run="last")
    with pytest.raises((sqlite3.Error, WorkerFailed)):
        async with shown_on(app) as pilot:
            await run_screen(pilot)
            with store.open("r+b") as file:
                size = file.seek(0, os.SEEK_END)
                file.seek(4096)
                file.write(b"\xff" * (size - 4096))
            app.run_worker(app.context.client.survey(_all_of))
            await until(pilot, lambda: app._exit or not app.is_running)
    told = capsys.readouterr().err
    assert "damaged or not a store" in told
    assert "recover" in told


def _all_of(db: sqlite3.Connection) -> object:
    return db.execute("SELECT * FROM trials JOIN outputs ON outputs.id = output").fetchall()


async def test_quitting_while_a_run_is_being_opened_is_no_crash(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The screens go first, then the workers; what happens between the two is played here."""
    made = plain_run(store, 2)
    app = app_on(store)
    async with shown_on(app):
        with monkeypatch.context() as quitting:

            async def quit_meanwhile(_: str) -> None:
                quitting.setitem(app._screen_stacks, app.current_mode, [])

            quitting.setattr(app, "_show", quit_meanwhile)
            # without a worker nothing else has its turn meanwhile
            await inspect.unwrap(TuiEvalApp.on_open_run)(app, OpenRun(made.run))
            await inspect.unwrap(TuiEvalApp.on_launch_suite)(app, LaunchSuite("s.toml"))
