"""One result of another tool's experiment, whichever tool it was."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.rows import DataProblems, read_rows
from tui_eval.suites.importers.reading import parse_json, read_json, refuse
from tui_eval.suites.loading.errors import SuiteError


@dataclass(frozen=True, slots=True)
class GivenScore:
    """What a scorer of the other tool said of an output."""

    name: str
    value: Json
    """A number, true or false, a label; None: it came to nothing."""
    reason: str | None = None
    passed: bool | None = None
    """Its verdict, where it gives one."""
    threshold: float | None = None
    """The least value that passes, where it says so."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A question, and what came of it."""

    where: str
    """Its place in the file, for messages."""
    case_id: Json
    """None: the file does not say."""
    input: Json
    expected: Json = None
    output: Json = None
    """None: there is none."""
    target: str = "recorded"
    """Who was asked."""
    error: str | None = None
    """Why there is no output."""
    scores: tuple[GivenScore, ...] = ()
    passed: bool | None = None
    """The verdict of the whole, where the tool gives one."""
    latency_s: float | None = None
    messages: Json = None
    """The whole conversation, where there is more than one answer."""
    scorers: tuple[JsonObject, ...] = ()
    """What grades this case alone."""
    columns: JsonObject = field(default_factory=dict)
    """What else is known of the case."""


def raw_rows(path: Path, lists: tuple[str, ...]) -> Iterator[tuple[str, JsonObject]]:
    """Yield the tables of a file, each with its place.

    Args:
        path: JSON Lines, a table, or JSON: a list, or a table with a list.
        lists: Names that the list in such a table may have.

    Raises:
        SuiteError: it cannot be read, has no such list, or something in that is no table.
    """
    if path.suffix.lower() != ".json":
        problems = DataProblems()
        for line, row in read_rows(path, path.name, problems):
            yield f"line {line}", row
        problems.settle()
        return
    document, field_name = _listed(read_json(path), lists)
    if document is None:
        names = " or ".join(f"`{name}`" for name in lists)
        refuse(str(path), f"holds neither a list of results nor a table with one in {names}")
    for number, one in enumerate(document):
        place = f"{field_name}[{number}]"
        if not isinstance(one, dict):
            refuse(str(path), "must be a table", field=place)
        yield place, one


def _listed(document: Json, lists: tuple[str, ...]) -> tuple[list[Json] | None, str]:
    """Return the list that a document is or has, and the name it has there."""
    if isinstance(document, list):
        return document, ""
    for name in lists:
        found = table(document).get(name)
        if isinstance(found, list):
            return found, name
    return None, ""


def unpacked(value: Json) -> Json:
    """Return what a table's cell holds as JSON; else the cell, and None where it is empty."""
    if value == "":
        return None
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            return parse_json(value, "")
        except SuiteError:
            return value
    return value


def seconds(value: Json) -> float | None:
    """Return a number of seconds; None: it is none."""
    known = isinstance(value, int | float) and not isinstance(value, bool) and value >= 0
    return float(value) if known and isinstance(value, int | float) else None


def truth(value: Json) -> bool | None:
    """Return true or false; None: it is neither."""
    return value if isinstance(value, bool) else None


def text(value: Json) -> str | None:
    """Return a text that is not empty; None: it is none."""
    return value if isinstance(value, str) and value else None


def table(value: Json) -> JsonObject:
    """Return a table; an empty one, where it is none."""
    return value if isinstance(value, dict) else {}


def tables(value: Json) -> list[JsonObject]:
    """Return the tables of a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
