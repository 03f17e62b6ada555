"""What every target says of itself."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from pydantic import Field, JsonValue, model_validator

from tui_eval.model.json import JsonObject
from tui_eval.suites.loading.toml_lines import Path
from tui_eval.suites.spec.asked.asked_spec import AskedSpec
from tui_eval.suites.spec.recording import RecordingColumns
from tui_eval.suites.spec.table import Text, Texts


def _without_default(schema: dict[str, JsonValue]) -> None:
    schema.pop("default", None)  # another field gives it


class TargetSpec(AskedSpec):
    """The fields every target takes, and what it is asked about itself."""

    WHAT: ClassVar[str] = "target"
    NEEDS_PROMPT: ClassVar[bool] = False
    """Whether it cannot be asked without a prompt."""
    TALKS_WITH_USER: ClassVar[bool] = False
    """Whether the simulated user goes on with its conversations."""

    name: Annotated[Text, Field(json_schema_extra=_without_default)] = ""
    """How results name it. Default: the model's name, or the kind."""
    prompts: Texts | None = None
    """The names of the prompts it runs. Default: all."""

    @model_validator(mode="before")
    @classmethod
    def _name_has_a_default(cls, data: object) -> object:
        if isinstance(data, dict) and data.get("name") is None:
            return {**data, "name": default_name(data)}
        return data

    @classmethod
    def fill_from_tasks(cls, table: JsonObject) -> None:
        """Write into its fields what they are, where left out, in a suite of benchmarks' tasks."""

    @classmethod
    def fill_from_repositories(cls, table: JsonObject) -> None:
        """Likewise in one whose tasks have repositories."""

    @classmethod
    def takes_turns(cls, table: Mapping[str, object]) -> bool:
        """Say whether it can be asked turn by turn, each with the replies so far."""
        return False

    @classmethod
    def turns_hint(cls, table: Mapping[str, object]) -> str:
        """Return what to do where a prompt has turns that it does not take."""
        return "name the others in its prompts, or ask a model"

    @classmethod
    def leaves_workspace(cls, table: Mapping[str, object]) -> bool:
        """Say whether it works in a folder that is kept with its output."""
        return False

    @classmethod
    def runs_images(cls, table: Mapping[str, object]) -> bool:
        """Say whether its cases run in containers of their images, and leave workspaces."""
        return False

    @classmethod
    def gives_messages(cls, table: Mapping[str, object]) -> bool:
        """Say whether its outputs may be a whole conversation, with several replies."""
        return False

    @classmethod
    def gives_fields(cls, table: Mapping[str, object]) -> bool:
        """Say whether its outputs have fields beside their text."""
        return False

    @classmethod
    def gives_tool_calls(cls, table: Mapping[str, object]) -> bool:
        """Say whether its outputs tell which tools were called."""
        return cls.gives_messages(table)

    @classmethod
    def prompts_named(cls, table: Mapping[str, object]) -> Iterator[tuple[Path, object]]:
        """Yield each name of a prompt in its fields, with where it stands in the table."""
        wanted = table.get("prompts")
        for index, name in enumerate(wanted if isinstance(wanted, list) else [wanted]):
            yield ("prompts", index), name

    def given_functions(self) -> Mapping[str, str]:
        """Return the functions of a Python program that it calls: names by digests of code."""
        return {}

    def recording(self) -> RecordingColumns | None:
        """Return where its answers are recorded; None: they are not."""
        return None


def default_name(target: Mapping[str, object]) -> object:
    """Return the name a target has where it does not say one."""
    return target.get("model") or target.get("agent") or target.get("kind") or "model"
