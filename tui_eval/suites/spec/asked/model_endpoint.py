"""What targets and judges that ask a model say of the endpoint they ask."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, TypeAlias
from urllib.parse import urlsplit

from pydantic import Field, JsonValue, StrictFloat, StrictInt, StrictStr, field_validator

from tui_eval.model.bounds import MOST_PRICE
from tui_eval.model.home import from_home
from tui_eval.providers import presets
from tui_eval.providers.local_model.server import is_model_path
from tui_eval.providers.prices import Prices, prices_of
from tui_eval.suites.loading.errors import FieldMistake, did_you_mean
from tui_eval.suites.spec.asked.asked_spec import (
    OUTPUT_LIMITS,
    AskedSpec,
    CallRates,
    KeyUse,
)
from tui_eval.suites.spec.table import Spec, Text

Api: TypeAlias = Literal["chat", "responses"]

OWN_PARAMS: Final = {
    "model": "the field `model` says it",
    "messages": "the prompt says it",
    "input": "the prompt says it",
    "stream": "answers are read whole",
}
"""Parameters that no suite can set, and why."""

Price = Annotated[StrictFloat, Field(ge=0, le=MOST_PRICE)]


class TokenPrices(Spec):
    """What tokens cost, in US dollars for a million of them."""

    input: Price
    """A million tokens read."""
    output: Price
    """A million tokens produced, reasoning included."""
    cached_input: Price | None = None
    """A million tokens the endpoint took from its own cache. Default: as `input`."""


class ModelEndpointSpec(AskedSpec):
    """Who asks a model at an OpenAI-compatible endpoint. Give `provider` or `base_url`."""

    OWN_PARAMS: ClassVar[dict[str, str]] = OWN_PARAMS
    """Parameters that cannot be set by `params`, and why."""

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
    api: Api = "chat"
    """Which of the two APIs is spoken."""
    version: Text | None = None
    """What is behind the address, in words of your own. Changed where that changes and the address
    does not: what was answered under another version is asked again."""
    params: dict[str, JsonValue] = Field(default_factory=dict)
    """What goes along with each request, as the endpoint names it: temperature, max_tokens, …"""
    rpm: Annotated[StrictInt, Field(ge=1)] | None = None
    """Requests in a minute at this endpoint, at most. Default: as many as it takes."""
    tpm: Annotated[StrictInt, Field(ge=1)] | None = None
    """Tokens in a minute at this endpoint, read and produced, at most."""
    prices: TokenPrices | None = None
    """What tokens cost here, in place of the price library."""

    @field_validator("params")
    @classmethod
    def _params_are_free(cls, params: dict[str, JsonValue]) -> dict[str, JsonValue]:
        for name, reason in cls.OWN_PARAMS.items():
            if name in params:
                raise ValueError(f'"{name}" cannot be set here: {reason}')
        return params

    @classmethod
    def written_mistakes(cls, table: Mapping[str, object]) -> Iterator[FieldMistake]:
        """Yield what is wrong with the endpoint: an unknown provider, a URL that is none."""
        provider, base_url, key = given = _endpoint(table)
        if isinstance(provider, str) and provider not in presets.PRESETS:
            hint = did_you_mean(provider, presets.PRESETS)
            yield FieldMistake(("provider",), f'unknown provider "{provider}"', hint)
            return
        if not all(one is None or isinstance(one, str) for one in given):
            return  # reported for the field itself
        try:
            presets.address(*map(_text, (provider, base_url, key)))
        except ValueError as error:
            message = str(error).removeprefix("base_url ")
            yield FieldMistake(("base_url",) if base_url else (), message)
            return
        if isinstance(base_url, str) and (urlsplit(base_url).query or urlsplit(base_url).fragment):
            hint = "give only where the API starts"
            yield FieldMistake(("base_url",), "goes on with ? or #", hint)

    @classmethod
    def hint_for_param(cls, name: str) -> str | None:
        """Return that it goes along with each request, in `params`."""
        return f"write params = {{ {name} = … }}"

    @classmethod
    def files_read(cls, table: Mapping[str, object], folder: Path) -> Iterator[tuple[str, Path]]:
        """Yield the file of an embedded model that is named by its path."""
        model, preset = table.get("model"), presets.PRESETS.get(str(table.get("provider")))
        embedded = preset is not None and preset.embedded
        if embedded and isinstance(model, str) and is_model_path(model):
            yield "model", folder / from_home(model)

    @classmethod
    def keys_sent(cls, table: Mapping[str, object]) -> Iterator[KeyUse]:
        """Yield the key of its endpoint."""
        yield KeyUse(*map(_text, _endpoint(table)))

    def asked_model(self) -> str | None:
        """Return its model."""
        return self.model

    def in_words(self) -> str:
        """Return its model where its name does not say it, and its endpoint."""
        where = self.provider or self.base_url
        of = f" {self.model}" if self.model != self.name else ""
        return f"model{of}{f' at {where}' if where else ''}"

    def call_rates(self) -> CallRates:
        """Return the budgets that it names."""
        return CallRates(self.rpm, self.tpm)

    def output_limit(self) -> int | None:
        """Return the limit that its parameters name."""
        named = (self.params.get(name) for name in OUTPUT_LIMITS)
        return next((int(limit) for limit in named if isinstance(limit, int | float)), None)

    def token_prices(self) -> Prices | None:
        """Return its own prices, else what the price library knows."""
        own = self.prices
        flat = None if own is None else Prices.flat(own.input, own.output, own.cached_input)
        return prices_of(self.provider, self.base_url, self.model, flat)

    def price_problem(self) -> str | None:
        """Say that its model has no known price, and how to give one."""
        if self.token_prices() is not None:
            return None
        return (
            "max_cost_usd needs a known price, and there is none for model "
            f"{self.model!r}: give the {self.WHAT} prices = {{ input = …, output = … }} in US "
            "dollars for a million tokens, or drop the cap"
        )


def _endpoint(table: Mapping[str, object]) -> tuple[object, object, object]:
    return table.get("provider"), table.get("base_url"), table.get("api_key_env")


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
