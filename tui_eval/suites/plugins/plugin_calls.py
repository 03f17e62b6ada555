"""What a worker calls of a plugin: imported by the plugin's processes, and nowhere else.

What crosses to them and back is JSON; the plugin itself gets its settings as its model, and gives
the values of `tui_eval.plugins`.
"""

import importlib
import inspect
import json
from collections.abc import Iterator
from dataclasses import asdict
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from tui_eval.model.json import Json, JsonObject
from tui_eval.plugins import Failure, Grade, Output


class _NoSettings(BaseModel):
    """Those of a plugin that takes none."""

    model_config = ConfigDict(extra="forbid")


class NoPluginError(Exception):
    """A module lacks what a plugin of its sort has."""


def describe(module: str, function: str, settings: JsonObject) -> JsonObject:
    """Return a plugin's `version`, its `settings` with defaults, and the `mistakes` in them."""
    from tui_eval.suites.loading.errors import did_you_mean
    from tui_eval.suites.loading.validation import explain

    plugin = importlib.import_module(module)
    _function(plugin, function)
    version = getattr(plugin, "version", None)
    if not isinstance(version, str) or not version:
        raise NoPluginError(f'{module} has no version, a text such as "1"')
    model = _model(plugin)
    known = [field.alias or name for name, field in model.model_fields.items()]
    mistakes: list[Json] = [
        {"path": [key], "message": "unknown key", "hint": did_you_mean(key, known)}
        for key in settings
        if key not in known and key not in model.model_fields
        if model.model_config.get("extra") != "allow"
    ]
    try:
        made = model.model_validate(settings)
    except ValidationError as error:
        for issue in explain(error, settings, ()):
            if issue.message != "unknown key" or len(issue.path) > 1:
                path: list[Json] = [*issue.path]
                mistakes.append({"path": path, "message": issue.message, "hint": issue.hint})
        return {"version": version, "settings": settings, "mistakes": mistakes}
    kept = made.model_dump(mode="json", by_alias=True)
    return {"version": version, "settings": kept, "mistakes": mistakes}


async def score(
    module: str,
    settings: JsonObject,
    case: JsonObject,
    output: str | None,
    messages: list[JsonObject],
    fields: JsonObject,
) -> JsonObject:
    """Return a scorer's grade of an output."""
    plugin, own = _loaded(module, json.dumps(settings))
    judged = Output(output, messages=tuple(messages), fields=fields)
    grade = _function(plugin, "score")(own, case, judged)
    if inspect.isawaitable(grade):
        grade = await grade
    if not isinstance(grade, Grade):
        raise TypeError(f"score returned {type(grade).__name__}: it returns a Grade")
    return {
        "value": grade.value,
        "verdict": grade.verdict.value,
        "reason": grade.reason,
        "raw": grade.raw,
    }


async def generate(
    module: str, settings: JsonObject, request: JsonObject, timeout_s: float
) -> JsonObject:
    """Return a target's `output`, as functions return one, or its `failure`."""
    plugin, own = _loaded(module, json.dumps(settings))
    found = await _function(plugin, "generate")(own, request, timeout_s)
    if isinstance(found, Failure):
        return {
            "failure": {
                "kind": found.kind,
                "message": found.message,
                "retryable": found.retryable,
                "fatal": found.fatal,
                "retry_after_s": found.retry_after_s,
            }
        }
    if not isinstance(found, Output):
        raise TypeError(f"generate returned {type(found).__name__}: it returns Output or Failure")
    whole: dict[str, Any] = {
        "text": found.text,
        "reasoning": found.reasoning,
        "messages": [*found.messages] or None,
        "fields": found.fields,
        "finish_reason": found.finish_reason,
        "model": found.model,
        "usage": asdict(found.usage),
        "cost_usd": found.cost_usd,
    }
    return {"output": {name: value for name, value in whole.items() if value is not None}}


def read(module: str, path: str, cases: str) -> JsonObject:
    """Have an importer read a file; its cases go to a file of JSON Lines, the rest is returned."""
    found = _function(importlib.import_module(module), "read")(Path(path))
    if not isinstance(found, dict) or not isinstance(found.get("suite"), dict):
        raise TypeError('read returned no table with "suite" and "cases"')
    with Path(cases).open("w", encoding="ascii") as file:
        for row in found.get("cases", ()):
            file.write(json.dumps(row, allow_nan=False) + "\n")
    lost = [str(one) for one in found.get("lost", ())]
    return {"suite": found["suite"], "lost": [*lost]}


def export(module: str, run: JsonObject, trials: str, target: str) -> None:
    """Have an exporter write a file, of a file of trials in JSON Lines."""

    def rows() -> Iterator[JsonObject]:
        with Path(trials).open(encoding="utf-8") as lines:
            for line in lines:
                yield json.loads(line)

    plugin = importlib.import_module(module)
    with Path(target).open("w", encoding="utf-8", errors="backslashreplace") as file:
        for piece in _function(plugin, "export")(run, rows()):
            file.write(piece)


@lru_cache(maxsize=64)
def _loaded(module: str, settings: str) -> tuple[ModuleType, BaseModel]:
    plugin = importlib.import_module(module)
    return plugin, _model(plugin).model_validate(json.loads(settings))


def _model(plugin: ModuleType) -> type[BaseModel]:
    model = getattr(plugin, "Settings", _NoSettings)
    if not isinstance(model, type) or not issubclass(model, BaseModel):
        raise NoPluginError(f"{plugin.__name__}.Settings is no pydantic model")
    return model


def _function(plugin: ModuleType, name: str) -> Any:  # noqa: ANN401 - whatever it takes and gives
    found = getattr(plugin, name, None)
    if not callable(found):
        raise NoPluginError(f"{plugin.__name__} has no function {name}")
    return found
