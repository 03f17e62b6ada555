"""What goes wrong, as a line for a person and an exit code."""

import errno
import shlex
from pathlib import Path

import click

from tui_eval.cli import streams
from tui_eval.invocation import command_name
from tui_eval.model.exit_code import ExitCode

FOLDER_GONE = "the current folder is gone: change to one that exists, then say it again"
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT)


class CommandError(click.ClickException):
    """What was asked for cannot be done; the message says why and what would help."""


def explain(error: Exception) -> int:
    """Say what went wrong; give the exit code: nothing was started, or it could not go on.

    Mistakes of a person's are told as they are. Anything else is a mistake of ours: one line, and
    the file with the traceback.
    """
    import sqlite3

    from tui_eval.providers.errors import UnavailableError
    from tui_eval.store.errors import StoreError, StoreMovedError
    from tui_eval.suites.loading.errors import SuiteError
    from tui_eval.suites.trust.needs_trust import NeedsTrust

    if isinstance(error, NeedsTrust):
        file = shlex.quote(error.mistakes[0].file)
        streams.tell(
            f"{error}\nIt needs your trust: look at the suite, then say "
            f"`{command_name()} trust add {file}`, or add --trust for this once."
        )
    elif isinstance(error, SuiteError):
        streams.tell(str(error))
    elif isinstance(error, StoreError | UnavailableError):
        streams.tell(f"error: {error}")
    elif isinstance(error, OSError) and error.filename is not None:
        streams.tell(f"error: {error.filename}: {error.strerror}")
    elif isinstance(error, OSError) and error.errno in _NO_ROOM:
        streams.silence()  # what is left over would be tried again at exit
        streams.tell("error: the output could not be written: no space left on the device")
    elif isinstance(error, FileNotFoundError) and not folder_is_there():
        streams.tell(f"error: {FOLDER_GONE}")
    elif isinstance(error, sqlite3.DatabaseError):
        streams.tell(f"error: the store: {error}; `{command_name()} doctor` looks at it")
    else:
        tell_crash(error)
    return ExitCode.INCOMPLETE if isinstance(error, StoreMovedError) else ExitCode.NOT_STARTED


def folder_is_there() -> bool:
    """Say whether the current folder still exists."""
    try:
        Path.cwd()
    except OSError:
        return False
    return True


def tell_crash(error: BaseException) -> None:
    """Say in one line what broke, and where its traceback is."""
    from tui_eval.providers.keys import redact
    from tui_eval.ui.crash import write_log

    log = write_log(error)
    where = f"its traceback is in {log}" if log else "no log could be written"
    while isinstance(error, BaseExceptionGroup):  # they broke together: the first one says why
        error = error.exceptions[0]
    what = redact(f"{type(error).__name__}: {error}")
    streams.tell(f"error: something broke ({what}); {where}")
