"""The Suites screen: what is listed, found, read again and edited."""

import os
import re
from pathlib import Path

import pytest

from tests.ui.making import SUITE, write_suite
from tests.ui.playing import (
    app_on,
    shown_on,
    sql,
    text,
    until,
    until_shown,
)
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.settings import Settings
from tui_eval.ui.screens import suites_screen as suites_module
from tui_eval.ui.screens.suites_screen import SuitesScreen
from tui_eval.ui.suites import suite_list


async def test_suites_are_listed_with_a_preview(store: Path, tmp_path: Path) -> None:
    write_suite(tmp_path)
    (tmp_path / "broken.toml").write_text(
        SUITE.format(name="broken", latency=0).replace('kind = "exact"', 'kind = "exactly"')
    )
    app = app_on(store, tmp_path)
    async with shown_on(app, (120, 40)) as pilot:
        await until_shown(pilot, "my-sums", "1 mistake", "1 with mistakes")
        await until_shown(pilot, "broken.toml, line")
        await pilot.press("n")
        await until_shown(pilot, "it has mistakes")
        await pilot.press("j")
        await until_shown(pilot, "2 cases × 2 targets = 4 trials", "case 1/2 first", "1+1?")
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "case 2/2 second", "2+2?")
        await pilot.press("left")
        await until_shown(pilot, "case 1/2 first")


async def test_a_name_no_case_has_is_refused_and_edited_at_its_line(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write_suite(tmp_path)
    file.write_text(file.read_text().replace('expected = "{{ a }}"', 'expected = "{{ b }}"'))
    line = file.read_text().splitlines().index('expected = "{{ b }}"') + 1
    opened: list[tuple[Path, int | None]] = []
    monkeypatch.setattr(suites_module, "edit", lambda _, *where: opened.append(where))
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "▸ my-sums", "1 mistake", f"line {line}: scorers[0].expected")
        await pilot.press("enter")
        await until_shown(pilot, "it has mistakes")
        assert isinstance(app.screen, SuitesScreen)
        await pilot.press("e")
        await until(pilot, lambda: opened)
    assert opened == [(file, line)]


async def test_turning_to_a_case_shows_what_it_asks(store: Path, tmp_path: Path) -> None:
    shots = ", ".join(f'{{ q = "example {n}?", a = "{n}" }}' for n in range(12))
    file = write_suite(tmp_path)
    file.write_text(
        file.read_text().replace(
            "[[targets]]",
            f'[prompt.examples]\nassistant = "{{{{ a }}}}"\nrows = [{shots}]\n[[targets]]',
            1,
        )
    )
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "▸ my-sums", "case 1/2 first", "example 0?")
        assert "1+1?" not in text(app)
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "case 2/2 second", "2+2?")
        await pilot.press("left_square_bracket")
        await until_shown(pilot, "case 1/2 first", "1+1?")


async def test_the_last_full_runs_of_a_suite_stand_beside_it(store: Path, tmp_path: Path) -> None:
    write_suite(tmp_path)
    entry = suite_list.read(tmp_path / "my-sums.toml", False)
    assert entry.suite is not None
    for settings in (Settings(), Settings(), Settings(limit=1)):
        run = create(store, entry.suite, settings)
        await Engine(store, run).run()
    name = sql(store, "SELECT name FROM runs WHERE id = 2")[0][0]
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "▸ my-sums", "last", "trend", "██", f"last full run {name}")
        assert re.search(r"my-sums +2 +2 +100 \d+ +██", text(app))


@pytest.mark.usefixtures("samples")
async def test_a_folder_without_suites_says_what_to_do(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = app_on(store)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "sample", "none of your own here: `tui-eval init` writes one")
    (tmp_path / "empty").mkdir()
    monkeypatch.setattr(suite_list, "samples_dir", lambda: tmp_path / "empty")
    app = app_on(store, tmp_path)
    async with shown_on(app, (60, 20)) as pilot:
        await until_shown(pilot, "No suite here.", "`tui-eval init` writes a first one")


async def test_a_suite_that_changes_on_disk_is_read_again(store: Path, tmp_path: Path) -> None:
    file = write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums", "1+1?")
        file.write_text(file.read_text().replace("1+1?", "7+1?"))
        os.utime(file, (2**32, 2**32))
        await until_shown(pilot, "7+1?")


async def test_suites_are_found_by_name(store: Path, tmp_path: Path) -> None:
    for name in ("my-sums", "arithmetic", "capitals", "dates", "updates"):
        write_suite(tmp_path, name)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums", "arithmetic")
        screen = app.screen
        assert isinstance(screen, SuitesScreen)
        await pilot.press("slash", *"dates")
        await until(pilot, lambda: len(screen.table.entries) == 2)
        await pilot.press("enter")
        assert screen.table.has_focus
        await pilot.press("slash", *"zzz")
        await until_shown(pilot, "No suite is called so")
        await pilot.press("escape")
        await until(pilot, lambda: len(screen.table.entries) > 4)


async def test_the_suite_under_the_cursor_stays_so_when_all_are_read_again(
    store: Path, tmp_path: Path
) -> None:
    names = ("my-sums", "orders", "sorts", "sums")
    for name in names:
        write_suite(tmp_path, name)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        there = len(names)
        await until_shown(pilot, "my-sums", f"Suites  {there}")
        screen = app.screen
        assert isinstance(screen, SuitesScreen)
        await pilot.press("j", "j")
        before = screen.selected
        assert before is not None
        assert before.name != "my-sums"
        await pilot.press("R")

        def read_again() -> bool:
            entries = screen.table.entries
            return len(entries) == there and all(one is not before for one in entries)

        await until(pilot, read_again)
        await until_shown(pilot, f"─ {before.name} ─")
        assert screen.selected is not None
        assert screen.selected.path == before.path


async def test_editing_runs_the_editor_on_the_file(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_suite(tmp_path)
    monkeypatch.setenv("EDITOR", "no-such-editor")
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "my-sums")
        await pilot.press("e")
        await until_shown(pilot, "an editor needs a terminal")


async def test_a_suite_that_is_read_again_while_others_come_loses_none(
    store: Path, tmp_path: Path
) -> None:
    write_suite(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        screen = app.screen
        assert isinstance(screen, SuitesScreen)
        await until(pilot, lambda: screen.table.entries)
        while screen._reading:
            screen._reread(screen.table.entries[0])
            await pilot.pause()
        found = {str(path) for path, _ in suite_list.found([tmp_path])}
        assert {str(entry.path) for entry in screen.table.entries} == found
