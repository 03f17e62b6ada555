"""A grader whose programs run at workers: to scoring it is one like any other."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from tui_eval.engine.executors.handful import CheckOrder, CheckReturn
from tui_eval.engine.executors.remote_attempts import RemoteAttempts
from tui_eval.engine.grading.grader import Grader, GradingError, GradingMeans, GradingRequest
from tui_eval.model.json import JsonObject, digest
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring.check import Check

_TRIES: Final = 2
"""Workers that may be lost over one check."""

GraderMakers = Mapping[str, Callable[[GradingMeans], Grader]]


class RemoteGrader(Grader):
    """Has workers decide what travels, unless there are none; decides everything else here."""

    def __init__(
        self, means: GradingMeans, make: Callable[[GradingMeans], Grader], workers: RemoteAttempts
    ) -> None:
        """Stand before a grader.

        Args:
            means: What it works with here.
            make: Makes it.
            workers: Those who may decide.
        """
        super().__init__(means)
        self._here = make(means)
        self._workers = workers

    def made_of(self, asked: GradingRequest) -> JsonObject:
        """Return what beside the check decides the grade."""
        return self._here.made_of(asked)

    def travels(self, check: Check) -> bool:
        """Return whether a worker is to decide a check: now, or as soon as there is one again."""
        return self._workers.begun and self._here.travels(check)

    async def grade(self, asked: GradingRequest) -> Grade:
        """Decide a check, at a worker where it can be."""
        if not self.travels(asked.check):
            return await self._here.grade(asked)
        made_of = digest(await asyncio.to_thread(self._here.made_of, asked)).hex()
        for _ in range(_TRIES):
            await self._workers.ready()
            if self._workers.failure is not None:
                # what it is made of is the same here
                return await self._here.grade(asked)
            order = CheckOrder(0, asked.check, asked.output, made_of)
            returned = await self._workers.decide(order)
            if isinstance(returned, CheckReturn):
                return _sound(returned)
        raise GradingError("the workers were lost that were to decide it")

    async def close(self) -> None:
        """End what is kept here."""
        await self._here.close()


def _sound(returned: CheckReturn) -> Grade:
    """Return the grade that a worker has given.

    Raises:
        GradingError: it has given none, or one that cannot be.
    """
    if (grade := returned.grade) is None:
        raise GradingError(returned.why)
    ungraded = grade.verdict is Verdict.UNGRADED
    if ungraded != (grade.value is None) or (grade.value or 0.0) > 1.0:
        raise GradingError(f"its worker says {grade.verdict} with the value {grade.value}")
    return grade


def remote_graders(graders: GraderMakers, workers: RemoteAttempts | None) -> GraderMakers:
    """Return what makes the graders of a run, by kind.

    Args:
        graders: What makes those that decide here.
        workers: Those who may decide instead; None: there are none.
    """
    if workers is None:
        return graders
    return {
        kind: partial(RemoteGrader, make=make, workers=workers) for kind, make in graders.items()
    }
