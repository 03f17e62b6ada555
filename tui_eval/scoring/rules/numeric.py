"""The scorer `numeric`."""

import re

from tui_eval.model.json import JsonObject
from tui_eval.model.score import Grade
from tui_eval.scoring.settings import number, texts
from tui_eval.texts.numbers import Number, chosen, expected_number, within
from tui_eval.texts.wording import plain, quoted

_DECIMALS = re.compile(r"-?\d+\.\d+")
"""How a number is written where rounding it would only repeat it."""


def numeric(settings: JsonObject, text: str) -> Grade:
    """Pass where the picked number of the text is an expected one, within the tolerances."""
    pick = settings["pick"]
    if not isinstance(pick, str | int):
        raise TypeError(f"pick is {pick!r}")
    wanted = [expected_number(one) for one in texts(settings["expected"])]
    expectation = f"expected {' or '.join(_shown(one) for one in wanted[:3])}"
    found = chosen(text, pick)
    if found is None:
        place = "" if pick in ("last", "first") else f" {pick}"
        return Grade.of(False, f"{expectation}, found no number{place} in {quoted(text)}")
    tolerance = number(settings["tolerance"]) or 0.0
    relative = number(settings["relative"]) or 0.0
    passed = any(within(found, one, tolerance, relative) for one in wanted)
    return Grade.of(passed, f"{expectation}, got {_shown(found)}", found.as_json())


def _shown(found: Number) -> str:
    if _DECIMALS.fullmatch(found.text):
        return plain(found.text, 40)
    value = plain(str(found), 40)
    if not found.text or found.value is None or found.text.replace(",", "") == value:
        return value
    return f"{value} ({quoted(found.text, 40)})"
