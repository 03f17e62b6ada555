"""What the scorers of a suite expect of a case's output, as texts to show beside it."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tui_eval.model.json import Json

if TYPE_CHECKING:
    from tui_eval.scoring.check import Check

_HOW = {
    "includes": "to contain",
    "starts_with": "to begin with",
    "regex": "to match",
    "finish": "to finish with",
}
"""How a scorer of a kind expects, where it is not the whole output that is meant."""
_EXPECTED = "expected "
_CAME = (", got ", ", found ")


@dataclass(frozen=True, slots=True)
class ExpectedValue:
    """What one scorer expects of a case's output; foreign."""

    scorer: str
    how: str
    """`to contain`, `to match`; empty: it is the output that is compared."""
    texts: tuple[str, ...]
    """Any of them."""
    reference: bool = False
    """Whether it is what a judge compares the output with."""

    @property
    def literal(self) -> bool:
        """Whether its texts are what an output may say: no pattern, no finish reason."""
        return self.how not in (_HOW["regex"], _HOW["finish"])


def expected_values(checks: "Sequence[Check]") -> list[ExpectedValue]:
    """Return what these checks expect; without those that expect nothing in words."""
    given = []
    for check in checks:
        wanted = check.settings.get("expected", check.settings.get("reference"))
        if wanted is not None and not check.negate:
            texts = tuple(_text(one) for one in (wanted if isinstance(wanted, list) else [wanted]))
            how = _HOW.get(check.kind, "")
            given.append(ExpectedValue(check.name, how, texts, "expected" not in check.settings))
    return given


def _text(value: Json) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def parted(reason: str) -> tuple[str, str]:
    """Part a reason into what was expected and what came: `expected 18` and `got 21`.

    Args:
        reason: What a scorer says; foreign. Of another kind it is all in the second part.
    """
    if reason.startswith(_EXPECTED):
        quoted = False
        for at, letter in enumerate(reason):
            quoted = quoted != (letter == '"')
            if letter == "," and not quoted and reason.startswith(_CAME, at):
                return reason[:at], reason[at + 2 :]
    return "", reason
