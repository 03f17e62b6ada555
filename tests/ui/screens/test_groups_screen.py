"""Groups on the screen: rates of tags and targets, choices as a table, and what a choice lists."""

import sqlite3
import threading
from pathlib import Path

import pytest

from tests.support import reading
from tests.ui.playing import (
    app_on,
    finished,
    lines,
    made_up,
    run_screen,
    shown_on,
    text,
    until,
    until_shown,
)
from tui_eval.format import interval, rate
from tui_eval.reports.results import results
from tui_eval.store.search.views import Condition, FilterKind
from tui_eval.ui.run.groups.group_rates import GroupRates, group_rates
from tui_eval.ui.screens import groups_screen
from tui_eval.ui.screens.groups_screen import GroupsScreen

CHOICE = {"kind": "choice", "expected": "{{ a }}", "choices": ["A", "B"]}


async def test_tags_and_targets_have_the_rates_of_the_summary(store: Path) -> None:
    targets = [
        {"kind": "simulated", "name": name, "answers": ["{{ a }}", "no"], "accuracy": accuracy}
        for name, accuracy in (("one", 0.8), ("two", 0.5))
    ]
    run = await finished(store, made_up(60, targets=targets))
    with reading(store) as db:
        found, summary = group_rates(db, run), results(db, run)
    assert found is not None
    names = [of.column.name for of in summary.columns]
    for of in summary.columns:
        name = of.column.name
        (rates,) = found.of(Condition(FilterKind.TARGET, name), names)
        assert rates == of.rates
        words = f"{rate(of.rates.pass_rate, False)}  {interval(of.rates.interval)}"
        assert found.words(rates) == words
        for tag, of_tag in of.tags.items():
            of_columns = found.of(Condition(FilterKind.TAG, tag), names)
            assert of_columns[names.index(name)] == of_tag
    async with shown_on(app_on(store, run="last"), (120, 30)) as pilot:
        await run_screen(pilot)
        await pilot.press("b", *["left_square_bracket"] * 2)
        shown = [found.words(one) for one in found.of(Condition(FilterKind.TAG, "t1"), names)]
        await until_shown(pilot, "have a tag", "pass one", "pass two", *shown)


async def test_rates_are_read_for_what_shows_them_in_columns_that_stay(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await finished(store, made_up(12))
    reads: list[int] = []
    go_on = threading.Event()

    def reading_rates(db: sqlite3.Connection, run: int) -> GroupRates | None:
        reads.append(run)
        assert go_on.wait(60)
        return group_rates(db, run)

    monkeypatch.setattr(groups_screen, "group_rates", reading_rates)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("b")
        await until_shown(pilot, "did not pass")
        assert not reads
        await pilot.press(*["left_square_bracket"] * 2)
        await until_shown(pilot, "have a tag", "pass one", "t0", "…")
        head = next(line for line in lines(app) if "pass one" in line)
        go_on.set()
        await until_shown(pilot, " of 6 ")
        assert head in lines(app)
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "have a target", "pass 95%")
        assert len(reads) == 1


async def test_few_cases_are_counted_and_not_rated(store: Path) -> None:
    run = await finished(store, made_up(8))
    with reading(store) as db:
        found = group_rates(db, run)
    assert found is not None
    (few,) = found.of(Condition(FilterKind.TAG, "t0"), ["one"])
    assert few is not None
    assert found.words(few) == f"{few.passed} of 4"
    assert found.of(Condition(FilterKind.TAG, "unheard of"), ["one"]) == [None]


async def test_a_cell_of_the_confusion_table_lists_its_trials(store: Path) -> None:
    cases = [{"id": f"c{n}", "q": "?", "a": "AB"[n % 2]} for n in range(6)]
    target = {"kind": "simulated", "name": "one", "answers": ["B"], "accuracy": 1}
    await finished(store, made_up(cases=cases, targets=[target], scorers=[CHOICE]))
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        screen = await run_screen(pilot)
        await pilot.press("b")
        await until_shown(pilot, "target  choice")
        await pilot.press("left_square_bracket")
        await until_shown(pilot, "expected in rows", "got B", "[3]")
        assert isinstance(app.screen, GroupsScreen)
        assert "got A" not in text(app)
        await pilot.press("enter")
        await until(pilot, lambda: screen.trial_list.trials.count == 3)
        await until_shown(pilot, "3 of 6", "expected A, got B")


async def test_a_run_without_multiple_choice_has_no_tab_of_it(store: Path) -> None:
    await finished(store, made_up(4))
    async with shown_on(app_on(store, run="last")) as pilot:
        await run_screen(pilot)
        await pilot.press("b", *["right_square_bracket"] * 5)
        await until_shown(pilot, "[target]", "have a target")
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "[reason]")


async def test_options_without_room_are_said_and_led_to(store: Path) -> None:
    options = [chr(ord("A") + n) for n in range(12)]
    cases = [{"id": f"c{n}", "q": "?", "a": one} for n, one in enumerate(options)]
    target = {"kind": "simulated", "name": "one", "answers": ["{{ a }}"], "accuracy": 1}
    await finished(
        store, made_up(cases=cases, targets=[target], scorers=[{**CHOICE, "choices": options}])
    )
    app = app_on(store, run="last")
    async with shown_on(app, (60, 20)) as pilot:
        await run_screen(pilot)
        await pilot.press("b", *["right_square_bracket"] * 2)
        await until_shown(pilot, "reason")
        await pilot.press(*["left_square_bracket"] * 3)
        await until_shown(pilot, "expected  ", "   A     B  ", "[1]", "more")
        await pilot.press("left", "end")
        await until_shown(pilot, "   K     L  +", "[1]")
        await pilot.press("left")
        await until_shown(pilot, "   K     L  +", "[·]")
    async with shown_on(app_on(store, run="last"), (120, 30)) as pilot:
        await run_screen(pilot)
        await pilot.press("b", *["right_square_bracket"] * 2)
        await until_shown(pilot, "reason")
        await pilot.press(*["left_square_bracket"] * 3)
        await until_shown(pilot, "  got A  ", "  got L  ", "[1]")
