"""From checks that programs decide to scores: what the store knows is not run again."""

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence

from tui_eval.engine.grading.grader import Grader, GradingError, GradingMeans, GradingRequest
from tui_eval.engine.grading.graders import GRADERS
from tui_eval.engine.grading.turns import Turns
from tui_eval.isolated.calls import AbandonedError
from tui_eval.model.case import Case, Column
from tui_eval.model.json import digest
from tui_eval.model.outputs.output import Output
from tui_eval.model.score import Grade, Score
from tui_eval.scoring.check import Check
from tui_eval.store.connection import Connection
from tui_eval.store.read import known_grades


class ProgramScoring:
    """Has programs decide checks, a bounded number at once."""

    def __init__(
        self,
        means: GradingMeans,
        reading: Connection,
        *,
        reuse: Callable[[], bool],
        stopping: Callable[[], bool] = lambda: False,
        graders: Mapping[str, Callable[[GradingMeans], Grader]] = GRADERS,
        elsewhere: Turns | None = None,
    ) -> None:
        """Make the graders; nothing is started.

        Args:
            means: What they work with.
            reading: A connection to the store, in which grades are looked up.
            reuse: Whether grades of before may be used.
            stopping: Whether no program is to begin any more.
            graders: What makes each, by kind.
            elsewhere: Turns of those that other machines decide (`Grader.travels`); None: there are
                none. Here as many run at once as there are processors.
        """
        self._graders = {kind: make(means) for kind, make in graders.items()}
        self._reading = reading
        self._reuse = reuse
        self._stopping = stopping
        self._here = Turns(lambda: os.cpu_count() or 1)
        self._elsewhere = elsewhere

    async def scores(
        self, column: Column, case: Case, output: Output, checks: Sequence[Check]
    ) -> tuple[Score, ...]:
        """Return the score of each check; nothing runs any more when this returns.

        Raises:
            AbandonedError: the engine is stopping, and one had not begun.
        """
        asked = [GradingRequest(check, column, case, output) for check in checks]
        return tuple([await self._score(one) for one in asked])

    async def _score(self, asked: GradingRequest) -> Score:
        check = asked.check
        grader = self._graders[check.kind]
        key: bytes | None = None
        cached = False
        try:
            made_of = await asyncio.to_thread(grader.made_of, asked)
            key = digest([check.key(asked.output).hex(), made_of])
            known = await self._reading.call(known_grades.find, key) if self._reuse() else None
            cached = known is not None
            if known is None:
                elsewhere = self._elsewhere if grader.travels(check) else None
                async with elsewhere or self._here:
                    if self._stopping():
                        raise AbandonedError
                    known = await grader.grade(asked)
        except GradingError as error:
            known = Grade.ungraded(str(error))
        if known.value is None:
            key = None  # what broke may work another time
        return Score(check.name, known, check.weight, check.required, cached=cached, key=key)

    async def close(self) -> None:
        """End what graders keep."""
        for grader in self._graders.values():
            await grader.close()
