"""What edited scorers would change, line by line."""

from tui_eval.engine.control.verdict_change import VerdictChange
from tui_eval.model.states import Verdict
from tui_eval.ui.dialogs.would_change import _Table
from tui_eval.ui.theme.glyphs import UNICODE


def test_a_line_says_whose_output_it_is_and_begins_why_with_what_came() -> None:
    why = "numeric: expected 3, got 3.4"
    flip = VerdictChange(0, "case-1", "small", 0, Verdict.FAIL, Verdict.PASS, why)

    def cells(named: str) -> list[str]:
        table = _Table([flip], named, UNICODE)
        drawn = table.row(0)
        assert drawn is not None
        assert [field.title for field in table.fields][1] == (named or "was")
        return [cell.text for cell in drawn.cells]

    changed = ["✗ fail", "✓ pass", "numeric: 3.4, expected 3"]
    assert cells(named="target · prompt") == ["case-1", "small", *changed]
    assert cells(named="") == ["case-1", *changed]
