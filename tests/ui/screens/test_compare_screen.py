"""Two sides compared: which cases, what was said of them, and what keys do about it."""

import json
from collections.abc import Sequence
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO
from pathlib import Path

import pytest
from textual.pilot import Pilot

from tests import hostile
from tests.reports.filled import FAIL, OPEN, Plan, Told, cases, fill
from tests.support import do, reading, writing
from tests.ui.playing import app_on, assert_clean, run_screen, shown_on, text, until, until_shown
from tui_eval.cli.main import run as run_command_line
from tui_eval.model.case import Case
from tui_eval.model.states import RunState
from tui_eval.reports.comparison.baseline.baseline_file import baseline_lines
from tui_eval.reports.comparison.side import RunSide
from tui_eval.store.read import run_queries
from tui_eval.store.tx import Tx
from tui_eval.store.write import baseline_writes
from tui_eval.ui.dialogs.menu import Menu
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.screens.compare_screen import CompareScreen
from tui_eval.ui.screens.diff_screen import DiffScreen
from tui_eval.ui.screens.run_screen import RunScreen
from tui_eval.ui.screens.runs_screen import RunsScreen

SIZE = (120, 40)
GOOD, WRONG = Told(text="Paris"), Told(FAIL, text="London")


def tagged(n: int) -> list[Case]:
    """Give cases of which every other is odd."""
    return [replace(case, tags=("odd" if case.seq % 2 else "even",)) for case in cases(n)]


def told(passes: Sequence[int]) -> list[Told]:
    """Give trials, each passed or failed, with an output of its own."""
    return [
        replace(GOOD if one else WRONG, text=f"{'Paris' if one else 'London'} {at}")
        for at, one in enumerate(passes)
    ]


def verdicts(*passes: int) -> Plan:
    return Plan({"gpt": told(passes)}, tagged(len(passes)))


def two_runs(store: Path) -> list[int]:
    """Write two runs of which the second has one case less, and two more."""
    return [fill(store, verdicts(1, 1, 0, 0, 0)), fill(store, verdicts(1, 0, 1, 1, 0))]


def names(store: Path, *runs: int) -> list[str]:
    with reading(store) as db:
        return [run_queries.run(db, run).name for run in runs]


def printed(store: Path, *words: str) -> str:
    out = StringIO()
    with redirect_stdout(out):
        assert run_command_line([*words, "--store", str(store)]) == 0
    return out.getvalue()


def stands_on(screen: CompareScreen) -> str | None:
    flip = screen.flips.list.selected
    return None if flip is None else flip.case_id


async def read(pilot: Pilot[None]) -> CompareScreen:
    """Wait until a comparison is shown; give its screen."""
    await until(pilot, lambda: isinstance(pilot.app.screen, CompareScreen))
    screen = pilot.app.screen
    assert isinstance(screen, CompareScreen)
    await until(pilot, lambda: screen.comparison is not None)
    await until(pilot, lambda: not screen.flips.list.flips or screen.pair.found is not None)
    return screen


async def runs_listed(pilot: Pilot[None], n: int) -> RunsScreen:
    await pilot.press("2")
    await until(pilot, lambda: isinstance(pilot.app.screen, RunsScreen))
    screen = pilot.app.screen
    assert isinstance(screen, RunsScreen)
    await until(pilot, lambda: len(screen.table.runs) == n)
    return screen


async def compared(pilot: Pilot[None], n: int = 2) -> CompareScreen:
    """Compare all runs that are listed, which are two."""
    await runs_listed(pilot, n)
    await pilot.press("a", "equals_sign")
    return await read(pilot)


@pytest.mark.parametrize("size", [(60, 20), (80, 24), SIZE])
async def test_two_marked_runs_are_compared(store: Path, size: tuple[int, int]) -> None:
    before, after = names(store, *two_runs(store))
    app = app_on(store)
    async with shown_on(app, size) as pilot:
        screen = await compared(pilot)
        await until_shown(pilot, "40.0%", "60.0%", "? unclear", "5 pairs, 3 differ", "London 1")
        assert (screen.comparison and screen.comparison.a.name) == before
        assert after[-4:] in screen._head.text
        assert [flip.case_id for flip in screen.flips.list.flips] == ["case-1", "case-2", "case-3"]
        assert "✗ 1 worse" in text(app)
        assert "✓ 2 better" in text(app)
        await pilot.press("n")
        await until_shown(pilot, "London 2", "Paris 2")
        await pilot.press("N", "enter")
        await until(pilot, lambda: isinstance(app.screen, DiffScreen))
        diff = app.screen
        assert isinstance(diff, DiffScreen)
        assert (diff.compared.old, diff.compared.new) == ("Paris 1", "London 1")


async def test_what_is_listed_is_worse_better_or_all_by_size_or_in_order(store: Path) -> None:
    a = Plan({"gpt": told([1, 0, 1, 0, 1, 1, 1, 0])}, cases(4), epochs=2)
    b = Plan({"gpt": told([1, 1, 0, 0, 0, 0, 0, 0])}, cases(4), epochs=2)
    fill(store, a)
    fill(store, b)
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        screen = await compared(pilot)

        def listed() -> list[str]:
            return [flip.case_id for flip in screen.flips.list.flips]

        assert listed() == ["case-2", "case-1", "case-3", "case-0"]
        await pilot.press("o")
        assert listed() == ["case-0", "case-1", "case-2", "case-3"]
        await pilot.press("f")
        assert listed() == ["case-1", "case-2", "case-3"]
        await pilot.press("f")
        assert listed() == ["case-0"]
        await pilot.press("f", "o")
        assert listed() == ["case-2", "case-1", "case-3", "case-0"]


async def test_epochs_begin_where_the_sides_differ_and_can_be_turned(store: Path) -> None:
    fill(store, Plan({"gpt": told([1, 1])}, cases(1), epochs=2))
    fill(store, Plan({"gpt": told([1, 0])}, cases(1), epochs=2))
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        await compared(pilot)
        await until_shown(pilot, "epoch 2 of 2", "London 1", "epochs ✓[✗]")
        await pilot.press("right_square_bracket")
        await until_shown(pilot, "epoch 1 of 2", "epochs [✓]✗")


async def test_a_group_narrows_the_flips_to_its_own(store: Path) -> None:
    two_runs(store)
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        screen = await compared(pilot)
        await pilot.press("b")
        await until(pilot, lambda: len(screen.table.lines) == 3)
        assert [line.group for line in screen.table.lines] == [None, "even", "odd"]
        await pilot.press("shift+tab", "j")
        await until_shown(pilot, "corrected for 2 groups")
        assert [flip.case_id for flip in screen.flips.list.flips] == ["case-2"]
        await pilot.press("j")
        assert [flip.case_id for flip in screen.flips.list.flips] == ["case-1", "case-3"]
        await until(pilot, lambda: screen.pair.found and screen.pair.found.flip.case_id == "case-1")
        await pilot.press("b")
        await until(pilot, lambda: [line.group for line in screen.table.lines] == [None, "exact"])
        await pilot.press("b")
        await until(pilot, lambda: len(screen.table.lines) == 1)
        assert len(screen.flips.list.flips) == 3


async def test_sides_change_places(store: Path) -> None:
    before, _ = names(store, *two_runs(store))
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        screen = await compared(pilot)
        await pilot.press("n", "x")
        await until(pilot, lambda: screen.comparison and screen.comparison.b.name == before)
        assert stands_on(screen) == "case-2"
        assert screen.flips.list.flips[0].case_id == "case-2"
        await until_shown(pilot, "✗ 2 worse", "✓ 1 better", "-20.0")


async def test_what_is_exported_is_what_the_command_prints(store: Path, tmp_path: Path) -> None:
    sides = names(store, *two_runs(store))
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        await compared(pilot)
        for name, words in (("out.json", ["--json"]), ("out.txt", [])):
            await pilot.press("E")
            await until(pilot, lambda: isinstance(app.screen, NameDialog))
            assert isinstance(app.screen, NameDialog)
            app.screen.field.value = name
            await pilot.press("enter")
            file = tmp_path / name
            await until(pilot, file.exists)
            if words:
                assert file.read_text() == printed(store, "compare", *sides, *words)
    document = json.loads((tmp_path / "out.json").read_text())
    assert document["flips"][0] == {"case_id": "case-1", "row": 0, "from": "pass", "to": "fail"}
    assert "5 pairs, 3 differ" in (tmp_path / "out.txt").read_text()


async def test_a_run_is_compared_with_its_baseline_at_once(store: Path) -> None:
    before, after = two_runs(store)
    with writing(store) as db:
        do(db, lambda tx: baseline_writes.pin(tx, "capitals", before))
    app = app_on(store, run="last")
    async with shown_on(app, SIZE) as pilot:
        await run_screen(pilot)
        await pilot.press("equals_sign")
        screen = await read(pilot)
        assert (screen.shown_sides.a.run, screen.shown_sides.b.run) == (before, after)
        await pilot.press("t")
        await until(pilot, lambda: isinstance(app.screen, RunScreen))
        opened = await run_screen(pilot)
        assert opened.trial_list.selected is not None
        assert opened.trial_list.selected.case_id == "case-1"
        await pilot.press("q")
        await until(pilot, lambda: app.screen is screen)


async def test_without_a_baseline_one_chooses(store: Path, tmp_path: Path) -> None:
    both = {"gpt": told([1, 1, 0]), "qwen": told([0, 1, 1])}
    first, second = (fill(store, Plan(both, cases(3))) for _ in range(2))
    with reading(store) as db:
        lines = baseline_lines(RunSide(db, run_queries.run(db, first)))
        (tmp_path / "base.jsonl").write_text("".join(lines))
    (tmp_path / "wrong.jsonl").write_text("{}\n")
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        await runs_listed(pilot, 2)
        await pilot.press("equals_sign")
        await until(pilot, lambda: isinstance(app.screen, Menu))
        assert isinstance(app.screen, Menu)
        (earlier,) = names(store, first)
        labels = [choice.label for choice in app.screen.choices]
        assert labels == [earlier, "gpt ▸ qwen", "a baseline file…"]
        await pilot.press("j", "enter")
        screen = await read(pilot)
        assert screen.shown_sides.a.run == screen.shown_sides.b.run == second
        assert [line.name for line in screen.table.lines] == ["gpt → qwen"]
        assert stands_on(screen) == "case-0"
        await choose_file(pilot, tmp_path / "wrong.jsonl")
        await until_shown(pilot, "wrong.jsonl, line 1", "gpt → qwen")
        await choose_file(pilot, tmp_path / "base.jsonl")
        await until(pilot, lambda: len(screen.table.lines) == 2)
        await until_shown(pilot, "base.jsonl", "0 worse", "3 pairs, 0 differ")


async def choose_file(pilot: Pilot[None], file: Path) -> None:
    app = pilot.app
    await pilot.press("equals_sign")
    await until(pilot, lambda: isinstance(app.screen, Menu))
    await pilot.press("end", "enter")
    await until(pilot, lambda: isinstance(app.screen, NameDialog))
    assert isinstance(app.screen, NameDialog)
    app.screen.field.value = str(file)
    await pilot.press("enter")
    await until(pilot, lambda: isinstance(app.screen, CompareScreen))


async def test_a_baseline_file_says_that_it_has_no_texts(store: Path, tmp_path: Path) -> None:
    before, after = two_runs(store)
    with reading(store) as db:
        lines = baseline_lines(RunSide(db, run_queries.run(db, before)))
        (tmp_path / "base.jsonl").write_text("".join(lines))
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        await runs_listed(pilot, 2)
        await choose_file(pilot, tmp_path / "base.jsonl")
        screen = await read(pilot)
        assert screen.shown_sides.b.run == after
        await until_shown(pilot, "A baseline file has verdicts and no", "London 1")
        assert screen.why_not("diff") == "one side has no output to compare"
        await pilot.press("enter")
        await until_shown(pilot, "not available: one side has no output")


async def test_targets_of_other_names_are_put_together_by_hand(store: Path) -> None:
    fill(store, Plan({"a": told([1]), "b": told([0])}, cases(1)))
    fill(store, Plan({"c": told([0]), "d": told([1])}, cases(1)))
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        await runs_listed(pilot, 2)
        await pilot.press("a", "equals_sign")
        await until(pilot, lambda: isinstance(app.screen, Menu))
        assert isinstance(app.screen, Menu)
        assert [choice.label for choice in app.screen.choices] == [
            "a ▸ c",
            "a ▸ d",
            "b ▸ c",
            "b ▸ d",
        ]
        await pilot.press("enter")
        screen = await read(pilot)
        assert [line.name for line in screen.table.lines] == ["a → c"]
        await pilot.press("x")
        await until(pilot, lambda: screen.table.lines[0].name == "c → a")


async def test_nobody_chosen_leaves(store: Path) -> None:
    fill(store, Plan({"a": told([1]), "b": told([0])}, cases(1)))
    fill(store, Plan({"c": told([0]), "d": told([1])}, cases(1)))
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        runs = await runs_listed(pilot, 2)
        await pilot.press("a", "equals_sign")
        await until(pilot, lambda: isinstance(app.screen, Menu))
        await pilot.press("escape")
        await until(pilot, lambda: app.screen is runs)


async def test_keys_say_why_nothing_can_be_compared(store: Path) -> None:
    two_runs(store)
    fill(store, Plan({"gpt": [OPEN]}, cases(1)))
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        await runs_listed(pilot, 3)
        await pilot.press("equals_sign")
        await until_shown(pilot, "no trial has been")
        await pilot.press("a", "equals_sign")
        await until_shown(pilot, "two runs are compared, and 3")


def _fail(tx: Tx, run: int, place: int) -> None:
    """Have a trial fail that has passed, as a rescore does."""
    tx.db.execute(
        "UPDATE trials SET verdict = 'fail', change = ? WHERE run = ? AND place = ?",
        (tx.change, run, place),
    )


async def test_a_side_that_changes_is_read_again_and_the_cursor_stays(store: Path) -> None:
    fill(store, verdicts(1, 1, 0, 0, 0))
    after = fill(
        store, Plan({"gpt": [*told([1, 1, 0, 1]), OPEN]}, tagged(5), state=RunState.RUNNING)
    )
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        screen = await compared(pilot)
        await until_shown(pilot, "● B live", "so far:", "4 pairs")
        assert stands_on(screen) == "case-3"
        with writing(store) as db:
            do(db, lambda tx: _fail(tx, after, 1))
        await until_shown(pilot, "✗ 1 worse")
        assert stands_on(screen) == "case-3"


async def test_a_run_that_is_deleted_meanwhile_is_said_and_what_was_read_stays(
    store: Path,
) -> None:
    before, _ = two_runs(store)
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        screen = await compared(pilot)
        assert printed(store, "delete", *names(store, before), "--yes")
        await until_shown(pilot, "A was deleted; as of", "5 pairs, 3 differ")
        await pilot.press("n")
        await until_shown(pilot, "It is not there any more", "Paris 2")
        await pilot.press("x")
        await until_shown(pilot, "not compared: B was deleted")
        assert screen.comparison is not None
        await pilot.press("q")
        await until(pilot, lambda: isinstance(app.screen, RunsScreen))


async def test_whatever_texts_say_is_shown_literally(store: Path) -> None:
    texts = hostile.outputs()[::9]
    strange = [
        Case(at, f"{one[:40]}{at}", {"n": one}, tags=(one[:20],)) for at, one in enumerate(texts)
    ]
    fill(store, Plan({"gpt": [replace(GOOD, text=one) for one in texts]}, strange))
    fill(store, Plan({"gpt": [replace(WRONG, text=f"{one}!") for one in texts]}, strange))
    app = app_on(store)
    async with shown_on(app, (100, 40)) as pilot:
        screen = await compared(pilot)
        assert len(screen.flips.list.flips) == len(texts)
        for _ in texts:
            await pilot.press("n")
            await until(
                pilot,
                lambda: screen.pair.found and screen.pair.found.flip == screen.flips.list.selected,
            )
            assert_clean(app)
        await pilot.press("b")
        await until(pilot, lambda: len(screen.table.lines) > 1)
        assert_clean(app)


async def test_groups_say_which_row_they_are_of(store: Path) -> None:
    for passes in ((1, 1, 0, 0), (1, 0, 1, 1)):
        both = {name: told(passes) for name in ("gpt", "small")}
        fill(store, Plan(both, tagged(len(passes))))
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        screen = await compared(pilot)
        await pilot.press("b")
        await until_shown(pilot, "of gpt", "  even", "  odd")
        lines = [line.name.strip() for line in screen.table.lines]
        assert lines == ["gpt", "small", "of gpt", "even", "odd"]
        await pilot.press("shift+tab", "j")
        await until_shown(pilot, "of small")
        await pilot.press("j")  # on what heads the groups: all of the row
        await until(pilot, lambda: screen.table.cursor == 2)
        assert len(screen.flips.list.flips) == 3
        await pilot.press("j")
        await until(pilot, lambda: len(screen.flips.list.flips) == 1)


async def test_ids_of_flips_are_cut_where_they_are_alike(store: Path) -> None:
    for passes in ((1, 1), (0, 0)):
        named = [
            replace(case, id=f"of-the-same-long-beginning-{word}-{at:04}")
            for at, (case, word) in enumerate(zip(cases(2), ("algebra", "geometry"), strict=True))
        ]
        fill(store, Plan({"gpt": told(passes)}, named))
    app = app_on(store)
    async with shown_on(app, SIZE) as pilot:
        await compared(pilot)
        await until_shown(pilot, "…algebra-0000", "…geometry-0001")


async def test_groups_are_seen_as_soon_as_they_are_asked_for_on_a_small_screen(store: Path) -> None:
    for passes in ((1, 1, 0, 0), (1, 0, 1, 1)):
        both = {name: told(passes) for name in ("a", "b", "c", "d")}
        fill(store, Plan(both, tagged(len(passes))))
    async with shown_on(app_on(store), (60, 20)) as pilot:
        await compared(pilot)
        await pilot.press("b")
        await until_shown(pilot, "of a", "  even", "  odd", "✗ 1 worse")
