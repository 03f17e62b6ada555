"""A function of the Python program that starts the run, as a target."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import JsonValue, StrictStr, WithJsonSchema

from tui_eval.suites.given_functions import NOT_IN_FILES
from tui_eval.suites.loading.errors import FieldMistake
from tui_eval.suites.spec.table import Text, Whole
from tui_eval.suites.spec.targets.target import TargetSpec


class FunctionTargetSpec(TargetSpec):
    """A function of the Python program that starts the run: called there, by its engine."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ("args",)

    kind: Literal["function"]
    """What it is."""
    function: Text
    """The function, sync or async; what a run keeps is its name."""
    digest: StrictStr = ""
    """That of its code: part of the key. Written by the program."""
    args: (
        Annotated[
            dict[str, JsonValue] | tuple[JsonValue, ...],
            WithJsonSchema({"anyOf": [{"type": "object"}, {"type": "array"}]}),
        ]
        | None
    ) = None
    """What it is called with, templates inside: a table by name, a list by place. Default: the
    prompt's text, or the case where there is no prompt."""
    concurrency: Whole | None = None
    """Calls in flight, in place of [run] concurrency. Default: one a processor."""
    version: Text | None = None
    """Part of the key: bump it when what the function uses has changed and its code has not."""

    @classmethod
    def hint_for_param(cls, name: str) -> str | None:
        """Return that the function asks its model itself."""
        return f"a function asks its model itself: hand it on, args = {{ {name} = … }}"

    @classmethod
    def written_mistakes(cls, table: Mapping[str, object]) -> Iterator[FieldMistake]:
        """Yield that no file can name one."""
        if not table.get("digest"):
            yield FieldMistake(("kind",), *NOT_IN_FILES)

    @classmethod
    def gives_messages(cls, table: Mapping[str, object]) -> bool:
        """Say that the function may return a conversation."""
        return True

    @classmethod
    def gives_fields(cls, table: Mapping[str, object]) -> bool:
        """Say that the function may return fields."""
        return True

    def in_words(self) -> str:
        """Say which function it is."""
        return f"function {self.function} of a Python program"

    def given_functions(self) -> Mapping[str, str]:
        """Return the function."""
        return {self.digest: self.function}

    def input_tokens(self, estimate: int) -> int | None:
        """Return that nobody knows what models it asks, and how."""
        return None
