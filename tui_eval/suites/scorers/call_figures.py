"""Scorers of what the call took and how it ended: `latency`, `tokens`, `cost`, `finish`."""

from typing import Annotated, ClassVar, Final, Literal

from pydantic import Field, StrictInt, field_validator

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.finish import Ending, ending
from tui_eval.suites.scorers.expected import Texts, expected_texts, with_texts
from tui_eval.suites.scorers.scorer import Number, Scorer
from tui_eval.suites.scorers.setting_error import SettingError
from tui_eval.texts.wording import quoted

FINISHES: Final = ("stop", "length", "tool_calls", "content_filter", "limit:wall")
"""The finish reasons that an answer may have."""


class _FigureScorer(Scorer):
    """A scorer of what the call took, not of what it said."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ()

    @field_validator("of")
    @classmethod
    def _has_no_parts(cls, of: str) -> str:
        if of != "text":
            raise ValueError("this kind looks at the call, not at a part of its text: leave it out")
        return of


class LatencyScorer(_FigureScorer):
    """The call was quick enough."""

    kind: Literal["latency"]
    max: Annotated[Number, Field(gt=0, allow_inf_nan=False)] = Field(
        description="The most seconds the call itself may take, without any waiting before it."
    )


class TokensScorer(_FigureScorer):
    """The call took few enough tokens."""

    kind: Literal["tokens"]
    max: Annotated[StrictInt, Field(ge=0)] = Field(description="The most tokens.")
    which: Literal["output", "input", "total"] = Field(
        default="output", description="Tokens produced (reasoning included), read, or both."
    )


class CostScorer(_FigureScorer):
    """The call cost little enough."""

    kind: Literal["cost"]
    max: Annotated[Number, Field(ge=0, allow_inf_nan=False)] = Field(
        description="The most US dollars one output may cost."
    )


class FinishScorer(_FigureScorer):
    """The output ended for an expected reason."""

    TEMPLATED: ClassVar[tuple[str, ...]] = ("expected",)

    kind: Literal["finish"]
    expected: Texts = Field(
        default="stop",
        description="The finish reason, or several of which any will do: stop, length, "
        "tool_calls, content_filter or what the endpoint says.",
    )

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with the finish reasons as texts."""
        return with_texts(settings)

    def see_that_it_asks_something(self) -> None:
        """See that there are such finish reasons."""
        settings = self.own_settings()
        for word in () if self.templates_in(settings) else expected_texts(settings):
            if not word.strip() or ending(word) is Ending.UNKNOWN:
                raise SettingError(
                    f"expected {quoted(word)} is no finish reason: there are {', '.join(FINISHES)}"
                )
