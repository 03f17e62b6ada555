"""Whether anything is to be rendered."""

from typing import Final

_MARKS: Final = ("{{", "{%", "{#")


def is_template(value: object) -> bool:
    """Tell whether a setting holds anything to render, at any depth."""
    if isinstance(value, str):
        return any(mark in value for mark in _MARKS)
    if isinstance(value, list):
        return any(is_template(item) for item in value)
    if isinstance(value, dict):
        return any(is_template(item) for item in value.values())
    return False


def before_marks(text: str) -> str:
    """Return what stands before the first thing to render."""
    found = [at for at in map(text.find, _MARKS) if at >= 0]
    return text[: min(found)] if found else text
