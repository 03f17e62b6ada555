"""Arguments of a call against those that are expected of it."""

import json

from tui_eval.model.json import Json, JsonObject
from tui_eval.scoring.rules.structure import difference
from tui_eval.suites import patterns
from tui_eval.suites.scorers.tool_calls import bfcl_text
from tui_eval.texts.wording import plain, quoted


def unexpected(expected: JsonObject, got: Json, place: str, more: bool = False) -> str | None:
    """Say where a value first differs from what is expected of it; None: nowhere.

    Args:
        expected: In the form that `ToolCallsScorer.settle` gives.
        got: The value.
        place: The name of the place, for the message.
        more: Whether a table may have other keys than the expected ones.

    Raises:
        TooSlowError: for a pattern that takes too long.
    """
    if "type" in expected and not _has_type(str(expected["type"]), got):
        return f"{plain(place)}: expected type {expected['type']}, got {_shown(got)}"
    table, items, one_of = expected.get("table"), expected.get("list"), expected.get("any_of")
    if isinstance(table, dict):
        return _in_table(table, expected.get("optional"), got, place, more)
    if isinstance(items, list):
        return _in_list(items, got, place)
    if isinstance(one_of, list):
        if any(_fits(one, got, place) for one in one_of):
            return None
        return f"{plain(place)}: expected one of {len(one_of)} values, got {_shown(got)}"
    return _as_value(expected, got, place)


def _fits(expected: Json, got: Json, place: str) -> bool:
    return isinstance(expected, dict) and unexpected(expected, got, place) is None


def _as_value(expected: JsonObject, got: Json, place: str) -> str | None:
    if "regex" in expected:
        pattern = str(expected["regex"])
        if isinstance(got, str) and patterns.search(patterns.compiled(pattern), got):
            return None
        return f"{plain(place)}: expected a match of /{plain(pattern)}/, got {_shown(got)}"
    if "near" in expected:
        near, within = expected["near"], expected["within"]
        assert isinstance(near, float)
        assert isinstance(within, float)
        number = isinstance(got, int | float) and not isinstance(got, bool)
        if number and abs(float(got) - near) <= within:  # type: ignore[arg-type]
            return None
        return f"{plain(place)}: expected about {near:g}, got {_shown(got)}"
    if "like" in expected:
        if isinstance(got, str) and bfcl_text(got) == expected["like"]:
            return None
        return f"{plain(place)}: expected {_shown(expected['like'])}, got {_shown(got)}"
    if "anything" in expected:
        return None
    if difference(expected["is"], got) is None:
        return None
    return f"{plain(place)}: expected {_shown(expected['is'])}, got {_shown(got)}"


def _in_table(table: JsonObject, optional: Json, got: Json, place: str, more: bool) -> str | None:
    if not isinstance(got, dict):
        return f"{plain(place)}: expected a table, got {_shown(got)}"
    for key, expected in table.items():
        if key in got:
            assert isinstance(expected, dict)
            differs = unexpected(expected, got[key], f"{place}.{key}" if place else key)
            if differs:
                return differs
        elif not isinstance(optional, list) or key not in optional:
            return f"{quoted(key)} is missing"
    others = () if more else (key for key in got if key not in table)
    for key in others:
        return f"{quoted(key)} is not expected"
    return None


def _in_list(items: list[Json], got: Json, place: str) -> str | None:
    if not isinstance(got, list):
        return f"{plain(place)}: expected a list, got {_shown(got)}"
    if len(items) != len(got):
        return f"{plain(place)}: expected {len(items)} elements, got {len(got)}"
    for at, (expected, value) in enumerate(zip(items, got, strict=True)):
        assert isinstance(expected, dict)
        differs = unexpected(expected, value, f"{place}[{at}]")
        if differs:
            return differs
    return None


def _has_type(kind: str, got: Json) -> bool:
    if kind == "boolean":
        return isinstance(got, bool)
    numbers = int if kind == "integer" else (int, float)
    return isinstance(got, numbers) and not isinstance(got, bool)


def _shown(value: Json) -> str:
    return plain(json.dumps(value, ensure_ascii=False))
