"""The scorer of code that has to pass tests: `code`."""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, JsonValue, StrictBool, StrictStr, field_validator, model_validator

from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.program_fields import ByteCount, find_interpreter, own_files, shown_command
from tui_eval.suites.scorers.programs.bounded import BoundedScorer
from tui_eval.suites.scorers.scorer import Number
from tui_eval.suites.scorers.setting_error import SettingError, named
from tui_eval.suites.trust.permissions import Permission

PYTHON: Final = "python"
FILE: Final = "{file}"
NONCE: Final = "{nonce}"
_MEMORY: Final = 1_000_000_000


@frozen
class KnownLanguage:
    """How programs of a language are run, where the suite does not say it."""

    command: tuple[str, ...]
    suffix: str
    tags: tuple[str, ...]
    """What blocks of it are marked with."""
    tests: str
    """What stands before the tests."""
    ending: str
    """What stands behind the tests, and says the nonce."""


LANGUAGES: Final[Mapping[str, KnownLanguage]] = {
    "javascript": KnownLanguage(
        ("node", FILE),
        ".js",
        ("javascript", "js", "node", "mjs", "cjs"),
        "",
        'process.on("exit", (code) => { if (code === 0) '
        'require("fs").writeSync(1, "\\n{nonce}\\n"); });',
    ),
    "bash": KnownLanguage(
        ("bash", FILE), ".sh", ("bash", "sh", "shell"), "set -e", "printf '\\n%s\\n' '{nonce}'"
    ),
}
"""Beside Python, whose tests run apart from the solution."""


class CodeScorer(BoundedScorer):
    """The code in the output passes tests."""

    TEMPLATED: ClassVar[tuple[str, ...]] = (
        *BoundedScorer.TEMPLATED,
        *("tests", "entry_point", "given"),
    )

    kind: Literal["code"]
    tests: JsonValue = Field(
        description="The tests: a text, or a list of texts that are joined, often a template."
    )
    entry_point: StrictStr = Field(
        default="",
        description="What the tests' check(…) is called with: the function's name, or an "
        "expression such as Solution().solve.",
    )
    given: StrictStr = Field(
        default="{{ prompt or '' }}",
        description="The code that the model was to go on with, in a fence or alone. Default: "
        "what the prompt holds of it.",
    )
    language: Annotated[StrictStr, Field(min_length=1, max_length=40)] = Field(
        default=PYTHON,
        description="python, javascript, bash, or any other with `command` and `ending`.",
    )
    python: StrictStr | None = Field(
        default=None,
        description="The interpreter of the tests and the solution: a name on the PATH, or a path "
        "relative to the suite. Default: tui-eval's own.",
    )
    in_process: StrictBool = Field(
        default=False,
        description="true: the solution runs in the tests' own process, which it can cheat. For "
        "tests that patch what the solution uses, or pass it objects of their own.",
    )
    command: Annotated[list[StrictStr], Field(min_length=1)] | None = Field(
        default=None,
        description="What runs a program of another language; {file} is the program.",
    )
    ending: StrictStr | None = Field(
        default=None,
        description="For another language: code behind the tests that prints {nonce} on a line of "
        "its own.",
    )
    timeout: Number | StrictStr = Field(
        default=10.0,
        description="Seconds that the tests may take, or a template that gives them. What takes "
        "longer fails.",
    )
    memory: ByteCount = Field(
        default=_MEMORY, description="Memory of tests and solution each. What needs more fails."
    )

    @field_validator("command")
    @classmethod
    def _command_names_the_file(cls, command: list[str] | None) -> list[str] | None:
        if command is not None and not any(FILE in word for word in command[1:]):
            raise ValueError(f"must name the program's file: {FILE} is in none of its arguments")
        return command

    @field_validator("ending")
    @classmethod
    def _ending_says_the_nonce(cls, ending: str | None) -> str | None:
        if ending is not None and NONCE not in ending:
            raise ValueError(f"must print {NONCE}, which tells that the tests came to their end")
        return ending

    @model_validator(mode="after")
    def _fields_are_of_the_language(self) -> "CodeScorer":
        if self.language == PYTHON:
            wrong = [name for name in ("command", "ending") if getattr(self, name) is not None]
            if wrong:
                raise ValueError(f"{wrong[0]} is of other languages than python: set language")
            return self
        if self.python is not None or self.in_process:
            field = "python" if self.python is not None else "in_process"
            raise ValueError(f"{field} is of the language python alone, not {self.language}")
        if self.language not in LANGUAGES and (self.command is None or self.ending is None):
            known = ", ".join((PYTHON, *LANGUAGES))
            raise ValueError(
                f"language {self.language!r} is none of {known}: it needs command and ending"
            )
        return self

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with the tests as one text, and how another language is run."""
        settled = super().settle(settings)
        tests, entry = _joined(settled["tests"]), settled["entry_point"]
        if not isinstance(entry, str):
            raise SettingError(
                f"entry_point must be the name of a function, not {named(entry)}", "entry_point"
            )
        given = settled["given"]
        if not isinstance(given, str):
            raise SettingError(f"given must be code, not {named(given)}", "given")
        made: JsonObject = {**settled, "tests": tests, "entry_point": entry.strip()}
        known = LANGUAGES.get(str(settled["language"]))
        if known is not None:
            command: list[Json] = [*known.command]
            made["command"] = settled["command"] or command
            made["ending"] = settled["ending"] or known.ending
        return made

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield that outputs are run, by what, with which tests."""
        language = str(table.get("language", PYTHON))
        given, known = table.get("command"), LANGUAGES.get(language)
        python = table.get("python")
        if isinstance(given, list | tuple):
            by = shown_command(map(str, given))
        elif known is not None:
            by = shown_command(known.command)
        else:
            by = "tui-eval's Python" if python is None else str(python)
        yield Permission(f"run the code of outputs with {by}", f"code {language} by {by}")
        for path in own_files(_words(table), folder).values():
            shown = os.path.relpath(path, folder)
            yield Permission(f"run what {shown} holds", f"program {path}", path)
        yield from super().permissions(table, folder)

    @classmethod
    def code(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Path]:
        """Yield the files of the suite that its command names."""
        yield from own_files(_words(table), folder).values()

    def missing_program(self, folder: Path) -> str | None:
        """Say that what runs the code is not there."""
        if self.language == PYTHON:
            if self.python is None or find_interpreter(self.python, folder) is not None:
                return None
            return f"there is no interpreter {self.python}: leave it out for tui-eval's own"
        program = (self.command or LANGUAGES[self.language].command)[0]
        if find_interpreter(program, folder) is not None:
            return None
        return f"the program {program} is not there: install it"


def _words(table: Mapping[str, object]) -> list[str]:
    given = table.get("command")
    return [str(word) for word in given] if isinstance(given, list | tuple) else []


def _joined(tests: Json) -> str:
    """Return tests as one text.

    Raises:
        SettingError: they are none.
    """
    if isinstance(tests, list) and all(isinstance(one, str) for one in tests):
        tests = "\n".join(str(one) for one in tests)
    if not isinstance(tests, str):
        raise SettingError(f"tests must be code, not {named(tests)}", "tests")
    if not tests.strip():
        raise SettingError("tests is empty: anything would pass", "tests")
    return tests
