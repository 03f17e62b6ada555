"""The few-shot examples of a prompt."""

from collections.abc import Sequence
from typing import Final

from tui_eval.model.json import Json, JsonObject, canonical
from tui_eval.suites.data import seeded_sampling
from tui_eval.suites.spec import Examples
from tui_eval.suites.templates.template import Names, Template, holds

_ALLOWED_KEPT: Final = 1_000
"""Kinds of cases of which it is remembered which examples they may have."""


class FewShot:
    """The examples of a prompt, each rendered once."""

    def __init__(self, examples: Examples, own: str, field: str) -> None:
        """Compile their templates.

        Args:
            examples: As the suite has them.
            own: The prompt's own question, as an example is asked where it does not say how.
            field: The path of their table, for messages.

        Raises:
            TemplateError: when a template cannot be read.
        """
        self.as_text: Final = examples.as_ == "text"
        self._user = Template(own if examples.user is None else examples.user, f"{field}.user")
        self._assistant = Template(examples.assistant, f"{field}.assistant")
        self._rows = _ordered(examples)
        self._n = len(self._rows) if examples.n is None else examples.n
        self._where = None
        if examples.where is not None:
            self._where = Template(examples.where, f"{field}.where")
        self._allowed: dict[bytes, list[int]] = {}
        """Places of rows that `where` allows, by what it sees of a case."""
        self._rendered: list[tuple[str, str]] = []
        """Question and answer of the first rows, as far as they were needed yet."""

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates that are rendered for each example."""
        return (self._user, self._assistant) if self._rows else ()

    @property
    def columns(self) -> frozenset[str]:
        """The columns of all examples together."""
        return frozenset(column for row in self._rows for column in row)

    @property
    def where(self) -> Template | None:
        """What says which examples a case may have; None: each may."""
        return self._where

    def messages(self, case: Names, question: str | None) -> list[JsonObject]:
        """Return the examples for a case as messages; none of them asks the same question."""
        found: list[JsonObject] = []
        for user, assistant in self._for(case, question):
            found.append({"role": "user", "content": user})
            found.append({"role": "assistant", "content": assistant})
        return found

    def text(self, case: Names, question: str | None) -> str:
        """Return the examples for a case as one text."""
        pairs = self._for(case, question)
        return "\n\n".join(f"{user}\n{assistant}" for user, assistant in pairs)

    def _for(self, case: Names, question: str | None) -> list[tuple[str, str]]:
        """Return n examples without the case itself (the same row or the same question)."""
        chosen: list[tuple[str, str]] = []
        for place in self._places(case):
            if len(chosen) == self._n:
                break
            pair = self._pair(place)
            if self._rows[place] != case.get("case") and pair[0] != question:
                chosen.append(pair)
        return chosen

    def _places(self, case: Names) -> Sequence[int]:
        """Return the places of the rows that may be examples of a case."""
        if self._where is None:
            return range(len(self._rows))
        seen = canonical({name: case[name] for name in self._where.names if name in case})
        if seen not in self._allowed:
            if len(self._allowed) == _ALLOWED_KEPT:
                self._allowed.clear()
            self._allowed[seen] = [
                place
                for place, row in enumerate(self._rows)
                if holds(self._where.value({**case, "example": row}))
            ]
        return self._allowed[seen]

    def _pair(self, place: int) -> tuple[str, str]:
        while len(self._rendered) <= place:
            row = self._rows[len(self._rendered)]
            names: dict[str, Json] = {**row, "case": row}
            self._rendered.append((self._user.text(names), self._assistant.text(names)))
        return self._rendered[place]


def _ordered(examples: Examples) -> list[JsonObject]:
    rows: list[JsonObject] = list(examples.rows or ())
    if examples.seed is None:
        return rows
    lots = [
        seeded_sampling.sort_key(examples.seed, "examples", str(place))
        for place in range(len(rows))
    ]
    return [rows[place] for place in seeded_sampling.shuffled(lots, range(len(rows)))]
