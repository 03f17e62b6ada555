"""The line that says how a list divides."""

from pathlib import Path

from tests.support import reading
from tests.ui.playing import first_snapshot, plain_run, words
from tests.ui.run.list.making import FAILED
from tui_eval.store.search.views import Condition, FilterKind, Order, View
from tui_eval.ui.run.figures import count_figures
from tui_eval.ui.run.list.filter_line import filter_words
from tui_eval.ui.theme.glyphs import UNICODE


def test_the_filter_line_says_how_the_list_divides(store: Path) -> None:
    made = plain_run(store, 10)
    found = first_snapshot(store, made.run)
    with reading(store) as db:
        figures = count_figures(db, made.run)
    plain = words(filter_words(found.total, figures, View(), "10", UNICODE, 80))
    assert "all 10" in plain
    assert "✓ 8" in plain
    assert "✗ 2" in plain
    assert "exact 2" in plain
    view = View((FAILED, Condition(FilterKind.TAG, "t1")), "a b", Order.SCORE)
    narrowed = filter_words(found.total, figures, view, "2 of 10", UNICODE, 80)
    assert "2 of 10 ─ failed × tag t1 × “a b” × ─ by score" in words(narrowed)
    acts = {piece.text.strip(): piece.action for piece in narrowed}
    assert acts["tag t1 ×"] == "drop_filter(1)"
    assert acts["“a b” ×"] == "drop_filter(2)"
    assert words(filter_words(found.total, figures, view, "2 of 10", UNICODE, 27)).endswith(
        "failed × +2 "
    )
