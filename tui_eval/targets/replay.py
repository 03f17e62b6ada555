"""Outputs that were recorded before: scoring without asking anybody."""

from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.finish import Ending, canonical, ending
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.answers import split_thinking
from tui_eval.suites.spec import ReplayTargetSpec
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.base import Target
from tui_eval.targets.build_context import BuildContext, fixed

CONCURRENCY = 64
"""Answers given at once: they cost nothing, and the store commits many as fast as one."""


class ReplayTarget(Target):
    """Gives back what a recording holds for a case."""

    by_epoch = True

    def __init__(self, spec: ReplayTargetSpec, context: BuildContext) -> None:
        """Make the target."""
        super().__init__(spec, context.renderer)
        self.default_concurrency = fixed(context.suite.run.concurrency) or CONCURRENCY
        self._spec = spec

    def identity(self) -> JsonObject:
        """Return the kind alone: what was recorded stands in the request."""
        return {"kind": self.kind}

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Return what was recorded: `output`, `latency_s`, `finish_reason`, `messages`.

        A case without a recording is a failure of that case.
        """
        recorded = case.recording(column, epoch)
        if recorded is None:
            when = f" in epoch {epoch + 1}" if self.name in case.recorded else ""
            return Failure(
                "no_recording",
                # whose it is says the trial: many that miss theirs are one reason
                f"no output is recorded for this case{when} in {self._spec.path} "
                f"(case by column {self._spec.id!r}, output by column {self._spec.output!r})",
            )
        return {"recorded": recorded}

    def depends_on_more(self, request: JsonObject) -> bool:
        """Return False: everything is in the suite and its data."""
        return False

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Return the recording as an output; a replay asks nobody, so it costs nothing."""
        return recorded_output(request)


def recorded_output(request: JsonObject) -> Output | Failure:
    """Return the recording in a replay's request as an output."""
    recorded = request["recorded"]
    assert isinstance(recorded, dict)
    ended = recorded.get("finish_reason")
    finish = canonical(ended) if isinstance(ended, str) else None
    latency = recorded.get("latency_s")
    said = recorded.get("messages")
    messages = tuple(one for one in said if isinstance(one, dict)) if isinstance(said, list) else ()
    text, reasoning, closed = split_thinking(str(recorded["output"]))
    if not closed and ending(finish) is Ending.FINISHED:
        finish = "length"
    empty = not (text and text.strip())
    if empty and not messages and ending(finish) is Ending.FINISHED:
        return Failure("empty_output", "empty output", partial=reasoning)
    return Output(
        text=text,
        reasoning=reasoning,
        messages=messages,
        finish_reason=finish,
        cost_usd=0.0,
        latency_s=float(latency) if isinstance(latency, int | float) else None,
    )
