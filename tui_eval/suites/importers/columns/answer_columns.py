"""The expected answers of a dataset: what kind they are, and which scorer fits them."""

import re
from dataclasses import dataclass, field
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.importers.shape import ImportNotes

_SHORT: Final = 100
"""Characters of the longest answer that is compared as a whole."""
_NUMBER: Final = re.compile(r"[-+−]?[$€£]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?\s*%?", re.IGNORECASE)
_SOLUTION: Final = re.compile(r"####\s*[-$\d]")
_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def _is_number(text: str) -> bool:
    """Return whether a text is a number, or a solution that ends with one."""
    return bool(_NUMBER.fullmatch(text) or _SOLUTION.search(text))


@dataclass(frozen=True, slots=True)
class ExpectedAnswer:
    """The template expression for the right answer of a case."""

    column: str
    """The column, which some cases may not have."""
    expression: str
    """What is expected; often the column itself."""
    options: str = ""
    """The options of a choice; empty: there are none."""


@dataclass(slots=True)
class AnswerStatistics:
    """Statistics of the right answers in the rows read so far."""

    rows: int = 0
    given: int = 0
    numbers: int = 0
    letters: int = 0
    lists: int = 0
    longest: int = 0
    several_lines: bool = False
    indexes: set[int] = field(default_factory=set)

    def see(self, value: Json) -> None:
        """Count the right answer of a row; None: it has none."""
        self.rows += 1
        if value is None or value in ("", []):
            return
        self.given += 1
        several = isinstance(value, list)
        self.lists += several
        texts = [str(one).strip() for one in (value if isinstance(value, list) else [value])]
        self.longest = max(self.longest, *map(len, texts))
        self.several_lines |= any("\n" in text for text in texts)
        self.numbers += not isinstance(value, bool) and all(map(_is_number, texts))
        if not several:
            self.letters += len(texts[0]) == 1 and texts[0].upper() in _LETTERS
            if texts[0].isdecimal() and len(texts[0]) < 4:
                self.indexes.add(int(texts[0]))

    @property
    def kind(self) -> str:
        """The kind of scorer that fits all of them."""
        if self.letters == self.given:
            return "choice"
        if self.numbers == self.given:
            return "numeric"
        return "f1" if self.longest > _SHORT or self.several_lines else "exact"

    def _given(self, column: str) -> str:
        return f'{column} is defined and {column} is not none and {column} not in ["", []]'

    def simulated(self, right: ExpectedAnswer) -> str:
        """Return the template of a right answer, for a simulated target."""
        one = right.expression
        if self.lists:
            one = f"{one} if {one} is string else {one} | first"
        if self.given < self.rows:
            one = f"({one}) if {self._given(right.column)} else 'a stand-in'"
        return f"{{{{ {one} }}}}"

    def scorer(self, right: ExpectedAnswer, chosen: str | None, losses: ImportNotes) -> JsonObject:
        """Return the scorer that fits.

        Args:
            right: How the answer is reached.
            chosen: The kind the person named; None: it is guessed, and that is said.
            losses: Where guesses, and cases without a right answer, are noted.
        """
        kind = chosen or ("choice" if right.options else self.kind)
        scorer: JsonObject = {"kind": kind, "expected": f"{{{{ {right.expression} }}}}"}
        if kind == "choice" and right.options:
            scorer["choices"] = f"{{{{ {right.options} }}}}"
        if kind in ("exact", "includes", "fuzzy"):
            scorer["ignore_case"] = True
        if kind == "includes" and self.lists:
            scorer["match"] = "any"
        if self.given < self.rows:
            scorer["when"] = f"{{{{ {self._given(right.column)} }}}}"
            losses.note(f"{self.rows - self.given:,} of {self.rows:,} cases have no right answer: "
                        "they are not graded by it")  # fmt: skip
        if chosen is None:
            losses.guess(f'graded by "{kind}", as the right answers look')
        return scorer
