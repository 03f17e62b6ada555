"""What lines of results are, whatever their requests are about."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.bulk.api import BulkLine, StrayLine, token_and_ordinal
from tui_eval.store.read.figures.call_spending import NO_LINE

ASKED_AGAIN: Final = 2
"""How often a request that the provider never did is asked again."""
MISSING: Final = Failure(NO_LINE, "the provider's results have no line for this request")
TWO: Final = b"two"
"""What stands for the digest of a line where there were two that differ."""


@dataclass(slots=True)
class LineCounts:
    """What the lines of one consignment's results were, read from the first to the last."""

    came: int
    """Requests that a line came for, in this reading or before."""
    unknown: int = 0
    """Those that name none of its requests, or nothing at all."""


def two_answers(first: Output | Failure) -> Failure:
    """Return what becomes of a request with two answers: neither counts, and it was paid.

    Args:
        first: What came first for it, with what it cost.
    """
    return Failure(
        "bad_answer",
        "the provider's results have two different answers to this request",
        usage=first.usage,
        cost_usd=first.cost_usd,
        estimate=first.estimate,
    )


def by_ordinal(
    lines: Iterable[BulkLine | StrayLine], token: str, seen: LineCounts
) -> dict[int, list[BulkLine]]:
    """Return lines by the ordinal of their request, and count those that are nobody's.

    Args:
        lines: The lines.
        token: The consignment's.
        seen: Is added to.
    """
    found: dict[int, list[BulkLine]] = {}
    for line in lines:
        named = token_and_ordinal(line.custom_id) if isinstance(line, BulkLine) else None
        if not isinstance(line, BulkLine) or named is None or named[0] != token:
            seen.unknown += 1
        else:
            found.setdefault(named[1], []).append(line)
    return found
