"""The conversations of a model target: what is asked of one, and who takes part in it."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Final

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.processes.isolation.choice import AUTO, choose
from tui_eval.processes.program import Program, Sandbox
from tui_eval.processes.supervisor import Processes
from tui_eval.providers.errors import UnavailableError
from tui_eval.suites.program_fields import own_files
from tui_eval.suites.spec import ModelTargetSpec
from tui_eval.suites.spec.tool_answers import ANSWERS
from tui_eval.suites.templates.renderer import OpeningMessages, Renderer
from tui_eval.suites.templates.template import Template, TemplateError
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.command.command_request import file_digests
from tui_eval.targets.conversation.call_log import Send
from tui_eval.targets.conversation.dialogue import AskTarget, Dialogue, DialogueParts
from tui_eval.targets.conversation.simulated_user import SimulatedUser
from tui_eval.targets.conversation.tool_answers import RequestedCall, ToolAnswers
from tui_eval.targets.conversation.tool_program import ToolProgram, ToolSurroundings

CONVERSATION: Final = "conversation"
"""Where a request has what is asked beyond its first call; no endpoint is sent it."""


class ModelConversations:
    """What a target's conversations have in common."""

    def __init__(
        self,
        spec: ModelTargetSpec,
        renderer: Renderer,
        folder: Path,
        user: SimulatedUser | None,
        processes: Processes | None,
    ) -> None:
        """Compile what answers its tools.

        Args:
            spec: The target.
            renderer: Renders the suite's prompts.
            folder: The suite's own.
            user: Who goes on with conversations; None: nobody does.
            processes: Runs the programs of an engine; None: nothing is run.

        Raises:
            TemplateError: an answer, or a word of the program, is no template.
        """
        field = f"targets.{spec.name}"
        self._spec = spec
        self._renderer = renderer
        self._user = user
        self._processes = processes
        self._answers = ToolAnswers(spec.listed_tools, field)
        words = spec.tools_by or ()
        self._command = [
            Template(word, f"{field}.tools_by[{place}]") for place, word in enumerate(words)
        ]
        self._own = own_files(words, folder)
        self._around: ToolSurroundings | None = None

    def identity(self) -> JsonObject:
        """Return what decides about all of its conversations, beside what a case asks."""
        known: JsonObject = {}
        if self._own:
            known["tools_by"] = file_digests(self._own)
        if self._user is not None:
            known["user"] = self._user.identity()
        return known

    def problem(self) -> str | None:
        """Say what keeps the user from being asked."""
        return None if self._user is None else self._user.problem()

    def asked(
        self,
        column: Column,
        case: Case,
        opening: OpeningMessages,
        turns: Sequence[JsonObject],
    ) -> JsonObject | None:
        """Return what is asked of a conversation; None: there is none, but one call.

        Args:
            column: The column.
            case: The case.
            opening: The messages that are sent first.
            turns: What the user says after replies.

        Raises:
            TemplateError: some of it cannot be rendered for the case.
        """
        if not (turns or self._user or self._answers or self._command):
            return None
        names = self._renderer.target_names(column, case)
        asked: JsonObject = {}
        if turns:
            asked["turns"] = [turn["content"] for turn in turns]
        if self._user is not None:
            asked["user"] = self._user.settings(names)
        if self._answers:
            used: JsonObject = {name: names[name] for name in self._answers.names if name in names}
            rules: list[Json] = [tool.get(ANSWERS) for tool in self._spec.listed_tools]
            asked["answers"] = {"tools": rules, "names": used}
        if self._command:
            asked["tools_by"] = [_without_nul(one, one.text(names)) for one in self._command]
        if self._answers or self._command:
            asked["max_turns"] = self._spec.max_turns
        messages: list[Json] = [*opening.messages]
        return {**asked, "opening": messages, "begins": opening.begins}

    async def outcome(
        self, asked: Mapping[str, Json], target: AskTarget, attempt: AttemptContext
    ) -> Output | Failure:
        """Hold a conversation.

        Args:
            asked: As `asked` gave it.
            target: How the model is asked.
            attempt: The attempt.
        """
        program = self._program(asked, attempt)
        async with AsyncExitStack() as running:
            if program is not None:
                await running.enter_async_context(program)
            parts = DialogueParts(
                opening=tuple(one for one in _list(asked["opening"]) if isinstance(one, dict)),
                begins=int(str(asked["begins"])),
                turns=tuple(_list(asked.get("turns"))),
                target=target,
                max_replies=self._spec.max_turns,
                tools=self._tools(asked, program),
                user=self._next_turn(asked),
            )
            outcome = await Dialogue(parts, attempt).outcome()
            if program is None or isinstance(outcome, Failure):
                return outcome
            fields = await program.fields()
            return fields if isinstance(fields, Failure) else replace(outcome, fields=fields)

    def _tools(self, asked: Mapping[str, Json], program: ToolProgram | None) -> "_Tools | None":
        if not self._answers and program is None:
            return None
        answers = asked.get("answers")
        names = answers.get("names") if isinstance(answers, dict) else None
        return _Tools(self._answers, names if isinstance(names, dict) else {}, program)

    def _next_turn(self, asked: Mapping[str, Json]) -> "_NextTurn | None":
        settings = asked.get("user")
        if self._user is None or not isinstance(settings, dict):
            return None
        return _NextTurn(self._user, settings)

    def _program(self, asked: Mapping[str, Json], attempt: AttemptContext) -> ToolProgram | None:
        words = [str(word) for word in _list(asked.get("tools_by"))]
        if not words:
            return None
        assert self._around is not None, "a target is opened before it is asked"
        written = self._spec.tools_by or ()
        located = tuple(
            str(self._own[as_written]) if as_written in self._own else word
            for as_written, word in zip(written, words, strict=True)
        )
        return ToolProgram(self._around, located, attempt)

    async def open(self, stack: AsyncExitStack) -> None:
        """Open what its conversations need; the stack closes it.

        Raises:
            UnavailableError: the user cannot be asked, or no isolation can be had.
        """
        if self._user is not None:
            await stack.enter_async_context(self._user)
        if self._command:
            assert self._processes is not None, "programs are run by engines alone"
            env = {
                "PATH": os.environ.get("PATH", os.defpath),
                "LANG": os.environ.get("LANG", "C.UTF-8"),
            }
            sandbox = await self._sandbox(self._processes, env)
            self._around = ToolSurroundings(self._processes, sandbox, env)

    async def _sandbox(self, processes: Processes, env: dict[str, str]) -> Sandbox:
        sandbox = Sandbox(AUTO, readable=tuple(self._own.values()))
        with tempfile.TemporaryDirectory(prefix="tui-eval-isolation-") as place:
            first = (self._spec.tools_by or ("/bin/sh",))[0]
            program = Program(
                command=(str(self._own.get(first, first)),),
                cwd=Path(place),
                env={**env, "HOME": place, "TMPDIR": place},
                folder=Path(place),
                sandbox=sandbox,
            )
            choice = await choose(processes, program)
        if choice.level is None:
            why = "; ".join(f"{one.level}: {one.why}" for one in choice.tried)
            raise UnavailableError(
                f"target {self._spec.name!r}: tools_by: its isolation cannot be had: {why}"
            )
        return replace(sandbox, level=choice.level)


class _Tools:
    """Answers by the suite, and where it has none by a program."""

    def __init__(
        self, answers: ToolAnswers, names: JsonObject, program: ToolProgram | None
    ) -> None:
        self._answers = answers
        self._names = names
        self._program = program

    def knows(self, name: str) -> bool:
        return self._program is not None or self._answers.knows(name)

    async def answer(self, call: RequestedCall) -> str | Failure | None:
        try:
            found = self._answers.answer(call, self._names)
        except TemplateError as error:
            return Failure("template", str(error))
        if found is None and self._program is not None:
            return await self._program.answer(call)
        return found


class _NextTurn:
    """The simulated user of one conversation."""

    def __init__(self, user: SimulatedUser, settings: JsonObject) -> None:
        self._user = user
        self._settings = settings

    @property
    def max_turns(self) -> int:
        return int(str(self._settings["max_turns"]))

    def call(self, said: Sequence[JsonObject]) -> tuple[JsonObject, Send]:
        request = self._user.request(self._settings, said)
        return request, lambda: self._user.ask(request)

    def heard(self, reply: Output) -> tuple[str | None, bool]:
        return self._user.heard(reply)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def _without_nul(template: Template, text: str) -> str:
    if "\0" in text:
        raise TemplateError(template.field, "holds a NUL character, which no program can be given")
    return text
