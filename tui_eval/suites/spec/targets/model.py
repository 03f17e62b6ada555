"""A model as a target."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import JsonValue, WithJsonSchema

from tui_eval.suites.spec.base import Text
from tui_eval.suites.spec.model_endpoint import OWN_PARAMS, ModelEndpointSpec
from tui_eval.suites.spec.run import Concurrency
from tui_eval.suites.spec.targets.base import TargetSpec


class ModelTargetSpec(TargetSpec, ModelEndpointSpec):
    """An OpenAI-compatible endpoint. Give `provider` or `base_url`."""

    OWN_PARAMS: ClassVar[dict[str, str]] = {
        **OWN_PARAMS,
        "tools": "the field `tools` says it",
        "n": "ask several times with [run] epochs",
    }
    LIST_FILES: ClassVar[Mapping[str, str]] = {"tools": "tools"}
    NEEDS_PROMPT: ClassVar[bool] = True

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
    """The tools the model may call: a JSON file relative to the suite, or the list itself."""
    concurrency: Concurrency | None = None
    """Calls in flight at this target's endpoint, in place of [run] concurrency."""

    @classmethod
    def takes_turns(cls, table: Mapping[str, object]) -> bool:
        """Say that a model is asked anew with the replies so far."""
        return True

    @classmethod
    def gives_tool_calls(cls, table: Mapping[str, object]) -> bool:
        """Say that a model's reply may call tools."""
        return True
