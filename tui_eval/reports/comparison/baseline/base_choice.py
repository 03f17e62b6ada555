"""What a person names as the baseline of a run that is to be made, looked at before it is made."""

import sqlite3
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from tui_eval.engine.settings import Settings
from tui_eval.reports.comparison.baseline.base import no_common_target
from tui_eval.reports.comparison.baseline.baseline_file import (
    BaselineFile,
    BaselineFileError,
    read_content,
)
from tui_eval.reports.comparison.pairing import NothingToPairError, paired_names
from tui_eval.reports.comparison.side import RunSide, Side
from tui_eval.store.errors import UnknownRunError
from tui_eval.store.read import run_queries
from tui_eval.store.read.comparing.baseline_queries import refusal
from tui_eval.store.write.baseline_writes import BaseChoice
from tui_eval.suites.data.dataset import cases
from tui_eval.suites.spec import Suite
from tui_eval.suites.templates import renderer


class BaseRefusedError(Exception):
    """A run cannot be compared with what is named; the message says why and what would help."""


@dataclass(frozen=True, slots=True)
class CheckedBase:
    """What a run may be compared with."""

    choice: BaseChoice
    warnings: tuple[str, ...] = ()
    """What may not be meant so."""


@dataclass(frozen=True, slots=True)
class _Planned:
    """A run that is to be made, as far as columns are paired with it."""

    name: str
    columns: tuple[str, ...]


def checked_base(
    db: sqlite3.Connection | None, named: str, suite: Suite, settings: Settings
) -> CheckedBase:
    """Return what a run is to be compared with, of its name; a name that leads to a file is one.

    Args:
        db: A connection to the store; None: there is no store yet.
        named: A run, or the path of a baseline file.
        suite: The suite of the run that is to be made; its data is read.
        settings: What is chosen for that run.

    Raises:
        BaseRefusedError: there is no such run or file, it is no baseline, or has no target or no
            case in common with the suite.
    """
    path = Path(named)
    if path.is_file():
        choice, side = _of_file(path)
        warnings: tuple[str, ...] = ()
    else:
        choice, side, warnings = _of_run(db, named, suite)
    columns = tuple(
        column.name
        for column in renderer.columns(suite)
        if not settings.targets or column.target in settings.targets
    )
    try:
        pairs = paired_names(side, _Planned(suite.name, columns), {})
    except NothingToPairError:
        raise BaseRefusedError(no_common_target(side, columns)) from None
    known = {case_id for column, _ in pairs for case_id, _ in side.cases(column)}
    if not any(case.id in known for case in cases(suite)):
        raise BaseRefusedError(f"no case of {suite.name} is one of {side.name}'s")
    return CheckedBase(choice, warnings)


def _of_file(path: Path) -> tuple[BaseChoice, Side]:
    try:
        content = read_content(path)
        return BaseChoice(str(path), file=content), BaselineFile(path, content)
    except BaselineFileError as error:
        raise BaseRefusedError(str(error)) from None
    except OSError as error:
        raise BaseRefusedError(f"{path}: {error.strerror}") from None


def _of_run(
    db: sqlite3.Connection | None, named: str, suite: Suite
) -> tuple[BaseChoice, Side, tuple[str, ...]]:
    if db is None:
        raise BaseRefusedError(f"{named}: there is no such file, and no store with runs yet")
    try:
        run = run_queries.run_named(db, named, evaluated=True)
        side = RunSide(db, run)
    except UnknownRunError as error:
        raise BaseRefusedError(f"{error}; and there is no such file") from None
    except ValidationError:
        raise BaseRefusedError(f"{named} was made by a later version") from None
    if why := refusal(run):
        raise BaseRefusedError(why)
    warnings = []
    if run.suite != suite.name:
        warnings.append(
            f"{run.name} is a run of {run.suite}: cases of one id and the same row are compared"
        )
    return BaseChoice(run.name, run.id), side, tuple(warnings)
