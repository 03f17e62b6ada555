"""What a call that went out in bulk says of the consignment that it went with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tui_eval.store.text import unpack

COLUMNS: Final = "k.number, k.provider_id, k.state, k.problem"
"""The columns (SQL) of a consignment `k` that `sent_in_bulk` reads."""


@dataclass(frozen=True, slots=True)
class SentInBulk:
    """The consignment of a call, and what became of it."""

    number: int
    """Of the target's or judge's in its run, from 1."""
    provider_id: str | None
    """What the provider calls it; None: nobody knows that the provider has it."""
    state: str
    """See `ConsignmentRow.state`."""
    problem: str | None

    @property
    def refused(self) -> bool:
        """Whether the provider took none of it."""
        return self.state == "failed"

    @property
    def words(self) -> str:
        """Which consignment it is, and where that is; may be foreign."""
        named = f"in bulk: consignment {self.number}"
        if self.refused or self.state == "lost":
            how = "refused by the provider" if self.refused else "lost by the provider"
            which = "" if self.provider_id is None else f" ({self.provider_id})"
            why = "" if self.problem is None else f": {self.problem}"
            return f"{named}, {how}{which}{why}"
        return named if self.provider_id is None else f"{named}, {self.provider_id} at the provider"


def sent_in_bulk(row: Sequence[Any]) -> SentInBulk | None:
    """Return the consignment of a call from its `COLUMNS`; None: it was a call of its own."""
    number, provider_id, state, problem = row
    if number is None:
        return None
    return SentInBulk(number, unpack(provider_id), state, unpack(problem))
