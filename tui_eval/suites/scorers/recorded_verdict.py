"""The scorer of verdicts that the rows bring along: `recorded`."""

from typing import ClassVar, Literal

from pydantic import Field, JsonValue

from tui_eval.model.json import JsonObject
from tui_eval.suites.scorers.scorer import Scorer
from tui_eval.suites.scorers.setting_error import SettingError, named

VERDICTS = ("pass", "fail", "ungraded")


class RecordedScorer(Scorer):
    """What somebody said of the output before: a verdict or a value in the row."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ("value", "reason")

    kind: Literal["recorded"]
    value: JsonValue = Field(
        description="What the row says: true or false, a number from 0 to 1, or pass, fail or "
        "ungraded. A number passes from `threshold` on, without one at 1."
    )
    reason: JsonValue = Field(default=None, description="Why, where the row says it.")

    def own_settings(self) -> JsonObject:
        """Return its settings; without `reason` where none is given."""
        settings = super().own_settings()
        if settings["reason"] is None:
            del settings["reason"]
        return settings

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with the value as a verdict or a number."""
        value = settings["value"]
        if isinstance(value, bool):
            value = "pass" if value else "fail"
        if isinstance(value, str) and value.strip().lower() in VERDICTS:
            return {**settings, "value": value.strip().lower()}
        if isinstance(value, str):
            value = _number(value)
        if isinstance(value, str | list | dict) or value is None or not 0 <= value <= 1:
            raise SettingError(
                f"value is {named(settings['value'])}: it is true, false, a number from 0 to 1, "
                f"{', '.join(VERDICTS)}",
                "value",
            )
        return {**settings, "value": float(value)}


def _number(text: str) -> float | str:
    """Return the number a table's cell holds, or the cell."""
    try:
        return float(text)
    except ValueError:
        return text
