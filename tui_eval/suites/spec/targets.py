"""What is evaluated."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias, get_args

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    JsonValue,
    StrictInt,
    StrictStr,
    WithJsonSchema,
    model_validator,
)

from tui_eval.suites.spec.base import Amount, Share, Spec, Text, Texts
from tui_eval.suites.spec.run import Concurrency

_OWN_PARAMS: Final = {
    "model": "the field `model` says it",
    "messages": "the prompt says it",
    "input": "the prompt says it",
    "tools": "the field `tools` says it",
    "stream": "answers are read whole",
    "n": "ask several times with [run] epochs",
}


def _without_default(schema: dict[str, JsonValue]) -> None:
    schema.pop("default", None)  # another field gives it


class TargetBase(Spec):
    """The fields every target takes."""

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


def default_name(target: Mapping[str, object]) -> object:
    """Give the name a target has where it does not say one."""
    return target.get("model") or target.get("kind") or "model"


class Prices(Spec):
    """What tokens cost, in US dollars for a million of them."""

    input: Amount
    """A million tokens read."""
    output: Amount
    """A million tokens produced, reasoning included."""
    cached_input: Amount | None = None
    """A million tokens the endpoint took from its own cache. Default: as `input`."""


def _free_params(params: dict[str, JsonValue]) -> dict[str, JsonValue]:
    for name, reason in _OWN_PARAMS.items():
        if name in params:
            raise ValueError(f'"{name}" cannot be set here: {reason}')
    return params


class ModelTarget(TargetBase):
    """An OpenAI-compatible endpoint. Give `provider` or `base_url`."""

    kind: Literal["model"] = "model"
    """What it is; may be left out."""
    provider: Text | None = None
    """A preset: openai, openrouter, anthropic, gemini, mistral, deepseek, groq, together, ollama,
    vllm, llamacpp, lmstudio, azure, or local for a model embedded beside the engine."""
    base_url: Text | None = None
    """Where the API starts (https://host/v1), in place of the preset's."""
    api_key_env: Annotated[StrictStr, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")] | None = None
    """The environment variable that holds the key. Without it a dummy key is sent to a
    `base_url`."""
    model: Text
    """The model's name; for `local` the path of a .gguf file or the name of a model package."""
    api: Literal["chat", "responses"] = "chat"
    """Which of the two APIs is spoken."""
    params: Annotated[dict[str, JsonValue], AfterValidator(_free_params)] = Field(
        default_factory=dict
    )
    """What goes along with each request, as the endpoint names it: temperature, max_tokens, …"""
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
    rpm: Annotated[StrictInt, Field(ge=1)] | None = None
    """Requests in a minute at this target's endpoint, at most. Default: as many as it takes."""
    tpm: Annotated[StrictInt, Field(ge=1)] | None = None
    """Tokens in a minute at this target's endpoint, read and produced, at most."""
    prices: Prices | None = None
    """What tokens cost here, in place of the price library."""


class ReplayTarget(TargetBase):
    """Recorded outputs. Columns are dotted paths into the recording's rows."""

    kind: Literal["replay"]
    """What it is."""
    path: Text
    """The recording, a .jsonl, .json, .csv or .tsv file relative to the suite; may be the dataset
    itself."""
    id: Text = "id"
    """The column that holds the case's id."""
    output: Text = "output"
    """The column that holds what was said."""
    latency_s: Text | None = None
    """The column that holds the seconds the call took."""
    finish_reason: Text | None = None
    """The column that holds why it ended: stop, length, …"""
    messages: Text | None = None
    """The column that holds the whole trajectory as a list of messages."""


FaultKind: TypeAlias = Literal["rate_limit", "server_error", "timeout", "empty", "truncated"]
FAULT_KINDS: Final[tuple[str, ...]] = get_args(FaultKind)
"""The faults a simulated target can have."""


def _latency(value: object) -> float | tuple[float, float]:
    """One validator, so that a mistake is told once and not once a type."""
    if _is_seconds(value):
        return float(str(value))
    if isinstance(value, list | tuple) and len(value) == 2 and all(map(_is_seconds, value)):
        low, high = (float(str(bound)) for bound in value)
        if low <= high:
            return low, high
    raise ValueError("must be a number of seconds ≥ 0, or two: [least, most]")


def _is_seconds(value: object) -> bool:
    return (
        isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < float("inf")
    )


def _possible(faults: dict[FaultKind, float]) -> dict[FaultKind, float]:
    if sum(faults.values()) > 1:
        raise ValueError(f"the shares add up to {sum(faults.values()):g}, which is more than 1")
    return faults


class SimulatedTarget(TargetBase):
    """A made-up model for demos, tests and load; it says so wherever it is shown."""

    kind: Literal["simulated"]
    """What it is."""
    answers: Annotated[Texts, Field(min_length=1)]
    """What it answers: templates; the first is the right answer, the others are wrong ones."""
    accuracy: Share = 1.0
    """The share of cases it answers right."""
    latency_s: Annotated[
        float | tuple[float, float],
        BeforeValidator(_latency),
        WithJsonSchema(
            {
                "anyOf": [
                    {"type": "number", "minimum": 0},
                    {
                        "type": "array",
                        "items": {"type": "number", "minimum": 0},
                        "minItems": 2,
                        "maxItems": 2,
                    },
                ]
            }
        ),
    ] = 0.0
    """Seconds it takes to answer: a number, or [least, most]."""
    faults: Annotated[dict[FaultKind, Share], AfterValidator(_possible)] = Field(
        default_factory=dict
    )
    """The share of attempts that go wrong, by kind: rate_limit, server_error, timeout, empty,
    truncated."""
    seed: StrictInt = 0
    """What answers, latencies and faults are drawn by."""
    concurrency: Concurrency | None = None
    """Calls in flight, in place of [run] concurrency."""


TargetSpec = Annotated[ModelTarget | ReplayTarget | SimulatedTarget, Field(discriminator="kind")]
"""One target of a suite; its `kind` says which model it is."""

TARGET_MODELS: Final[dict[str, type[TargetBase]]] = {
    "model": ModelTarget,
    "replay": ReplayTarget,
    "simulated": SimulatedTarget,
}
TARGET_KINDS: Final[tuple[str, ...]] = tuple(TARGET_MODELS)
"""Every kind there is."""
