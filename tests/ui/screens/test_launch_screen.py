"""The launch form, filled in by keys."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest
from textual.screen import ModalScreen
from textual.widgets import Input

from tests.ui.making import write_suite
from tests.ui.playing import (
    app_on,
    run_screen,
    shown_on,
    sql,
    until,
    until_shown,
)
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.settings import Settings
from tui_eval.ui.keys import key_queue
from tui_eval.ui.screens import launch_screen as launch_module
from tui_eval.ui.screens.launch_screen import LaunchScreen
from tui_eval.ui.screens.suites_screen import SuitesScreen
from tui_eval.ui.suites import suite_list
from tui_eval.ui.suites.launch_form import launch
from tui_eval.ui.widgets.form_controls import ChoiceField, FormButton, TickBox


async def test_launch_narrows_what_is_run(store: Path, tmp_path: Path) -> None:
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("n")
        await until_shown(pilot, "4 trials: 0 reusable")
        launch = app.screen
        assert isinstance(launch, LaunchScreen)
        assert launch.query_one(FormButton).has_focus
        launch.query_one("#form").query(TickBox)[1].focus()
        await pilot.press("space")
        launch.query_one("#epochs", Input).focus()
        await pilot.press(*"3")
        launch.query_one("#tags", Input).focus()
        await pilot.press(*"easy")
        await until_shown(pilot, "3 trials (partial): 0 reusable")
        await pilot.press("enter")
        await run_screen(pilot)
        await until_shown(pilot, "3/3", "○ done", "partial")
    settings = json.loads(sql(store, "SELECT settings FROM runs")[0][0])
    assert settings == {"targets": ["one"], "tags": ["easy"], "epochs": 3}


async def test_a_launch_names_what_its_run_is_compared_with(store: Path, tmp_path: Path) -> None:
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("n")
        await until_shown(pilot, "4 trials: 0 reusable")
        await pilot.press("enter")
        await until_shown(pilot, "4/4", "○ done")
        ((name,),) = sql(store, "SELECT name FROM runs")
        await pilot.press("1")
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("n")
        await until_shown(pilot, "4 trials: 4 reusable")
        await pilot.press("b", *"nothing")
        await until_shown(pilot, "baseline: no run is called 'nothing'")
        app.screen.query_one("#baseline", Input).value = name
        await until_shown(pilot, f"compared with {name}")
        await pilot.press("enter")
        await until(pilot, lambda: sql(store, "SELECT name FROM run_bases") == [(name,)])


async def test_launch_takes_a_name_caps_and_what_went_wrong_last_time(
    store: Path, tmp_path: Path
) -> None:
    file = write_suite(tmp_path)
    file.write_text(file.read_text().replace("accuracy = 0.5", "accuracy = 0.0"))
    entry = suite_list.read(file, False)
    assert entry.suite is not None
    await Engine(store, create(store, entry.suite, Settings())).run()
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("enter")
        await until_shown(pilot, "4 trials: 4 reusable")
        launch = app.screen
        launch.query_one("#only", ChoiceField).focus()
        await pilot.press("space")
        await until_shown(pilot, "(failed)")
        for field, typed in (("label", "again!"), ("concurrency", "auto"), ("max-tokens", "900")):
            launch.query_one(f"#{field}", Input).focus()
            await pilot.press(*typed)
        launch.query_one("#cache", TickBox).focus()
        await pilot.press("space")
        await until_shown(pilot, "4 trials (partial): 4 asked again · 0 stale · 0 new")
        await pilot.press("enter")
        await run_screen(pilot)
    label, settings = sql(store, "SELECT label, settings FROM runs WHERE id = 2")[0]
    assert label == "again!"
    assert json.loads(settings) == {
        "only": "failed", "concurrency": "auto", "max_tokens": 900, "fresh": True,
    }  # fmt: skip


async def test_a_missing_key_is_told_whole_on_a_small_screen(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    file = write_suite(tmp_path)
    simulated = 'kind = "simulated"\nname = "one"\nanswers = ["{{ a }}"]\nlatency_s = 0.0'
    asked = 'provider = "openai"\nmodel = "gpt-5-mini"'
    file.write_text(file.read_text().replace(simulated, asked))
    app = app_on(store, tmp_path)
    async with shown_on(app, (60, 20)) as pilot:
        await until_shown(pilot, "not ready")
        await pilot.press("enter")
        await until_shown(pilot, "OPENAI_API_KEY is not set", "export OPENAI_API_KEY=…", "Start")
        launch = app.screen
        await pilot.press("enter")
        await until_shown(pilot, "not started")
        assert app.screen is launch
        await pilot.press(*["up"] * 14)
        await until_shown(pilot, "[x] gpt-5-mini")
    assert sql(store, "SELECT count(*) FROM runs") == [(0,)]


async def test_launch_refuses_what_makes_no_sense(store: Path, tmp_path: Path) -> None:
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app, (60, 20)) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("n")
        await until_shown(pilot, "4 trials", "Start")
        launch = app.screen
        launch.query_one("#limit", Input).focus()
        await pilot.press(*"0", "enter")
        await until_shown(pilot, "limit must be a whole number")
        assert app.screen is launch
        launch.query_one("#limit", Input).value = ""
        launch.query_one("#cases", Input).value = "nobody"
        await until_shown(pilot, "no case is called 'nobody'")
        await pilot.press("enter")
        await pilot.pause()
        assert app.screen is launch
        await pilot.press("escape")
        assert launch.query_one(FormButton).has_focus, "the first leaves the field"
        await pilot.press("escape")
        await until(pilot, lambda: isinstance(app.screen, SuitesScreen))
    assert sql(store, "SELECT count(*) FROM runs") == [(0,)]


async def test_a_form_whose_run_is_being_made_starts_it_wherever_the_person_goes(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on, made = threading.Event(), threading.Event()

    def slowly(*args: Any) -> int:
        assert go_on.wait(20)
        try:
            return launch(*args)
        finally:
            made.set()

    monkeypatch.setattr(launch_module, "launch", slowly)
    monkeypatch.setattr(key_queue, "_HELD_S", 0.1)  # a store that is locked for long
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("n")
        await until_shown(pilot, "4 trials", "Start")
        await pilot.press("enter", "escape")
        await until_shown(pilot, "the run is being started")
        app.run_worker(app.action_suites())  # as from the palette
        await until(pilot, lambda: isinstance(app.screen, SuitesScreen))
        go_on.set()
        await until(pilot, made.is_set)
        await pilot.press("2")
        await until_shown(pilot, "Runs  1", "my-sums")
    assert sql(store, "SELECT count(*) FROM runs") == [(1,)]


async def test_a_form_that_is_covered_as_its_run_is_made_goes_once_it_is_not(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    go_on = threading.Event()

    def slowly(*args: Any) -> int:
        assert go_on.wait(20)
        return launch(*args)

    monkeypatch.setattr(launch_module, "launch", slowly)
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("n")
        await until_shown(pilot, "4 trials", "Start")
        await pilot.press("enter")
        await until(pilot, lambda: app.context.client.writing)
        box = ModalScreen[None]()  # as the question of somebody who quits
        await app.push_screen(box)
        go_on.set()
        await until(pilot, lambda: not app.context.client.writing)
        box.dismiss()
        await run_screen(pilot)


async def test_a_letter_leads_to_its_field_and_nothing_changes_its_size(
    store: Path, tmp_path: Path
) -> None:
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("enter")
        await until_shown(pilot, "Start")
        launch = app.screen
        box = launch.query_one(".box").region
        await pilot.press("l", "1", "escape", "u", "a", *"quick", "escape")
        assert not launch.query_one("#cache", TickBox).ticked
        await until_shown(pilot, "2 trials (partial): 0 reusable")
        await pilot.press("r", *"temperature=0", "escape")
        await until_shown(pilot, "takes no parameters: untick it")
        assert launch.query_one(".box").region == box
        await pilot.press("r", "ctrl+u", "enter")
        await run_screen(pilot)
    label, settings = sql(store, "SELECT label, settings FROM runs")[0]
    assert (label, json.loads(settings)) == ("quick", {"limit": 1, "fresh": True})


async def test_no_field_is_out_of_view_beside_lines_that_say_nothing(
    store: Path, tmp_path: Path
) -> None:
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app, (60, 20)) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("n")
        await until_shown(pilot, "4 trials", "use cache", "t targets", "a name")
        launch = app.screen
        assert isinstance(launch, LaunchScreen)
        launch.query_one("#cases", Input).value = "nobody"
        await until_shown(pilot, "no case is called 'nobody'", "there are first,")


async def test_letters_lead_out_of_a_number_and_nothing_is_lost(
    store: Path, tmp_path: Path
) -> None:
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("enter")
        await until_shown(pilot, "Start")
        await pilot.press("l", "1", "p", "3", "r", *"seed=1")
        values = {field.id: field.value for field in app.screen.query(Input)}
        assert (values["limit"], values["epochs"], values["parameters"]) == ("1", "3", "seed=1")


async def test_start_is_greyed_while_nothing_can_be_started(store: Path, tmp_path: Path) -> None:
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums", "Case 1")
        await pilot.press("enter")
        await until_shown(pilot, "4 trials")
        start = app.screen.query_one(FormButton)
        assert not start.has_class("-unavailable")
        await pilot.press("c", *"nobody")
        await until_shown(pilot, "no case is called 'nobody'")
        assert start.has_class("-unavailable")
        await pilot.press("ctrl+u")
        await until(pilot, lambda: not start.has_class("-unavailable"))
