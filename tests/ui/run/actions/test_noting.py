"""Notes on trials, marks, and taking them back."""

from pathlib import Path

from textual import events

from tests.ui.playing import (
    app_on,
    cursor_case,
    plain_run,
    row_texts,
    run_screen,
    shown_on,
    sql,
    until,
    until_shown,
)
from tui_eval.reports.exports.csv_table import csv_table
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.jsonl import jsonl
from tui_eval.store.connection import open_readable
from tui_eval.store.read import run_queries


async def test_a_note_is_written_shown_exported_and_taken_back(store: Path) -> None:
    run = plain_run(store, 6)
    async with shown_on(app_on(store, run="last"), (100, 30)) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("t")
        await until_shown(pilot, "note on case-000")
        await pilot.press(*"typo?", "enter")
        await until_shown(pilot, "case-000 ✎", "Note      typo?")
        assert "✎" not in row_texts(screen)[1]
        db = open_readable(store)
        try:
            row = run_queries.run(db, run.run)
            assert '"note":"typo?"' in next(jsonl(db, row, ExportChoice())).replace(": ", ":")
            assert (
                next(iter(list(csv_table(db, row, ExportChoice()))[1].splitlines())).count("typo?")
                == 1
            )
        finally:
            db.close()
        await pilot.press("U")
        await until(pilot, lambda: "✎" not in row_texts(screen)[0])
        assert sql(store, "SELECT text, current FROM notes ORDER BY id") == [("typo?", 0), ("", 0)]


async def test_a_note_on_marked_trials_replaces_theirs_and_gives_each_its_own_back(
    store: Path,
) -> None:
    plain_run(store, 6)
    async with shown_on(app_on(store, run="last"), (100, 30)) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("t", *"mine", "enter")
        await until_shown(pilot, "✎")
        await pilot.press("a", "t")
        await until_shown(pilot, "note on 6 trials", "1 of them has a note")
        await pilot.press(*"all", "enter")
        await until(pilot, lambda: all("✎" in row for row in row_texts(screen)))
        await pilot.press("U")
        await until(pilot, lambda: sum("✎" in row for row in row_texts(screen)) == 1)
        assert screen.trial_list.selected is not None
        await until(
            pilot,
            lambda: (
                screen.trial_list.selected is not None and screen.trial_list.selected.note == "mine"
            ),
        )


async def test_marks_come_back_and_what_cannot_be_undone_says_so(store: Path) -> None:
    plain_run(store, 6)
    async with shown_on(app_on(store, run="last"), (100, 30)) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("U")
        await until_shown(pilot, "nothing was done here that can be")
        await pilot.press("space", "space", "escape")
        assert screen.trial_list.marks.count == 0
        await pilot.press("U")
        assert screen.trial_list.marks.places() == [0, 1]
        await pilot.press("U", "U")
        assert screen.trial_list.marks.places() == []
        assert screen.pane.why_not("undo") is not None


async def test_trials_with_a_note_are_listed_alone(store: Path) -> None:
    plain_run(store, 6)
    async with shown_on(app_on(store, run="last"), (100, 30)) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("j", "j", "t", *"why", "enter")
        await until(pilot, lambda: screen.run.figures is not None and screen.run.figures.noted == 1)
        await pilot.press("f")
        await until_shown(pilot, "has a note")
        await pilot.press("end", "k", "k", "enter")  # the two tags come after it
        await until(pilot, lambda: screen.trial_list.trials.count == 1)
        assert cursor_case(screen) == "case-002"
        await until_shown(pilot, "1 of 6 ─ has a note ×")


async def test_of_a_text_that_is_pasted_no_line_is_lost(store: Path) -> None:
    plain_run(store, 2)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("t", *"see ")
        await until_shown(pilot, "note on case-000")
        app.post_message(events.Paste("\nline  one\r\n\n  line two\n"))
        await until_shown(pilot, "see line  one line two")
        await pilot.press("enter")
        await until(pilot, lambda: sql(store, "SELECT text FROM notes"))
    assert sql(store, "SELECT text FROM notes") == [("see line  one line two",)]
