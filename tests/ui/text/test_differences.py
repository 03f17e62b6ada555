"""What differs between two texts, and how it is shown."""

import random
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import hostile
from tests.hostile import CONTROLS
from tests.sampling import one_in
from tests.support import output
from tests.ui.playing import (
    app_on,
    assert_clean,
    by_hand,
    made_up,
    run_screen,
    shown_on,
    until,
    until_shown,
)
from tui_eval.model.case import Case
from tui_eval.ui.screens.diff_screen import DiffScreen
from tui_eval.ui.text.diff_page import diff_paras
from tui_eval.ui.text.differences import LONGEST, differences
from tui_eval.ui.text.prose import drawn, lay_out
from tui_eval.ui.theme.glyphs import UNICODE

EXPECTING = made_up(1, scorers=[{"kind": "exact", "expected": "the answer"}]).model_dump_json(
    by_alias=True
)
texts = st.text(st.sampled_from("ab \n."), max_size=60)


@given(texts, texts)
def test_both_texts_are_there_whole_and_what_is_marked_differs(old: str, new: str) -> None:
    found = differences(old, new)
    assert "\n".join(pair.old for pair in found.pairs if pair.old is not None) == drawn(old)
    assert "\n".join(pair.new for pair in found.pairs if pair.new is not None) == drawn(new)
    assert bool(found.changes) == (old != new)
    for pair in found.pairs:
        if pair.changed and pair.old and pair.new:
            assert pair.old_marks or pair.new_marks


def test_words_are_marked_within_lines_that_changed() -> None:
    found = differences("a\nthe quick fox jumps\nz", "a\nthe slow old fox jumps\nz")
    (pair,) = [pair for pair in found.pairs if pair.changed]
    assert pair.old is not None
    assert pair.new is not None
    assert [pair.old[m.start : m.end] for m in pair.old_marks] == ["quick"]
    assert [pair.new[m.start : m.end] for m in pair.new_marks] == ["slow old"]
    said = list(found.as_text())
    assert said == ["  a", "- the quick fox jumps", "+ the slow old fox jumps", "  z"]


@pytest.mark.parametrize(
    "kind", one_in(2, ["same lines", "one line", "shuffled", "other lines", "words"])
)
def test_large_texts_take_no_time(kind: str) -> None:
    draw = random.Random(3)
    old, new = {
        "one line": ("x" * 150_000 + "a" + "y" * 300_000, "x" * 150_000 + "b" + "y" * 200_000),
        "same lines": ("a\nb\n" * 50_000, "b\na\n" * 50_000),
        "other lines": ("\n".join(map(str, range(9000))), "\n".join(map(str, range(9000, 0, -1)))),
        "words": ("a b " * 40_000, "b a " * 40_000),
        "shuffled": tuple(
            "\n".join(" ".join(draw.choices("abcdefgh", k=30)) for _ in range(1400))
            for _ in range(2)
        ),
    }[kind]
    began = time.process_time()
    found = differences(old, new)
    assert time.process_time() - began < 10
    assert found.changes
    assert found.left_out == max(len(old) - LONGEST, 0) + max(len(new) - LONGEST, 0)


def test_equal_lines_far_from_a_change_are_counted_not_shown() -> None:
    old = "\n".join(f"line {n}" for n in range(40))
    found = differences(old, old.replace("line 20", "row 20"))
    paras, begins = diff_paras(found, 60, UNICODE, whole=False)
    said = [para.text for para in paras]
    assert said[0] == "… 17 equal lines; x shows them"
    assert said[begins[0]] == "line 20"
    assert len(diff_paras(found, 60, UNICODE, whole=True)[0]) == 41


@pytest.mark.parametrize("width", [60, 140])
def test_hostile_texts_differ_literally(width: int) -> None:
    for one in [*hostile.corpus(most=3000), *hostile.more()]:
        text = one.text[:3000]
        paras, _ = diff_paras(differences(text, f"{text}x\n{text}"), width, UNICODE, whole=False)
        for line in lay_out(paras, width):
            assert not set(line.text) & CONTROLS


async def test_d_compares_with_the_last_full_run_and_n_goes_from_change_to_change(
    store: Path,
) -> None:
    lines = [f"line {n}" for n in range(60)]
    changed = [line.upper() if n in (10, 50) else line for n, line in enumerate(lines)]
    case = Case(0, f"\x1b[2J{'c' * 60}-0017", {})
    for said in (lines, changed):
        by_hand(store, [case], answers=[output("\n".join(said))])
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("d")
        await until(pilot, lambda: isinstance(app.screen, DiffScreen))
        await until_shown(pilot, "LINE 10", "2 changes")
        assert_clean(app)
        await pilot.press("n", "n")
        await until_shown(pilot, "2/2 changes", "LINE 50")
        await pilot.resize_terminal(120, 24)
        await until_shown(pilot, "- line 10", "+ LINE 10")
        await pilot.resize_terminal(60, 24)
        await until_shown(pilot, "…0017", "- last full", "+ output", "2/2 changes")
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, DiffScreen))


async def test_d_asks_where_there_are_several_and_says_where_there_is_nothing(
    store: Path,
) -> None:
    by_hand(store, [Case(0, "c", {})], answers=[output("a")])
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("d")
        await until_shown(pilot, "nothing to compare with")
    for answer in ("b", "c"):
        by_hand(store, [Case(0, "c", {})], answers=[output(answer)], spec=EXPECTING)
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("d")
        await until_shown(pilot, "expected", "last full run by-hand")
        await pilot.press("enter")
        await until_shown(pilot, "- the answer", "+ c")


async def test_what_was_not_compared_is_not_called_equal(store: Path) -> None:
    text = "x" * (LONGEST + 5)
    for end in ("a", "b"):
        by_hand(store, [Case(0, "c", {})], answers=[output(text + end)])
    app = app_on(store, run="last")
    async with shown_on(app) as pilot:
        await run_screen(pilot)
        await pilot.press("d")
        await until_shown(pilot, "No difference in the first 200,000 characters")
        await pilot.press("n")
        await until_shown(pilot, "nothing differs in what was compared")
