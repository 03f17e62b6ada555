"""Workers that grade: kept by what they have in common, called within a check's time."""

import asyncio
import itertools
import os
from collections.abc import Callable, Hashable
from pathlib import Path

from tui_eval.engine.grading.function_reply import broken
from tui_eval.engine.grading.grader import GradingMeans
from tui_eval.engine.grading.program_run import grading_prefix
from tui_eval.model.json import JsonObject
from tui_eval.targets.python_function.function_pool import (
    CallRefusal,
    CallReply,
    FunctionPool,
    WorkerEnd,
)
from tui_eval.targets.python_function.worker_process import CalledFunction


class WorkerPools:
    """The workers of one grader."""

    def __init__(self, means: GradingMeans) -> None:
        """Take what is needed to run workers; none is started."""
        self._means = means
        self._pools: dict[Hashable, FunctionPool] = {}
        self._numbers = itertools.count()

    def pool(
        self, key: Hashable, called: CalledFunction, changed: Callable[[], bool]
    ) -> FunctionPool:
        """Return the workers of a key; new ones call a function until that is changed."""
        if key not in self._pools:
            self._pools[key] = FunctionPool(self._means.processes, called, changed)
        return self._pools[key]

    async def call(
        self, pool: FunctionPool, name: str, request: JsonObject, seconds: float
    ) -> CallReply:
        """Have a worker call its function; return the reply.

        Raises:
            GradingError: there is none.
        """
        came = await pool.call([], request, seconds, self._folder)
        match came:
            case CallReply():
                return came
            case CallRefusal():
                raise broken(f"{name}: {came.message}", came.printed)
            case WorkerEnd(timed_out=True):
                raise broken(f"{name} took longer than {seconds:g} s", came.printed)
            case WorkerEnd():
                raise broken(f"{name}: {came.in_words()} in the call", came.printed)

    async def close(self) -> None:
        """End all workers."""
        pools, self._pools = self._pools, {}
        await asyncio.gather(*(pool.close() for pool in pools.values()))

    def _folder(self) -> Path:
        name = f"{grading_prefix(self._means.run)}{os.getpid()}-worker-{next(self._numbers)}"
        folder = self._means.attempts / name
        folder.mkdir(mode=0o700, parents=True)
        return folder
