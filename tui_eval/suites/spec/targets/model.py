"""A model as a target."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal

from pydantic import JsonValue, WithJsonSchema

from tui_eval.model.json import Json
from tui_eval.suites.loading.errors import FieldMistake
from tui_eval.suites.loading.toml_lines import Path as FieldPath
from tui_eval.suites.program_fields import Command
from tui_eval.suites.spec.asked.bulk_endpoint import BulkEndpointSpec
from tui_eval.suites.spec.asked.model_endpoint import OWN_PARAMS
from tui_eval.suites.spec.asked.programs import RunsPrograms
from tui_eval.suites.spec.run import Concurrency
from tui_eval.suites.spec.table import Text, Whole
from tui_eval.suites.spec.targets.target import TargetSpec
from tui_eval.suites.spec.tool_answers import (
    ANSWERS,
    KNOWN_LATE,
    answer_mistakes,
    answer_templates,
    written_answers,
)
from tui_eval.suites.trust.permissions import Permission

_LOGPROBS: Final = ("logprobs", "top_logprobs")
"""The parameters that ask for log-probabilities."""


class ModelTargetSpec(TargetSpec, BulkEndpointSpec):
    """An OpenAI-compatible endpoint. Give `provider` or `base_url`."""

    OWN_PARAMS: ClassVar[dict[str, str]] = {
        **OWN_PARAMS,
        "tools": "the field `tools` says it",
        "n": "ask several times with [run] epochs",
    }
    TEMPLATED: ClassVar[tuple[str, ...]] = ("tools_by",)
    LIST_FILES: ClassVar[Mapping[str, str]] = {"tools": "tools"}
    NEEDS_PROMPT: ClassVar[bool] = True
    TALKS_WITH_USER: ClassVar[bool] = True

    kind: Literal["model"] = "model"
    """What it is; may be left out."""
    tools: (
        Annotated[
            Text | tuple[dict[str, JsonValue], ...],
            WithJsonSchema(
                {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "object"}}]}
            ),
        ]
        | None
    ) = None
    """The tools the model may call: a JSON file relative to the suite, or the list itself. One with
    `answers` is answered, and the model asked again."""
    tools_by: Command | None = None
    """A program that answers the tools' calls which no `answers` do, one process a trial: it reads
    and writes JSON lines. Templates."""
    max_turns: Whole = 10
    """Replies of the model to one turn of the user, at most, tools being answered in between."""
    concurrency: Concurrency | None = None
    """Calls in flight at this target's endpoint, in place of [run] concurrency."""

    @classmethod
    def takes_turns(cls, table: Mapping[str, object]) -> bool:
        """Say that a model is asked anew with the replies so far, unless it is asked in bulk."""
        return not cls.asked_in_bulk(table)

    @classmethod
    def turns_hint(cls, table: Mapping[str, object]) -> str:
        """Return that turns need single calls."""
        return "name the others in its prompts, or drop bulk"

    @classmethod
    def written_mistakes(cls, table: Mapping[str, object]) -> Iterator[FieldMistake]:
        """Yield what is wrong with its endpoint and with how its tools are answered."""
        yield from super().written_mistakes(table)
        yield from answer_mistakes(table.get("tools"))
        if table.get("tools_by") is not None and not table.get("tools"):
            yield FieldMistake(("tools_by",), "answers no tools", "say which there are: tools")

    @classmethod
    def written_templates(cls, table: Mapping[str, object]) -> Iterator[tuple[FieldPath, Json]]:
        """Yield the words of its program, and the answers of its tools."""
        yield from super().written_templates(table)
        yield from written_answers(table.get("tools"))

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        """Yield the program that answers its tools."""
        command = table.get("tools_by")
        if isinstance(command, list | tuple):
            words = [str(word) for word in command]
            yield from RunsPrograms.program_permissions({}, [words], folder)

    def templates(self) -> dict[str, Json]:
        """Return what is rendered of its program, and of the answers of its tools."""
        found: dict[str, Json] = {}
        if self.tools_by is not None:
            found["tools_by"] = list(self.tools_by)
        for _, path, field, source in answer_templates(self.listed_tools):
            found[f"{path}.{field}"] = source
        return found

    def late_names(self, field: str) -> frozenset[str]:
        """Return the arguments of a call, which the answers of tools know."""
        return frozenset() if field == "tools_by" else KNOWN_LATE

    @property
    def listed_tools(self) -> tuple[dict[str, Json], ...]:
        """Its tools as the suite has them, once they were read."""
        if isinstance(self.tools, str):
            raise TypeError("the suite's tools are still a path: they were not read")
        return self.tools or ()

    @classmethod
    def gives_messages(cls, table: Mapping[str, object]) -> bool:
        """Say whether its tools are answered, so that it replies several times."""
        tools = table.get("tools")
        listed = tools if isinstance(tools, list | tuple) else ()
        answered = any(isinstance(one, Mapping) and one.get(ANSWERS) for one in listed)
        return answered or table.get("tools_by") is not None

    @classmethod
    def gives_fields(cls, table: Mapping[str, object]) -> bool:
        """Say whether a program answers its tools, or log-probabilities are asked for."""
        params = table.get("params")
        asked = isinstance(params, Mapping) and any(params.get(name) for name in _LOGPROBS)
        return asked or table.get("tools_by") is not None

    @classmethod
    def gives_tool_calls(cls, table: Mapping[str, object]) -> bool:
        """Say that a model's reply may call tools."""
        return True
