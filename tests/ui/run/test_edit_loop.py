"""The edit loop: a suite is edited while its run is open."""

from dataclasses import replace
from pathlib import Path

from tests.ui.playing import (
    app_on,
    cursor_case,
    lines,
    run_screen,
    shown_on,
    sql,
    until,
    until_shown,
)
from tui_eval.engine.engine import Engine
from tui_eval.engine.launch.create_run import create
from tui_eval.engine.settings import Settings
from tui_eval.suites.loading.suite_file import load
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.menu import Menu
from tui_eval.ui.dialogs.would_change import WouldChange
from tui_eval.ui.run.edit_loop.edit_line import wordings
from tui_eval.ui.run.edit_loop.scorer_edits import TriedEdits

SUITE = """name = "sums"
[[cases]]
id = "a"
q = "1"
[[cases]]
id = "b"
q = "2"
[[cases]]
id = "c"
q = "3"
[prompt]
user = "{{ q }}"
[[targets]]
kind = "simulated"
name = "one"
answers = ["{{ q }}"]
[[scorers]]
kind = "exact"
expected = "{{ q }}"
"""
EDITED = SUITE.replace('expected = "{{ q }}"', 'expected = "2"')


JUDGED = """
[[judges]]
kind = "simulated"
name = "j"

[[scorers]]
kind = "judge"
name = "polite"
rubric = "Is it polite?"
scale = "pass-fail"

"""


async def edited_run(store: Path, tmp_path: Path, epochs: int = 1) -> Path:
    """Run a suite that stands in a file; give the file."""
    file = tmp_path / "suite" / "sums.toml"
    file.parent.mkdir()
    await Engine(store, written(store, file, epochs)).run()
    return file


def written(store: Path, file: Path, epochs: int = 1) -> int:
    """Write the suite, and a run of it; give the run's id."""
    file.write_text(SUITE)
    return create(store, load(file), Settings(epochs=epochs), path=str(file))


async def test_what_edited_scorers_would_change_is_said_shown_and_applied(
    store: Path, tmp_path: Path
) -> None:
    file = await edited_run(store, tmp_path)
    app = app_on(store, run="last")
    async with shown_on(app, (120, 30)) as pilot:
        screen = await run_screen(pilot)
        assert screen.why_not("would_change") is not None
        file.write_text(EDITED)
        said = "exact changed: 3 outputs, 0 target calls, 0 judge calls, 2 ✓→✗, 100.0% → 33.3%"
        await until_shown(pilot, said)
        assert sql(store, "SELECT count(*) FROM scores") == [(3,)]
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, WouldChange))
        await until_shown(pilot, "✓ pass", "✗ fail", "exact: ", "2 would change: ", "→ 33.3%")
        await pilot.press("j", "enter")
        await until(pilot, lambda: app.screen is screen and cursor_case(screen) == "c")
        await pilot.press("d", "S")  # from the list as well
        await until(pilot, lambda: isinstance(app.screen, Menu))
        await pilot.press("enter")
        await until(pilot, lambda: isinstance(app.screen, ConfirmDialog))
        await until_shown(pilot, "No judge is asked; no target is asked")
        await pilot.press("enter")
        await until(pilot, lambda: sql(store, "SELECT count(*) FROM scores") == [(6,)])
        await until(pilot, lambda: not screen.edits.tried.worth_saying)
        await until_shown(pilot, "✓ 1", "✗ 2")


async def test_of_cases_asked_several_times_each_verdict_says_which_it_is(
    store: Path, tmp_path: Path
) -> None:
    file = await edited_run(store, tmp_path, epochs=2)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        file.write_text(EDITED)
        await until_shown(pilot, "4 ✓→✗, 100.0% → 33.3%")
        await pilot.press("d")
        await until_shown(pilot, "4 would change", " ep ")
        shown = [line.removeprefix("▸").split()[:2] for line in lines(app) if "✓ pass" in line]
        assert shown == [["a", "1"], ["a", "2"], ["c", "1"], ["c", "2"]]


async def test_what_only_judges_can_say_is_told_as_unknown(store: Path, tmp_path: Path) -> None:
    file = await edited_run(store, tmp_path)
    app = app_on(store, run="last")
    async with shown_on(app, (120, 30)) as pilot:
        screen = await run_screen(pilot)
        file.write_text(SUITE.replace("[[scorers]]", JUDGED + "[[scorers]]", 1))
        await until_shown(pilot, "verdicts unknown until judged")
        assert screen.why_not("would_change") == (
            "3 verdicts unknown until judged: S runs the judges"
        )


async def test_a_mistake_in_the_file_is_said_with_its_line_until_it_is_mended(
    store: Path, tmp_path: Path
) -> None:
    file = await edited_run(store, tmp_path)
    async with shown_on(app_on(store, run="last"), (120, 30)) as pilot:
        screen = await run_screen(pilot)
        file.write_text(SUITE.replace('kind = "exact"', 'kind = "exactly"'))
        await until_shown(pilot, "sums.toml:18: ", "e edits")
        assert screen.edits.tried.line == 18
        file.write_text(SUITE.replace('expected = "{{ q }}"', 'expected = "{{ gone }}"'))
        await until_shown(pilot, "sums.toml:19: ", "gone")
        file.write_text(SUITE)
        await until(pilot, lambda: not screen.edits.tried.worth_saying)
        assert "sums.toml" not in screen.edits.text


async def test_an_edit_while_another_is_being_tried_counts_alone(
    store: Path, tmp_path: Path
) -> None:
    file = await edited_run(store, tmp_path)
    async with shown_on(app_on(store, run="last"), (120, 30)) as pilot:
        screen = await run_screen(pilot)
        file.write_text(EDITED)
        await until(pilot, lambda: any(one.group == "tryout" for one in pilot.app.workers))
        file.write_text(SUITE.replace('expected = "{{ q }}"', 'expected = "3"'))
        await until(pilot, lambda: [flip.case_id for flip in screen.edits.flips] == ["a", "b"])
        await until(pilot, lambda: screen.edits.tried.ended)
        assert screen.edits.tried.flips == 2


def test_where_there_is_little_room_what_would_change_stays() -> None:
    said = TriedEdits(("scorer exact changed",), outputs=893, flips=12, ended=True)
    would = "12 verdicts would change"
    assert list(wordings(said)) == [
        f"scorer exact changed: 893 outputs, 0 target calls, 0 judge calls, {would}",
        "scorer exact changed: 12 verdicts would change",
        "12 verdicts would change",
    ]
    half = replace(
        said, judged=5, judge_calls=2, broken=2, problem="cannot be scored: x", ended=False
    )
    unknown = TriedEdits(("judge changed",), outputs=8, judged=8, judge_calls=2, ended=True)
    assert list(wordings(unknown))[1] == (
        "judge changed: about 2 judge calls, verdicts unknown until judged"
    )
    assert next(iter(wordings(half))) == (
        "scorer exact changed: 893 outputs, 0 target calls, about 2 judge calls, "
        "12 verdicts would change so far, 5 verdicts unknown until judged; "
        "2 outputs cannot be scored: x"
    )
