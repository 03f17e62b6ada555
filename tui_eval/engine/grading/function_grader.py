"""Decides checks of the kind `function`: the Python program that started the run calls it."""

import asyncio

from tui_eval.engine.grading.function_reply import broken, reply_grade
from tui_eval.engine.grading.grader import Grader, GradingError, GradingRequest
from tui_eval.model.score import Grade
from tui_eval.scoring.program_request import program_request
from tui_eval.scoring.settings import text
from tui_eval.suites import given_functions
from tui_eval.suites.scorers.programs.function_scorer import SEEN_BY_FUNCTIONS
from tui_eval.targets.caller.caller_connection import CallerConnection


class FunctionGrader(Grader):
    """Has the program call its function."""

    async def grade(self, asked: GradingRequest) -> Grade:
        """Have the function called; read what it returns."""
        settings = asked.check.settings
        name, code = text(settings["function"]), text(settings["digest"])
        holder = given_functions.holder_of(code, CallerConnection)
        if holder is None:
            raise GradingError(given_functions.why_missing(name, code) or "it is not called here")
        request = program_request(asked.check, asked.output)
        if isinstance(request, Grade):
            return request
        seen = {one: request[one] for one in SEEN_BY_FUNCTIONS}
        seconds = settings["timeout"]
        assert isinstance(seconds, float), "as `BoundedScorer.settle` has it"
        try:
            async with asyncio.timeout(seconds) as time:
                came = await holder.call(code, [], seen, offered=True)
        except TimeoutError:
            if not time.expired():
                raise
            raise broken(f"{name} took longer than {seconds:g} s", "") from None
        if came.large:
            return await asyncio.to_thread(reply_grade, asked, name, came)
        return reply_grade(asked, name, came)
