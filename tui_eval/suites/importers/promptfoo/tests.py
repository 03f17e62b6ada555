"""Tests of a promptfoo configuration, one for each combination of their vars."""

import csv
import io
import itertools
import json
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.importers.reading import (
    Document,
    ReferencedFiles,
    first_mistake,
    parse_json,
    read_document,
    read_text,
    refuse,
)
from tui_eval.suites.importers.shape import ImportNotes, renamed_column
from tui_eval.suites.loading.errors import SuiteError

_MEANT: Final = ("scorers", "skip", "tags", "weight", "timeout", "promptfoo", "case_id",
                 "recorded", "asked")  # fmt: skip
_MOST_OF_ONE: Final = 100_000
"""Combinations of one test's vars."""
_ASSERT: Final = re.compile(
    r"\s*((?:not-)?[a-z][a-z0-9-]*)\s*(?:\(([0-9.]+)\))?\s*:\s*(.*)", re.DOTALL
)
_OF_TEST: Final = frozenset(("description", "vars", "assert", "metadata", "options"))
_OPTIONS: Final = frozenset(("provider", "disableVarExpansion", "disableDefaultAsserts"))
_EXPECTED: Final = re.compile(r"__expected\d*")
_KINDS: Final = frozenset((
    "equals", "contains", "icontains", "contains-all", "contains-any", "icontains-all",
    "icontains-any", "starts-with", "regex", "is-json", "contains-json", "javascript", "python",
    "similar", "llm-rubric", "factuality", "model-graded-closedqa", "g-eval", "latency", "cost",
    "levenshtein", "rouge-n", "webhook", "is-xml", "is-sql", "finish-reason", "answer-relevance",
))  # fmt: skip
_SHORT: Final = {"fn": "javascript", "eval": "javascript", "grade": "llm-rubric"}
_NO_TEXT: Final = (".js", ".ts", ".mjs", ".cjs", ".py", ".pdf", ".png", ".jpg", ".jpeg", ".gif",
                   ".webp", ".mp3", ".wav", ".mp4")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Test:
    """One test with single values for its vars."""

    vars: JsonObject
    fields: JsonObject
    """The test as it stands in its file."""
    where: str


class Tests:
    """Reads tests, wherever they are written; what cannot be imported is noted."""

    def __init__(self, document: Document, nearby: ReferencedFiles, losses: ImportNotes) -> None:
        self._document = document
        self._nearby = nearby
        self._losses = losses

    def all(self, config: JsonObject, common: JsonObject) -> Iterator[Test]:
        """Yield every test.

        Args:
            config: The configuration.
            common: Vars that all tests have.
        """
        found = False
        for fields, where in itertools.chain(
            self._listed(config.get("tests"), ("tests",)), self._scenarios(config.get("scenarios"))
        ):
            found = True
            yield from self._written_out(fields, common, where)
        if not found and "tests" not in config and "scenarios" not in config:
            yield from self._written_out({}, common, "")

    def _listed(self, given: Json, path: tuple[str | int, ...]) -> Iterator[tuple[JsonObject, str]]:
        if isinstance(given, list):
            for n, one in enumerate(given):
                if isinstance(one, list):
                    self._losses.note("is no test: it was left out", self._document.place(*path, n))
                else:
                    yield from self._listed(one, (*path, n))
            return
        where = self._document.place(*path)
        if isinstance(given, str):
            yield from self._from_files(given, where)
        elif isinstance(given, dict) and "path" in given and "vars" not in given:
            self._losses.note("tests made by a program were left out: no code is run", where)
        elif isinstance(given, dict):
            yield given, where

    def _from_files(self, name: str, where: str) -> Iterator[tuple[JsonObject, str]]:
        if "://" in name and not name.startswith("file://"):
            self._losses.note("tests that lie at a service are not carried over: nothing is "
                              "fetched", where)  # fmt: skip
            return
        name = name.removeprefix("file://")
        if re.search(r"\.(m?[jt]s|cjs|py|xlsx?)(:|#|$)", name):
            self._losses.note("tests made by a program, or in a spreadsheet, were left out: no "
                              "code is run (save a spreadsheet as CSV)", where)  # fmt: skip
            return
        try:
            for path in self._nearby.all(name):
                yield from self._from_file(path)
        except ValueError as error:
            self._losses.note(f"{error}: its tests were left out", where)
        except SuiteError as error:
            self._losses.note(f"{first_mistake(error)}: its tests were left out", where)

    def _from_file(self, path: Path) -> Iterator[tuple[JsonObject, str]]:
        match path.suffix.lower():
            case ".csv":
                rows = csv.DictReader(io.StringIO(read_text(path)))
                for row in rows:
                    yield self._of_row(row, path.name), f"{path.name}, line {rows.line_num}"
            case ".jsonl":
                for n, line in enumerate(read_text(path).splitlines(), 1):
                    value = parse_json(line, f"{path.name}, line {n}") if line.strip() else None
                    if isinstance(value, dict):
                        yield value, f"{path.name}, line {n}"
            case _:
                document = read_document(path)
                entries = document.value if isinstance(document.value, list) else [document.value]
                for n, one in enumerate(entries):
                    if isinstance(one, dict):
                        yield one, f"{path.name}, {document.place(n)}"

    def _of_row(self, row: dict[str, str], file: str) -> JsonObject:
        """Return the test in a row; columns that start with two underscores are not vars."""
        cells = {str(column): cell for column, cell in row.items() if isinstance(cell, str)}
        fields: JsonObject = {
            "vars": {column: cell for column, cell in cells.items() if column[:2] != "__"}
        }
        asserts: list[Json] = []
        metadata: JsonObject = {}
        for column, cell in cells.items():
            if column[:2] != "__" or not cell.strip():
                continue
            if _EXPECTED.fullmatch(column):
                asserts.append(_parsed(cell))
            elif column in ("__description", "__threshold"):
                fields[column.removeprefix("__")] = cell
            elif column.startswith("__metadata:"):
                name = column.removeprefix("__metadata:")
                several = [part.strip() for part in cell.split(",")]
                metadata[name.removesuffix("[]")] = (
                    list[Json](several) if name.endswith("[]") else cell
                )
            else:
                self._losses.note(f"the column {column} is not carried over", file)
        if asserts:
            fields["assert"] = asserts
        if metadata:
            fields["metadata"] = metadata
        return fields

    def _scenarios(self, given: Json) -> Iterator[tuple[JsonObject, str]]:
        """Yield the tests of scenarios: each with each of their configurations."""
        for n, scenario in enumerate(given if isinstance(given, list) else []):
            where = self._document.place("scenarios", n)
            if not isinstance(scenario, dict):
                self._losses.note("a scenario in a file was left out", where)
                continue
            for name in sorted(scenario.keys() - {"config", "tests", "description"}):
                self._losses.note(f"{name} of a scenario is not carried over", where)
            tests = list(self._listed(scenario.get("tests"), ("scenarios", n, "tests")))
            configs = list(self._listed(scenario.get("config"), ("scenarios", n, "config")))
            for config, _ in configs or [({}, where)]:
                for fields, place in tests or [({}, where)]:
                    yield _merged(config, fields), place

    def _written_out(self, fields: JsonObject, common: JsonObject, where: str) -> Iterator[Test]:
        own = fields.get("vars")
        if isinstance(own, str):
            own = self._from_var(own if own.startswith("file://") else f"file://{own}", where)
        own = own if isinstance(own, dict) else {}
        names: list[str] = []
        values: list[list[Json]] = []
        options = fields.get("options")
        whole = isinstance(options, dict) and options.get("disableVarExpansion") is True
        for name, value in {**common, **own}.items():
            value = self._from_var(value, where)
            if isinstance(value, str) and "{{" in value:
                self._losses.note(f'the var "{name}" holds a template of its own, which is not '
                                  "filled in here", where)  # fmt: skip
            names.append(_name(name, self._losses))
            several = isinstance(value, list) and value and not whole
            values.append(list(value) if several and isinstance(value, list) else [value])
        count = 1
        for one in values:
            count *= len(one)
        if count > _MOST_OF_ONE:
            refuse(self._document.name, f"the lists in its vars make {count:,} tests, more than "
                   f"{_MOST_OF_ONE:,}", field=where)  # fmt: skip
        for combination in itertools.product(*values):
            yield Test(dict(zip(names, combination, strict=True)), fields, where)

    def _from_var(self, value: Json, where: str) -> Json:
        """Return the value of a var, read from the file where it names one."""
        if not isinstance(value, str) or not value.startswith("file://"):
            return value
        name = value.removeprefix("file://")
        if name.split(":")[0].lower().endswith(_NO_TEXT):
            self._losses.note("a var that is made by a program, or is no text, is empty here",
                              where)  # fmt: skip
            return ""
        try:
            path = self._nearby.find(name)
            if path.suffix.lower() in (".json", ".yaml", ".yml"):
                return read_document(path).value
            return read_text(path).strip()
        except (ValueError, SuiteError) as error:
            said = first_mistake(error) if isinstance(error, SuiteError) else str(error)
            self._losses.note(f"{said}: the var is empty here", where)
            return ""


def note_test(
    fields: JsonObject, losses: ImportNotes, where: str, in_effect: Collection[str] = ()
) -> None:
    """Record what of a test, or of `defaultTest`, is not imported.

    Args:
        fields: The test.
        losses: Where it is noted.
        where: Where it stands.
        in_effect: Fields that need not be carried over, of the test and of its options.
    """
    for name in sorted(fields.keys() - _OF_TEST - {*in_effect}):
        if name == "threshold":
            losses.note("a test's threshold has no like here: there it passes from that score on, "
                        "here every scorer that is required has to pass", where)  # fmt: skip
        elif name == "disableDefaultAsserts" or fields[name] in (None, [], {}):
            continue
        else:
            losses.note(f"{name} of a test is not carried over", where)
    options = fields.get("options")
    for name in sorted(options.keys() - _OPTIONS - {*in_effect} if isinstance(options, dict)
                       else ()):  # fmt: skip
        losses.note(f"options.{name} of a test is not carried over", where)


def renamed(given: JsonObject, losses: ImportNotes) -> JsonObject:
    """Return vars under names that have no other meaning in a case."""
    return {_name(name, losses): value for name, value in given.items()}


def _name(name: str, losses: ImportNotes) -> str:
    if name in _MEANT:
        losses.note(
            f'the var "{name}" means something here: it is called "{renamed_column(name)}" now'
        )
        return renamed_column(name)
    return name


def _merged(config: JsonObject, fields: JsonObject) -> JsonObject:
    """Return a test merged with a scenario's configuration."""
    both = {**config, **fields}
    for name in ("vars", "metadata", "options"):
        one, other = config.get(name), fields.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            both[name] = {**one, **other}
    one, other = config.get("assert"), fields.get("assert")
    if isinstance(one, list) and isinstance(other, list):
        both["assert"] = [*one, *other]
    return both


def _parsed(cell: str) -> JsonObject:
    """Return the assert in a cell: `contains: Paris`, `similar(0.8): Hello`, or a text alone."""
    found = _ASSERT.fullmatch(cell)
    kind = found[1] if found is not None else cell.strip()
    plain = _SHORT.get(kind, kind).removeprefix("not-")
    if plain not in _KINDS:
        return {"type": "equals", "value": cell}
    made: JsonObject = {"type": _SHORT.get(kind, kind)}
    if found is not None:
        if found[3].strip():
            made["value"] = found[3].strip()
        if found[2]:
            try:
                made["threshold"] = float(found[2])
            except ValueError:
                return {"type": "equals", "value": cell}
    if plain in ("latency", "cost") and isinstance(made.get("value"), str):
        try:
            made["threshold"] = float(json.loads(str(made.pop("value"))))
        except (ValueError, TypeError):
            return {"type": "equals", "value": cell}
    return made
