"""Each guard and each moment is still there: a control that takes nothing away says nothing."""

from typing import Any

import pytest

from tests.faults.guards import GUARDS, MOMENTS, Countdown


def is_there(of: Any, name: str, value: object) -> None:
    """Look for what would be replaced."""
    assert getattr(of, name) is not value


@pytest.mark.parametrize("guard", GUARDS)
def test_a_guard_is_there_to_be_taken_away(guard: str) -> None:
    GUARDS[guard](is_there)


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_moment_is_there_to_die_at(moment: str) -> None:
    MOMENTS[moment](is_there, Countdown(1))
