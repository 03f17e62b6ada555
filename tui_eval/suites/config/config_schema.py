"""The configuration's format as JSON Schema, for completion and checks in editors."""

from collections.abc import Iterable, Mapping
from typing import Final

from tui_eval.model.bounds import LOG_LEVELS, MOST_CALLS
from tui_eval.model.json import JsonObject

_KEY: Final[JsonObject] = {"type": "string", "minLength": 1}
_KEYS: Final[JsonObject] = {"anyOf": [_KEY, {"type": "array", "items": _KEY, "minItems": 1}]}


def config_schema(themes: Iterable[str], actions: Mapping[str, str]) -> JsonObject:
    """Return the JSON Schema (draft 2020-12) of `config.toml`, every field described.

    Args:
        themes: The themes there are.
        actions: What each action does, by its id: the keys of `[keymap]`.
    """
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "tui-eval configuration",
        "type": "object",
        "additionalProperties": False,
        "properties": {
            "theme": {
                "enum": [*themes],
                "description": "The colours of the app.",
            },
            "store": {
                "type": "string",
                "minLength": 1,
                "description": "The store's file; relative to the configuration. ~ is your home.",
            },
            "concurrency": {
                "anyOf": [
                    {"type": "integer", "minimum": 1, "maximum": MOST_CALLS},
                    {"const": "auto"},
                ],
                "description": "Calls in flight at each endpoint, where a suite says nothing.",
            },
            "log_level": {
                "enum": [*LOG_LEVELS],
                "description": "How much engines write into a run's log.",
            },
            "keys": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"type": "string"}},
                "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"},
                "description": "Hosts that a key may be sent to, by its variable: "
                'MY_KEY = ["api.example.org"].',
            },
            "keymap": {
                **_keymap(actions),
                "description": 'Keys of the app, by the action: "run.retry" = "f5".',
            },
        },
    }


def _keymap(actions: Mapping[str, str]) -> JsonObject:
    """Return the table of keys; `run.retry` without quotation marks is a table in it."""
    inner: dict[str, JsonObject] = {}
    whole: JsonObject = {}
    for name, words in actions.items():
        keys: JsonObject = {**_KEYS, "description": words}
        whole[name] = keys
        area, dot, short = name.partition(".")
        if dot:
            inner.setdefault(area, {})[short] = keys
    for area, names in inner.items():
        table: JsonObject = {"type": "object", "additionalProperties": False, "properties": names}
        same = whole.get(area)  # `runs` is an action, and the beginning of others
        whole[area] = table if same is None else {"anyOf": [same, table]}
    return {"type": "object", "additionalProperties": False, "properties": whole}
