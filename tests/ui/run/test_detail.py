"""One trial from all sides, by keys: laid out or raw, its history, what is copied of it."""

import json
import sqlite3
from pathlib import Path

from textual.pilot import Pilot

from tests.support import output, reading
from tests.ui.playing import (
    app_on,
    by_hand,
    made_up,
    plain_run,
    run_screen,
    shown_on,
    text,
    until,
    until_shown,
)
from tui_eval.model.case import Case
from tui_eval.store.read.trials import trial_queries
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.dialogs.menu import Menu
from tui_eval.ui.run.detail.comparable import comparable_texts, text_of
from tui_eval.ui.screens.history_screen import HistoryScreen
from tui_eval.ui.screens.run_screen import RunScreen

CASES = [Case(n, f"case-{n}", {"q": "?", "a": "yes"}) for n in range(3)]
SPEC = made_up(1, scorers=[{"kind": "exact", "expected": "{{ a }}"}]).model_dump_json(by_alias=True)


async def test_m_shows_outputs_as_they_came_and_that_holds_from_trial_to_trial(
    store: Path,
) -> None:
    said = [f"# Title {n}\nand **more**" for n in range(3)]
    by_hand(store, CASES, answers=[output(one) for one in said])
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        page = screen.detail.page
        await until(pilot, lambda: "laid out as\n" in page.text)
        await until_shown(pilot, "Title 0")
        assert "**more**" not in text(app)
        await pilot.press("m")
        await until_shown(pilot, "# Title 0", "**more**", "as it")
        await pilot.press("j")
        await until_shown(pilot, "# Title 1", "**more**")
        await pilot.press("m")
        await until_shown(pilot, "Title 1", "and more")


async def test_a_long_output_is_there_at_once_and_whole_on_x(store: Path) -> None:
    long = "\n".join(f"line {n}" for n in range(40_000))
    by_hand(store, CASES, answers=[output(long)] * 3)
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        page = screen.detail.page
        await until(pilot, lambda: f"{len(long):,} characters; x shows all" in page.text)
        assert "line 39999" not in page.text
        await pilot.press("x")
        await until(pilot, lambda: "line 39999" in page.text)
        await pilot.press("tab", "end")
        await until_shown(pilot, "line 39999")


async def test_expected_and_history_are_seen_without_a_key(store: Path) -> None:
    for said in ("yes", "no", "yes"):
        reasons = [None, "expected yes, got no" if said == "no" else None]
        by_hand(store, CASES, answers=[output(said)] * 3, reasons=reasons, spec=SPEC)  # type: ignore[arg-type]
    async with shown_on(app_on(store, run="last")) as pilot:
        await run_screen(pilot)
        await pilot.press("j")
        await until_shown(pilot, "Output    yes", "Expected  yes", "✓ exact", "History   ✓✗✓")


async def test_a_judges_reference_is_what_is_expected_and_compared_with(store: Path) -> None:
    judge = {"kind": "judge", "rubric": "Is it true?", "scale": "pass-fail", "reference": "so"}
    suite = made_up(1, scorers=[judge], judges=[{"name": "judge", "kind": "simulated"}])
    by_hand(store, CASES, answers=[output("no")] * 3, spec=suite.model_dump_json(by_alias=True))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "Reference so")
        await pilot.press("d")
        await until_shown(pilot, "expected", "- so", "+ no")


async def test_what_is_expected_may_name_the_prompt(store: Path) -> None:
    suite = made_up(1, scorers=[{"kind": "includes", "expected": "{{ prompt }}"}])
    by_hand(store, CASES, answers=[output("no")] * 3, spec=suite.model_dump_json(by_alias=True))
    async with shown_on(app_on(store, run="last")) as pilot:
        await run_screen(pilot)
        await until_shown(pilot, "Expected  to contain What is ?")


async def test_h_opens_an_earlier_run_at_the_same_case(store: Path) -> None:
    first = by_hand(store, CASES, answers=[output("earlier")] * 3)
    last = by_hand(store, CASES, answers=[output("later")] * 3)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("j", "j", "h")
        await until(pilot, lambda: isinstance(app.screen, HistoryScreen))
        await until_shown(pilot, "case-2", "2 full runs", "earlier", "later")
        await pilot.press("j", "enter")
        await until(pilot, lambda: _shows(app, first.run, 2))
        await pilot.press("escape")
        await until(pilot, lambda: _shows(app, last.run, 2))


def _shows(app: TuiEvalApp, run: int, place: int) -> bool:
    screen = app.screen
    return (
        isinstance(screen, RunScreen)
        and screen.run.id == run
        and screen.trial_list.selected is not None
        and screen.trial_list.selected.place == place
    )


async def _copied(pilot: Pilot[None], app: TuiEvalApp, label: str) -> str:
    await pilot.press("y")
    await until(pilot, lambda: isinstance(app.screen, Menu))
    assert isinstance(app.screen, Menu)
    labels = [choice.label for choice in app.screen.choices]
    await pilot.press(*["j"] * labels.index(label), "enter")
    await until_shown(pilot, f"{label}: ")
    return app.clipboard


async def test_what_is_copied_does_nothing_where_it_is_pasted(store: Path) -> None:
    nasty = "no\x1b]52;c;eA==\x07\n\x9b31m"
    reasons = ["expected yes\x1b[2J"]
    by_hand(store, CASES, answers=[output(nasty)] * 3, reasons=reasons, spec=SPEC)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        assert await _copied(pilot, app, "reasons") == "exact: fail: expected yes␛[2J"
        assert (await _copied(pilot, app, "output")).startswith("no␛]52")
        diff = await _copied(pilot, app, "diff")
        assert diff.split("\n")[:3] == ["--- expected", "+++ output", "- yes"]
        whole = await _copied(pilot, app, "trial as JSON")
        assert json.loads(whole)["output"] == nasty
        for found in (diff, whole):
            assert not {"\x1b", "\x9b", "\x07"} & set(found)


def test_an_output_is_compared_with_baseline_last_full_run_and_earlier_attempts(
    store: Path,
) -> None:
    runs = [by_hand(store, CASES, answers=[output(f"run {n}")] * 3, spec=SPEC) for n in range(4)]
    trial = runs[3].trials[1]
    db = sqlite3.connect(store)
    db.execute("INSERT INTO baselines VALUES ('by-hand', ?, 0)", (runs[0].run,))
    db.execute("UPDATE runs SET partial = 1 WHERE id = ?", (runs[2].run,))
    db.execute("UPDATE attempts SET number = 2 WHERE trial = ?", (trial,))
    db.execute(
        "INSERT INTO attempts (trial, number, state, sent_at, partial) VALUES (?, 1, 'failed', 0, "
        "'half')",
        (trial,),
    )
    db.commit()
    db.close()
    with reading(store) as db:
        found = trial_queries.whole(db, runs[3].run, trial)
        assert found is not None
        there = comparable_texts(db, runs[3].run, found)
        said = [text_of(db, other) for other in there]
    kinds = [other.name.split()[0] for other in there]
    assert kinds == ["expected", "baseline", "last", "attempt"]
    assert said[1:] == ["run 0", "run 1", "half"]


async def test_a_detail_that_has_left_the_screen_is_not_zoomed(store: Path) -> None:
    plain_run(store, 2)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("enter")
        await until(pilot, lambda: screen.detail.zoomed)
        detail = screen.detail
    assert not detail.zoomed  # what is read for it may still come
