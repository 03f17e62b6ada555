"""`--set PATH=VALUE`: any field of a suite, from the command line."""

import re
import tomllib
from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeAlias

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.loading.errors import Mistake, did_you_mean
from tui_eval.suites.loading.source_map import SourceLocation, SourceMap
from tui_eval.suites.loading.sources import as_json
from tui_eval.suites.loading.toml_lines import Path

Sets: TypeAlias = Mapping[str, str] | Iterable[tuple[str, str]]
"""Paths and what they are set to."""

_KEY: Final = re.compile(r'"([^"]*)"|\'([^\']*)\'|([^.\[\]"\']+)')
_INDEX: Final = re.compile(r"\[?(\d+)\]?(?=\.|\[|$)")


def apply(
    data: JsonObject, places: SourceMap, sets: Sets, *, only: Collection[str] = ()
) -> list[Mistake]:
    """Set fields of a suite that is read but not validated; return what cannot be set.

    A path goes through tables by key and through lists by place or by name: `run.epochs`,
    `targets.0.model`, `targets.gpt-5-mini.params.temperature`.

    Args:
        data: The suite; it is changed.
        places: Where its values were written; likewise.
        sets: Paths and what they are set to.
        only: What the paths may begin with; nothing: anything.
    """
    pairs = sets.items() if isinstance(sets, Mapping) else sets
    mistakes = []
    for path, value in pairs:
        option = f"--set {path}={value}"
        try:
            _need_settable(path, only)
            at = _set(data, path, toml_or_text(value))
        except _NoSuchPlaceError as error:
            mistakes.append(Mistake(option, None, path, error.message, error.hint))
        else:
            places.put(at, SourceLocation(option, None, places.root.folder, at))
            for end in range(1, len(at)):  # tables that were made on the way
                made = SourceLocation(option, None, places.root.folder, at[:end])
                places.known.setdefault(at[:end], made)
    return mistakes


class _NoSuchPlaceError(Exception):
    def __init__(self, message: str, hint: str | None = None) -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)


def _need_settable(path: str, only: Collection[str]) -> None:
    """Refuse fields that cannot be set now: they have taken effect, or are not among `only`."""
    key, _ = _step({}, path)
    if only and key not in only:
        raise _NoSuchPlaceError(
            "cannot be set when a run is scored again", f"there are {', '.join(sorted(only))}"
        )
    if key == "include":
        raise _NoSuchPlaceError(
            "cannot be set: includes are read before", "write it into the suite's file"
        )


def toml_or_text(text: str) -> Json:
    """Return a value parsed as TOML; as a text where it is not TOML."""
    try:
        read = tomllib.loads(f"value = {text}")
    except (tomllib.TOMLDecodeError, RecursionError):
        return text
    return as_json(read)["value"] if len(read) == 1 else text


def _set(data: JsonObject, path: str, value: Json) -> Path:
    here: Json = data
    at: Path = ()
    rest = path
    while True:
        step, rest = _step(here, rest)
        at = (*at, step)
        if isinstance(here, dict) and isinstance(step, str):
            if not rest:
                here[step] = value
                return at
            here = here.setdefault(step, {})
        elif isinstance(here, list) and isinstance(step, int):
            if not rest:
                here[step] = value
                return at
            here = here[step]


def _step(here: Json, rest: str) -> tuple[str | int, str]:
    """Return the next step of a path and the rest."""
    if isinstance(here, list):
        return _into_list(here, rest)
    if not isinstance(here, dict):
        raise _NoSuchPlaceError(f'nothing can be set inside a value: ".{rest}"')
    found = _KEY.match(rest)
    if found is None:
        raise _NoSuchPlaceError("is no path", "write it like run.epochs or targets.0.model")
    key = next(group for group in found.groups() if group is not None)
    return key, _after(rest, found.end())


def _into_list(items: list[Json], rest: str) -> tuple[int, str]:
    index = _INDEX.match(rest)
    if index is not None:
        place = int(index[1])
        if place >= len(items):
            there = "there is only one" if len(items) == 1 else f"there are only {len(items)}"
            raise _NoSuchPlaceError(f"{there}, counted from 0")
        return place, _after(rest, index.end())
    names = {_name(item): place for place, item in enumerate(items) if _name(item)}
    for name in sorted(names, key=len, reverse=True):
        for written in (name, f'"{name}"'):
            if rest == written or rest.startswith((f"{written}.", f"{written}[")):
                return names[name], _after(rest, len(written))
    wanted = rest.partition(".")[0]
    raise _NoSuchPlaceError(f'none is called "{wanted}"', did_you_mean(wanted, names))


def _name(item: Json) -> str:
    """Return the name of an item in a list, or what its name defaults to."""
    if not isinstance(item, dict):
        return ""
    name = item.get("name") or item.get("model") or item.get("kind")
    return name if isinstance(name, str) else ""


def _after(rest: str, end: int) -> str:
    return rest[end:].removeprefix(".")
