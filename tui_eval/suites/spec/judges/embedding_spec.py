"""A model that gives vectors of texts, asked as judges are: `[embedding]`."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, Literal

from pydantic import ConfigDict

from tui_eval.providers.presets import PRESETS
from tui_eval.providers.prices import Prices, input_prices_of
from tui_eval.suites.loading.errors import FieldMistake
from tui_eval.suites.spec.asked.model_endpoint import OWN_PARAMS, ModelEndpointSpec, Price
from tui_eval.suites.spec.judges.judge_spec import JudgeSpec
from tui_eval.suites.spec.table import Spec, Whole

_OF_JUDGES: Final = (
    "repeats",
    "audit",
    "max_excess_flips",
    "instructions",
    "gold",
    "min_agreement",
    "min_spearman",
    "api",
)
"""Fields of judges that say nothing of vectors."""


def _without_those(schema: dict[str, Any]) -> None:
    """Take them out of what editors complete."""
    for name in _OF_JUDGES:
        schema["properties"].pop(name)


class EmbeddingPrices(Spec):
    """What tokens cost, in US dollars for a million of them."""

    input: Price
    """A million tokens read."""


class EmbeddingSpec(JudgeSpec, ModelEndpointSpec):
    """A model behind the `/embeddings` of an OpenAI-compatible endpoint."""

    model_config = ConfigDict(json_schema_extra=_without_those)

    WHAT: ClassVar[str] = "embedding"
    HAS_TASTE: ClassVar[bool] = False
    OWN_PARAMS: ClassVar[dict[str, str]] = {
        **OWN_PARAMS,
        "input": "the texts that are compared are sent",
        "encoding_format": "vectors are read as numbers",
    }

    kind: Literal["embedding"] = "embedding"
    """What it is; may be left out."""
    name: Literal["embedding"] = "embedding"
    """How results call it; may be left out."""
    batch_size: Whole = 32
    """Outputs compared in one request; each distinct text is sent once."""
    token_budget: Whole = 32_000
    """Tokens, estimated, that the texts of one request may have together."""
    prices: EmbeddingPrices | None = None  # type: ignore[assignment]  # nothing is produced
    """What tokens cost here, in place of the price library."""

    @classmethod
    def written_mistakes(cls, table: Mapping[str, object]) -> Iterator[FieldMistake]:
        """Yield what is wrong with the endpoint, and fields that are for rubrics."""
        yield from super().written_mistakes(table)
        for name in _OF_JUDGES:
            field = cls.model_fields[name]
            if table.get(name, field.default) not in (None, field.default):
                yield FieldMistake((name,), "is for judges that grade by a rubric", "leave it out")
        preset = PRESETS.get(str(table.get("provider")))
        if preset is not None and preset.embedded:
            hint = "name an endpoint that gives them, as llama-server --embeddings does"
            yield FieldMistake(("provider",), "the embedded model gives no vectors", hint)

    def in_words(self) -> str:
        """Return its model and its endpoint."""
        where = self.provider or self.base_url
        return f"embedding {self.model}{f' at {where}' if where else ''}"

    def token_prices(self) -> Prices | None:
        """Return its own price, else what the price library knows; nothing is produced."""
        own = None if self.prices is None else Prices.flat(self.prices.input, 0.0)
        return input_prices_of(self.provider, self.base_url, self.model, own)

    def price_problem(self) -> str | None:
        """Say that its model has no known price, and how to give one."""
        if self.token_prices() is not None:
            return None
        return (
            f"max_cost_usd needs a known price, and there is none for model {self.model!r}: give "
            "the embedding prices = { input = … } in US dollars for a million tokens, or drop the "
            "cap"
        )
