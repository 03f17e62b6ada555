"""Read a suite's TOML and everything it includes into one table."""

import datetime
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any, Final, TypeAlias, cast

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.files import Opener, open_regular, read_whole, real_path, trouble_with
from tui_eval.suites.loading import toml_lines
from tui_eval.suites.loading.errors import Mistake, SuiteError, did_you_mean_file, missing
from tui_eval.suites.loading.source_map import SourceLocation, SourceMap
from tui_eval.suites.loading.toml_lines import Path
from tui_eval.suites.trust.capabilities import Folder

_NOT_INCLUDED: Final = ("include", "name", "description")
"""What a file says about itself alone."""
_AT: Final = re.compile(r"^(.*?) \(at (?:line (\d+), column (\d+)|end of document)\)$", re.DOTALL)

_MOST: Final = 8_000_000
"""Bytes of a TOML file: to read one can take 150 times its size in memory."""
_PART: Final = r"""(?:[A-Za-z0-9_-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_LONG_KEY: Final = re.compile(
    rf"""(?<![A-Za-z0-9_."'-])(?<!\.[ \t]){_PART}(?:\.[ \t]*+{_PART}){{100,}}+[=\]]"""
)
"""A key of so many parts that `tomllib` takes time with their square."""

_Toml: TypeAlias = "dict[str, object]"


@dataclass(frozen=True, slots=True)
class SuiteSource:
    """A suite as read from its files: merged, not yet validated."""

    data: JsonObject
    places: SourceMap
    mistakes: tuple[Mistake, ...]
    """What is wrong with its includes."""


def read(path: FilePath, folder: Folder) -> SuiteSource:
    """Return a suite file merged with what it includes.

    Args:
        path: The suite file, as the person named it.
        folder: The suite's own folder; it judges what may be included.

    Raises:
        SuiteError: when the suite file itself cannot be read.
    """
    data, places = _read_one(path, str(path), open_regular)
    return _merged(data, places, path, folder)


def of_mapping(given: Mapping[str, object], path: FilePath, folder: Folder) -> SuiteSource:
    """Return a suite that a program gives, merged with what it includes.

    Args:
        given: What a suite's file would hold.
        path: What takes the file's place: its folder is the suite's, mistakes have its name.
        folder: As with `read`.

    Raises:
        SuiteError: it holds what no file could.
    """
    places = SourceMap(SourceLocation(path.name, None, path.absolute().parent, ()))
    try:
        data = _table(given, ())
    except _UnsuitableError as error:
        raise SuiteError([places.mistake(error.at, str(error))]) from None
    except RecursionError:
        raise SuiteError([Mistake(path.name, None, "", "nests too deeply")]) from None
    return _merged(data, places, path, folder)


class _UnsuitableError(Exception):
    """A value that no suite can hold."""

    def __init__(self, at: Path, message: str) -> None:
        super().__init__(message)
        self.at = at


def _table(given: Mapping[Any, object], at: Path) -> JsonObject:
    for key in given:
        if not isinstance(key, str):
            raise _UnsuitableError(at, f"has a key of type {type(key).__name__}: keys are texts")
    return {str(key): _value(value, (*at, str(key))) for key, value in given.items()}


def _value(given: object, at: Path) -> Json:
    match given:
        case None | bool() | int() | float() | str():
            return given
        case Mapping():
            return _table(given, at)
        case list() | tuple():
            return [_value(one, (*at, place)) for place, one in enumerate(given)]
        case datetime.date() | datetime.time():
            return given.isoformat()
        case os.PathLike():
            return os.fsdecode(given)
    raise _UnsuitableError(at, f"is of type {type(given).__name__}, which no suite can hold")


def _merged(data: JsonObject, places: SourceMap, path: FilePath, folder: Folder) -> SuiteSource:
    mistakes: list[Mistake] = []
    _include(data, places, path, [real_path(path)], set(), folder, mistakes)
    data.pop("include", None)
    return SuiteSource(data, places, tuple(mistakes))


def _read_one(path: FilePath, name: str, opener: Opener) -> tuple[JsonObject, SourceMap]:
    text = _decoded(path, name, opener)
    if long_key := _LONG_KEY.search(text):
        line = text.count("\n", 0, long_key.start()) + 1
        raise SuiteError([Mistake(name, line, "", "a key has at most 100 parts")])
    try:
        data = as_json(tomllib.loads(text))
        lines = toml_lines.lines(text)
    except tomllib.TOMLDecodeError as error:
        raise SuiteError([_syntax(name, text, error)]) from None
    except ValueError:
        message = "holds a whole number of more than 4,300 digits"
        raise SuiteError([Mistake(name, None, "", message)]) from None
    except RecursionError:
        raise SuiteError([Mistake(name, None, "", "nests too deeply")]) from None
    folder = path.absolute().parent
    places = SourceMap(SourceLocation(name, None, folder, ()))
    for at, line in lines.items():
        places.known[at] = SourceLocation(name, line, folder, at)
    return data, places


def _decoded(path: FilePath, name: str, opener: Opener) -> str:
    try:
        with opener(path) as file:
            raw = read_whole(file, _MOST)
    except FileNotFoundError:
        raise SuiteError(
            [Mistake(name, None, "", "no such file", did_you_mean_file(path))]
        ) from None
    except IsADirectoryError:
        hint = "name the suite's .toml file in it"
        raise SuiteError([Mistake(name, None, "", "is a folder, not a suite", hint)]) from None
    except OSError as error:
        raise SuiteError([Mistake(name, None, "", f"cannot be read: {error.strerror}")]) from None
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise SuiteError([Mistake(name, line, "", "is not UTF-8 text")]) from None


def _syntax(name: str, text: str, error: tomllib.TOMLDecodeError) -> Mistake:
    found = _AT.match(str(error))
    message = found[1] if found else str(error)
    line = int(found[2]) if found and found[2] else text.count("\n") + 1
    column = f" in column {found[3]}" if found and found[3] else ""
    return Mistake(name, line, "", f"is not TOML{column}: {message[:1].lower()}{message[1:]}")


def as_json(toml: _Toml) -> JsonObject:
    """Return TOML as JSON: dates and times become texts in ISO 8601."""
    return {key: _json(value) for key, value in toml.items()}


def _json(value: object) -> Json:
    if isinstance(value, dict):
        return {key: _json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_json(item) for item in value]
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return cast("Json", value)


def _include(
    data: JsonObject,
    places: SourceMap,
    path: FilePath,
    chain: list[FilePath],
    done: set[FilePath],
    folder: Folder,
    mistakes: list[Mistake],
) -> None:
    """Merge what a file includes into it, recursively."""
    wanted = data.get("include", [])
    names = wanted if isinstance(wanted, list) else [wanted]
    for index, name in enumerate(names):
        at: Path = ("include", index) if isinstance(wanted, list) else ("include",)
        if not isinstance(name, str) or not name:
            mistakes.append(places.mistake(at, "must be a file, or a list of files"))
            continue
        target = path.parent / name
        trouble = trouble_with(target)
        if trouble is not None:
            mistakes.append(places.mistake(at, trouble))
            continue
        real = real_path(target)
        if real in chain:
            circle = " → ".join(file.name for file in [*chain[chain.index(real) :], real])
            mistakes.append(places.mistake(at, f"includes itself: {circle}"))
        elif real not in done and folder.allows(target):
            done.add(real)
            if not real.is_file():
                mistakes.append(places.mistake(at, *missing(name, real)))
                continue
            try:
                other, others = _read_one(target, os.path.normpath(target), folder.open)
            except SuiteError as error:
                mistakes.extend(error.mistakes)
                continue
            _include(other, others, target, [*chain, real], done, folder, mistakes)
            _merge(data, places, other, others, (), ())


def _merge(
    data: JsonObject,
    places: SourceMap,
    other: JsonObject,
    others: SourceMap,
    path: Path,
    other_path: Path,
) -> None:
    """Merge another table in: lists are appended, tables merged, and existing values win."""
    for key, value in other.items():
        if not path and key in _NOT_INCLUDED:
            continue
        here, there = (*path, key), (*other_path, key)
        own = data.get(key)
        if key not in data:
            data[key] = value
            _take_places(places, here, others, there)
        elif isinstance(own, dict) and isinstance(value, dict):
            _merge(own, places, value, others, here, there)
        elif isinstance(own, list) and isinstance(value, list):
            for index, item in enumerate(value):
                _take_places(places, (*here, len(own)), others, (*there, index))
                own.append(item)


def _take_places(places: SourceMap, here: Path, others: SourceMap, there: Path) -> None:
    for path, place in others.known.items():
        if path[: len(there)] == there:
            places.known[(*here, *path[len(there) :])] = place
