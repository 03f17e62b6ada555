"""A scorer: the text reads the same backwards."""

from typing import Any

from pydantic import BaseModel

from tui_eval.plugins import Grade, Output

version = "1"


class Settings(BaseModel):
    """What a suite may say of it."""

    ignore_case: bool = False


def score(settings: Settings, case: dict[str, Any], output: Output) -> Grade:
    """Return the grade of an output."""
    if output.text is None:
        return Grade.ungraded("there is no text")
    read = output.text.casefold() if settings.ignore_case else output.text
    return Grade.of(read == read[::-1], f"backwards it is {read[::-1]!r}")
