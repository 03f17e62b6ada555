"""What whoever sends and follows a consignment needs of its pool."""

from typing import Protocol

from tui_eval.engine.departure import Departure
from tui_eval.model.outputs.output import Failure


class BulkHost(Protocol):
    """Says whether things may begin, and lets consignments rest between two looks."""

    @property
    def leaving(self) -> bool:
        """Whether nothing new is to begin: the engine leaves."""

    @property
    def has_room(self) -> bool:
        """Whether caps still have room for what is put together: they may have been lowered."""

    async def rest(self, consignment: int, seconds: float) -> None:
        """Wait so long, or until the engine leaves; what rests is no work."""

    async def until_open(self, consignment: int) -> None:
        """Rest until the run goes on, where it pauses, or until the engine leaves."""

    async def pause(self, seconds: float) -> None:
        """Wait so long, or until the engine leaves, as part of work: it does not leave for that."""

    def had_room(self) -> None:
        """Learn that the provider has done a consignment: more may be sent at once again."""

    def no_room(self, requests: int, failure: Failure) -> None:
        """Learn that the provider has no room for a consignment of so many requests just now."""

    def to_score(self) -> None:
        """Learn that outputs in the store wait to be scored."""

    def leave(self, why: Departure) -> None:
        """Learn that the run cannot go on."""
