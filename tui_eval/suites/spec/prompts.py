"""How a case is put to a target."""

from typing import Literal

from pydantic import Field, JsonValue, StrictInt, StrictStr

from tui_eval.suites.spec.base import Spec, Text, Whole


class Message(Spec):
    """One message of a prompt."""

    role: Literal["system", "developer", "user", "assistant"]
    """Who speaks."""
    content: StrictStr
    """What is said; a template."""


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
    """One way of asking. Give one of `user`, `user_file` and `messages`."""

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
    messages: tuple[Message, ...] | None = Field(default=None, min_length=1)
    """The whole conversation, in place of `system` and `user`."""
    examples: Examples | None = None
    """Few-shot examples."""
