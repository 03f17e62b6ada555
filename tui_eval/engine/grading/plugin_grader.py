"""Decides checks of the kind `plugin`: a distribution's scorer is called in a kept process."""

import asyncio
import sys
from dataclasses import replace

from tui_eval.engine.grading.function_reply import reply_grade
from tui_eval.engine.grading.grader import Grader, GradingError, GradingMeans, GradingRequest
from tui_eval.engine.grading.program_run import limits_of
from tui_eval.engine.grading.worker_pools import WorkerPools
from tui_eval.isolated.one_call import minimal_environment
from tui_eval.model.json import JsonObject
from tui_eval.model.score import Grade
from tui_eval.plugins.lookup import PluginError, PluginSort, find_plugin, worker_path
from tui_eval.processes.program import ProgramLimits
from tui_eval.scoring.program_request import program_request
from tui_eval.scoring.settings import text
from tui_eval.suites.plugins.description import CALLS, FUNCTIONS
from tui_eval.suites.plugins.plugin_fields import why_unusable
from tui_eval.targets.python_function.worker_process import CalledFunction

_SEEN = ("case", "output", "messages", "fields")


class PluginGrader(Grader):
    """Calls plugins in workers: a crash, a hang or a flood of prints harms the one grading."""

    def __init__(self, means: GradingMeans) -> None:
        """Take what is needed to run workers; none is started."""
        super().__init__(means)
        self._workers = WorkerPools(means)

    async def grade(self, asked: GradingRequest) -> Grade:
        """Call the plugin; read the grade that it gives."""
        settings = asked.check.settings
        name, own = text(settings["plugin"]), settings["settings"]
        request = program_request(asked.check, asked.output)
        if isinstance(request, Grade):
            return request
        limits = limits_of(settings)
        assert limits.wall is not None, "each check has a time limit"
        module = await asyncio.to_thread(_module, asked)
        seen: JsonObject = {one: request[one] for one in _SEEN}
        given: JsonObject = {**seen, "module": module, "settings": own}
        called = CalledFunction(
            module=CALLS,
            function=FUNCTIONS[PluginSort.SCORER],
            folder=self._means.folder,
            interpreter=sys.executable,
            env=minimal_environment(),
            positional=0,
            keywords=tuple(given),
            limits=ProgramLimits(memory=limits.memory),
            path=tuple(worker_path()),
        )
        pool = self._workers.pool((module, limits.memory), called, lambda: False)
        came = await self._workers.call(pool, name, given, limits.wall)
        returned = came.reply.get("returned")
        raw = None
        if isinstance(returned, dict):
            raw = returned.pop("raw", None)
            if settings.get("threshold") is not None and returned.get("value") is not None:
                del returned["verdict"]  # the suite says what passes
        read = reply_grade(asked, name, came)
        return read if raw is None else replace(read, raw=raw)

    async def close(self) -> None:
        """End all workers."""
        await self._workers.close()


def _module(asked: GradingRequest) -> str:
    """Return the plugin's module. Blocking.

    Raises:
        GradingError: it is not there, or is another one than when the suite was read.
    """
    name = text(asked.check.settings["plugin"])
    distribution = text(asked.check.settings["distribution"])
    why = why_unusable(PluginSort.SCORER, name, distribution)
    if why is not None:
        raise GradingError(why)
    try:
        return find_plugin(PluginSort.SCORER, name).module
    except PluginError as error:
        raise GradingError(str(error)) from None
