"""A program of an output's code and its tests, for languages whose tests run behind the code."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from tui_eval.isolated.code_tests.fences import fenced
from tui_eval.model.frozen import frozen
from tui_eval.model.json import JsonObject
from tui_eval.scoring.settings import text, texts
from tui_eval.suites.scorers.programs.code import FILE, LANGUAGES, NONCE

_NAME: Final = "solution"


class NoCodeInTextError(Exception):
    """A reply holds no code; the message says so."""


@frozen
class CodeProgram:
    """A file and what runs it."""

    file: str
    """Its name."""
    text: str
    words: tuple[str, ...]

    def command(self, path: Path) -> tuple[str, ...]:
        """Return what runs the file at a path."""
        return tuple(word.replace(FILE, str(path)) for word in self.words)


def code_program(settings: JsonObject, reply: str, nonce: str) -> CodeProgram:
    """Return the program: what was given where the reply goes on with it, the code, the tests.

    Args:
        settings: Of the check, as `CodeScorer.settle` has them.
        reply: Of the model.
        nonce: What the program prints behind the tests.

    Raises:
        NoCodeInTextError: the reply is empty.
    """
    language = text(settings["language"])
    known = LANGUAGES.get(language)
    tags = (language.lower(),) if known is None else known.tags
    entry, given = text(settings["entry_point"]), text(settings["given"])
    code = _chosen([*fenced(reply, tags)] or [reply], entry)
    if not code.strip():
        raise NoCodeInTextError("the reply holds no code")
    given_code = _chosen([*fenced(given, tags)], entry)
    if entry and entry not in code and entry in given_code:
        code = given_code + code
    between = [] if known is None else [known.tests]
    ending = text(settings["ending"]).replace(NONCE, nonce)
    suffix = f".{language.lower()}" if known is None else known.suffix
    parts = [code, *between, text(settings["tests"]), ending, ""]
    return CodeProgram(_NAME + suffix, "\n".join(parts), tuple(texts(settings["command"])))


def _chosen(blocks: Sequence[str], entry: str) -> str:
    """Return the last block that names the entry point, else the last one."""
    naming = [block for block in blocks if entry and entry in block]
    return (naming or [*blocks] or [""])[-1]
