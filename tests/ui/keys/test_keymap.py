"""Keys of a person's own."""

import re
import runpy
from pathlib import Path

import pytest

from tests.ui.playing import (
    app_on,
    lines,
    plain_run,
    run_screen,
    shown_on,
    until_shown,
    write_config,
)
from tui_eval.suites.config import configuration
from tui_eval.suites.config.config_writing import change
from tui_eval.ui.keys.keyboard import keyboard
from tui_eval.ui.keys.keymap import checked, key_named
from tui_eval.ui.settings.preferences import preferences
from tui_eval.ui.widgets.keyline import KeyLine


def told(config_file: Path, text: str) -> list[str]:
    write_config(config_file, text)
    found = preferences(configuration.read(), None, keyboard)
    return [str(mistake).replace(str(config_file), "config.toml") for mistake in found.mistakes]


@pytest.mark.parametrize(
    ("written", "called"),
    [
        ("x", "x"),
        ("X", "X"),
        ("shift+x", "X"),
        ("?", "question_mark"),
        (",", "comma"),
        ("+", "plus"),
        ("ctrl++", "ctrl+plus"),
        ("Ctrl+X", "ctrl+X"),
        ("shift+ctrl+f5", "ctrl+shift+f5"),
        ("Esc", "escape"),
        ("ctrl+i", "tab"),
        ("ctrl+[", "escape"),
        ("slash", "slash"),
        ("hello", None),
        ("cmd+x", None),
        ("ctrl+", None),
        ("", None),
    ],
)
def test_keys_are_called_as_people_call_them(written: str, called: str | None) -> None:
    assert key_named(written) == called


def test_two_actions_may_change_places() -> None:
    kept, problems = checked(keyboard(), {"run.retry": ["c"], "run.cancel": ["r"]})
    assert (kept, problems) == ({"run.retry": ("c",), "run.cancel": ("r",)}, [])


def test_what_quits_and_goes_back_cannot_be_lost() -> None:
    kept, problems = checked(keyboard(), {"quit": ["f10"], "back": ["f9"], "modal.no": ["f8"]})
    assert not problems
    assert kept["quit"] == ("f10", "ctrl+q")
    assert kept["back"] == ("f9", "escape")
    assert kept["modal.no"] == ("f8", "escape")


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ('"run.rety" = "x"', 'keymap.run.rety: no action has this id; did you mean "run.retry"?'),
        (
            'run.retry = "entr"',
            "keymap.run.retry: no key is called 'entr'; did you mean \"enter\"?",
        ),
        ('run.retry = "ctrl+q"', "keymap.run.retry: ctrl+q always quits; choose another key"),
        ('run.retry = "c"', "keymap.run.retry: c is the key of run.cancel too, on the Run screen;"),
        ('run.retry = "j"', "keymap.run.retry: j is the key of "),
        ('run.retry = "2"', "keymap.run.retry: 2 is the key of runs too, on the Run screen;"),
        ('table.down = "n"', "keymap.table.down: n is the key of "),
    ],
)
def test_a_mistake_is_told_and_the_action_keeps_its_key(
    config_file: Path, line: str, expected: str
) -> None:
    found = told(config_file, f'[keymap]\nruns.export = "f8"\n{line}\n')
    assert all(one.startswith("config.toml, line 3: ") for one in found), found
    assert expected in found[0]
    assert preferences(configuration.read(), None, keyboard).keymap == {"runs.export": ("f8",)}


def test_keys_that_clash_with_what_another_falls_back_to_are_found_too() -> None:
    # `retry` cannot have `n`, so it stays on `r`, which `cancel` then cannot have
    kept, problems = checked(keyboard(), {"run.retry": ["n"], "run.cancel": ["r"]})
    assert not kept
    assert {problem.id for problem in problems} == {"run.retry", "run.cancel"}


def test_no_two_actions_of_a_screen_share_a_key_unmeant() -> None:
    for name, action in keyboard().actions.items():
        kept, problems = checked(keyboard(), {name: action.keys})
        assert (list(kept), problems) == ([name], []), name


async def test_the_keys_that_were_chosen_act_and_stand_everywhere(
    config_file: Path, tmp_path: Path
) -> None:
    write_config(config_file, '[keymap]\nrun.filter = "f7"\nhelp = "f1"\nrun.next = ["ctrl+n"]\n')
    store = tmp_path / "s.sqlite3"
    plain_run(store, failing=(3,))
    app = app_on(store, run="last")
    async with shown_on(app, (160, 40)) as pilot:
        screen = await run_screen(pilot)
        line = screen.query_one(KeyLine).text
        assert "^n next  f7 filter" in line  # where they have always stood
        assert "f1 more" in line
        await pilot.press("ctrl+n")
        assert screen.trial_list.table.cursor == 3
        await pilot.press("n")
        assert screen.trial_list.table.cursor == 3
        await pilot.press("f1")
        await until_shown(pilot, "List some of the trials")
        (told,) = [one for one in lines(app) if "List some of the trials" in one]
        assert told.partition("List some")[0].split()[-1] == "f7"
        await pilot.press("escape", "ctrl+p")
        await until_shown(pilot, "with counts               f7")


async def test_the_app_starts_and_tells_what_is_wrong(config_file: Path, tmp_path: Path) -> None:
    write_config(config_file, 'theme = "drk"\n[keymap]\nrun.retry = "c"\nruns.export = "f8"\n')
    app = app_on(tmp_path / "s.sqlite3")
    async with shown_on(app, (100, 40)) as pilot:
        await until_shown(
            pilot, "config.toml, line 1: theme", "config.toml, line 3: keymap.run.retry"
        )
        await pilot.press("2")
        await until_shown(pilot, "f8 export")


def test_every_action_is_documented_with_its_keys() -> None:
    script = runpy.run_path(str(Path(__file__).parents[3] / "docs" / "keys.py"))
    shown = script["PAGE"].read_text().partition(script["HEAD"])[2]
    assert shown == script["table"](), "say `python docs/keys.py`"


def test_sentences_name_keys_that_there_are() -> None:
    named = re.compile(r"""\bkey\((['"])([a-z.-]+)\1, (['"])(.+?)\3\)""")
    found = {
        (match[2], match[4])
        for file in (Path(__file__).parents[3] / "tui_eval" / "ui").rglob("*.py")
        for match in named.finditer(file.read_text())
        if file.name != "shown_keys.py"
    }
    assert len(found) > 8
    assert not [
        (name, usual) for name, usual in found if usual not in keyboard().actions[name].keys
    ]


async def test_sentences_name_the_keys_that_were_chosen(config_file: Path, tmp_path: Path) -> None:
    write_config(config_file, '[keymap]\nleave = "f9"\nsuites = "f8"\n')
    app = app_on(tmp_path / "s.sqlite3")
    async with shown_on(app) as pilot:
        await pilot.press("2")
        await until_shown(pilot, "f8 shows the suites; there enter launches one")
        await pilot.press("escape")
        await until_shown(pilot, "this is a first screen; f9 quits")


def test_what_the_page_and_the_first_file_show_can_be_used(config_file: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "reference" / "configuration.md").read_text()
    assert told(config_file, page.split("```ini\n")[1].split("```")[0]) == []
    config_file.unlink()
    change(config_file, ("theme",), "light")
    lines = config_file.read_text().splitlines()
    said = [line.removeprefix("# ") if " = " in line else line for line in lines]
    assert told(config_file, "\n".join(said)) == []


async def test_the_help_has_room_for_all_its_words(tmp_path: Path) -> None:
    plain_run(tmp_path / "s.sqlite3", 2)
    app = app_on(tmp_path / "s.sqlite3", run="last")
    longest = max((action.words for action in keyboard().actions.values()), key=len)
    assert longest == keyboard().actions["run.follow"].words
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("question_mark", "slash", *longest[:8].lower())
        await until_shown(pilot, longest)
