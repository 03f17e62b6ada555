"""What a plugin says of itself, found out in a process of its own: it is foreign code."""

import json
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final

from tui_eval.isolated.one_call import OneCall, OneCallError, call_once
from tui_eval.model.json import Json, JsonObject, canonical
from tui_eval.plugins.lookup import Plugin, PluginSort, worker_path
from tui_eval.suites.loading.errors import FieldMistake

CALLS: Final = "tui_eval.suites.plugins.plugin_calls"
"""The module that workers call."""
FUNCTIONS: Final = {PluginSort.SCORER: "score", PluginSort.TARGET: "generate"}
"""The function of each sort of plugin that has settings, in it and in `CALLS`."""
_TIMEOUT_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class PluginDescription:
    """A plugin with the settings of a suite."""

    version: str
    """Its own; empty: it could not be asked."""
    settings: JsonObject
    """With what is left out."""
    mistakes: tuple[FieldMistake, ...]


def described(plugin: Plugin, settings: JsonObject) -> PluginDescription:
    """Return a plugin's version, and what it says of settings.

    Its module is imported, in a process that has no key of this one's environment.
    """
    try:
        found = _asked(plugin, canonical(settings), tuple(worker_path()))
    except OneCallError as error:
        why = f"plugin {plugin.name} of {plugin.distribution} cannot be used: {error}"
        return PluginDescription("", settings, (FieldMistake(("kind",), why),))
    kept = found["settings"]
    assert isinstance(kept, dict)
    return PluginDescription(str(found["version"]), kept, tuple(_mistakes(found["mistakes"])))


def _mistakes(found: Json) -> list[FieldMistake]:
    assert isinstance(found, list)
    mistakes = []
    for one in found:
        assert isinstance(one, dict)
        path, hint = one["path"], one["hint"]
        assert isinstance(path, list)
        steps = tuple(step if isinstance(step, int) else str(step) for step in path)
        mistakes.append(
            FieldMistake(steps, str(one["message"]), None if hint is None else str(hint))
        )
    return mistakes


@lru_cache(maxsize=256)
def _asked(plugin: Plugin, settings: bytes, path: tuple[str, ...]) -> JsonObject:
    call = OneCall(CALLS, "describe", path, Path("/"), _TIMEOUT_S)
    function = FUNCTIONS[plugin.sort]
    given: dict[str, Json] = {"module": plugin.module, "function": function}
    found = call_once(call, {**given, "settings": json.loads(settings)})
    assert isinstance(found, dict), "as `plugin_calls.describe` returns it"
    return found
