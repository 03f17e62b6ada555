"""How often something is read again."""

import pytest

from tui_eval.ui.store_access.read_pace import MOST_S, rest


@pytest.mark.parametrize(
    ("took_s", "waits_s"),
    [(0.0, 0.5), (0.04, 0.5), (0.2, 2.0), (0.9, 9.0), (1.0, MOST_S), (60.0, MOST_S)],
)
def test_what_takes_long_is_read_the_rarer_and_never_given_up(
    took_s: float, waits_s: float
) -> None:
    assert rest(0.5, took_s, 10) == waits_s


def test_the_least_is_kept_however_much_it_is() -> None:
    assert rest(60.0, 3.0, 10) == 60.0
