"""What every importer returns: a suite, its cases, and a list of what was not imported."""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Final

from tui_eval.model.json import Json, JsonObject, digest
from tui_eval.model.visible import visible_line
from tui_eval.suites.templates.template import RESERVED

_PLACES_SHOWN: Final = 3
_KINDS_KEPT: Final = 200
"""Different things not carried over that are told one by one."""
_MEANT: Final = frozenset(("scorers", "skip", "tags", "weight", "timeout"))
"""Columns that mean something of a case here, whatever they meant elsewhere."""
_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_WORDS: Final = frozenset(("true", "false", "none", "not", "and", "or", "in", "is", "if", "self"))


@dataclass(frozen=True, slots=True)
class ImportNote:
    """Something that is not in the suite, or changed, and why."""

    what: str
    places: tuple[str, ...]
    """The first places it stood at, as the file names them; empty: it is about the whole file."""
    count: int
    """How often it was met."""
    guess: bool = False
    """Whether nothing was lost: it says what was taken for what."""

    def __str__(self) -> str:
        at = "; ".join(self.places)
        more = self.count - len(self.places)
        if more > 0 and at:
            at += f" and {more:,} more"
        return visible_line(f"{at}: {self.what}" if at else self.what, 600)


class ImportNotes:
    """All that was not imported: each thing once, with its places."""

    def __init__(self) -> None:
        self._found: dict[str, list[str]] = {}
        self._counts: dict[str, int] = {}
        self._guesses: dict[str, None] = {}
        self._more = 0

    def note(self, what: str, where: str = "") -> None:
        """Record that something was not imported, or changed."""
        if what not in self._found and len(self._found) >= _KINDS_KEPT:
            self._more += 1
            return
        places = self._found.setdefault(what, [])
        if where and where in places:
            return
        if where and len(places) < _PLACES_SHOWN:
            places.append(where)
        self._counts[what] = self._counts.get(what, 0) + 1

    def guess(self, what: str) -> None:
        """Record a guess."""
        self._guesses[what] = None

    def listed(self) -> tuple[ImportNote, ...]:
        """Return everything that was noted, in the order it was met; guesses stand last."""
        found = [
            ImportNote(what, tuple(places), self._counts[what])
            for what, places in self._found.items()
        ]
        if self._more:
            found.append(ImportNote(f"{self._more:,} more of other kinds", (), 1))
        guesses = (ImportNote(what, (), 1, guess=True) for what in self._guesses)
        return (*found, *guesses)


@dataclass(slots=True)
class Imported:
    """A suite made from a file."""

    cases: Iterator[JsonObject]
    """The rows of the dataset; they are read only once, and raise SuiteError for bad ones."""
    suite: Callable[[], JsonObject]
    """Gives the suite without its dataset's path; asked once all cases have been read."""
    losses: ImportNotes = field(default_factory=ImportNotes)
    """Complete once the suite has been given."""


class RowAdapter:
    """Makes another tool's rows valid: unique ids, no columns with a meaning in suites."""

    def __init__(self, losses: ImportNotes) -> None:
        self._losses = losses
        self._seen: set[bytes] = set()

    def fit(self, row: JsonObject, where: str) -> JsonObject:
        """Return a row with a unique id and without columns that have a meaning in suites."""
        fitted: JsonObject = {}
        for column, value in row.items():
            if column in _MEANT and not (column == "tags" and _is_tags(value)):
                self._losses.note(f'the column "{column}" means something here: it is called '
                                  f'"{renamed_column(column)}" now')  # fmt: skip
                fitted[renamed_column(column)] = value
            else:
                fitted[column] = value
        if "id" in fitted:
            self._identify(fitted, where)
        return fitted

    def _identify(self, row: JsonObject, where: str) -> None:
        given = row["id"]
        if isinstance(given, bool) or not isinstance(given, str | int) or given == "":
            self._losses.note('an id that is neither a text nor a whole number is called "its_id" '
                              "now; the case's id is made of its row", where)  # fmt: skip
            row["its_id"] = row.pop("id")
            return
        case_id, times = str(given), 1
        while (key := digest(case_id)[:16]) in self._seen:
            times += 1
            case_id = f"{given} ({times})"
        self._seen.add(key)
        if times > 1:
            self._losses.note("an id stood there before: a number was added to it", where)
            row["id"] = case_id


def _is_tags(value: Json) -> bool:
    texts = [value] if isinstance(value, str) else value
    return isinstance(texts, list) and all(isinstance(one, str) and one for one in texts)


def renamed_column(column: str) -> str:
    """Return the new name of a column whose own means something else in a suite."""
    return f"its_{column}"


def named(column: str) -> str:
    """Return the template expression for a column."""
    if _NAME.fullmatch(column) and column not in RESERVED and column.lower() not in _WORDS:
        return column
    quoted = column.replace("\\", "\\\\").replace('"', '\\"')
    return f'case["{quoted}"]'


def unique(name: str, taken: Iterable[str], fallback: str) -> str:
    """Return a name that is not taken, as near to the given one as possible."""
    plain = visible_line(" ".join(name.split()), 90).strip() or fallback
    among, found, number = set(taken), plain, 1
    while found in among:
        number += 1
        found = f"{plain} {number}"
    return found


def simulated_target(answer: str) -> JsonObject:
    """Return a simulated target for a suite whose file names none."""
    return {"name": "simulated", "kind": "simulated", "answers": [answer]}


NO_TARGET: Final = (
    "no target stands in the file: a simulated one does, without API calls. Put a model in its "
    'place: provider = "openai", model = "…"'
)
"""What is told of suites with such a target."""
