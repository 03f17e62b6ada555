"""Loading a solution's code, and saying where in it an exception came up."""

from __future__ import annotations

import linecache
import sys
import types
from typing import Sequence

from tui_eval.isolated.code_tests.python_code import chosen

MODULE = "solution"
_FILE = "solution.py"
_GIVEN = "given.py"


def load_code(module: types.ModuleType, given: str, reply: str, wanted: Sequence[str]) -> None:
    """Run the code of a reply as a module, after what it was given; what it raises is raised.

    Raises:
        NoCodeError: the reply holds none.
    """
    taken = chosen(reply, given, wanted)
    sys.modules[module.__name__] = module
    names = module.__dict__
    if taken.before:
        exec(compile(taken.before, _GIVEN, "exec"), names)  # noqa: S102 - see the module
    linecache.cache[_FILE] = (len(taken.code), None, taken.code.splitlines(True), _FILE)
    exec(compile(taken.code, _FILE, "exec"), names)  # noqa: S102 - what all this is for


def where_in_code(error: BaseException) -> str | None:
    """Return the line of the solution in which an exception came up; None: in none."""
    found = None
    at = error.__traceback__
    while at is not None:
        if at.tb_frame.f_code.co_filename == _FILE:
            found = at.tb_lineno
        at = at.tb_next
    if isinstance(error, SyntaxError) and error.filename == _FILE:
        found = error.lineno
    if found is None:
        return None
    text = linecache.getline(_FILE, found).strip()
    return f"line {found}: {text[:120]}" if text else f"line {found}"
