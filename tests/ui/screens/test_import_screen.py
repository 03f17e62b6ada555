"""Importing from the Suites screen: the form, the list of what is lost, the suite selected."""

import threading
from pathlib import Path

import pytest
from textual.widgets import Input

from tests.plugins.installed import install, site
from tests.ui.playing import app_on, shown_on, text, until, until_shown
from tui_eval.ui.screens.import_notes_screen import ImportNotesScreen
from tui_eval.ui.screens.import_screen import ImportScreen
from tui_eval.ui.screens.suites_screen import SuitesScreen
from tui_eval.ui.suites import import_form

__all__ = ["site"]

DATA = Path(__file__).parents[2] / "data" / "imports"


async def test_a_file_is_imported_what_is_lost_is_said_and_the_suite_selected(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "No suite here")
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, ImportScreen))
        app.screen.query_one("#file", Input).value = str(DATA / "inspect.json")
        await until_shown(pilot, "(inspect)", "by what stands in it", "inspect.toml")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ImportNotesScreen))
        await until_shown(pilot, "2 cases in inspect.cases.jsonl", "Not carried over", "home_made")
        await pilot.press("enter")
        screen = app.screen
        assert isinstance(screen, SuitesScreen)
        await until(
            pilot,
            lambda: screen.selected and screen.selected.name == "capitals",
        )
        selected = screen.selected
        assert selected is not None
        assert selected.path == tmp_path / "inspect.toml"
        await until_shown(pilot, "2 cases × 1 target × 2 epochs")


async def test_a_suite_is_replaced_only_where_the_person_says_so(
    store: Path, tmp_path: Path
) -> None:
    (tmp_path / "legs.toml").write_text("mine")
    app = app_on(store, tmp_path)
    async with shown_on(app, (60, 20)) as pilot:
        await until_shown(pilot, "No suite here")
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, ImportScreen))
        form = app.screen
        await pilot.press(*"nosuch.csv", "enter")
        await until_shown(pilot, "there is no such file")
        form.query_one("#file", Input).value = str(DATA / "legs.csv")
        await until_shown(pilot, "(csv)")
        await pilot.press("enter")
        await until_shown(pilot, "legs.toml is there already")
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is form)
        assert (tmp_path / "legs.toml").read_text() == "mine"
        await pilot.press("enter")
        await until_shown(pilot, "legs.toml is there already")
        await pilot.press("enter")
        await until_shown(pilot, "Imported legs.toml", "to the suite")
        assert "Imported from legs.csv" in (tmp_path / "legs.toml").read_text()


async def test_what_is_wrong_with_a_file_stands_under_the_form(store: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"question": "a"}\n{"question": [/x]\n')
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "No suite here")
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, ImportScreen))
        app.screen.query_one("#file", Input).value = str(bad)
        await until_shown(pilot, "(jsonl)")
        await pilot.press("enter")
        await until_shown(pilot, "line 2: is not JSON")
        assert "Import another tool's file" in text(app)
    assert [path.name for path in tmp_path.glob("*.toml")] == []  # noqa: ASYNC240 - it is over


def test_an_import_nobody_waits_for_writes_nothing(tmp_path: Path) -> None:
    stopped = threading.Event()
    stopped.set()
    with pytest.raises(import_form.ImportFormError, match="it was stopped"):
        import_form.import_suite(
            DATA / "legs.csv", "csv", tmp_path / "s.toml", stopped, replacing=False
        )
    assert list(tmp_path.iterdir()) == []


def test_a_path_that_was_begun_is_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "b.eval").touch()
    (tmp_path / "logs" / "b.exe").touch()
    assert import_form.completed("lo") == "logs/"
    assert import_form.completed("logs/b") == "logs/b.eval"
    assert import_form.completed("x") is None
    assert import_form.completed("") is None


def test_a_suite_is_proposed_where_the_person_works(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    config = tmp_path / "rivers" / "promptfooconfig.yaml"
    assert import_form.proposed(config, [tmp_path]) == tmp_path / "rivers.toml"
    assert import_form.proposed(Path("a/log.eval"), []) == Path("log.toml")
    for name, proposed in (
        ("samples_gsm8k_cot_2025-01-01T10-00-00.000000.jsonl", "gsm8k_cot.toml"),
        ("2026-01-02T20-11-00-00-00_capitals_Z2fhX2Xndd7iVjBnMZBsWP.eval", "capitals.toml"),
        ("samples_mine.jsonl", "samples_mine.toml"),
    ):
        assert import_form.proposed(Path(name), []) == Path(proposed)
    monkeypatch.chdir(tmp_path)
    assert import_form.proposed(config, [tmp_path]) == Path("rivers.toml")


async def test_homes_that_nobody_has_are_paths_like_others(store: Path, tmp_path: Path) -> None:
    (tmp_path / "strange.toml").write_text(
        'name = "strange"\nprompt = { user = "hi" }\ncases = [{ id = "a" }]\n'
        '[[targets]]\nprovider = "local"\nmodel = "~nobody-has-it/x.gguf"\n'
    )
    app = app_on(store, tmp_path)
    async with shown_on(app) as pilot:
        await until_shown(pilot, "▸ strange", "there is no file")
        await pilot.press("i", *"~nobody-has-it/a", "right")
        await until_shown(pilot, "there is no such file")


async def test_installed_importers_stand_among_the_formats(
    store: Path, tmp_path: Path, site: Path
) -> None:
    reader = """
        def read(path):
            suite = {
                "name": "quiz",
                "prompts": [{"name": "ask", "user": "{{ q }}"}],
                "targets": [{"kind": "simulated", "name": "one", "answers": ["{{ a }}"]}],
                "scorers": [{"kind": "exact", "expected": "{{ a }}"}],
            }
            return {"suite": suite, "cases": [{"id": "x", "q": "1?", "a": "1"}], "lost": []}
    """
    install(site, "acme", "1.0", "importer.quiz = acme_quiz", acme_quiz=reader)
    (tmp_path / "sums.quiz").write_text("1? = 1")
    table = tmp_path / "table.json"
    table.write_text('[{"q": "1?", "a": "1"}]')
    app = app_on(store, tmp_path)
    async with shown_on(app, (60, 20)) as pilot:
        await until_shown(pilot, "No suite here")
        await pilot.press("i")
        await until(pilot, lambda: isinstance(app.screen, ImportScreen))
        form = app.screen
        assert isinstance(form, ImportScreen)
        form.file.value = str(table)
        await until_shown(pilot, "(json)", "by what stands in")
        form.format.focus()
        await pilot.press("left")
        await until_shown(pilot, "(acme.quiz)", "read by acme.quiz, a plugin")
        form.file.value = str(tmp_path / "sums.quiz")
        await until_shown(pilot, "(acme.quiz)", "sums.toml")
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ImportNotesScreen))
        await until_shown(pilot, "1 case in sums.cases.jsonl", "Everything was carried over")
