"""The rows of the list of runs."""

import pytest

from tui_eval.ui.runs.run_table import small_bars
from tui_eval.ui.store_access.rate_book import ColumnRates
from tui_eval.ui.theme.glyphs import UNICODE


@pytest.mark.parametrize(
    ("shares", "judged", "shown"),
    [
        ((0.721,), False, "▆72.1%"),
        ((0.8, 0.69, None), False, "▇80 ▆69 –"),
        ((0.8, 0.69, 0.02, 0.88), False, "▇80 ▆69 ▁2 +1"),
        ((0.8, 0.69, 0.02, 0.88, 0.9), True, "▇~80 ▆~69 ▁~2 +2"),
    ],
)
def test_each_rate_has_its_bar_and_what_is_not_shown_has_none(
    shares: tuple[float | None, ...], judged: bool, shown: str
) -> None:
    assert (
        " ".join(small_bars(ColumnRates(shares, False, judged, {}, None), UNICODE).split()) == shown
    )
