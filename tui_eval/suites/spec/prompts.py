"""How a case is put to a target."""

from collections.abc import Iterator
from typing import Annotated, Final, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    JsonValue,
    StrictInt,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import (
    calls_trouble,
    content_trouble,
    files_in,
    read_messages,
)
from tui_eval.suites.spec.table import Spec, Text, Whole

_PART: Final[JsonObject] = {
    "type": "object",
    "properties": {
        "type": {"type": "string", "examples": ["text", "image", "file"]},
        "text": {"type": "string"},
        "path": {"type": "string"},
    },
    "required": ["type"],
}
_PARTS: Final[JsonObject] = {"type": "array", "items": _PART, "minItems": 1}


def _parts(given: tuple[dict[str, JsonValue], ...]) -> tuple[dict[str, JsonValue], ...]:
    trouble = content_trouble([*given])
    if trouble is not None:
        raise ValueError(trouble)
    return given


def _calls(given: tuple[dict[str, JsonValue], ...]) -> tuple[dict[str, JsonValue], ...]:
    trouble = calls_trouble([*given])
    if trouble is not None:
        raise ValueError(trouble)
    return given


def _session(given: tuple[dict[str, JsonValue], ...]) -> tuple[dict[str, JsonValue], ...]:
    as_given: list[Json] = [*given]
    return tuple(read_messages(as_given))


Parts = Annotated[
    tuple[dict[str, JsonValue], ...], AfterValidator(_parts), WithJsonSchema({**_PARTS})
]
"""What is said with images or files: texts, `{ type = "image", path = "…" }`, …"""
Content = Annotated[StrictStr | Parts, WithJsonSchema({"anyOf": [{"type": "string"}, _PARTS]})]
"""What is said: a text, or parts."""


class Message(Spec):
    """One message of a prompt."""

    role: Literal["system", "developer", "user", "assistant", "tool"]
    """Who speaks."""
    content: Content | None = None
    """What is said: a template, or a list of parts, as { type = "image", path = "…" }. Only a reply
    that calls tools may have none."""
    name: Text | None = None
    """Who speaks, by name."""
    tool_calls: Annotated[tuple[dict[str, JsonValue], ...], AfterValidator(_calls)] | None = None
    """The tools that a reply of the assistant calls, in the form of the chat API."""
    tool_call_id: Text | None = None
    """The call that a message of role tool gives the result of."""

    @model_validator(mode="after")
    def _goes_together(self) -> Self:
        if self.tool_calls and self.role != "assistant":
            raise ValueError(f"only the assistant calls tools, not {self.role}")
        if self.role == "tool" and self.tool_call_id is None:
            raise ValueError("has no tool_call_id: which call is it the result of?")
        if self.content is None and not self.tool_calls:
            raise ValueError("has no content")
        return self


class Examples(Spec):
    """Few-shot examples: solved cases put before the one that is asked; never the case itself."""

    path: Text | None = None
    """A .jsonl, .json, .csv or .tsv file of examples, relative to the suite."""
    rows: tuple[dict[str, JsonValue], ...] | None = None
    """The examples themselves, in place of a file."""
    n: Whole | None = None
    """How many: the first n, or drawn by `seed` where it is given; of those that `where` allows.
    Default: all."""
    seed: StrictInt | None = None
    """Draws the n examples; the same for every case. Default: the first n are taken."""
    where: StrictStr | None = None
    """A template over the case and, as `example`, an example's row: true where it may be one of
    the case's, as in {{ example.subject == subject }}. Default: each may."""
    user: StrictStr | None = None
    """How an example is asked; a template over the example's row. Default: the prompt's own."""
    assistant: StrictStr
    """How an example is answered; a template over the example's row."""
    as_: Literal["messages", "text"] = Field(default="messages", alias="as")
    """`messages`: pairs of messages before the question. `text`: one text, put where the prompt
    says {{ examples }}, or before the question."""


class Prompt(Spec):
    """One way of asking. Give one of `user`, `user_file`, `turns`, `messages`, `messages_file`."""

    name: Text | None = None
    """How targets and columns name it; needed in [[prompts]]."""
    system: StrictStr | None = None
    """What the model is told before the question; a template."""
    system_file: Text | None = None
    """A file that holds `system`, relative to the suite."""
    user: StrictStr | None = None
    """The question; a template."""
    user_file: Text | None = None
    """A file that holds `user`, relative to the suite."""
    turns: Annotated[tuple[Content, ...], Field(min_length=1)] | Text | None = None
    """What the user says, turn by turn: each is sent with the replies so far. Or a template of a
    column that holds the list."""
    messages: Annotated[tuple[Message, ...], Field(min_length=1)] | Text | None = None
    """The whole conversation, in place of `system` and `user`. Or a template of a column that
    holds it: "{{ messages }}"."""
    messages_file: Text | None = None
    """A .json or .jsonl file that holds `messages`, relative to the suite."""
    initial_session: (
        Annotated[tuple[dict[str, JsonValue], ...], AfterValidator(_session)] | Text | None
    ) = None
    """What was said before: messages, calls of tools and their results too, put before the prompt
    of every case as they stand. A .json or .jsonl file relative to the suite, or a template of a
    column. A case that has an `initial_session` of its own gets that."""
    examples: Examples | None = None
    """Few-shot examples."""

    def files_named(self) -> Iterator[str]:
        """Yield the paths of files that its messages name; some may be templates."""
        said = self.model_dump(mode="json", include={"messages", "turns", "initial_session"})
        for _, path in files_in(said):
            yield path


def has_turns(turns: object) -> bool:
    """Say whether the `turns` of a prompt, as written, may be more than one."""
    return isinstance(turns, str) or (isinstance(turns, list | tuple) and len(turns) > 1)
