import pytest

from tui_eval.reports.wording import clock, decimal, many, money, percent, seconds


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (percent(0.7692), "76.9%"),
        (percent(None), "–"),
        (seconds(0.834), "0.83s"),
        (seconds(12.34), "12.3s"),
        (seconds(125), "2:05"),
        (seconds(None), "–"),
        (clock(42.4), "0:42"),
        (clock(3723), "1:02:03"),
        (money(None), "–"),
        (money(0.0), "$0.00"),
        (money(0.0123), "$0.0123"),
        (money(0.00004), "<$0.0001"),
        (money(0.00005), "$0.0001"),
        (money(0.834), "$0.83"),
        (money(12.3), "$12.30"),
        (decimal(0.775), "0.78"),
        (decimal(None), "–"),
        (many(1, "case"), "1 case"),
        (many(1200, "case"), "1,200 cases"),
        (many(2, "reply", "replies"), "2 replies"),
    ],
)
def test_figures_read_as_people_write_them(said: str, expected: str) -> None:
    assert said == expected
