"""Templates of promptfoo (Nunjucks) as templates of a suite (Jinja)."""

import re
from typing import Final

from tui_eval.model.json import Json
from tui_eval.suites.importers.shape import ImportNotes, renamed_column
from tui_eval.suites.templates.template import RESERVED, Template, TemplateError

_TAG: Final = re.compile(r"(\{\{.*?\}\}|\{%.*?%\})", re.DOTALL)
_MEANT: Final = ("scorers", "skip", "tags", "weight", "timeout")
_OPERATORS: Final = (
    (re.compile(r"==="), "=="),
    (re.compile(r"!=="), "!="),
    (re.compile(r"&&"), " and "),
    (re.compile(r"\|\|"), " or "),
    (re.compile(r"\|\s*dump\b(\(\s*\))?"), "| tojson"),
    (re.compile(r"\|\s*safe\b"), ""),
    (re.compile(r"\bnull\b"), "none"),
    (re.compile(r"([A-Za-z_][\w.]*)\.length\b"), r"(\1 | length)"),
)
_ENVIRONMENT: Final = re.compile(r"(?<![\w.])(process\.)?env\b")
_OWN: Final = tuple(
    (re.compile(rf"(?<![\w.\"'|]){name}(?![\w(\"'])"), f"case.{name}") for name in RESERVED
    if name != "case"
) + tuple(
    (re.compile(rf"(?<![\w.\"'|]){name}(?![\w(\"'])"), renamed_column(name)) for name in _MEANT
)  # fmt: skip


class Texts:
    """Translates templates and collects the names they use."""

    def __init__(self, losses: ImportNotes) -> None:
        self._losses = losses
        self.names: set[str] = set()
        """The columns that templates need."""

    def template(self, text: str, where: str, what: str) -> str | None:
        """Return a text as a template of a suite; None: it cannot be one, which is noted."""
        if not any(mark in text for mark in ("{{", "{%", "{#")):
            return text
        parts = _TAG.split(text)
        for index in range(1, len(parts), 2):
            if _ENVIRONMENT.search(parts[index]):
                self._losses.note(f"{what} reads the environment, which templates do not see here: "
                                  "it was left out", where)  # fmt: skip
                return None
            parts[index] = _translated(parts[index])
        found = "".join(parts)
        try:
            made = Template(found, what)
        except TemplateError as error:
            self._losses.note(f"{what} is no template here ({error.message}): it was left out",
                              where)  # fmt: skip
            return None
        self.names |= _columns(found, made)
        return found

    def nested(self, value: Json, where: str, what: str) -> Json:
        """Return a value with all its texts as templates; None where one cannot be."""
        if isinstance(value, str):
            return self.template(value, where, what)
        if isinstance(value, list):
            found = [self.nested(one, where, what) for one in value]
            return None if any(one is None for one in found) else found
        if isinstance(value, dict):
            inside = {name: self.nested(one, where, what) for name, one in value.items()}
            return None if any(one is None for one in inside.values()) else inside
        return value


def _translated(tag: str) -> str:
    for pattern, replacement in (*_OPERATORS, *_OWN):
        tag = pattern.sub(replacement, tag)
    return tag


def _columns(text: str, made: Template) -> set[str]:
    names = set(made.required) - set(RESERVED)
    return names | {name for name in RESERVED if f"case.{name}" in text}
