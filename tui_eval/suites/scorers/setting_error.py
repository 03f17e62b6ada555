"""What is wrong with a scorer's settings, as written or once they are rendered for a case."""

from tui_eval.model.json import Json
from tui_eval.texts.wording import quoted


class SettingError(ValueError):
    """A setting that no output can be judged by; the message says which and why."""

    def __init__(self, message: str, field: str = "expected") -> None:
        """Say what is wrong.

        Args:
            message: It names the field.
            field: The field.
        """
        super().__init__(message)
        self.field = field

    @property
    def without_field(self) -> str:
        """The message for where the field is named already."""
        return str(self).removeprefix(self.field).lstrip(": ")


def named(value: Json) -> str:
    """Name a value for a message: null, a list, a table, or what it is, shortened."""
    if value is None:
        return "null"
    if isinstance(value, list):
        return "a list"
    return "a table" if isinstance(value, dict) else quoted(str(value))
