"""Which suites the words of a command line name."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tui_eval.suites.data.files import real_path

if TYPE_CHECKING:
    from tui_eval.suites.loading.errors import SuiteError


def named_suites(paths: Sequence[Path]) -> "tuple[list[Path], list[tuple[Path, SuiteError]]]":
    """Return the suites of files and folders, each once, and what is wrong with the others.

    They stand in the order in which they are named, those of a folder by their paths.
    """
    from tui_eval.suites.loading.errors import Mistake, SuiteError
    from tui_eval.suites.loading.suite_file import discover

    files: dict[Path, Path] = {}
    wrong: list[tuple[Path, SuiteError]] = []
    for named in paths:
        try:
            found = discover([named])
        except SuiteError as error:
            wrong.append((named, error))
            continue
        if not found:
            hint = (
                "a suite is a .toml file with cases and targets; `tui-eval init` writes a first one"
            )
            none = Mistake(str(named), None, "", "there is no suite in this folder", hint)
            wrong.append((named, SuiteError([none])))
        for file in found:
            files.setdefault(real_path(file), file)
    return list(files.values()), wrong
