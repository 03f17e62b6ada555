"""Decides checks of the kind `python`: a function of the suite is called in a kept process."""

import asyncio
from dataclasses import replace

from tui_eval.engine.grading import grading_folder
from tui_eval.engine.grading.function_reply import reply_grade
from tui_eval.engine.grading.grader import Grader, GradingError, GradingMeans, GradingRequest
from tui_eval.engine.grading.grading_folder import GradingFolder
from tui_eval.engine.grading.program_run import ProgramRunner, limits_of
from tui_eval.engine.grading.worker_pools import WorkerPools
from tui_eval.isolated.one_call import minimal_environment
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.score import Grade
from tui_eval.processes.program import ProgramLimits
from tui_eval.scoring.check import Check
from tui_eval.scoring.program_request import program_request
from tui_eval.scoring.settings import text
from tui_eval.suites.function_source import local_code
from tui_eval.suites.scorers.programs.python_scorer import SEEN
from tui_eval.targets.command.trial_folder import TrialFolder
from tui_eval.targets.python_function import interpreters
from tui_eval.targets.python_function.function_pool import (
    FunctionPool,
)
from tui_eval.targets.python_function.worker_process import CalledFunction


class PythonGrader(Grader):
    """Calls functions in workers: a crash, a hang or a flood of prints harms the one grading."""

    def __init__(self, means: GradingMeans) -> None:
        """Take what is needed to run workers; none is started."""
        super().__init__(means)
        self._runner = ProgramRunner(means)
        self._workers = WorkerPools(means)

    def made_of(self, asked: GradingRequest) -> JsonObject:
        """Return the interpreter, and the digests of its code, its files and its workspace."""
        return {
            "python": interpreters.known_as(_python(asked)),
            "code": self._code(asked),
            **grading_folder.digests(self._means, asked),
        }

    def travels(self, check: Check) -> bool:
        """Return whether it takes neither a workspace nor files that are laid into one."""
        return check.settings["workspace"] is not True and not check.settings["files"]

    async def grade(self, asked: GradingRequest) -> Grade:
        """Call the function; read what it returns."""
        settings = asked.check.settings
        if settings["workspace"] is not True and not settings["files"]:
            return await self._graded(asked, None)
        async with self._runner.folder() as folder:
            told = await self._runner.off_loop(self._prepare, folder, asked)
            grade = await self._graded(asked, str(folder.workspace))
        return replace(grade, reason=f"{grade.reason} ({told})") if told else grade

    async def close(self) -> None:
        """End all workers."""
        await self._workers.close()

    def _prepare(self, folder: TrialFolder, asked: GradingRequest) -> str:
        """Make the workspace anew, lay files over it; return what is to be told. Blocking."""
        files, told = grading_folder.sources(self._means, asked), ""
        if asked.check.settings["workspace"] is True:
            told = grading_folder.rebuilt(self._means, asked, folder, tuple(files))
        GradingFolder(folder).fill(files)
        return told

    async def _graded(self, asked: GradingRequest, workspace: str | None) -> Grade:
        request = program_request(asked.check, asked.output, workspace)
        if isinstance(request, Grade):
            return request
        pool = await self._pool(asked)
        seconds = limits_of(asked.check.settings).wall
        assert seconds is not None, "each check has a time limit"
        name = text(asked.check.settings["callable"])
        came = await self._workers.call(pool, name, request, seconds)
        if came.large:
            return await asyncio.to_thread(reply_grade, asked, name, came)
        return reply_grade(asked, name, came)

    async def _pool(self, asked: GradingRequest) -> FunctionPool:
        """Return the workers that have a function's code as it is now.

        Raises:
            GradingError: there is no interpreter, or the code is another than when it was read.
        """
        settings, folder = asked.check.settings, self._means.folder
        wanted = _python(asked)
        found = interpreters.interpreter(wanted, folder)
        if found is None:
            raise GradingError(
                f"there is no interpreter {wanted}: mend `python`, or leave it out for tui-eval's "
                "own"
            )
        name, memory = text(settings["callable"]), limits_of(settings).memory
        code = await asyncio.to_thread(self._code, asked)
        module, _, function = name.partition(":")
        called = CalledFunction(
            module=module,
            function=function,
            folder=folder,
            interpreter=found,
            env=minimal_environment(),
            positional=0,
            keywords=SEEN,
            limits=ProgramLimits(memory=memory),
            offered=True,
        )
        key = (name, found, memory, repr(code))
        return self._workers.pool(key, called, lambda: self._code(asked) != code)

    def _code(self, asked: GradingRequest) -> dict[str, Json]:
        """Return the digests of the modules beside the suite that the function is made of.

        Raises:
            GradingError: one is not what it was when the scorer was read.
        """
        folder = self._means.folder
        module = text(asked.check.settings["callable"]).partition(":")[0]
        files = sorted({file for code in local_code(module, folder) for file in code.files})
        return {
            str(file.relative_to(folder)): self._means.digest(asked.check.name, file)
            for file in files
        }


def _python(asked: GradingRequest) -> str | None:
    named = asked.check.settings.get("python")
    return named if isinstance(named, str) else None
