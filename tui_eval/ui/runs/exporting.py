"""Exporting runs from the app: which file, may it be replaced, and the writing in a thread."""

import asyncio
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from tui_eval.format import many, size
from tui_eval.model.home import from_home
from tui_eval.plugins.lookup import PluginError, PluginSort, plugins_of
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.format_names import ENDINGS
from tui_eval.reports.exports.formats import export_of, format_of
from tui_eval.reports.exports.parquet import MissingLibraryError
from tui_eval.reports.exports.whole_file import Pieces, to_file
from tui_eval.store.connection import open_readable
from tui_eval.store.errors import StoreError
from tui_eval.store.rows import RunRow
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.menu import Choice, Menu
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.screens.base.base_screen import BaseScreen

_EACH = "{run}"
"""Stands for the run's name in the name of a file."""
_BY_ENDING = ""
"""What stands for a format that the file's ending says."""


class UnusableNameError(Exception):
    """A file cannot be called so; the message says why."""


class _StoppedError(Exception):
    """Nobody waits for the file any more."""


async def export(screen: BaseScreen, runs: Sequence[RunRow]) -> None:
    """Ask for a file's name and write the trials of runs, each run into a file of its own.

    Where plugins export, it is asked first whether one of them is to write it.
    """
    with screen.context.keys_wait():
        plugins = await asyncio.to_thread(plugins_of, PluginSort.EXPORTER)
    exporter: str | None = _BY_ENDING
    if plugins:
        lines = [Choice("by the file's ending", _BY_ENDING)]
        lines += [Choice(one.name, one.name, f"plugin of {one.distribution}") for one in plugins]
        exporter = await screen.app.push_screen_wait(
            Menu("export as", lines, screen.context.glyphs)
        )
    if exporter is not None:
        await _export_as(screen, runs, exporter)


async def _export_as(screen: BaseScreen, runs: Sequence[RunRow], exporter: str) -> None:
    endings = ", ".join(filter(None, ENDINGS.values()))
    stem = runs[0].name if len(runs) == 1 else _EACH
    first = f"{stem}.txt" if exporter else f"{stem}.jsonl"
    what = runs[0].name if len(runs) == 1 else many(len(runs), "run")

    def check(name: str) -> str | None:
        try:
            files(name, runs, exporter)
        except UnusableNameError as error:
            return str(error)
        return None

    hint = f"{exporter} writes it" if exporter else f"{endings} says how"
    if len(runs) > 1:
        hint += f"; {_EACH} stands for each run's name"
    name = await screen.app.push_screen_wait(NameDialog(f"Export {what} to", first, hint, check))
    if name is None:
        return
    wanted = files(name, runs, exporter)
    there = [file for file in wanted if file.exists()]
    if there:
        which = str(there[0]) if len(there) == 1 else many(len(there), "file")
        if not await screen.app.push_screen_wait(
            ConfirmDialog(f"{which} already exists. Replace?", yes="Replace", no="Keep")
        ):
            return
    screen.say(f"writing {', '.join(str(file) for file in wanted[:3])}…")
    for file, run in zip(wanted, runs, strict=True):
        try:
            await _write(screen.context.client.path, run, file, exporter)
        except (OSError, StoreError, MissingLibraryError, PluginError) as error:
            screen.say(f"nothing was written: {error}", "error")
            return
    written = sum(file.stat().st_size for file in wanted)
    where = (
        str(wanted[0]) if len(wanted) == 1 else f"{many(len(wanted), 'file')} in {_folder(wanted)}"
    )
    screen.say(f"wrote {where}, {size(written)}", seconds=8)


def files(name: str, runs: Sequence[RunRow], exporter: str = _BY_ENDING) -> list[Path]:
    """Return the file of each run.

    Args:
        name: What was typed.
        runs: The runs.
        exporter: The plugin that writes them; empty: the file's ending says the format.

    Raises:
        UnusableNameError: it says no format, names one file for several runs, or a folder that is
            not there.
    """
    if not name.strip():
        raise UnusableNameError("give the file a name")
    path = from_home(name.strip())
    if not exporter and format_of(path) is None:
        endings = ", ".join(filter(None, ENDINGS.values()))
        raise UnusableNameError(f"its name must end in one of {endings}")
    if len(runs) > 1 and _EACH not in path.name:
        raise UnusableNameError(f"{many(len(runs), 'run')} need {_EACH} in the name")
    found = [path.with_name(path.name.replace(_EACH, run.name)) for run in runs]
    if not path.parent.is_dir():
        raise UnusableNameError(f"{path.parent}: no such folder")
    return found


def _folder(wanted: Iterable[Path]) -> str:
    return str(next(iter(wanted)).parent.absolute())


async def _write(store: Path, run: RunRow, file: Path, exporter: str) -> None:
    """Write one file, whole or not at all; given up where this is cancelled."""
    stopped = threading.Event()
    try:
        await asyncio.to_thread(_write_now, store, run, file, exporter, stopped)
    finally:
        stopped.set()


def _write_now(
    store: Path, run: RunRow, file: Path, exporter: str, stopped: threading.Event
) -> None:
    db = open_readable(store)
    name = exporter or format_of(file)
    assert name is not None, "it was looked at"
    try:
        pieces = export_of(name)(db, run, ExportChoice())
        to_file(file, _until(pieces, stopped))
    except _StoppedError:
        return
    finally:
        db.close()


def _until(pieces: Pieces, stopped: threading.Event) -> Iterator[str | bytes]:
    for piece in pieces:
        if stopped.is_set():
            raise _StoppedError
        yield piece
