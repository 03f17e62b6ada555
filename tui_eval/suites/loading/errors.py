"""The mistakes of a suite, each with its place, reported together."""

import difflib
import itertools
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.model.visible import visible_line
from tui_eval.suites.loading.toml_lines import Path as FieldPath

NEAR: Final = 10_000
"""Names among which the nearest to an unknown one is looked for."""
_LISTED: Final = 8
_MOST_NAMES: Final = 2_000
"""Names of files among which one is looked for that was meant."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake: where it is, what is wrong, and a hint."""

    file: str
    """The file as the person named it, or the option (`--set run.epochs=0`)."""
    line: int | None
    """Counted from 1; None where the place has no line."""
    field: str
    """The path of the field (`targets[0].model`); empty where it is about the whole file."""
    message: str
    """What was found and what is allowed."""
    hint: str | None = None
    """What was probably meant, or what to do."""

    def __str__(self) -> str:
        place = self.file if self.line is None else f"{self.file}, line {self.line}"
        field = f"{self.field}: " if self.field else ""
        hint = f"; {self.hint}" if self.hint else ""
        # one line each, whatever a file is called or holds: nothing forges another mistake
        return visible_line(f"{place}: {field}{self.message}{hint}")


@dataclass(frozen=True, slots=True)
class FieldMistake:
    """What is wrong between the fields of one table."""

    path: FieldPath
    """Where it stands in the table; empty: it is about the whole."""
    message: str
    hint: str | None = None


class SuiteError(Exception):
    """A suite or its data cannot be used as it is."""

    def __init__(self, mistakes: Iterable[Mistake]) -> None:
        self.mistakes: tuple[Mistake, ...] = tuple(mistakes)
        """Everything that was found, in the order of the files."""
        super().__init__("\n".join(str(mistake) for mistake in self.mistakes))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word nearest to `word`; None where none is near."""
    names: dict[str, str] = {}
    for name in known:
        names.setdefault(name.casefold(), name)
    found = difflib.get_close_matches(word.casefold(), names, n=1, cutoff=0.6)
    return names[found[0]] if found else None


def unknown_names(noun: str, wanted: Sequence[str], known: Iterable[str]) -> Iterator[str]:
    """Say which names do not exist, with the nearest there is, or what there is.

    Args:
        noun: What is named: `target`, `case`.
        wanted: The names given.
        known: All names there are, or those among them that may be meant.
    """
    names = list(dict.fromkeys(known))
    for name in wanted:
        if name in names:
            continue
        near = nearest(name, names)
        more = ", …" if len(names) > _LISTED else ""
        listed = f"there are {', '.join(names[:_LISTED])}{more}"
        hint = f"did you mean {near!r}?" if near else listed
        yield f"no {noun} is called {name!r}{f'; {hint}' if names else ''}"


def did_you_mean(word: str, known: Iterable[str]) -> str | None:
    """Return the hint for an unknown word: the nearest one, or all there are."""
    names = list(dict.fromkeys(known))
    near = nearest(word, names)
    if near is not None:
        return f'did you mean "{near}"?'
    return f"there are {', '.join(names)}" if names else None


def missing(name: str, path: Path) -> tuple[str, str | None]:
    """Return the message and hint for a path at which there is no file to read.

    Args:
        name: The file as the suite names it.
        path: The file; its folder may be looked into.
    """
    if path.is_dir():
        return f'"{name}" is a folder', None
    if path.exists():
        return f'"{name}" is a device or a pipe; only files are read', None
    return f'no such file "{name}"', did_you_mean_file(path)


def did_you_mean_file(path: Path) -> str | None:
    """Return the hint for a file that is not there: the nearest name beside it; None: none is near.

    Args:
        path: The file; its folder may be looked into.
    """
    try:
        with os.scandir(path.parent) as entries:
            beside = sorted(entry.name for entry in itertools.islice(entries, _MOST_NAMES))
    except OSError:
        return None
    stems = {Path(name).stem: name for name in reversed(beside)}
    near = nearest(path.stem, stems)
    return None if near is None else f'did you mean "{stems[near]}"?'
