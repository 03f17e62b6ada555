"""Decides checks of the kind `command`: a program reads JSON and replies."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Final

from tui_eval.engine.grading import grading_folder
from tui_eval.engine.grading.grader import Grader, GradingError, GradingMeans, GradingRequest
from tui_eval.engine.grading.grading_folder import GradingFolder
from tui_eval.engine.grading.program_run import (
    GradingProgram,
    ProgramResult,
    ProgramRunner,
    limits_of,
)
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.model.score import Grade
from tui_eval.processes.program import Network, Sandbox
from tui_eval.scoring.check import Check
from tui_eval.scoring.program_reply import NoReplyError, grade_of_reply, reply_in, reply_of_pytest
from tui_eval.scoring.program_request import program_request
from tui_eval.scoring.settings import text, texts
from tui_eval.suites.program_fields import own_files
from tui_eval.targets.command.command_request import scripts

_SCRIPTS: Final = frozenset(
    f".{ending}"
    for ending in (
        *("awk", "bash", "bats", "cjs", "jl", "js", "lua", "mjs", "php"),
        *("pl", "py", "r", "rb", "sed", "sh", "tcl", "ts"),
    )
)
"""Endings of files that are run."""


class CommandGrader(Grader):
    """Runs a program for each check."""

    def __init__(self, means: GradingMeans) -> None:
        """Take what is needed to run programs."""
        super().__init__(means)
        self._runner = ProgramRunner(means)

    def made_of(self, asked: GradingRequest) -> JsonObject:
        """Return the digests of its files, and of what its workspace is made with."""
        name = asked.check.name
        code = self._code(asked).items()
        command: JsonObject = {word: self._means.digest(name, path) for word, path in code}
        return {"command": command, **grading_folder.digests(self._means, asked)}

    def travels(self, check: Check) -> bool:
        """Return whether it takes neither a workspace nor files that are laid into one."""
        return check.settings["workspace"] is not True and not check.settings["files"]

    async def grade(self, asked: GradingRequest) -> Grade:
        """Run the program; read what it replies."""
        check, settings = asked.check, asked.check.settings
        off_loop = self._runner.off_loop
        async with self._runner.folder() as trial_folder:
            wants_workspace = settings["workspace"] is True
            here = str(trial_folder.workspace) if wants_workspace else None
            request = program_request(check, asked.output, here)
            if isinstance(request, Grade):
                return request
            sandbox = await self._sandbox(asked)
            if sandbox.workdir is not None and wants_workspace:
                request["workspace"] = str(sandbox.workdir)
            folder = GradingFolder(trial_folder)
            told = await off_loop(self._prepare, folder, asked)
            program = GradingProgram(
                command=tuple(self._command(asked)),
                limits=limits_of(settings),
                sandbox=replace(
                    sandbox,
                    mounts=folder.mounted(),
                ),
                stdin=request,
                env=_environment(settings),
            )
            result = await self._runner.run(trial_folder, program)
            grade = await off_loop(self._read, folder, asked, result)
        return replace(grade, reason=f"{grade.reason} ({told})") if told else grade

    async def _sandbox(self, asked: GradingRequest) -> Sandbox:
        """Return what the program may reach: in its workspace's container, where that has one."""
        settings = asked.check.settings
        sandbox = Sandbox(level=text(settings["isolation"]))
        if settings["workspace"] is True:
            target = self._means.targets()[asked.column.target]
            contained = await target.graded_in(asked.column, asked.case)
            if isinstance(contained, Failure):
                raise GradingError(f"its container cannot be had: {contained.message}")
            sandbox = contained or sandbox
        network: Network = "none" if settings["network"] == "none" else "full"
        return replace(sandbox, network=network, readable=tuple(self._code(asked).values()))

    def _prepare(self, folder: GradingFolder, asked: GradingRequest) -> str:
        """Put into its folder what it works with; return what is to be told of it. Blocking."""
        files, told = grading_folder.sources(self._means, asked), ""
        if asked.check.settings["workspace"] is True:
            laid = [name for name in files if not name.startswith("/")]
            protected = (*laid, *self._scripts(asked))
            told = grading_folder.rebuilt(self._means, asked, folder.folder, protected)
        folder.fill(files)
        for path in _reply_files(asked.check.settings):
            folder.expect(path)
        return told

    def _read(self, folder: GradingFolder, asked: GradingRequest, result: ProgramResult) -> Grade:
        """Return the grade that the program's reply stands for. Blocking."""
        for place in texts(asked.check.settings["reply"]):
            try:
                match place:
                    case "stdout":
                        reply = reply_in(result.reply())
                    case "pytest":
                        reply = reply_of_pytest(result.printed())
                    case _:
                        said = folder.written(place.partition(":")[2])
                        if said is None:
                            continue
                        reply = reply_in(said)
                return grade_of_reply(asked.check, reply)
            except NoReplyError as error:
                raise GradingError(
                    f"its program gave no reply: {error}: {result.last_lines}"
                ) from error
        raise GradingError(f"its program wrote no reply: {result.last_lines}")

    def _code(self, asked: GradingRequest) -> dict[str, Path]:
        """Return the files that its command names: the suite's own, and scripts anywhere."""
        command = tuple(texts(asked.check.settings["command"]))
        return {**scripts(command), **self._own(asked, command)}

    def _own(self, asked: GradingRequest, command: Sequence[str]) -> dict[str, Path]:
        """Return the suite's files that its command names, unless it lays something over them."""
        files = asked.check.settings["files"]
        assert isinstance(files, dict), "as `ProgramScorer.settle` has it"
        laid = [PurePosixPath(name) for name in files]
        own = own_files(command, self._means.folder)
        return {
            word: path
            for word, path in own.items()
            if not any(PurePosixPath(word).is_relative_to(one) for one in laid)
        }

    def _command(self, asked: GradingRequest) -> list[str]:
        words = texts(asked.check.settings["command"])
        own = self._own(asked, words)
        return [str(own.get(word, word)) for word in words]

    def _scripts(self, asked: GradingRequest) -> list[str]:
        """Return what of the workspace decides, as the command names it: no agent edits its grader.

        That is every word with the ending of a script, behind whatever starts it; the program
        itself, a module behind `-m`, and the first argument where it has no ending.
        """
        program, *arguments = self._command(asked)
        words = [part for word in arguments for part in word.split()]
        found = [program] if "/" in program else []
        found += [word for word in words if PurePosixPath(word).suffix.lower() in _SCRIPTS]
        first = next((word for word in words if not word.startswith("-")), "")
        if first and not PurePosixPath(first).suffix:
            found.append(first)
        for option, module in pairwise(words):
            if option == "-m":
                place = module.replace(".", "/")
                found += [place, f"{place}.py"]
        inside = [word for word in found if not word.startswith("/")]
        return [str(PurePosixPath(word)) for word in dict.fromkeys(inside)]


def _reply_files(settings: JsonObject) -> list[str]:
    places = (one.partition(":") for one in texts(settings["reply"]))
    return [path for head, _, path in places if head == "file"]


def _environment(settings: JsonObject) -> dict[str, str]:
    env = settings["env"]
    assert isinstance(env, dict), "as `CommandScorer.settle` has it"
    return {name: str(value) for name, value in env.items()}
