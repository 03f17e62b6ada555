"""The scorer that runs a program: `command`."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StrictStr, field_validator

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.files import real_path
from tui_eval.suites.program_fields import EnvName, is_there, own_files, shown_command
from tui_eval.suites.scorers.programs.program import ProgramScorer, see_that_it_is_a_place, texts_of
from tui_eval.suites.scorers.setting_error import SettingError, named
from tui_eval.suites.templates.marks import before_marks, is_template
from tui_eval.suites.trust.permissions import Permission


class CommandScorer(ProgramScorer):
    """A program reads JSON on its standard input and replies with a number or JSON."""

    TEMPLATED: ClassVar[tuple[str, ...]] = (*ProgramScorer.TEMPLATED, "command", "env")

    kind: Literal["command"]
    command: Annotated[list[StrictStr], Field(min_length=1)] = Field(
        description="The program and its arguments; no shell reads them."
    )
    env: dict[EnvName, StrictStr] = Field(
        default_factory=dict,
        description="Variables of its environment beside PATH, HOME, LANG and TMPDIR.",
    )
    reply: Annotated[list[StrictStr], Field(min_length=1)] | StrictStr = Field(
        default="stdout",
        description="Where its reply is: stdout; pytest, the summary that pytest prints with -rA; "
        "or file:PATH, a file that it writes. Of a list the first that is there counts.",
    )

    @field_validator("reply")
    @classmethod
    def _reply_is_somewhere(cls, reply: list[str] | str) -> list[str] | str:
        for one in [reply] if isinstance(reply, str) else reply:
            head, _, path = one.partition(":")
            if one not in ("stdout", "pytest") and head != "file":
                raise ValueError(f'must be stdout, pytest or file:PATH, not "{one}"')
            if head == "file":
                see_that_it_is_a_place(path)
        return reply

    @field_validator("command")
    @classmethod
    def _command_begins_with_a_program(cls, command: list[str]) -> list[str]:
        if not command[0]:
            raise ValueError("must begin with a program, not with an empty text")
        return command

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with the command as texts, and `reply` as a list."""
        settled = super().settle(settings)
        env = settled["env"]
        if not isinstance(env, dict):
            raise SettingError(f"env must be a table, not {named(env)}", "env")
        command: list[Json] = [*texts_of(settled, "command")]
        reply: Json = settled["reply"]
        return {
            **settled,
            "command": command,
            "env": {name: str(value) for name, value in env.items()},
            "reply": [reply] if isinstance(reply, str) else reply,
        }

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield its command, what the files hold that it names, and what goes with it."""
        command = _words(table.get("command"))
        if command:
            yield Permission(
                f"run {shown_command(command)} to grade outputs", f"grade by {command!r}"
            )
        for path in own_files(command, folder).values():
            shown = os.path.relpath(path, folder)
            yield Permission(f"run what {shown} holds", f"program {path}", path)
        for path in _chosen_by_case(command, folder):
            shown = os.path.relpath(path, folder)
            yield Permission(f"run what {shown} holds", f"programs of {path}", path / "**/*")
        env = table.get("env")
        if isinstance(env, Mapping) and env:
            words = shown_command(f"{name}={value}" for name, value in env.items())
            exactly = f"environment {sorted((str(n), str(v)) for n, v in env.items())!r}"
            yield Permission(f"give the programs it runs the environment {words}", exactly)
        yield from super().permissions(table, folder)

    def missing_program(self, folder: Path) -> str | None:
        """Say that its program is not there; one in a workspace or an image is not looked for."""
        program = self.command[0]
        if is_template(program) or self.workspace:
            return None
        if "/" in program:
            program = str(folder / program)
        if shutil.which(program, path=self.env.get("PATH", os.environ.get("PATH"))) is not None:
            return None
        if "/" in program and Path(program).is_file():
            return f"the program {program} is not executable: chmod +x it"
        where = "" if "/" in program else " on PATH"
        return f"the program {program} is not there{where}: install it"

    @classmethod
    def code(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Path]:
        """Yield the files that its command names, and what is laid over its folder."""
        yield from own_files(_words(table.get("command")), folder).values()
        yield from super().code(table, folder)


def _chosen_by_case(command: list[str], folder: Path | None) -> Iterator[Path]:
    """Yield the suite's folders of which templates of a command name files, case by case."""
    if folder is None:
        return
    inside = real_path(folder)
    for word in command:
        held = before_marks(word).rpartition("/")[0]
        path = folder / held
        below = is_there(path, Path.is_dir) and inside in real_path(path).parents
        if held and is_template(word) and below:
            yield path


def _words(command: object) -> list[str]:
    return [str(word) for word in command] if isinstance(command, list | tuple) else []
