"""Finding trials on the Run screen: filters, order, groups, the newest; by keys and by mouse."""

from functools import partial
from pathlib import Path

from textual.pilot import Pilot

from tests.support import do, output, writing
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
    settle,
    shown_on,
    stands_on,
    text,
    until,
    until_shown,
)
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.store import lease
from tui_eval.store.search.views import Condition, FilterKind, Order, TrialOutcome
from tui_eval.store.write import trial_verbs
from tui_eval.ui.app import TuiEvalApp
from tui_eval.ui.dialogs.filter_menu import FilterMenu
from tui_eval.ui.screens.run_screen import RunScreen
from tui_eval.ui.theme.tints import tone_styles


async def filter_menu(pilot: Pilot[None]) -> FilterMenu:
    await pilot.press("f")
    await until(pilot, lambda: isinstance(pilot.app.screen, FilterMenu))
    assert isinstance(pilot.app.screen, FilterMenu)
    return pilot.app.screen


async def test_filters_are_ticked_counted_together_and_taken_away_one_by_one(store: Path) -> None:
    plain_run(store, 30, failing=(3, 7))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        menu = await filter_menu(pilot)
        offered = [offer.part for offer in menu.offers]
        await pilot.press(
            *["j"] * offered.index(Condition(FilterKind.STANDS, TrialOutcome.FAILED)), "space"
        )
        await pilot.press(
            *["home", *["j"] * offered.index(Condition(FilterKind.TAG, "t1"))], "space"
        )
        await until_shown(pilot, "2 of 30 trials")
        await pilot.press("enter")
        await until(pilot, lambda: screen.trial_list.trials.count == 2)
        await until_shown(pilot, "2 of 30 ─ failed × tag t1 ×", "1/2")
        await filter_menu(pilot)
        await pilot.press("0", "escape")
        await until(pilot, lambda: screen.is_current)
        await until_shown(pilot, "failed × tag t1 ×")
        await pilot.press("backspace")
        assert list(screen.trial_list.view.parts) == [
            Condition(FilterKind.STANDS, TrialOutcome.FAILED)
        ]
        y = next(y for y, line in enumerate(lines(app)) if "failed ×" in line)
        await pilot.click(offset=(lines(app)[y].index("failed ×") + 7, y))
        await until(pilot, lambda: screen.trial_list.trials.count == 30)
        await pilot.press("backspace")
        await until_shown(pilot, "nothing is filtered")


async def test_enter_takes_the_line_itstands_on_where_nothing_was_ticked(store: Path) -> None:
    plain_run(store, 30, failing=(3, 7))
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await filter_menu(pilot)
        await pilot.press("j", "enter")
        await until(pilot, lambda: screen.trial_list.trials.count == 2)
        await filter_menu(pilot)
        await pilot.press("0", "enter")
        await until(pilot, lambda: screen.trial_list.trials.count == 30)


async def test_a_list_is_as_it_was_when_its_run_is_opened_again(store: Path) -> None:
    plain_run(store, 30, failing=(3, 7))
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        screen.trial_list.filter([Condition(FilterKind.STANDS, TrialOutcome.FAILED)])
        screen.trial_list.sort(Order.LATENCY, reverse=False)
        await pilot.press("slash", *"answer", "enter")
        await until(pilot, lambda: screen.trial_list.trials.count == 2)
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "failed × “answer” ×", "call time, slowest first")
        await until(pilot, lambda: cursor_case(screen) == "case-007")


async def test_groups_say_why_and_list_one(store: Path) -> None:
    plain_run(store, 30, failing=(3, 7, 12))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("b")
        await until_shown(pilot, "3 of 30 listed did not pass", "expected #", "100.0%")
        assert "exact: expected" not in text(app)  # there is no other scorer
        await pilot.press("tab")
        await until_shown(pilot, "3 of 30 listed fail a scorer", "[scorer]")
        await pilot.press("[", "enter")
        await until(pilot, lambda: screen.trial_list.trials.count == 3)
        await until_shown(pilot, "3 of 30 ─ exact: expected # ×")
        await pilot.press("b", "escape")
        await until(pilot, lambda: screen.is_current)


async def test_a_click_on_a_head_sorts_and_the_head_says_so(store: Path) -> None:
    plain_run(store, 30)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        y = next(y for y, line in enumerate(lines(app)) if line.split()[:2] == ["case", "verdict"])
        x = lines(app)[y].index("case")
        for sign, first in (("case▲", "case-000"), ("case▼", "case-029"), ("case ", "case-000")):
            await pilot.click(offset=(x, y))
            await until_shown(pilot, sign)
            await until(pilot, lambda: row_texts(screen)[0].split()[-1:] != [])
            await pilot.press("home")
            await until(pilot, partial(stands_on, screen, first))
        screen.trial_list.sort(Order.TOKENS, reverse=False)
        await until_shown(pilot, "tokens▼")


async def test_the_cursor_follows_what_is_settled_until_it_is_moved(store: Path) -> None:
    made = by_hand(
        store, [Case(i, f"c{i}", {}) for i in range(9)], answers=[None] * 9, state=RunState.RUNNING
    )
    with writing(store) as db:
        do(db, partial(lease.acquire, run=made.run))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("F")
        await until_shown(pilot, "following")
        for place in (6, 2):
            with writing(store) as db:
                do(
                    db,
                    partial(
                        settle, trial=made.trials[place], generation_key=b"k", answer=output("x")
                    ),
                )
            await until(pilot, partial(stands_on, screen, f"c{place}"))
        await pilot.press("j")
        await until(pilot, lambda: not screen.trial_list.following)
        with writing(store) as db:
            do(db, partial(settle, trial=made.trials[8], generation_key=b"k", answer=output("x")))
        await until(pilot, lambda: screen.run.snapshot and screen.run.snapshot.total.done == 3)
        assert cursor_case(screen) == "c3"


async def test_a_text_is_found_in_questions_and_marked_in_list_and_detail(store: Path) -> None:
    suite = made_up(12, scorers=[{"kind": "exact", "expected": "{{ a }}"}])
    await finished(store, suite)
    app = app_on(store, run="last")
    async with shown_on(app, (120, 40)) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("slash", *"7 + 1?", "enter")
        await until(pilot, lambda: screen.trial_list.trials.count == 1)
        await until_shown(pilot, "1 of 12", "“7 + 1?”", "✓", "✗")
        assert screen.trial_list.selected is not None
        assert screen.trial_list.selected.case_id == "sum-007"
        await until(pilot, lambda: _found(app) == ["7 + 1?"])
        await pilot.press("slash", *["backspace"] * 9, *"SUM-00", "enter")
        await until(pilot, lambda: screen.trial_list.trials.count == 10)
        await until(pilot, lambda: len(_found(app)) >= 10)
        assert {words.casefold() for words in _found(app)} == {"sum-00"}


def _found(app: TuiEvalApp) -> list[str]:
    """Give what stands out as found, all over the screen."""
    ground = tone_styles(app.theme, dark=True)["found"].bgcolor
    strips = app.screen._compositor.render_strips()
    parts = (part for strip in strips for part in strip if part.style is not None)
    return [part.text for part in parts if part.style is not None and part.style.bgcolor == ground]


async def test_what_is_cut_is_opened_where_it_holds_what_is_sought(store: Path) -> None:
    long = "\n".join(f"line {n}" for n in range(300))
    by_hand(store, [Case(0, "c", {"q": "?"})], answers=[output(long)])
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        page = screen.detail.page
        await until(pilot, lambda: "shows all" in page.text)
        assert "line 250" not in page.text
        await pilot.press("enter", "slash", *"line 250", "enter")
        await until_shown(pilot, "line 250")


async def test_a_zoomed_trial_stays_whatever_becomes_of_it(store: Path) -> None:
    made = by_hand(
        store, [Case(i, f"c{i}", {}) for i in range(6)], answers=[None] * 6, state=RunState.RUNNING
    )
    with writing(store) as db:
        do(db, partial(lease.acquire, run=made.run))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        listed = screen.trial_list
        listed.filter([Condition(FilterKind.STANDS, TrialOutcome.OPEN)])
        await until_shown(pilot, "6 of 6")
        await pilot.press("j", "j", "enter")
        await until_shown(pilot, "none yet", "3/6")
        for place, left in ((2, 5), (3, 4)):
            trial = made.trials[place]
            with writing(store) as db:
                do(db, partial(settle, trial=trial, generation_key=b"k", answer=output("done!")))
            await until(pilot, partial(_lists, screen, left))
        await until_shown(pilot, "c2", "done!", "not in the list")
        assert stands_on(screen, "c2")
        await pilot.press("j")
        await until(pilot, partial(stands_on, screen, "c4"))
        await until_shown(pilot, "c4", "none yet", "3/4")
        await pilot.press("k")
        await until(pilot, partial(stands_on, screen, "c1"))
        with writing(store) as db:
            do(db, partial(settle, trial=made.trials[1], generation_key=b"k", answer=output("x")))
        await until_shown(pilot, "c1", "not in the list")
        await pilot.press("escape")
        await until_shown(pilot, "3 of 6")
        assert stands_on(screen, "c4")


async def test_the_cursor_comes_back_with_its_trial_unless_it_was_moved(store: Path) -> None:
    made = by_hand(
        store, [Case(i, f"c{i}", {}) for i in range(6)], answers=[None] * 6, state=RunState.RUNNING
    )
    with writing(store) as db:
        do(db, partial(lease.acquire, run=made.run))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        screen.trial_list.filter([Condition(FilterKind.STANDS, TrialOutcome.OPEN)])
        await until_shown(pilot, "6 of 6")

        async def settled(place: int, left: int) -> None:
            trial = made.trials[place]
            with writing(store) as db:
                do(db, partial(settle, trial=trial, generation_key=b"k", answer=output("x")))
            await until(pilot, partial(_lists, screen, left))

        async def opened(place: int, listed: int) -> None:
            with writing(store) as db:
                do(db, partial(trial_verbs.retry, trial=made.trials[place]))
            await until(pilot, partial(_lists, screen, listed))

        await pilot.press("j", "j")
        await settled(2, 5)
        assert stands_on(screen, "c3")
        await settled(4, 4)
        await opened(4, 5)  # another that comes is not gone to
        assert stands_on(screen, "c3")
        await opened(2, 6)
        assert stands_on(screen, "c2")
        await settled(2, 5)
        await pilot.press("j")
        await until(pilot, partial(stands_on, screen, "c4"))
        await opened(2, 6)
        assert stands_on(screen, "c4")


async def test_a_trial_that_was_acted_on_stays_listed_until_the_cursor_leaves_it(
    store: Path,
) -> None:
    made = by_hand(
        store, [Case(i, f"c{i}", {}) for i in range(6)], answers=[None] * 6, state=RunState.RUNNING
    )
    with writing(store) as db:
        do(db, partial(lease.acquire, run=made.run))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        screen.trial_list.filter([Condition(FilterKind.STANDS, TrialOutcome.OPEN)])
        await until_shown(pilot, "6 of 6")
        await pilot.press("j", "j", "c")
        await until_shown(pilot, "cancelling")
        for place in (2, 4):
            trial = made.trials[place]
            with writing(store) as db:
                do(db, partial(settle, trial=trial, generation_key=b"k", answer=output("x")))
        await until(pilot, partial(_lists, screen, 5))
        assert stands_on(screen, "c2")
        assert any("c2" in row for row in row_texts(screen))
        assert not any("c4" in row for row in row_texts(screen))
        await pilot.press("j")
        await until(pilot, partial(_lists, screen, 4))
        assert stands_on(screen, "c3")


def _lists(screen: RunScreen, n: int) -> bool:
    return screen.trial_list.trials.count == n
