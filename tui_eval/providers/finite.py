"""Numbers in answers that can be reckoned with."""

import sys

from tui_eval.model.json import Json


def finite(number: Json) -> bool:
    """Whether a value is a number that a float holds: JSON has NaN, and whole ones of any size."""
    if isinstance(number, bool) or not isinstance(number, int | float):
        return False
    return abs(number) <= sys.float_info.max
