"""A function of the Python program that started the run, as a target."""

import asyncio
import os

from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.suites import given_functions
from tui_eval.suites.spec import FunctionTargetSpec
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.base import Target
from tui_eval.targets.build_context import BuildContext, fixed
from tui_eval.targets.caller.caller_connection import CallerConnection
from tui_eval.targets.python_function.call_arguments import CallArguments
from tui_eval.targets.python_function.reply_output import reply_output


class FunctionTarget(Target):
    """Has the program call its function."""

    only_here = "its function is called in the Python program that started the run"

    def __init__(self, spec: FunctionTargetSpec, context: BuildContext) -> None:
        """Make the target; nothing is called."""
        super().__init__(spec, context.renderer)
        self._spec = spec
        self._arguments = CallArguments(
            spec.model_dump(mode="json", include={"args"})["args"], spec.name
        )
        named = spec.concurrency or fixed(context.suite.run.concurrency)
        self.default_concurrency = named or os.cpu_count() or 1

    def problem(self) -> str | None:
        """Say that the function is not there."""
        why = given_functions.why_missing(self._spec.function, self._spec.digest)
        return None if why is None else f"target {self.name!r}: {why}"

    def identity(self) -> JsonObject:
        """Return the digest of the function's code."""
        known: JsonObject = {"kind": self.kind, "code": self._spec.digest}
        return known if self._spec.version is None else {**known, "version": self._spec.version}

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Return what the function is called with, by place or by name."""
        return self._arguments.request(self._renderer, column, case)

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Have the function called once."""
        holder = given_functions.holder_of(self._spec.digest, CallerConnection)
        if holder is None:
            why = given_functions.why_missing(self._spec.function, self._spec.digest)
            return Failure("unavailable", why or "it is not called from here", fatal=True)
        args, kwargs = request["args"], request["kwargs"]
        assert isinstance(args, list)
        assert isinstance(kwargs, dict)
        try:
            async with asyncio.timeout(attempt.left_s) as time:
                came = await holder.call(self._spec.digest, args, kwargs)
        except TimeoutError:
            if not time.expired():
                raise
            return Output(None, finish_reason="limit:wall")
        return await asyncio.to_thread(reply_output, came) if came.large else reply_output(came)
