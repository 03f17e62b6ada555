"""Mistakes of a suite that was read, with the lines of its file."""

from pathlib import Path

from tui_eval.suites.loading import toml_lines
from tui_eval.suites.loading.errors import Mistake
from tui_eval.suites.loading.source_map import shown
from tui_eval.suites.spec import Suite


def mistake(suite: Suite, path: str, message: str, hint: str | None) -> Mistake:
    """Return a mistake of a field, with its line in the suite file where there is one."""
    if suite.file is None:
        return Mistake(suite.name, None, path, message, hint)
    return Mistake(Path(suite.file).name, _line(Path(suite.file), path), path, message, hint)


def _line(file: Path, path: str) -> int | None:
    try:
        found = toml_lines.lines(file.read_text(encoding="utf-8-sig"))
    except (OSError, ValueError):
        return None
    return next((line for at, line in found.items() if shown(at) == path), None)
