"""A task's file, the files beside it, and what of them is not done here."""

import json
import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.files import Opener, read_whole
from tui_eval.suites.loading.source_map import named_from

_MOST: Final = 4_000_000
"""Bytes of a task's file, or of its instruction."""


class TaskError(Exception):
    """A task cannot be a case; the message says why."""

    def __init__(self, message: str, field: str = "", line: int | None = None) -> None:
        self.field = field
        self.line = line
        super().__init__(message)


class TaskLeftOutError(Exception):
    """A task cannot be run here, and is no mistake of the suite; the message says why."""


@dataclass(frozen=True, slots=True)
class TaskFile:
    """The file that makes a folder a task."""

    path: Path
    suite_folder: Path | None
    """What paths in columns are relative to."""
    opener: Opener

    @property
    def folder(self) -> Path:
        """The task's own folder; its name is the task's id."""
        return self.path.parent

    def text(self, name: str | None = None) -> str:
        """Return what a file beside it holds, or it itself.

        Raises:
            TaskError: it is not there, or is no text.
        """
        path = self.path if name is None else self.folder / name
        try:
            with self.opener(path) as opened:
                return read_whole(opened, _MOST).decode("utf-8-sig")
        except OSError as error:
            raise TaskError(f"{path.name} cannot be read: {error.strerror}") from None
        except UnicodeDecodeError:
            raise TaskError(f"{path.name} is not UTF-8 text") from None

    def there(self, *names: str) -> str | None:
        """Return the first of these files or folders that is there, from the suite's folder."""
        for name in names:
            path = self.folder / name
            if path.exists():
                return named_from(self.suite_folder, path)
        return None

    def within(self, path: str) -> str:
        """Return what `there` gave as a path within the task's folder."""
        return path.removeprefix(f"{named_from(self.suite_folder, self.folder)}/")

    def columns(
        self, said: Mapping[str, object], known: Collection[str], usual: Mapping[str, object]
    ) -> JsonObject:
        """Return the columns that every task has.

        Args:
            said: What the file says.
            known: The fields, as dotted paths, that are done as they say; whole tables end in `.`.
            usual: The values of others that ask for nothing.
        """
        task = as_json(said)
        assert isinstance(task, dict)
        return {
            "id": self.folder.resolve().name,
            "folder": named_from(self.suite_folder, self.folder),
            "task": task,
            "unsupported": [f"{self.path.name}: {one}" for one in _unknown(said, known, usual)],
        }


def as_json(value: object) -> Json:
    """Return a value of TOML or YAML as JSON: dates as texts, no number that JSON lacks."""
    match value:
        case dict():
            return {str(name): as_json(one) for name, one in value.items()}
        case list():
            return [as_json(one) for one in value]
        case datetime() | date() | time():
            return value.isoformat()
        case float() if not math.isfinite(value):
            return str(value)
        case None | bool() | int() | float() | str():
            return value
        case _:
            return str(value)


def seconds(value: object, field: str) -> float | None:
    """Return a time limit; None: there is none.

    Raises:
        TaskError: it is no number of seconds.
    """
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
        raise TaskError(f"must be a number of seconds, not {json.dumps(as_json(value))}", field)
    return float(value)


def texts(value: object) -> list[Json]:
    """Return a text or a list of texts as a list, without anything else."""
    found = value if isinstance(value, list) else [value]
    return [one for one in found if isinstance(one, str) and one]


def _unknown(
    said: Mapping[str, object], known: Collection[str], usual: Mapping[str, object], at: str = ""
) -> Iterator[str]:
    """Yield each field that asks for something and is not done."""
    for name, value in said.items():
        field = f"{at}{name}"
        if field in known or f"{field}." in known or value is None or value in ("", [], {}):
            continue
        if isinstance(value, Mapping):
            yield from _unknown(value, known, usual, f"{field}.")
        elif field not in usual or usual[field] != value:
            yield field
