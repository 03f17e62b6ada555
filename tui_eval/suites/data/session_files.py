"""Files that hold a conversation: a list of messages, or a message a line."""

from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import read_messages
from tui_eval.suites.data.files import Opener
from tui_eval.suites.data.rows import DataProblems, read_json, read_rows
from tui_eval.suites.loading.errors import SuiteError

SUFFIXES: Final = (".json", ".jsonl")
"""The formats a conversation may have."""


def read_session(file: Path, opener: Opener) -> list[JsonObject]:
    """Return the messages of a file.

    Raises:
        ValueError: it cannot be read, or holds no conversation; the message says what is wrong, and
            where.
    """
    if file.suffix.lower() not in SUFFIXES:
        raise ValueError(f"has an unknown format: use {', '.join(SUFFIXES)}")
    if file.suffix.lower() == ".json":
        return read_messages(read_json(file, opener))
    problems = DataProblems()
    try:
        rows: list[Json] = [row for _, row in read_rows(file, file.name, problems, opener)]
        problems.settle()
    except SuiteError as error:
        first = error.mistakes[0]
        where = "" if first.line is None else f"line {first.line} "
        raise ValueError(f"{where}{first.message}") from None
    return read_messages(rows)
