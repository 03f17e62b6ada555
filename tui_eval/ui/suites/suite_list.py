"""The suites there are: those named, those found in folders, and the bundled samples.

Everything here reads files and may take long: it runs in a thread. The suite's format is imported
where it is used, because it is slow to load and the first picture needs none of it.
"""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from tui_eval.resources import samples_dir
from tui_eval.suites.data.files import real_path

if TYPE_CHECKING:
    from tui_eval.suites.loading.errors import Mistake
    from tui_eval.suites.spec import Suite
    from tui_eval.suites.trust.permissions import Permission, PermissionRequest

_MOST_COUNTED = 3_000_000
"""Bytes of a dataset up to which its cases are counted unasked."""
_OF_SUITES = frozenset((".toml", ".jsonl", ".json", ".csv", ".tsv", ".md", ".txt", ".j2", ".jinja"))
"""Endings of the files that suites are made of; others, a store among them, change at will."""
_MOST_FILES = 2000
"""Files of a suite's folder that are looked at to see whether something changed."""


_Stamp: TypeAlias = tuple[str, int, int]
"""A file: its path, the time of its last change (ns) and its size."""


@dataclass(frozen=True, slots=True)
class SuiteEntry:
    """One suite as it was read."""

    path: Path
    suite: "Suite | None"
    """None: it cannot be used; `mistakes` or `asks` say why."""
    mistakes: "tuple[Mistake, ...]" = ()
    """What must be put right first: in its files, its data, its templates."""
    wants_trust: bool = False
    """Whether all that is in its way is what it wants and is not trusted with."""
    unready: tuple[str, ...] = ()
    """What keeps it from being started: keys, models and prices that are missing."""
    cases: int | None = None
    """How many cases it has; None: too much data to count unasked, or it cannot be read."""
    sample: bool = False
    """Whether it came with the program."""
    stamp: int | None = None
    """How the files in its folder were, see `stamp_of`; None: it is to be read again."""
    asks: "tuple[PermissionRequest, ...]" = ()
    """All it wants that needs trust, allowed or not."""

    @property
    def name(self) -> str:
        """The suite's name, or the file's where it has none that can be read."""
        return self.suite.name if self.suite is not None else self.path.stem

    @property
    def usable(self) -> bool:
        """Whether a run of it could be made, as far as is known."""
        return self.suite is not None and not self.mistakes

    @property
    def permissions(self) -> list[str]:
        """What it wants and is not trusted with, in words."""
        return [ask.words for ask in self.asks if ask.standing != "trusted"]

    @property
    def mistake_lines(self) -> list[str]:
        """Its mistakes as lines; the file stands above the preview, its folder is not said."""
        return mistake_lines(self.mistakes)

    def where(self) -> tuple[Path, int | None]:
        """Return the file to edit, and the line of the first mistake in it, where there is one."""
        for mistake in self.mistakes:
            if mistake.line is None:
                continue
            for file in (self.path.parent / mistake.file, Path(mistake.file)):
                if file.is_file():
                    return file, mistake.line
        return self.path, None


def mistake_lines(mistakes: "Iterable[Mistake]") -> list[str]:
    """Return mistakes as lines, each with its file's name alone."""
    return [str(replace(one, file=Path(one.file).name)) for one in mistakes]


def found(paths: Sequence[Path], also: Sequence[Path] = ()) -> Iterator[tuple[Path, bool]]:
    """Find the suites: those of the paths in their order, then the samples; each once.

    Args:
        paths: Files and folders; empty: the current folder.
        also: Files beside those.

    Yields:
        A file, and whether it is a sample.
    """
    from tui_eval.suites.loading.errors import SuiteError
    from tui_eval.suites.loading.suite_file import discover

    seen: set[Path] = set()
    samples = samples_dir()
    named = [(path, False) for path in paths] or [(Path.cwd(), False)]
    named += [(path, False) for path in also]
    for path, sample in [*named, (samples, True)]:
        try:
            files = discover([path])
        except SuiteError:
            continue  # a path that is gone: whatever else there is can still be used
        for file in sorted(files, key=lambda file: (file.parent, file.stem)):
            real = real_path(file)
            if real not in seen:
                seen.add(real)
                yield file, sample or real.is_relative_to(real_path(samples))


def read(path: Path, sample: bool, allowed: "Iterable[Permission]" = ()) -> SuiteEntry:
    """Read one suite.

    Args:
        path: Its file.
        sample: Whether it came with the program.
        allowed: What it may do this once, beside what it is trusted with.
    """
    from tui_eval.engine.preflight.readiness import missing
    from tui_eval.engine.settings import Settings
    from tui_eval.suites.loading.errors import SuiteError
    from tui_eval.suites.loading.suite_file import look

    stamp = stamp_of(path)
    try:
        looked = look(path, allowed=allowed)
    except SuiteError as error:
        return SuiteEntry(path, None, error.mistakes, sample=sample, stamp=stamp)
    suite, asks = looked.suite, looked.asks
    if suite is None or looked.refused:
        return SuiteEntry(path, None, wants_trust=True, sample=sample, stamp=stamp, asks=asks)
    cases, mistakes = _look_through(suite)
    unready = missing(suite, Settings())
    return SuiteEntry(path, suite, mistakes, False, unready, cases, sample, stamp, asks)


def trust(entry: SuiteEntry) -> None:
    """Trust a suite with what it wants, until that changes.

    Raises:
        OSError: that cannot be written down.
        SuiteError: what was written down before is damaged.
    """
    from tui_eval.suites.trust.trust_store import TrustStore

    TrustStore().trust_suite(entry.path, [ask.permission for ask in entry.asks])


def _look_through(suite: "Suite") -> "tuple[int | None, tuple[Mistake, ...]]":
    """Read the data, unless it is much; return how many cases there are, and what is wrong."""
    from tui_eval.suites.loading.errors import SuiteError
    from tui_eval.suites.survey.template_check import survey

    data = Path(suite.dataset.path) if suite.dataset.path is not None else None
    try:
        if data is not None and data.stat().st_size > _MOST_COUNTED:
            return None, ()
        return survey(suite, rendered=False).cases, ()
    except SuiteError as error:
        return None, error.mistakes
    except OSError:
        return None, ()  # a glob, say: the preview reads it and says what is wrong


def stamp_of(path: Path) -> int:
    """Return a number for the present state of a suite's file and of those beside and below it.

    Suites include files and read data; what lies further away is read again with `R`. It is made
    of all files, not of the newest alone, as one that is removed, or replaced by an older one, has
    changed too; and it is a number, as many suites may lie beside many files.
    """
    return hash((_stamp_of_folder(path.parent), _stamp(path)))


def _stamp_of_folder(folder: Path) -> int:
    found: set[_Stamp | None] = set()
    folders = [folder]
    looked_at = 0
    while folders and looked_at < _MOST_FILES:
        try:
            entries = list(os.scandir(folders.pop()))
        except OSError:
            continue
        for entry in entries[: _MOST_FILES - looked_at]:
            looked_at += 1
            if entry.name.startswith((".", "_")):
                continue
            if _is_folder(entry):
                if Path(entry.path).parent == folder:
                    folders.append(Path(entry.path))
            elif Path(entry.name).suffix.lower() in _OF_SUITES:
                found.add(_stamp(Path(entry.path)))
    return hash(frozenset(found))


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads round in circles
        return False


def _stamp(path: Path) -> _Stamp | None:
    try:
        seen = path.stat()
    except OSError:
        return None
    return str(path), seen.st_mtime_ns, seen.st_size


def changed(entries: Sequence[SuiteEntry]) -> list[SuiteEntry]:
    """Return those entries whose files have changed since they were read."""
    stamps: dict[Path, int] = {}
    stale = []
    for entry in entries:
        folder = entry.path.parent
        if folder not in stamps:
            stamps[folder] = _stamp_of_folder(folder)
        if hash((stamps[folder], _stamp(entry.path))) != entry.stamp:
            stale.append(entry)
    return stale
