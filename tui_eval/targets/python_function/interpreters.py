"""Which Python calls a suite's functions, and with what of this process's environment."""

import sys
from pathlib import Path

from tui_eval.suites.program_fields import find_interpreter


def interpreter(wanted: str | None, folder: Path) -> str | None:
    """Return the interpreter that a suite names; None: it is not there.

    Args:
        wanted: A name on the PATH, or a path relative to the suite; None: this very one.
        folder: The suite's.
    """
    if wanted is None:
        return sys.executable
    return find_interpreter(wanted, folder)


def known_as(wanted: str | None) -> str:
    """Return what keys know an interpreter by: its name, of this very one its version."""
    own = f"{sys.version_info.major}.{sys.version_info.minor}"
    return own if wanted is None else wanted
