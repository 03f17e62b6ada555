import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from tests import hostile
from tests.hostile import CONTROLS
from tests.support import any_text
from tui_eval.ui.text.prose import GLUE, LONGEST, Para, fold, steady


@given(any_text, st.integers(8, 60), st.integers(0, 10), st.sampled_from(["", "label", "日本"]))
def test_no_line_is_wider_than_the_page_or_holds_a_control(
    text: str, width: int, indent: int, label: str
) -> None:
    for hangs in (False, True):
        for line, _ in fold([Para(text, indent=indent, label=label, hangs=hangs)], width):
            assert cell_len(line) <= width
            assert not CONTROLS & set(line)


@given(st.text(st.sampled_from("ab 日é"), max_size=80), st.integers(8, 20))
def test_folding_loses_nothing_but_spaces(text: str, width: int) -> None:
    for hangs in (False, True):
        folded = "".join(line for line, _ in fold([Para(text, hangs=hangs)], width))
        assert folded.replace(" ", "") == text.replace(" ", "")


def test_what_is_folded_of_code_stands_further_in() -> None:
    lines = [line for line, _ in fold([Para("  one two three", hangs=True)], 10)]
    assert lines == ["  one two", "    three"]
    wide = "   " + "一" * 5
    assert [line for line, _ in fold([Para(wide, hangs=True)], 8)] == ["一" * 4, "    一"]
    lines = [line for line, _ in fold([Para("  一一 two three", hangs=True)], 10)]
    assert lines == ["  一一 two", "    three"]


def test_folds_at_spaces() -> None:
    lines = [line for line, _ in fold([Para("the quick brown fox jumps")], 10)]
    assert lines == ["the quick", "brown fox", "jumps"]


def test_a_word_without_spaces_is_folded_where_it_must() -> None:
    assert [line for line, _ in fold([Para("x" * 25)], 10)] == ["x" * 10, "x" * 10, "x" * 5]


def test_further_lines_stand_below_the_text_beside_a_label() -> None:
    lines = [line for line, _ in fold([Para("one\ntwo", label="user")], 20)]
    assert lines == ["user one", "     two"]


def test_what_is_cut_is_said_with_the_whole_length() -> None:
    found = list(fold([Para("y" * (LONGEST + 10))], 100))
    assert found[-1][0] == f"… truncated here: {LONGEST + 10:,} characters in all"
    assert sum(line.count("y") for line, _ in found) == LONGEST


def test_a_page_of_many_long_texts_has_an_end() -> None:
    found = list(fold([Para("z" * LONGEST), Para("never shown")], 100))
    assert found[-1][0].startswith("… truncated here")
    assert all("never" not in line for line, _ in found)


@pytest.mark.parametrize("text", hostile.outputs())
def test_hostile_texts_are_folded_without_controls(text: str) -> None:
    for line, _ in fold([Para(text)], 40):
        assert not CONTROLS & set(line)
        assert cell_len(line) <= 40


def test_an_emoji_has_one_width_everywhere() -> None:
    assert steady("❤\ufe0f") == "❤"
    assert steady("plain") == "plain"


def test_what_is_glued_together_stays_on_one_line() -> None:
    text = f"expected three   describes{GLUE}it{GLUE}✗   exact{GLUE}✓"
    lines = [line for line, _ in fold([Para(text)], 24)]
    assert lines == ["expected three", "describes it ✗   exact ✓"]
