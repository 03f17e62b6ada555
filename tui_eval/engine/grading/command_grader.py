"""Decides checks of the kind `command`: a program reads JSON and replies."""

from collections.abc import Iterable
from pathlib import Path

from tui_eval.engine.grading.grader import Grader, GradingError, GradingMeans, GradingRequest
from tui_eval.engine.grading.program_run import GradingProgram, ProgramRunner, limits_of
from tui_eval.model.json import JsonObject
from tui_eval.model.score import Grade
from tui_eval.processes.program import Sandbox
from tui_eval.scoring.program_reply import NoReplyError, grade_of_reply, reply_in
from tui_eval.scoring.program_request import program_request
from tui_eval.scoring.settings import text, texts
from tui_eval.suites.program_fields import own_files
from tui_eval.targets.command.command_request import file_digests, scripts


class CommandGrader(Grader):
    """Runs a program for each check."""

    def __init__(self, means: GradingMeans) -> None:
        """Take what is needed to run programs."""
        super().__init__(means)
        self._runner = ProgramRunner(means)

    def made_of(self, asked: GradingRequest) -> JsonObject:
        """Return the digests of the files that its command names."""
        return {"files": file_digests(self._code(texts(asked.check.settings["command"])))}

    async def grade(self, asked: GradingRequest) -> Grade:
        """Run the program; read what it replies."""
        check, settings = asked.check, asked.check.settings
        words = texts(settings["command"])
        own = own_files(words, self._means.folder)
        async with self._runner.folder() as folder:
            request = program_request(check, asked.output)
            if isinstance(request, Grade):
                return request
            env = settings["env"]
            assert isinstance(env, dict), "as `CommandScorer.settle` has it"
            program = GradingProgram(
                command=tuple(str(own.get(word, word)) for word in words),
                limits=limits_of(settings),
                sandbox=Sandbox(
                    level=text(settings["isolation"]),
                    network="none" if settings["network"] == "none" else "full",
                    readable=tuple(self._code(words).values()),
                ),
                stdin=request,
                env={name: str(value) for name, value in env.items()},
            )
            result = await self._runner.run(folder, program)
            said = await self._runner.off_loop(result.reply)
            try:
                return grade_of_reply(check, await self._runner.off_loop(reply_in, said))
            except NoReplyError as error:
                raise GradingError(f"its program gave no reply: {error}") from error

    def _code(self, words: Iterable[str]) -> dict[str, Path]:
        """Return the files that a command names: the suite's own, and scripts anywhere."""
        command = tuple(words)
        return {**scripts(command), **own_files(command, self._means.folder)}
