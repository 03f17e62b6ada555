"""What a scorer checks, in a line."""

import json
from collections.abc import Iterator, Mapping

_ELSEWHERE = {"kind", "name", "weight", "required", "invert", "not", "when", "of"}
"""Fields that are no part of the line, or stand in it elsewhere."""
_LONGEST = 60
"""Characters of one value."""


def scorer_in_words(settings: Mapping[str, object], judges: int) -> str:
    """Return what a scorer checks.

    Args:
        settings: Its fields as the suite says them, without those that are at their default.
        judges: How many judges the suite has; which one grades is said where there are several.
    """
    kind, name = str(settings.get("kind", "?")), str(settings.get("name", ""))
    title = kind if name in ("", kind) else f"{name} ({kind})"
    parts = list(_parts(settings, judges))
    return f"{title}: {', '.join(parts)}" if parts else title


def _parts(settings: Mapping[str, object], judges: int) -> Iterator[str]:
    for field, value in settings.items():
        if field not in _ELSEWHERE and not (field == "judge" and judges < 2):
            yield _part(field, value)
    for field in ("of", "when"):
        if settings.get(field):
            yield f"{field} {_short(settings[field])}"
    if settings.get("required") is False:
        yield "reported only"


def _part(field: str, value: object) -> str:
    words = field.replace("_", " ")
    match value:
        case bool():
            return words if value else f"no {words}"
        case [int() | float() as least, int() | float() as most] if field == "scale":
            return f"scale {least:g}–{most:g}"
        case _ if field == "pass_at":
            return f"passes at {_short(value)}"
        case _:
            return f"{words} {_short(value)}"


def _short(value: object) -> str:
    text = _text(value)
    shown = text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
    # words of a person end where their quotes do, not at the next comma
    quoted = isinstance(value, str) and " " in text and not text.startswith("{{")
    return f"“{shown}”" if quoted else shown


def _text(value: object) -> str:
    match value:
        case str():
            return value
        case bool() | None:
            return json.dumps(value)
        case float() if value.is_integer():
            return str(int(value))
        case int() | float():
            return str(value)
        case [*values] if all(isinstance(one, str | int | float) for one in values):
            return "; ".join(map(_text, values))
        case _:
            return json.dumps(value, ensure_ascii=False)
