"""What the Import form knows: which format a file has, where the suite goes, what came of it.

All of it reads files: it runs in threads. Importers are loaded when a file is there to be read.
"""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.engine.preflight import import_comparison
from tui_eval.format import many
from tui_eval.model.home import from_home
from tui_eval.plugins.lookup import PluginSort, plugins_of
from tui_eval.suites.importers import writing
from tui_eval.suites.importers.catalogue import FORMATS
from tui_eval.suites.importers.formats import ENDINGS, possible
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.ui.text.prose import Para

if TYPE_CHECKING:
    from tui_eval.suites.importers.writing import WrittenSuite


_DATED = re.compile(
    r"samples_(.+)_\d{4}-\d\d-\d\dT[^_]*|\d{4}-\d\d-\d\dT[^_]*_(.+)_[A-Za-z0-9]{22}"
)
"""Names that tools give their files: a task with the time of its run."""
_DIFFERENCES = 20
"""Verdicts told one by one; the suite's first lines have more."""
_MOST_NAMES = 2_000
"""Names of a folder that are looked at to complete a path."""


class ImportFormError(Exception):
    """A file cannot be imported so; the message says why, one mistake a line."""


@dataclass(frozen=True, slots=True)
class ImportSource:
    """A file as the form sees it."""

    path: Path
    formats: tuple[str, ...]
    """What it may be, the likeliest first; then the importers of plugins, which may read any."""
    trouble: str | None
    """Why it cannot be imported; None: it may be."""


def look_at(typed: str) -> ImportSource:
    """Say what is known of a file by its name and its beginning, and what else may read it."""
    if not typed.strip():
        return ImportSource(Path(), (), "name a file of another tool, or a table of questions")
    path = from_home(typed.strip())
    try:
        if path.is_dir():
            return ImportSource(path, (), "is a folder: name a file in it")
        if not path.is_file():
            return ImportSource(path, (), "there is no such file")
        plugins = (one.name for one in plugins_of(PluginSort.IMPORTER))
        formats = (*possible(path), *plugins)
    except (OSError, ValueError) as error:
        return ImportSource(path, (), f"cannot be looked at: {error}")
    if not formats:
        return ImportSource(
            path, (), "a file to import ends in .yaml, .json, .jsonl, .eval or .csv"
        )
    return ImportSource(path, formats, None)


def told(source: ImportSource, format_name: str) -> str:
    """Say what a file is taken for, and by what it is known."""
    if format_name not in FORMATS:
        return f"read by {format_name}, a plugin"
    ours = [one for one in source.formats if one in FORMATS]
    guessed = format_name == ours[0] and len(ours) > 1
    return f"{FORMATS[format_name]}{', by what stands in it' if guessed else ''}"


def proposed(source: Path, paths: Sequence[Path]) -> Path:
    """Return a name for the suite, in the folder the person works in.

    Args:
        source: The file that is imported.
        paths: Suites and folders the person named; empty: here.
    """
    folder = next((path for path in paths if path.is_dir()), Path())
    dated = _DATED.fullmatch(source.stem)
    stem = source.stem if dated is None else dated[1] or dated[2]
    if stem == "promptfooconfig":  # all of them are called so: their folders tell them apart
        stem = source.absolute().parent.name or stem
    file = folder / f"{stem}.toml"
    here = Path.cwd()
    return file.relative_to(here) if file.is_relative_to(here) else file


def destination(typed: str) -> Path:
    """Return the file of the suite that is to be written.

    Raises:
        ImportFormError: none is named.
    """
    if not typed.strip():
        raise ImportFormError("say where the suite goes: NAME.toml")
    return from_home(typed.strip())


def in_the_way(source: Path, suite: Path) -> list[Path]:
    """Return the files that would be replaced.

    Raises:
        ImportFormError: the suite cannot be written there.
    """
    wrong = writing.why_not(suite, source)
    if wrong is not None:
        raise ImportFormError(f"{suite}: {wrong}")
    return writing.in_the_way(suite)


def import_suite(
    source: Path, format_name: str, suite: Path, stopped: threading.Event, *, replacing: bool
) -> "WrittenSuite":
    """Import a file.

    Args:
        source: The file.
        format_name: What it is.
        suite: Where the suite goes.
        stopped: Set where nobody waits for it any more.
        replacing: Whether files that are there may be replaced.

    Raises:
        ImportFormError: it cannot be imported, or not be written; nothing was.
    """

    def between() -> None:
        if stopped.is_set():
            raise ImportFormError("nothing was written: it was stopped")

    try:
        return import_comparison.import_suite(
            format_name, source, suite, replacing=replacing, between=between
        )
    except SuiteError as error:
        raise ImportFormError(str(error)) from None
    except OSError as error:
        raise ImportFormError(f"nothing was written: {error}") from None


def import_paras(written: "WrittenSuite") -> Iterator[Para]:
    """Say what came of an import: what is there, what is not, and how things were taken."""
    yield Para(f"{many(written.cases, 'case')} in {written.dataset.name}")
    lost = [str(one) for one in written.lost if not one.guess]
    taken = [str(one) for one in written.lost if one.guess]
    for title, lines in (
        ("Not carried over, or not as it was:", lost),
        ("How it was taken:", taken),
        ("How outputs of the file are graded here:", [*written.verdicts.lines(_DIFFERENCES)]),
        ("What check says of the suite:", written.troubles),
    ):
        if lines:
            yield Para("")
            yield Para(title, "strong")
        for line in lines:
            yield Para(line, label="•")
    if not lost:
        yield Para("")
        yield Para("Everything was carried over.", "dim")


def completed(typed: str) -> str | None:
    """Return the path that was probably begun: a folder, or a file that may be imported."""
    head, slash, begun = typed.rpartition("/")
    folder = from_home(f"{head}{slash}" or ".")
    names = []
    try:
        for number, entry in enumerate(folder.iterdir()):
            if number >= _MOST_NAMES:
                break
            if not entry.name.startswith(begun) or (entry.name[0] == "." and not begun):
                continue
            if entry.is_dir():
                names.append(f"{entry.name}/")
            elif entry.suffix.lower() in ENDINGS:
                names.append(entry.name)
    except (OSError, ValueError):
        return None
    return f"{head}{slash}{min(names)}" if names and typed else None
