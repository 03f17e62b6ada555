"""Scorers of how similar texts are: `fuzzy`, `f1`, `similarity`."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal, TypeAlias

from pydantic import Field, StrictBool, model_validator

from tui_eval.model.json import JsonObject
from tui_eval.suites.scorers.expected import EXPECTED, Texts, with_texts
from tui_eval.suites.scorers.judge.judge_settings import compared
from tui_eval.suites.scorers.scorer import EMBEDDING, Asks, Number, Scorer
from tui_eval.suites.scorers.text import ComparingScorer


class FuzzyScorer(ComparingScorer):
    """The text is similar to the expected one, letter by letter."""

    kind: Literal["fuzzy"]
    expected: Texts = Field(description=EXPECTED + " Of a list the most similar counts.")
    threshold: Annotated[Number, Field(ge=0, le=1)] = Field(
        default=0.8, description="The least similarity, 0 to 1, that passes."
    )
    strip: StrictBool = Field(default=True, description="White space around does not count.")


class F1Scorer(Scorer):
    """The text shares its words with the expected one."""

    kind: Literal["f1"]
    expected: Texts = Field(description=EXPECTED + " Of a list the best counts.")
    threshold: Annotated[Number, Field(ge=0, le=1)] = Field(
        default=0.5, description="The least F1 over words, 0 to 1, that passes."
    )

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with texts to compare."""
        return with_texts(settings)


Metric: TypeAlias = Literal["rouge-l", "bleu", "chrf", "chrf++", "embedding"]
Tokenizer: TypeAlias = Literal["13a", "intl", "char", "zh", "none"]

_HALF: Final = 0.5


class SimilarityScorer(Scorer):
    """The text is similar to the expected one, by a metric of the literature."""

    kind: Literal["similarity"]
    metric: Metric = Field(
        description="rouge-l, bleu, chrf or chrf++; or embedding: the cosine of the two texts' "
        "vectors, which the model of [embedding] gives."
    )
    expected: Texts = Field(
        description=EXPECTED + " Of a list the most similar counts; bleu takes all together."
    )
    threshold: Annotated[Number, Field(ge=0, le=1)] = Field(
        default=_HALF, description="The least similarity, 0 to 1, that passes."
    )
    tokenize: Tokenizer | None = Field(
        default=None,
        description="How bleu finds words, as sacrebleu names it: 13a (the default), intl, char, "
        "zh, none.",
    )

    @model_validator(mode="after")
    def _words_are_for_bleu(self) -> "SimilarityScorer":
        if self.tokenize is not None and self.metric != "bleu":
            raise ValueError(f'tokenize goes with metric = "bleu", not with "{self.metric}"')
        return self

    @classmethod
    def asks(cls, table: Mapping[str, object]) -> Asks | None:
        """Return that vectors come from the embedding."""
        return EMBEDDING if table.get("metric") == EMBEDDING else None

    def judges_named(self) -> tuple[str, ...]:
        """Return the suite's embedding, where it asks that."""
        return (EMBEDDING,) if self.asks_judge else ()

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with texts to compare; of an embedding as its question is made of."""
        settled = with_texts(settings)
        return compared(settled) if cls.asks(settings) else settled
