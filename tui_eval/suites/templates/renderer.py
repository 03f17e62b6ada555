"""From a case to the messages a target is sent."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import INSTRUCTING, last_user_text, read_messages
from tui_eval.suites.spec import Prompt, Suite
from tui_eval.suites.templates.few_shot import FewShot
from tui_eval.suites.templates.prompt_messages import PromptMessages
from tui_eval.suites.templates.template import Names, Template, TemplateError

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


class OpeningMessages(NamedTuple):
    """What is sent first."""

    messages: list[JsonObject]
    begins: int
    """The place of the first that is neither an instruction nor one of the examples."""

    @property
    def conversation(self) -> list[JsonObject]:
        """What was said before, and the question."""
        return self.messages[self.begins :]


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
        return self.opening(column, case).messages

    def opening(self, column: Column, case: Case) -> OpeningMessages:
        """Return the messages that a column sends for a case, and where its own begin.

        Raises:
            TemplateError: when a template cannot be rendered for the case.
        """
        return self._prompts[column.prompt].opening(self.names(case), case.session)

    def turns(self, column: Column, case: Case) -> tuple[Json, ...]:
        """Return what the user says after each reply to `messages`, first to last.

        Each is the content of a message: a text, or a list of parts. Empty: one reply is all.

        Raises:
            TemplateError: when a template cannot be rendered for the case.
        """
        return self._prompts[column.prompt].further_turns(self.names(case))

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
    return {**names, "prompt": last_user_text(messages), "messages": [*messages]}


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
        self.field: Final = field
        """The path of its table in the suite file."""
        self._own = PromptMessages(prompt, field)
        self._held_session: Template | None = None
        """Gives what was said before; None: no template does."""
        self._session: tuple[JsonObject, ...] = ()
        """What was said before, where the suite has it."""
        if isinstance(prompt.initial_session, str):
            self._held_session = Template(prompt.initial_session, f"{field}.initial_session")
        else:
            self._session = tuple(prompt.initial_session or ())
        self._shots = None
        if prompt.examples is not None:
            asks = self._own.question or ""
            self._shots = FewShot(prompt.examples, asks, f"{field}.examples")
        self._names_examples = any("examples" in one.names for one in self._own.templates)

    @property
    def templates(self) -> tuple[Template, ...]:
        """The templates that are rendered for each case."""
        held = () if self._held_session is None else (self._held_session,)
        return (*held, *self._own.templates)

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

    def opening(self, names: Names, session: Sequence[JsonObject] | None = None) -> OpeningMessages:
        """Render what is sent first: instructions, examples, what was said before, the question.

        Args:
            names: What its templates see.
            session: What was said before, where the case has it; None: what the prompt says.

        Raises:
            TemplateError: when a template, or an example, cannot be rendered for these names.
        """
        shots = self._shots
        own = self._own.opening(names) if shots is None else self._shown_examples(shots, names)
        before = self._before(names) if session is None else session
        if shots is None and not before:
            return OpeningMessages(own, _told(own))
        told, asked = _apart(own)
        begun, said = _apart(before)
        told += begun
        if shots is not None and not shots.as_text:
            told += shots.messages(names, last_user_text(asked))
        return OpeningMessages([*told, *said, *asked], len(told))

    def further_turns(self, names: Names) -> tuple[Json, ...]:
        """Return what the user says after each reply; see `Renderer.turns`.

        Raises:
            TemplateError: when a template cannot be rendered for these names.
        """
        return self._own.further_turns(names)

    def _before(self, names: Names) -> Sequence[JsonObject]:
        """Return what was said before as the prompt says it."""
        if self._held_session is None:
            return self._session
        try:
            return read_messages(self._held_session.value(names))
        except ValueError as error:
            raise TemplateError(self._held_session.field, str(error)) from None

    def _shown_examples(self, shots: FewShot, names: Names) -> list[JsonObject]:
        """Return the prompt's own messages, with the examples where these are one text."""
        if not shots.as_text:
            return self._own.opening(names)
        if self._names_examples:
            return self._own.opening({**names, "examples": shots.text(names, None)})
        own = self._own.opening(names)
        text = shots.text(names, last_user_text(own))
        return _with_text_before(own, text) if text else own


def _apart(messages: Sequence[JsonObject]) -> tuple[list[JsonObject], list[JsonObject]]:
    """Return the instructions that messages begin with, and the others."""
    at = _told(messages)
    return [*messages[:at]], [*messages[at:]]


def _told(messages: Sequence[JsonObject]) -> int:
    """Return how many instructions messages begin with."""
    for place, message in enumerate(messages):
        if message["role"] not in INSTRUCTING:
            return place
    return len(messages)


def _with_text_before(messages: list[JsonObject], text: str) -> list[JsonObject]:
    """Return messages with a text put before what the user says last."""
    asks = max((n for n, one in enumerate(messages) if one["role"] == "user"), default=None)
    if asks is None:
        return messages
    said = messages[asks]["content"]
    parts: list[Json] = [{"type": "text", "text": text}, *(said if isinstance(said, list) else ())]
    content: Json = parts if isinstance(said, list) else f"{text}\n\n{said}"
    return [*messages[:asks], {**messages[asks], "content": content}, *messages[asks + 1 :]]
