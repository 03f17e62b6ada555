"""The scorer of mathematical equality: `math`."""

from typing import Literal

from pydantic import Field

from tui_eval.model.json import JsonObject
from tui_eval.suites.scorers.expected import EXPECTED, Texts, with_texts
from tui_eval.suites.scorers.scorer import Scorer


class MathScorer(Scorer):
    """The answer is mathematically equal to what is expected."""

    kind: Literal["math"]
    expected: Texts = Field(description=f"{EXPECTED} LaTeX or plain; of a list any will do.")

    @classmethod
    def settle(cls, settings: JsonObject) -> JsonObject:
        """Return settings with the expected values as texts."""
        return with_texts(settings)
