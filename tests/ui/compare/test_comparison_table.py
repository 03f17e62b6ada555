"""The table of compared columns: what has room in it."""

from tui_eval.ui.compare.comparison_table import _fields
from tui_eval.ui.widgets.fields import lay_out
from tui_eval.ui.widgets.toned import fit


def test_names_take_no_more_room_than_they_fill_and_are_told_apart_where_they_are_cut() -> None:
    names = ["high_school_geography", "high_school_computer_science"]
    fields = _fields([], 24, max(map(len, names)))
    name, *_ = lay_out(fields, 196)
    assert name == max(map(len, names)), "figures stand beside the names, not across the screen"
    narrow, *_ = lay_out(_fields([], 8, max(map(len, names))), 76)
    cut = {fit(one, narrow, keep=fields[0].keep) for one in names}
    assert len(cut) == 2
