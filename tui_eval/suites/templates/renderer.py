"""From a case to the messages a target is sent."""

from collections.abc import Sequence
from typing import Final

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject, canonical
from tui_eval.suites.data import seeded_sampling
from tui_eval.suites.spec import Examples, Prompt, Suite
from tui_eval.suites.templates.template import Names, Template, holds

_NOTHING: Final = Prompt()
"""For targets that need no prompt, where the suite has none."""


def columns(suite: Suite) -> tuple[Column, ...]:
    """Return the columns of a suite: each target with each prompt it runs, in the suite's order.

    Without prompts, or with one that has no name, a column is called as its target; else
    `target/prompt`.
    """
    named = [prompt.name for prompt in suite.prompts] or [None]
    found: list[Column] = []
    for target in suite.targets:
        for prompt in named:
            if prompt is None:
                found.append(Column(len(found), target.name, target.name, None))
            elif target.prompts is None or prompt in target.prompts:
                name = f"{target.name}/{prompt}"
                found.append(Column(len(found), name, target.name, prompt))
    return tuple(found)


class Renderer:
    """The prompts of a suite, compiled once."""

    def __init__(self, suite: Suite) -> None:
        """Compile the prompts' templates.

        Raises:
            TemplateError: when a template cannot be read.
        """
        self.columns: Final = columns(suite)
        """Every target with every prompt it runs."""
        self._prompts = {
            prompt.name: RenderedPrompt(prompt, prompt_field(suite, index))
            for index, prompt in enumerate(suite.prompts or (_NOTHING,))
        }

    @staticmethod
    def names(case: Case) -> dict[str, Json]:
        """Return what a case's templates can name: its fields, and the whole row as `case`."""
        return {**case.fields, "case": case.fields}

    def messages(self, column: Column, case: Case) -> list[JsonObject]:
        """Return the messages that a column sends for a case; empty where the suite has no prompt.

        Raises:
            TemplateError: when a template cannot be rendered for the case.
        """
        return self._prompts[column.prompt].messages(self.names(case))

    def target_names(self, column: Column, case: Case) -> dict[str, Json]:
        """Return what the templates of a target's own fields can name.

        Beside the case's fields that is `messages`, and `prompt`, the last that the user says; in a
        suite without prompts these are columns like others.

        Raises:
            TemplateError: when a template of the prompt cannot be rendered for the case.
        """
        messages = self.messages(column, case)
        return with_prompt(self.names(case), messages)

    def prompts(self) -> "Sequence[RenderedPrompt]":
        """Return the compiled prompts in the suite's order."""
        return tuple(self._prompts.values())


def with_prompt(names: Names, messages: Sequence[JsonObject]) -> dict[str, Json]:
    """Return names with those of a rendered prompt; no messages: there is no prompt."""
    if not messages:
        return {**names}
    return {**names, "prompt": question(messages), "messages": [*messages]}


def question(messages: Sequence[JsonObject]) -> Json:
    """Return the last that the user says in messages; None: nothing."""
    said = (message["content"] for message in reversed(messages) if message["role"] == "user")
    return next(said, None)


def prompt_field(suite: Suite, index: int) -> str:
    """Return the path of a prompt's table in the suite file."""
    return "prompt" if suite.prompts and suite.prompts[0].name is None else f"prompts[{index}]"


class RenderedPrompt:
    """One prompt, compiled."""

    def __init__(self, prompt: Prompt, field: str) -> None:
        """Compile a prompt's templates.

        Args:
            prompt: The prompt.
            field: The path of its table, for messages.

        Raises:
            TemplateError: when a template cannot be read.
        """
        self._turns = [
            (role, Template(text, f"{field}.{path}")) for role, text, path in _turns(prompt)
        ]
        self._asks = max(
            (n for n, (role, _) in enumerate(self._turns) if role == "user"), default=-1
        )
        """The place of the question: the last message of the user."""
        self._lead = next(
            (n for n, (role, _) in enumerate(self._turns) if role not in _INSTRUCTING),
            len(self._turns),
        )
        """How many messages stand before the examples."""
        self._shots = None
        if prompt.examples is not None:
            own = prompt.user if self._asks < 0 else self._turns[self._asks][1].source
            self._shots = _Shots(prompt.examples, own or "", f"{field}.examples")
        self._names_examples = any("examples" in turn.names for _, turn in self._turns)

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates that are rendered for each case."""
        return tuple(template for _, template in self._turns)

    @property
    def examples_as_text(self) -> bool:
        """Whether the templates see the examples, as one text."""
        return self._shots is not None and self._shots.as_text

    @property
    def example_templates(self) -> tuple[Template, ...]:
        """The templates that are rendered for each example."""
        return () if self._shots is None else self._shots.templates

    @property
    def examples_where(self) -> Template | None:
        """What says which examples a case may have: it sees the case and `example`."""
        return None if self._shots is None else self._shots.where

    @property
    def example_columns(self) -> frozenset[str]:
        """The columns of all examples together."""
        return frozenset() if self._shots is None else self._shots.columns

    def messages(self, names: Names) -> list[JsonObject]:
        """Render it.

        Raises:
            TemplateError: when a template, or an example, cannot be rendered for these names.
        """
        if self._shots is None:
            return [_message(role, template.text(names)) for role, template in self._turns]
        return self._with_examples(self._shots, names)

    def _with_examples(self, shots: "_Shots", names: Names) -> list[JsonObject]:
        if not shots.as_text:
            asked = [(role, template.text(names)) for role, template in self._turns]
            question = asked[self._asks][1] if self._asks >= 0 else None
            said = [*asked[: self._lead], *shots.turns(names, question), *asked[self._lead :]]
            return [_message(role, text) for role, text in said]
        question = self._question(names)
        text = shots.text(names, question)
        seen = {**names, "examples": text}
        asked = [(role, template.text(seen)) for role, template in self._turns]
        if not self._names_examples and text and self._asks >= 0:
            role, last = asked[self._asks]
            asked[self._asks] = (role, f"{text}\n\n{last}")
        return [_message(role, content) for role, content in asked]

    def _question(self, names: Names) -> str | None:
        """Return the question without examples; None where the template places them itself."""
        if self._asks < 0 or self._names_examples:
            return None
        return self._turns[self._asks][1].text(names)


_ALLOWED_KEPT: Final = 1_000
"""Kinds of cases of which it is remembered which examples they may have."""
_INSTRUCTING: Final = ("system", "developer")


def _turns(prompt: Prompt) -> list[tuple[str, str, str]]:
    """Return role, template and path of each message."""
    if prompt.messages is not None:
        return [
            (message.role, message.content, f"messages[{index}].content")
            for index, message in enumerate(prompt.messages)
        ]
    turns = []
    if prompt.system is not None:
        turns.append(("system", prompt.system, "system"))
    if prompt.user is not None:
        turns.append(("user", prompt.user, "user"))
    return turns


def _message(role: str, content: str) -> JsonObject:
    return {"role": role, "content": content}


class _Shots:
    """The few-shot examples of a prompt, each rendered once."""

    def __init__(self, examples: Examples, own: str, field: str) -> None:
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
        return (self._user, self._assistant) if self._rows else ()

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(column for row in self._rows for column in row)

    @property
    def where(self) -> Template | None:
        return self._where

    def turns(self, case: Names, question: str | None) -> list[tuple[str, str]]:
        """Return the examples for a case as messages."""
        turns: list[tuple[str, str]] = []
        for user, assistant in self._for(case, question):
            turns += [("user", user), ("assistant", assistant)]
        return turns

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
