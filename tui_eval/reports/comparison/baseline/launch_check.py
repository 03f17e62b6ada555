"""What speaks against a launch, and what its run is compared with: one rule for every front end."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from tui_eval.engine.preflight.preflight import Depth, preflight
from tui_eval.engine.settings import Settings
from tui_eval.reports.comparison.baseline.base_choice import checked_base
from tui_eval.store.write.baseline_writes import BaseChoice
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.spec import Suite


class LaunchRefusedError(Exception):
    """What was chosen is not there, or something is missing."""

    def __init__(self, reasons: Sequence[str]) -> None:
        super().__init__("\n".join(reasons))
        self.reasons = tuple(reasons)
        """A sentence each."""


@dataclass(frozen=True, slots=True)
class LaunchCheck:
    """A launch that nothing speaks against."""

    warnings: tuple[str, ...]
    """What may not be meant so."""
    base: BaseChoice | None
    """What its run is compared with; None: the suite's baseline, if there is one."""


def checked_launch(
    db: sqlite3.Connection | None, suite: Suite, settings: Settings, baseline: str | None
) -> LaunchCheck:
    """Look at a launch: no API calls, and nothing is written.

    Args:
        db: A connection to the store; None: there is no store yet.
        suite: The suite as loaded.
        settings: What is chosen beside it.
        baseline: The run or baseline file that it is to be compared with; None: none is named.

    Raises:
        SuiteError: the data has mistakes, or templates need what no case has.
        LaunchRefusedError: with all that is missing, or was chosen and is not there.
        BaseRefusedError: it cannot be compared with that baseline.
    """
    found = preflight(db, suite, settings, Depth.READ, has_base=baseline is not None)
    if found.mistakes:
        raise SuiteError(found.mistakes)
    if not found.may_start:
        raise LaunchRefusedError([*found.refused, *found.missing])
    if baseline is None:
        return LaunchCheck(found.warnings, None)
    base = checked_base(db, baseline, suite, settings)
    return LaunchCheck((*found.warnings, *base.warnings), base.choice)
