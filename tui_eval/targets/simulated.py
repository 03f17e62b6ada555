"""A simulated model, for demos, tests and load; what it says was never said by a model."""

import asyncio
import re
import time
from collections.abc import Sequence

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject, digest
from tui_eval.model.outputs.conversation import text_of
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.suites.spec import SimulatedTargetSpec
from tui_eval.suites.templates.template import Template, TemplateError
from tui_eval.targets import seeded_draws
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.base import Target
from tui_eval.targets.build_context import BuildContext, fixed
from tui_eval.targets.conversation.call_log import Send
from tui_eval.targets.conversation.dialogue import Dialogue, DialogueParts

SIMULATED = "simulated"
"""What stands where a model's name would."""


class SimulatedTarget(Target):
    """Answers right as often as it is told to, by its seed, the case's id, prompt and epoch."""

    by_epoch = True

    def __init__(self, spec: SimulatedTargetSpec, context: BuildContext) -> None:
        """Make the target.

        Raises:
            TemplateError: for an answer that is no template.
        """
        super().__init__(spec, context.renderer)
        self.model = SIMULATED
        run = context.suite.run
        self.default_concurrency = fixed(spec.concurrency or run.concurrency or context.usual)
        self._spec = spec
        self._answers = [
            Template(source, f"targets.{spec.name}.answers[{n}]")
            for n, source in enumerate(spec.answers)
        ]
        self._attempts: dict[bytes, int] = {}

    def identity(self) -> JsonObject:
        """Return its settings."""
        return {
            "kind": self.kind,
            "accuracy": self._spec.accuracy,
            "faults": {str(fault): share for fault, share in self._spec.faults.items()},
            "seed": self._spec.seed,
        }

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Return what it is asked, and what it could answer: the right answer first."""
        try:
            messages: Json = list(self._renderer.messages(column, case))
            names = self._renderer.target_names(column, case)
            turns = self._turns(column, case)
            if turns:
                names["turn"] = 1
            answers: Json = [answer.text(names) for answer in self._answers]
        except TemplateError as error:
            return Failure("template", str(error))
        asked: JsonObject = {"messages": messages, "answers": answers, "case": case.id}
        if column.prompt is not None:
            asked["prompt"] = column.prompt
        if epoch:
            asked["epoch"] = epoch
        return {**asked, "turns": turns} if turns else asked

    def _turns(self, column: Column, case: Case) -> list[Json]:
        """Return what the user says after replies, each with what could be answered to it."""
        said = self._renderer.turns(column, case)
        names = self._renderer.target_names(column, case) if said else {}
        return [
            {
                "says": turn,
                "answers": [
                    answer.text({**names, "prompt": text_of(turn), "turn": number})
                    for answer in self._answers
                ],
            }
            for number, turn in enumerate(said, 2)
        ]

    def depends_on_more(self, request: JsonObject) -> bool:
        """Return False: everything is in the suite and its data."""
        return False

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Wait as long as a call would take and give an answer, or the fault that is due.

        To each further turn of the user another one.
        """
        turns, opening = request.get("turns"), request["messages"]
        if not isinstance(turns, list) or not isinstance(opening, list):
            return await self._answered(request, attempt)
        first = {name: value for name, value in request.items() if name != "turns"}
        further = [turn for turn in turns if isinstance(turn, dict)]

        async def call(said: Sequence[JsonObject]) -> tuple[JsonObject, Send]:
            number = (len(said) - len(opening)) // 2
            messages: list[Json] = [*said]
            asked: JsonObject = {**first, "messages": messages}
            if number:
                asked |= {"answers": further[number - 1]["answers"], "turn": number + 1}
            return asked, lambda: self._answered(asked, attempt)

        parts = DialogueParts(
            opening=tuple(one for one in opening if isinstance(one, dict)),
            begins=0,
            turns=tuple(turn["says"] for turn in further),
            target=call,
            max_replies=1,
        )
        return await Dialogue(parts, attempt).outcome()

    async def _answered(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        started = time.monotonic()
        number = self._attempt(request)
        pause = self._latency(request, number)
        await asyncio.sleep(min(pause, attempt.timeout_s))
        fault = self._fault(request, number)
        if fault == "timeout" or pause > attempt.timeout_s:
            return Failure("timeout", "simulated: no answer in time", retryable=True)
        if fault == "rate_limit":
            return Failure("rate_limit", "simulated: too many requests", retryable=True, status=429)
        if fault == "server_error":
            return Failure("server_error", "simulated: it broke", retryable=True, status=500)
        if fault == "empty":
            return Failure("empty_output", "empty output")
        text = self._answer(request)
        cut = fault == "truncated"
        return Output(
            text=text[: len(text) // 2] if cut else text,
            finish_reason="length" if cut else "stop",
            model=SIMULATED,
            cost_usd=0.0,
            latency_s=time.monotonic() - started,
        )

    def _attempt(self, request: JsonObject) -> int:
        """Count the attempts at a request; only those that may go wrong differ from each other."""
        if not self._spec.faults:
            return 1
        key = digest(request)
        self._attempts[key] = self._attempts.get(key, 0) + 1
        return self._attempts[key]

    def _fault(self, request: JsonObject, attempt: int) -> str | None:
        shares = {str(fault): share for fault, share in self._spec.faults.items()}
        return seeded_draws.drawn_fault(shares, self._draw(request, "fault", attempt))

    def _latency(self, request: JsonObject, attempt: int) -> float:
        return seeded_draws.seconds(self._spec.latency_s, self._draw(request, "latency", attempt))

    def _answer(self, request: JsonObject) -> str:
        answers = request["answers"]
        assert isinstance(answers, list)
        texts = [str(answer) for answer in answers]
        if self._draw(request, "right") < self._spec.accuracy:
            return texts[0]
        which = self._draw(request, "which")
        # an answer that happens to be the right one for this case would not be wrong
        wrong = [text for text in texts[1:] if text != texts[0]]
        return wrong[int(which * len(wrong))] if wrong else _wrong(texts[0], which)

    def _draw(self, request: JsonObject, what: str, attempt: int = 1) -> float:
        """Draw a number in 0..1 that is the same for the same request in every run."""
        varied = [request[name] for name in ("prompt", "epoch", "turn") if name in request]
        return seeded_draws.draw(self._spec.seed, request["case"], what, attempt, *varied)


_NUMBER = re.compile(r"\d{1,15}")
"""Of a longer number the end: Python reads none of thousands of digits."""


def _wrong(right: str, drawn: float) -> str:
    """Return an answer that looks like the right one and is not."""
    if re.fullmatch(r"[A-Z]", right):
        others = [letter for letter in "ABCD" if letter != right]
        return others[int(drawn * len(others))]
    numbers = list(_NUMBER.finditer(right))
    if not numbers:
        return "I am not sure."
    last = numbers[-1]
    near = str(int(last.group()) + 1 + int(drawn * 9))
    return right[: last.start()] + near + right[last.end() :]
