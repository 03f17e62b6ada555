"""`tui-eval watch --board`: runs of several machines, in a table that is told anew."""

import os
import shutil
import sys
import time
from pathlib import Path

from tui_eval.cli import streams
from tui_eval.cli.errors import CommandError
from tui_eval.reports import json_output
from tui_eval.reports.board import Board, read_board
from tui_eval.reports.terminal.board_text import board_text
from tui_eval.reports.terminal.tables import AnsiStyle

_EVERY_S = 2.0
_HOME = "\x1b[H\x1b[J"  # to the first cell, and clear what is below


def show(folder: Path, *, as_json: bool) -> int:
    """Say what is posted; on a terminal until all runs have ended, or Ctrl+C.

    Raises:
        CommandError: the folder cannot be read.
    """
    if as_json:
        streams.say(json_output.dumps(_read(folder).as_json(), indent=2))
        return 0
    live = sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    try:
        while True:
            board = _read(folder)
            _tell(board, live=live)
            if not live or board.ended:
                return 0
            time.sleep(_EVERY_S)
    except KeyboardInterrupt:
        return 0


def _read(folder: Path) -> Board:
    try:
        return read_board(folder, time.time())
    except OSError as error:
        raise CommandError(f"--board {folder}: {error.strerror}") from error


def _tell(board: Board, *, live: bool) -> None:
    colour = live and "NO_COLOR" not in os.environ
    size = shutil.get_terminal_size()
    height = size.lines - 1 if live else None  # the last line is the cursor's
    text = board_text(board, time.time(), size.columns, AnsiStyle(colour), height)
    streams.say(f"{_HOME if live else ''}{text}")
