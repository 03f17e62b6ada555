"""Changing the user's own configuration, when a person asks for it: one field, and nothing else.

Comments, order and blank lines of a file that is there stay as they are.
"""

import os
import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import tomli_w
import tomlkit

from tui_eval.suites.config import configuration
from tui_eval.suites.data.files import real_path
from tui_eval.suites.loading.errors import Mistake, SuiteError
from tui_eval.suites.loading.toml_lines import lines

Value: TypeAlias = str | int | Sequence[str]

_TABLES: Final = ("keys", "keymap")
_FIRST: Final = """\
# What you want otherwise than usual in tui-eval. A line that starts with # says nothing.
# `tui-eval doctor` tells what is in force, and what is wrong here.

# The app's colours: dark, light, dark-contrast, light-contrast, gruvbox, nord, dracula …
# theme = "dark"

# Where runs are kept; a relative path starts in this file's folder.
# store = "~/evals/store.sqlite3"

# Calls in flight at each endpoint, where no suite says: a number, or "auto".
# concurrency = "auto"

# How much engines write into a run's log: debug, info, warning or error.
# log_level = "info"

[keys]
# Hosts a key may be sent to, by the environment variable that holds it.
# An entry that starts with a dot stands for every host below it.
# MY_KEY = ["api.example.org", ".inner.example"]

[keymap]
# Keys of the app by the id of what they do: one key, or a list. The settings screen lists all ids.
# "run.retry" = "f5"
"""


def change(file: Path, at: tuple[str, ...], value: Value | None) -> None:
    """Write a field down, or take it out; the file is made where there is none.

    Args:
        file: The configuration.
        at: `("theme",)`, `("keys", VARIABLE)` or `("keymap", ID)`.
        value: What it is to be; None: as usual.

    Raises:
        SuiteError: the file is no TOML, or the value is none for that field; nothing was changed.
        OSError: it cannot be read or written.
    """
    there = file.exists()
    text = file.read_text(encoding="utf-8-sig") if there else _FIRST
    if not there and value is None:
        return
    changed = _changed(file, text, at, value)
    found = configuration.parse(file, changed)
    wrong = [one for one in found.mistakes if one.field.startswith(".".join(at))]
    if value is not None and wrong:
        raise SuiteError(wrong)
    _write(file, changed)


def _changed(file: Path, text: str, at: tuple[str, ...], value: Value | None) -> str:
    try:
        before = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise SuiteError([Mistake(str(file), None, "", f"is not TOML: {error}")]) from error
    if value is not None and len(at) == 1 and at[0] not in before:
        line = tomli_w.dumps({at[0]: value}).rstrip("\n")
        example = re.search(rf"(?m)^# {at[0]} = .*$", text)
        tables = [start for path, start in lines(text).items() if path[0] in _TABLES]
        is_top = example and text.count("\n", 0, example.start()) < min(tables, default=1 << 30)
        if example and is_top:  # what it stood for before stands in its place
            return text[: example.start()] + line + text[example.end() :]
    document: Any = tomlkit.parse(text)
    if len(at) == 1:
        _set(document, at[0], value)
        return tomlkit.dumps(document)
    table, name = at
    if not isinstance(before.get(table, {}), Mapping):
        raise SuiteError([Mistake(str(file), lines(text).get((table,)), table, "must be a table")])
    if table not in document:
        if value is None:
            return text
        document[table] = tomlkit.table()
    _remove_dotted(document[table], name.split("."))
    _set(document[table], name, value)
    return tomlkit.dumps(document)


def _set(table: Any, name: str, value: Value | None) -> None:  # noqa: ANN401 - tomlkit's own
    if value is not None:
        table[name] = value if isinstance(value, str | int) else list(value)
    elif name in table:
        del table[name]


def _remove_dotted(table: Any, names: list[str]) -> None:  # noqa: ANN401 - tomlkit's own
    """Take `run.retry` out where it is written without quotes, a table in a table."""
    for name in names[:-1]:
        if name not in table or not isinstance(table[name], Mapping):
            return
        table = table[name]
    if len(names) > 1 and names[-1] in table:
        del table[names[-1]]


def _write(file: Path, text: str) -> None:
    """Write a file whole or not at all; a link to it stays one, with the rights it had."""
    real = real_path(file)
    real.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    mode = real.stat().st_mode & 0o777 if real.exists() else 0o600
    beside = real.with_name(f".{real.name}.new")
    with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode), "w") as out:
        out.write(text)
    beside.replace(real)
