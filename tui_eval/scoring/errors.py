"""What is wrong with a scorer's settings once they are rendered for a case."""

from tui_eval.model.json import Json
from tui_eval.scoring.wording import quoted


class SettingError(ValueError):
    """A rendered setting that no output can be judged by; the message says which and why."""


def named(value: Json) -> str:
    """Name a value for a message: null, a list, a table, or what it is, shortened."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return "a list"
    return "a table" if isinstance(value, dict) else quoted(str(value))
