"""Lists by case and what differs from the run before, on the Run screen."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from textual.pilot import Pilot

from tests.support import Staged, do, output, writing
from tests.ui.playing import (
    app_on,
    by_hand,
    lines,
    made_up,
    row_texts,
    run_screen,
    settle,
    shown_on,
    stands_on,
    until,
    until_shown,
)
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.store import lease
from tui_eval.store.search.views import Condition, FilterKind, Order, TrialOutcome
from tui_eval.ui.dialogs.filter_menu import FilterMenu

TWO = made_up(
    1, targets=[{"kind": "simulated", "name": name, "answers": ["{{ a }}"]} for name in ("a", "b")]
).model_dump_json(by_alias=True)


def two_columns(store: Path, n: int = 20, failing: Sequence[int] = (3, 6, 7)) -> Staged:
    """Write a finished run of two columns; place 2 · n and 2 · n + 1 are those of case n."""
    reasons = [f"expected {at}" if at in failing else None for at in range(2 * n)]
    return by_hand(
        store,
        [Case(i, f"case-{i:03}", {"n": i}) for i in range(n)],
        answers=[output(f"answer {at}", latency_s=at / 100) for at in range(2 * n)],
        columns=("a", "b"),
        reasons=reasons,  # type: ignore[arg-type]
        spec=TWO,
    )


async def filter_menu(pilot: Pilot[None]) -> FilterMenu:
    await pilot.press("f")
    await until(pilot, lambda: isinstance(pilot.app.screen, FilterMenu))
    assert isinstance(pilot.app.screen, FilterMenu)
    return pilot.app.screen


async def test_by_case_a_row_is_a_case_and_keys_act_on_one_of_its_trials(store: Path) -> None:
    made = two_columns(store)
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        listed = screen.trial_list
        await pilot.press(*"jjj")
        await pilot.press("M")
        await until(pilot, lambda: listed.trials.count == 20)
        await until_shown(pilot, "20 cases", "M by trial", "expected 3")
        row = next(row for row in row_texts(screen) if "case-001" in row)
        assert row.split()[:4] == ["▸", "case-001", "✓", "[✗]"]
        assert listed.selected is not None
        assert listed.selected.id == made.trials[3]  # the cursor stays on its trial
        await pilot.press("left", "left", "space", "right", "space")
        await until_shown(pilot, "2 marked", "◆case-001", "✓◆     ✗", "✓      ✓◆")
        assert await listed.marked_ids() == [made.trials[2], made.trials[5]]
        await pilot.press("enter", "home")
        await until(pilot, lambda: screen.detail.zoomed)
        for key, place in (("left", 6), ("right", 7), ("k", 5)):
            await pilot.press(key)
            await until(
                pilot,
                lambda at=place: (
                    screen.detail.found is not None  # type: ignore[misc]
                    and screen.detail.found.trial.id == made.trials[at]
                ),
            )
        await pilot.press("escape", "M")
        await until(pilot, lambda: listed.trials.count == 40)
        assert listed.table.cursor == 5
        await pilot.press("right")
        await until_shown(pilot, "a row is one trial")


async def test_by_case_filter_order_and_failures_hold_and_are_remembered(store: Path) -> None:
    made = two_columns(store)
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        listed = screen.trial_list
        await pilot.press("M")
        await until(pilot, lambda: listed.trials.count == 20)
        for place in (3, 6, 7, 3):
            await pilot.press("n")
            await until(
                pilot,
                lambda at=place: (
                    listed.selected is not None  # type: ignore[misc]
                    and listed.selected.id == made.trials[at]
                ),
            )
        menu = await filter_menu(pilot)
        await until(pilot, lambda: all(offer.n is not None for offer in menu.offers))
        counts = {offer.part.kind: menu.noted(offer) for offer in menu.offers}
        assert counts[FilterKind.DIFFER] == counts[FilterKind.ALL_FAIL] == "1 case"
        await pilot.press("escape")
        listed.filter([Condition(FilterKind.STANDS, TrialOutcome.FAILED)])
        listed.sort(Order.LATENCY, reverse=False)
        await until_shown(pilot, "2 of 20 cases ─ failed ×")
        await until(pilot, lambda: [row.split()[0:2] for row in row_texts(screen)][0:1] != [])
        await until(pilot, lambda: "case-003" in row_texts(screen)[0])
        await pilot.press("a")
        await until_shown(pilot, "3 marked")  # trials that the filter lets through
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "2 of 20 cases ─ failed ×", "[")


async def test_by_case_the_row_under_the_cursor_stays_while_rows_come(store: Path) -> None:
    made = by_hand(
        store,
        [Case(i, f"c{i}", {}) for i in range(9)],
        answers=[None] * 18,
        columns=("a", "b"),
        state=RunState.RUNNING,
        spec=TWO,
    )
    with writing(store) as db:
        do(db, partial(lease.acquire, run=made.run))
    async with shown_on(app_on(store, run="last")) as pilot:
        screen = await run_screen(pilot)
        listed = screen.trial_list
        await pilot.press("M")
        await until(pilot, lambda: listed.trials.count == 9)
        listed.filter([Condition(FilterKind.STANDS, TrialOutcome.FAILED)])
        await until_shown(pilot, "no match")
        for nth, place in enumerate((9, 3, 15), 1):
            failed = partial(
                settle,
                trial=made.trials[place],
                generation_key=b"%d" % place,
                answer=output("x"),
                reason="no",
            )
            with writing(store) as db:
                do(db, failed)
            await until(pilot, lambda n=nth: listed.trials.count == n)  # type: ignore[misc]
            await until(pilot, partial(stands_on, screen, "c4"))


async def test_what_differs_from_the_run_before_is_said_listed_and_compared(store: Path) -> None:
    two_columns(store, failing=(3,))
    two_columns(store, failing=(6,))
    app = app_on(store, run="last")
    async with shown_on(app, (120, 30)) as pilot:
        screen = await run_screen(pilot)
        await until_shown(pilot, "vs a", "+5.0 unclear", "✓ was ✗", "✗ was ✓")
        assert any(line.startswith("B a ") for line in lines(app))
        menu = await filter_menu(pilot)
        offered = [offer.part.kind for offer in menu.offers]
        await pilot.press(*["j"] * offered.index(FilterKind.BROKE), "enter")
        await until(pilot, lambda: screen.trial_list.trials.count == 1)
        earlier = screen.trial_list.view.parts[0].value
        await until_shown(pilot, f"passed in {earlier}", f"✗ was ✓ in {earlier}, the last")
        await pilot.press("d")
        await until_shown(pilot, f"last full run {earlier}", "target b")
        await pilot.press("j", "enter")
        await until_shown(pilot, "- target b", "answer 7")
