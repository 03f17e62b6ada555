"""How this program was started, so that what is to be typed next starts the same one."""

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import Final

_NAME: Final = "tui-eval"


def command_name(started_as: str | None = None, path: str | None = None) -> str:
    """Return the word that a command to be typed begins with.

    That is `tui-eval` where the shell finds by it what was started, else the script as it was
    named: in an environment that is not active, `.venv/bin/tui-eval`. What was started by another
    name (`python -m tui_eval`, a notebook, the engine beside an app) says `tui-eval`.

    Args:
        started_as: The script's name; None: this process's.
        path: The folders a shell looks into; None: those of the environment.
    """
    script = sys.argv[0] if started_as is None else started_as
    if Path(script).name != _NAME:
        return _NAME
    found = shutil.which(_NAME, path=path)
    if found is not None and os.path.realpath(found) == os.path.realpath(script):
        return _NAME
    return shlex.quote(script)
