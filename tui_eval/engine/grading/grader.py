"""What decides a check by running something."""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade
from tui_eval.model.visible import visible_line
from tui_eval.processes.supervisor import Processes
from tui_eval.scoring.check import Check
from tui_eval.suites.program_fields import digest_of
from tui_eval.suites.trust.capabilities import Folder
from tui_eval.targets.base import Target
from tui_eval.targets.disk_room import DiskRoom


@dataclass(frozen=True, slots=True)
class GradingRequest:
    """An output, and the check of it that a program decides."""

    check: Check
    column: Column
    case: Case
    output: Output


@dataclass(frozen=True, slots=True)
class GradingMeans:
    """What graders work with; one for all of an engine."""

    processes: Processes
    folder: Path
    """The suite's own."""
    reach: Callable[[], Folder]
    """Gives what the suite may read."""
    targets: Callable[[], Mapping[str, Target]]
    """By name."""
    attempts: Path
    """Where folders are made in which programs run."""
    kept: Path
    """Where files are kept that workspaces are made of."""
    as_launched: Callable[[str], Mapping[str, str]]
    """What the files held that a scorer's program is made of, see `Suite.scorer_code`."""
    run: int = 0
    """Whose gradings they are: what an engine leaves there that is killed, the next one removes."""
    room: DiskRoom = field(default_factory=DiskRoom)

    def digest(self, scorer: str, path: Path) -> str:
        """Return the digest of a file or folder that a scorer grades with. Blocking.

        Raises:
            GradingError: it cannot be read, or is not what it was when the scorer was read.
        """
        found, name = digest_of(path), os.path.relpath(path, self.folder)
        shown = visible_line(name, 200)
        if found is None:
            raise GradingError(f"{shown} cannot be read")
        if self.as_launched(scorer).get(name, found) != found:
            raise GradingError(
                f"{shown} has changed since the scorer was read, and grades of two would be one "
                "run's: `tui-eval rescore RUN --suite FILE` takes it as it is now"
            )
        return found


class GradingError(Exception):
    """A check cannot be decided; the message says why, and the output is ungraded."""


class Grader(ABC):
    """Decides the checks of one kind of scorer; cheap to make, nothing is started by that."""

    def __init__(self, means: GradingMeans) -> None:
        """Take what is needed to run something."""
        self._means = means

    @abstractmethod
    async def grade(self, asked: GradingRequest) -> Grade:
        """Decide a check; nothing of it runs any more when this returns, or is cancelled.

        Raises:
            GradingError: the grader broke, which says nothing of the output.
        """

    def made_of(self, asked: GradingRequest) -> JsonObject:
        """Return what beside the check decides the grade: digests of files. Blocking.

        Raises:
            GradingError: it cannot be known, so that nothing can be graded.
        """
        return {}

    def travels(self, check: Check) -> bool:
        """Return whether another machine with the same files can decide a check.

        It does so by the check and the output alone: a workspace is made anew where its files are.
        """
        return False

    async def close(self) -> None:
        """End what was kept between gradings."""
        return
