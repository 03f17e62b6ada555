"""How figures are told: as tables for a person, or as one JSON document."""

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from benchmarks.conditions import conditions, load
from tui_eval.model.json import Json, JsonObject

Row: TypeAlias = Mapping[str, Json]


class _Formatter(argparse.RawDescriptionHelpFormatter, argparse.ArgumentDefaultsHelpFormatter):
    """The description as it is written, and every default."""


def parser(name: str, doc: str | None) -> argparse.ArgumentParser:
    """Give a parser of a benchmark's options, with `--json`.

    Args:
        name: The benchmark's, as in `python -m benchmarks.NAME`.
        doc: Its docstring: what it measures.
    """
    made = argparse.ArgumentParser(
        prog=f"python -m benchmarks.{name}", description=doc, formatter_class=_Formatter
    )
    made.add_argument("--json", action="store_true", help="one JSON document instead of tables")
    return made


@dataclass(frozen=True)
class Figure:
    """One column of a table."""

    key: str
    """Its name in the rows, and in the JSON document."""
    head: str
    shown: str = ""
    """How its numbers are written, as in `format`."""

    def text(self, value: Json) -> str:
        """Write a value; nothing where there is none."""
        if value is None:
            return ""
        return format(value, self.shown) if isinstance(value, int | float) else str(value)


class Report:
    """The figures of one benchmark, told as they come, or kept for one document at the end."""

    def __init__(self, name: str, args: argparse.Namespace) -> None:
        settings = {key: _plain(value) for key, value in vars(args).items() if key != "json"}
        self._as_json: bool = args.json
        self._document: JsonObject = {
            "benchmark": name,
            "conditions": conditions(),
            "settings": settings,
            "figures": {},
        }
        self._load = load()

    def __enter__(self) -> Self:
        about = self._document["conditions"]
        assert isinstance(about, dict)
        if not about["byte_code"]:
            self.note("the libraries have no byte code: starts take a second more than they should")
        self.say(
            f"{about['cores']} cores ({about['processor']}), {about['system']}, "
            f"Python {about['python']}, load {self._load}"
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None:
            return
        after = load()
        self._document["load"] = {"before": self._load, "after": after}
        if self._as_json:
            sys.stdout.write(json.dumps(self._document, indent=2) + "\n")
        else:
            self.say(f"\nload {self._load} before, {after} after")

    def note(self, line: str) -> None:
        """Tell at once how it goes; no part of the result."""
        print(line, file=sys.stderr, flush=True)

    def say(self, line: str) -> None:
        """Tell a person something that stands in the document anyway."""
        if not self._as_json:
            print(line, flush=True)

    def table(self, name: str, title: str, figures: Sequence[Figure], rows: Sequence[Row]) -> None:
        """Tell some figures.

        Args:
            name: Their name in the document.
            title: The line above the table.
            figures: Its columns.
            rows: What is in it; keys that no column shows are in the document only.
        """
        kept = self._document["figures"]
        assert isinstance(kept, dict)
        kept[name] = [dict(row) for row in rows]
        self.say(f"\n{title}")
        for line in _laid_out(figures, rows):
            self.say(line)


def _laid_out(figures: Sequence[Figure], rows: Sequence[Row]) -> list[str]:
    """Give the lines of a table: words to the left, numbers to the right."""
    lines = ["" for _ in range(len(rows) + 1)]
    for figure in figures:
        values = [row.get(figure.key) for row in rows]
        cells = [figure.head, *(figure.text(value) for value in values)]
        words = any(isinstance(value, str) for value in values)
        width = max(len(cell) for cell in cells)
        cells = [cell.ljust(width) if words else cell.rjust(width) for cell in cells]
        lines = [f"{line}  {cell}" for line, cell in zip(lines, cells, strict=True)]
    return [line.rstrip() for line in lines]


def _plain(value: object) -> Json:
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    if isinstance(value, Path):
        return str(value)
    return value if value is None or isinstance(value, bool | int | float | str) else str(value)
