"""Writing a comparison into a file: its ending says how."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from tui_eval.format import size
from tui_eval.model.home import from_home
from tui_eval.reports.comparison.comparison import RunComparison
from tui_eval.reports.comparison.comparison_document import comparison_pieces
from tui_eval.reports.exports.whole_file import to_file
from tui_eval.reports.terminal.comparison_text import comparison_text
from tui_eval.reports.terminal.tables import AnsiStyle
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.screens.base.base_screen import BaseScreen

_WIDTH: Final = 120
"""Cells of a line of text."""


def _as_text(of: RunComparison) -> Iterator[str]:
    yield comparison_text(of, width=_WIDTH, ink=AnsiStyle(False))


COMPARISON_FORMATS: Final[dict[str, Callable[[RunComparison], Iterator[str]]]] = {
    "json": comparison_pieces,
    "txt": _as_text,
}
"""By the endings of files: what `tui-eval compare` prints."""


async def export_comparison(screen: BaseScreen, of: RunComparison) -> None:
    """Ask for a file's name and write a comparison into it."""
    endings = " or ".join(f".{name}" for name in COMPARISON_FORMATS)
    first = f"{_part(of.a.name)}-{_part(of.b.name)}.json"
    dialog = NameDialog("Export the comparison to", first, f"{endings} says how", why_not_written)
    name = await screen.app.push_screen_wait(dialog)
    if name is None:
        return
    path = from_home(name.strip())
    if path.exists() and not await screen.app.push_screen_wait(
        ConfirmDialog(f"{path} is there already. Write over it?", yes="Replace", no="Keep")
    ):
        return
    try:
        await asyncio.to_thread(_write, path, of)
    except OSError as error:
        screen.say(f"nothing was written: {error}", "error")
        return
    screen.say(f"wrote {path}, {size(path.stat().st_size)}", seconds=8)


def why_not_written(name: str) -> str | None:
    """Say why a comparison cannot be written into a file of this name; None: it can."""
    path = from_home(name.strip())
    if path.suffix.removeprefix(".").lower() not in COMPARISON_FORMATS:
        endings = " or ".join(f".{known}" for known in COMPARISON_FORMATS)
        return f"its name must end in {endings}"
    if not path.parent.is_dir():
        return f"{path.parent}: no such folder"
    return None


def _write(path: Path, of: RunComparison) -> None:
    def pieces() -> Iterator[str]:
        yield from COMPARISON_FORMATS[path.suffix.removeprefix(".").lower()](of)
        yield "\n"

    to_file(path, pieces())


def _part(name: str) -> str:
    return Path(name).stem
