"""Code with its tones, for the languages that models write most."""

from functools import cache
from typing import TYPE_CHECKING

from tui_eval.ui.text.json_text import is_json, json_para
from tui_eval.ui.text.prose import Para, TonedSpan, drawn
from tui_eval.ui.theme.tones import Tone

if TYPE_CHECKING:
    from pygments.lexer import Lexer

_MOST = 8_000
_LONGEST_LINE = 400
"""Code that is longer, or has a longer line, has no tones: a lexer may take long over it."""
_LEXERS = {
    name: lexer
    for lexer, names in {
        "python": "python py python3",
        "bash": "bash sh shell zsh console",
        "javascript": "javascript js jsx node",
        "typescript": "typescript ts tsx",
        "sql": "sql sqlite postgresql mysql",
        "html": "html htm",
        "xml": "xml svg",
        "css": "css",
        "java": "java",
        "kotlin": "kotlin kt",
        "c": "c h",
        "cpp": "cpp c++ cc hpp",
        "csharp": "csharp c# cs",
        "go": "go golang",
        "rust": "rust rs",
        "ruby": "ruby rb",
        "php": "php",
        "yaml": "yaml yml",
        "toml": "toml",
        "json": "json jsonc json5",
        "diff": "diff patch",
    }.items()
    for name in names.split()
}
"""Lexers by the names that models give languages: a name from outside loads nothing else."""


def code_para(text: str, language: str, *, indent: int = 0) -> Para:
    """Return code with its tones, as far as the language is known.

    Args:
        text: The code; foreign.
        language: What it says it is; foreign.
        indent: Cells before each line.
    """
    name = _LEXERS.get(language.strip().lower())
    if name == "json" and is_json(text):
        return json_para(text, indent=indent)
    shown = drawn(text.rstrip("\n"))
    if (
        name is None
        or len(shown) > _MOST
        or any(len(line) > _LONGEST_LINE for line in shown.split("\n"))
    ):
        return Para(shown, indent=indent, hangs=True)
    marks: list[TonedSpan] = []
    # with a line's end behind the last: some lexers know a line by it
    for at, token, value in _lexer(name).get_tokens_unprocessed(f"{shown}\n"):
        tone, end = _tone(token), min(at + len(value), len(shown))
        if tone == "plain" or end <= at:
            continue
        if marks and marks[-1].end == at and marks[-1].tone == tone:
            marks[-1] = TonedSpan(marks[-1].start, end, tone)
        else:
            marks.append(TonedSpan(at, end, tone))
    return Para(shown, indent=indent, marks=tuple(marks), hangs=True)


@cache
def _lexer(name: str) -> "Lexer":
    # slow to load, and few outputs have code in them
    from rich.syntax import Syntax

    lexer = Syntax("", name).lexer
    assert lexer is not None, f"the table above names a lexer that is not there: {name}"
    return lexer


def _tone(token: object) -> Tone:
    from pygments import token as kinds

    if token in kinds.Comment:
        return "dim"
    if token in kinds.String:
        return "quoted"
    if token in kinds.Number or token in kinds.Keyword.Constant:
        return "figure"
    if token in kinds.Keyword or token in kinds.Name.Tag or token in kinds.Operator.Word:
        return "accent"
    if token in kinds.Generic.Inserted:
        return "added"
    if token in kinds.Generic.Deleted:
        return "removed"
    return "plain"
