"""The checks that a worker decides by running something."""

import asyncio
import logging
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from tui_eval.engine.executors.handful import CheckOrder, CheckReturn
from tui_eval.engine.grading.grader import GradingError, GradingMeans, GradingRequest
from tui_eval.engine.grading.graders import GRADERS
from tui_eval.model.case import Case, Column
from tui_eval.model.json import digest
from tui_eval.processes.supervisor import Processes
from tui_eval.suites.spec import Suite
from tui_eval.suites.trust.capabilities import Folder
from tui_eval.targets.base import Target

_NO_CASE = Case(0, "", {})
_NO_COLUMN = Column(0, "", "", None)

log = logging.getLogger(__name__)


class WorkerChecks:
    """Decides checks by themselves and the output, see `Grader.travels`."""

    def __init__(
        self, suite: Suite, targets: Mapping[str, Target], processes: Processes, folder: Path
    ) -> None:
        """Make the graders; nothing is started.

        Args:
            suite: The frozen suite.
            targets: Its targets, by name.
            processes: Runs their programs.
            folder: The worker's own.
        """
        attempts = folder / "gradings"
        attempts.mkdir(mode=0o700)
        means = GradingMeans(
            processes,
            Path(suite.file).parent if suite.file else Path.cwd(),
            lambda: Folder.of(suite),
            lambda: targets,
            attempts,
            folder / "kept",
            lambda scorer: {},  # that they are what they were, the engine has seen: see `made_of`
        )
        self._graders = {kind: make(means) for kind, make in GRADERS.items()}

    async def decided(self, order: CheckOrder) -> CheckReturn:
        """Decide a check; nothing of it runs any more when this returns, or is cancelled."""
        asked = GradingRequest(order.check, _NO_COLUMN, _NO_CASE, order.output)
        grader = self._graders[order.check.kind]
        try:
            made_of = await asyncio.to_thread(grader.made_of, asked)
            if digest(made_of).hex() != order.made_of:
                why = "its worker has another Python, or other files of the suite, than the engine"
                return CheckReturn(order.attempt, None, why)
            return CheckReturn(order.attempt, await grader.grade(asked))
        except GradingError as error:
            return CheckReturn(order.attempt, None, str(error))
        except Exception:
            log.exception("check %s", order.check.name)
            return CheckReturn(order.attempt, None, "an error in tui-eval, at its worker")

    async def close(self) -> None:
        """End what graders keep."""
        for grader in self._graders.values():
            with suppress(OSError):
                await grader.close()
