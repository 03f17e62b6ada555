"""The widgets on an app of their own, with the program's own style sheet."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.events import DescendantBlur
from textual.widget import Widget
from textual.widgets import Input

from tests import hostile
from tests.hostile import CONTROLS
from tests.sampling import some
from tests.support import any_text
from tui_eval.resources import styles_dir
from tui_eval.ui.text.prose import Para
from tui_eval.ui.theme.themes import DARK
from tui_eval.ui.widgets.bar import FRAMED, Bar, Lines
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field, lay_out
from tui_eval.ui.widgets.form_controls import ChoiceField, FormButton, TickBox
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece, fit, width_of


class Bare(App[None]):
    """An app of one widget."""

    CSS_PATH = styles_dir() / "app.tcss"

    def __init__(self, widget: Widget) -> None:
        super().__init__()
        self._widget = widget
        self.register_theme(DARK)
        self.theme = "dark"

    def compose(self) -> ComposeResult:
        yield self._widget


class Numbers(Rows):
    """Rows that count which of them were asked for."""

    def __init__(self, missing: Sequence[int] = ()) -> None:
        super().__init__([Field("n", 8, share=1), Field("twice", 8, right=True, drop=1)])
        self.asked: list[int] = []
        self.missing = set(missing)

    def row(self, index: int) -> DrawnRow | None:
        self.asked.append(index)
        if index in self.missing:
            return None
        return DrawnRow(
            (Cell(f"row {index}"), Cell(str(2 * index), "pass")), marked=index % 10 == 3
        )


def drawn(rows: Rows) -> list[str]:
    return [rows.render_line(y).text.rstrip() for y in range(rows.size.height)]


@given(any_text, st.integers(0, 30), st.booleans(), st.integers(0, 20))
def test_fitted_text_is_exactly_as_wide_as_asked(
    text: str, width: int, right: bool, keep: int
) -> None:
    shown = fit(text, width, right=right, keep=keep)
    assert cell_len(shown) == width
    assert not CONTROLS & set(shown)


def test_cut_text_ends_in_an_ellipsis() -> None:
    assert fit("a long name", 6) == "a lon…"
    assert fit("7", 4, right=True) == "   7"
    assert width_of("a\x1bb") == 3


def test_what_tells_names_apart_stays_where_they_are_cut() -> None:
    assert fit("instructions-local-4u6v", 16, keep=5) == "instructio…-4u6v"
    assert fit("instructions-4u6v", 17, keep=5) == "instructions-4u6v"
    assert fit("説明する-四五", 10, keep=5) == "説明… 四五".replace(" ", "-")
    assert fit("instructions-4u6v", 8, keep=5) == "instruc…"


async def test_a_note_stands_after_its_text_where_there_is_room() -> None:
    class Noted(Rows):
        def row(self, index: int) -> DrawnRow:
            name = "x" * (4 + 6 * index)
            return DrawnRow((Cell(name, note="a long remark", note_tone="ungraded"), Cell("9")))

    rows = Noted([Field("name", 20, keep=3), Field("n", 4, right=True)])
    async with Bare(rows).run_test(size=(40, 8)) as pilot:
        rows.resize_to(4)
        await pilot.pause()
        assert drawn(rows)[1:5] == [
            "▸ xxxx a long remark       9",
            "  xxxxxxxxxx a long r…     9",
            "  xxxxxxxxxxxxxxxx         9",
            "  xxxxxxxxxxxxxxxx…xxx     9",
        ]


def test_fields_go_by_their_drop_and_share_what_is_left() -> None:
    fields = [Field("a", 10, share=1), Field("b", 10, drop=1), Field("c", 10, share=3, drop=2)]
    assert lay_out(fields, 34) == (10, 10, 10)
    assert lay_out(fields, 42) == (12, 10, 16)
    assert lay_out(fields, 30) == (18, 10, 0)
    assert lay_out(fields, 12) == (12, 0, 0)
    assert lay_out(fields, 3) == (10, 0, 0)


def test_a_field_takes_no_more_than_it_fills() -> None:
    fields = [Field("a", 4, share=2, most=6), Field("b", 4, share=2), Field("c", 4, share=4)]
    assert lay_out(fields, 36) == (6, 10, 16)
    assert lay_out([replace(fields[0], most=3), *fields[1:]], 36) == (4, 10, 17)
    assert lay_out(fields[:1], 30) == (6,)


async def test_a_million_rows_ask_for_those_in_view_only() -> None:
    rows = Numbers()
    async with Bare(rows).run_test(size=(40, 12)) as pilot:
        rows.focus()
        rows.resize_to(1_000_000)
        await pilot.pause()
        assert len(set(rows.asked)) <= 12
        rows.asked.clear()
        await pilot.press("end")
        await pilot.pause()
        assert rows.cursor == 999_999
        assert len(set(rows.asked)) <= 24
        assert drawn(rows)[-1].startswith("▸ row 999999")


async def test_moving_the_cursor_draws_two_rows() -> None:
    rows = Numbers()
    async with Bare(rows).run_test(size=(40, 12)) as pilot:
        rows.focus()
        rows.resize_to(100)
        await pilot.pause()
        rows.asked.clear()
        await pilot.press("j")
        await pilot.pause()
        assert sorted(set(rows.asked)) == [0, 1]


async def test_keys_move_and_stop_at_the_ends() -> None:
    rows = Numbers()
    async with Bare(rows).run_test(size=(40, 12)) as pilot:
        rows.focus()
        rows.resize_to(50)
        await pilot.press("k")
        assert rows.cursor == 0
        await pilot.press("down", "j", "pagedown")
        assert rows.cursor == 12
        await pilot.press("end", "down")
        assert rows.cursor == 49
        await pilot.press("home")
        assert rows.cursor == 0


async def test_the_head_stays_and_the_cursor_keeps_its_line_in_another_list() -> None:
    rows = Numbers()
    async with Bare(rows).run_test(size=(40, 12)) as pilot:
        rows.focus()
        rows.resize_to(1000)
        await pilot.press("pagedown", "pagedown", "k", "k")
        line = rows.cursor - rows.shown.start
        rows.place(500, 300)
        await pilot.pause()
        assert rows.cursor == 300
        assert rows.cursor - rows.shown.start == line
        assert drawn(rows)[0].split() == ["n", "twice"]


async def test_rows_that_are_not_there_yet_are_asked_for_once() -> None:
    asked: list[Rows.Missing] = []

    class Listening(Bare):
        def on_rows_missing(self, event: Rows.Missing) -> None:
            asked.append(event)

    rows = Numbers(missing=range(3))
    async with Listening(rows).run_test(size=(40, 12)) as pilot:
        rows.resize_to(5)
        await pilot.pause()
        await pilot.pause()
        assert len(asked) == 1
        assert drawn(rows)[1].strip() == "▸ ·"
        rows.missing.clear()
        rows.redraw()
        await pilot.pause()
        assert drawn(rows)[1].strip().startswith("▸ row 0")
        assert len(asked) == 1


async def test_a_click_moves_and_a_second_one_opens() -> None:
    opened: list[int] = []

    class Listening(Bare):
        def on_rows_opened(self, event: Rows.Opened) -> None:
            opened.append(event.cursor)

    rows = Numbers()
    async with Listening(rows).run_test(size=(40, 12)) as pilot:
        rows.resize_to(50)
        await pilot.pause()
        await pilot.click(rows, offset=(4, 5))
        assert rows.cursor == 4
        assert opened == []
        await pilot.click(rows, offset=(4, 5), times=2)
        assert opened == [4]
        await pilot.click(rows, offset=(4, 0))
        assert rows.cursor == 4


async def test_an_empty_table_says_so() -> None:
    rows = Numbers()
    async with Bare(rows).run_test(size=(40, 12)) as pilot:
        rows.say_empty("nothing [here]")
        await pilot.pause()
        assert any("nothing [here]" in line for line in drawn(rows))
        await pilot.press("down", "end", "home")
        assert rows.cursor == 0


async def test_a_bar_gives_way_on_the_left() -> None:
    bar = Bar([Piece("left side")], [Piece("right")], fill="-")
    async with Bare(bar).run_test(size=(20, 3)) as pilot:
        assert bar.render_line(0).text == "left side------right"
        await pilot.resize_terminal(10, 3)
        await pilot.pause()
        assert bar.render_line(0).text == "left…right"
        await pilot.resize_terminal(4, 3)
        await pilot.pause()
        assert bar.render_line(0).text == "lef…"


async def test_what_is_cut_says_so_and_what_has_room_does_not() -> None:
    bar = Bar([Piece("two  ", "strong"), Piece("words   ")])
    async with Bare(bar).run_test(size=(10, 3)) as pilot:
        assert bar.render_line(0).text == "two  words"
        await pilot.resize_terminal(8, 3)
        await pilot.pause()
        assert bar.render_line(0).text == "two  wo…"
        bar.show([Piece("日本語の")])
        await pilot.resize_terminal(6, 3)
        await pilot.pause()
        assert bar.render_line(0).text == "日本 …"


class Framed(App[None]):
    """A bar over two fields it follows, and one it does not."""

    def __init__(self) -> None:
        super().__init__()
        self.register_theme(DARK)
        self.theme = "dark"
        self.bar, self.told = Bar(frame=True), 0
        self.fields = [Input(compact=True) for _ in range(3)]

    def compose(self) -> ComposeResult:
        yield self.bar
        yield from self.fields

    def on_mount(self) -> None:
        self.bar.follow_focus(*self.fields[:2], then=self.tell)

    def tell(self) -> None:
        self.told += 1


async def test_a_bar_is_accented_while_what_it_follows_has_the_focus() -> None:
    """A blur that arrives after the next one's focus changes nothing."""
    app = Framed()
    async with app.run_test() as pilot:
        first, second, other = app.fields
        for field, tone in ((other, "dim"), (first, "accent"), (other, "dim"), (second, "accent")):
            before = app.told
            app.screen.set_focus(field)
            await pilot.pause()
            assert app.bar.frame_tone == tone
            assert app.told > before
        for late in (DescendantBlur(first), DescendantBlur(other)):
            app.screen.post_message(late)
            await pilot.pause()
            assert app.bar.frame_tone == "accent"


async def test_a_page_folds_again_when_its_width_changes() -> None:
    page = Page()
    async with Bare(page).run_test(size=(40, 6)) as pilot:
        page.show([Para("word " * 20)])
        await pilot.pause()
        wide = page.text.count("\n")
        await pilot.resize_terminal(20, 6)
        await pilot.pause()
        assert page.text.count("\n") > wide


async def test_a_page_keeps_what_is_read_in_view_when_others_come_above_it() -> None:
    page = Page()
    paras = [Para(f"line {n}") for n in range(50)]
    async with Bare(page).run_test(size=(40, 6)) as pilot:
        page.show(paras)
        page.action_scroll_to_line(20)
        page.show([Para("new\nnew\nnew"), *paras], keep_place=True)
        await pilot.pause()
        assert page.scroll_offset.y == 23
        page.show(paras[10:], keep_place=True)
        await pilot.pause()
        assert page.scroll_offset.y == 10


async def test_a_page_keeps_its_place_while_the_same_text_grows() -> None:
    page = Page()
    async with Bare(page).run_test(size=(40, 6)) as pilot:
        page.focus()
        page.show([Para("\n".join(f"line {n}" for n in range(50)))])
        await pilot.press("pagedown", "down")
        assert page.scroll_offset.y == 6
        page.show([Para("\n".join(f"line {n}" for n in range(60)))], keep_place=True)
        await pilot.pause()
        assert page.scroll_offset.y == 6
        page.show([Para("something else")])
        await pilot.pause()
        assert page.scroll_offset.y == 0


async def test_a_page_shows_a_paragraph_with_as_little_scrolling_as_it_takes() -> None:
    page = Page()
    paras = [Para(f"para {n}" + "\nmore" * (30 if n == 15 else 0)) for n in range(20)]
    async with Bare(page).run_test(size=(30, 10)) as pilot:
        page.show(paras)
        await pilot.pause()
        for para, top in ((4, 0), (12, 3), (10, 3), (2, 2), (15, 15), (19, 40)):
            page.reveal(para)
            await pilot.pause()
            assert page.scroll_offset.y == top, para


async def test_finding_in_a_page_marks_and_goes_round() -> None:
    page = Page()
    async with Bare(page).run_test(size=(40, 6)) as pilot:
        page.focus()
        page.show([Para("\n".join("Needle" if n in (10, 30) else "hay" for n in range(50)))])
        await pilot.pause()
        assert page.seek("nEEdle") == 2
        found = []
        for _ in range(3):
            assert page.next_hit(1)
            found.append(page.scroll_offset.y)
        assert found == [10, 30, 10]
        assert page.next_hit(-1)
        assert page.scroll_offset.y == 30
        assert page.render_line(0).text.strip() == "Needle"
        assert page.seek("absent") == 0
        assert not page.next_hit(1)


async def test_a_box_is_ticked_with_space_and_enter_is_left_to_the_form() -> None:
    tick = TickBox("use [b]it", True)
    async with Bare(tick).run_test(size=(40, 6)) as pilot:
        tick.focus()
        assert tick.render_line(0).text.startswith("[x] use [b]it")
        await pilot.press("space")
        assert not tick.ticked
        await pilot.press("enter")
        assert not tick.ticked
        await pilot.click(tick)
        assert tick.ticked


async def test_one_of_several_words_is_picked_with_keys_and_mouse() -> None:
    pick = ChoiceField(("all", "failed", "errors"))
    async with Bare(pick).run_test(size=(30, 3)) as pilot:
        pick.focus()
        assert pick.render_line(0).text.rstrip() == "(all) failed  errors"
        await pilot.press("space", "right")
        assert pick.word == "errors"
        await pilot.press("right", "left")
        assert pick.word == "errors"
        await pilot.press("left")
        assert pick.render_line(0).text.rstrip() == " all (failed) errors"
        await pilot.click(pick, offset=(2, 0))
        assert pick.word == "all"


async def test_a_line_has_corners_as_soon_as_its_screen_has_room_for_frames() -> None:
    def drawn() -> str:
        (strip,) = app.screen._compositor.render_strips()
        return strip.text

    app = Bare(Bar([Piece("a run")], fill="-", frame=True))
    async with app.run_test(size=(20, 1)) as pilot:
        for framed, ends in ((True, "╭╮"), (False, "--")):
            app.screen.set_class(framed, FRAMED)
            await pilot.pause()
            assert drawn()[0] + drawn()[-1] == ends


async def test_a_button_is_pressed_with_both() -> None:
    pressed: list[object] = []

    class Listening(Bare):
        def on_form_button_pressed(self, event: FormButton.Pressed) -> None:
            pressed.append(event)

    press = FormButton("Start")
    async with Listening(press).run_test(size=(40, 6)) as pilot:
        press.focus()
        await pilot.press("space", "enter")
        assert len(pressed) == 2


async def test_no_widget_lets_a_control_through() -> None:
    class Hostile(Numbers):
        words = ""

        def row(self, index: int) -> DrawnRow:
            return DrawnRow((Cell(self.words), Cell(self.words, "fail")))

    app = Bare(Lines())
    async with app.run_test(size=(60, 20)) as pilot:
        for words in some(3, hostile.outputs()):
            rows, page = Hostile(), Page()
            rows.words = words
            bar, tick = Bar([Piece(words)], [Piece(words[:5], "fail")]), TickBox(words, True)
            await app.screen.query("*").remove()
            await app.screen.mount(bar, tick, rows, page)
            rows.resize_to(3)
            rows.say_empty(words)
            page.show([Para(words, label="x"), Para(words, "error")])
            page.seek("a")
            await pilot.pause()
            assert rows.size.height and page.size.height
            _assert_harmless(app, words)


def _assert_harmless(app: App[None], words: str) -> None:
    """See that nothing on the screen is a control, a link or an action."""
    for strip in app.screen._compositor.render_strips():
        assert not CONTROLS & set(strip.text), words
        assert strip.cell_length == 60
        for segment in strip:
            assert segment.style is None or segment.style.link is None
            meta = segment.style.meta if segment.style else {}
            assert "@click" not in meta
            assert "act" not in meta


@pytest.mark.parametrize("widget", [KeyLine, TickBox, ChoiceField, FormButton, Bar, Lines])
def test_the_styles_that_a_widget_brings_along_name_it(widget: type[Widget]) -> None:
    assert widget.DEFAULT_CSS.split()[0] == widget.__name__


async def test_a_button_with_a_long_name_keeps_its_key() -> None:
    button = FormButton("Retry a-case-with-a-long-id", "enter")
    async with Bare(button).run_test(size=(60, 3)) as pilot:
        assert button.render_line(0).text.rstrip() == " Retry a-case-with-a-long-id enter"
        button.styles.width = 20
        await pilot.pause()
        assert button.render_line(0).text == " Retry a-cas… enter "
