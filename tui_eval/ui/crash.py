"""The log of a crash: its traceback, without keys; and whether the program was replaced."""

import sys
import traceback
from datetime import UTC, datetime
from pathlib import Path

import platformdirs

from tui_eval import __version__
from tui_eval.model.visible import visible
from tui_eval.providers.keys import redact

_PACKAGE = __package__.partition(".")[0]


def write_log(error: BaseException, folder: Path | None = None) -> Path | None:
    """Write a traceback to a new file that only its owner reads.

    Args:
        error: What was raised.
        folder: Where to; None: the user's log directory.

    Returns:
        The file; None where none could be written.
    """
    folder = folder or platformdirs.user_log_path("tui-eval")
    stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S-%f")
    file = folder / f"crash-{stamp}.log"
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        file.touch(0o600)
        # whoever looks at it does so in a terminal
        told = visible(redact("".join(traceback.format_exception(error))))
        file.write_text(f"tui-eval {__version__}\n{told}", encoding="utf-8", errors="replace")
    except OSError:
        return None
    return file


def replaced_since(started: float) -> bool:
    """Return whether files of the program are gone or newer than its start.

    Modules are imported when they are first needed: what is imported then may not fit what was
    imported before.

    Args:
        started: When the program was started, in Unix seconds.
    """
    files = [
        module.__file__
        for name, module in list(sys.modules.items())
        if name.partition(".")[0] == _PACKAGE and getattr(module, "__file__", None)
    ]
    return any(_newer(Path(file), started) for file in files if file is not None)


def _newer(file: Path, than: float) -> bool:
    try:
        return file.stat().st_mtime > than
    except OSError:
        return True
