"""Where the requests of consignments are from, and where what comes of them goes."""

from collections.abc import Sequence
from typing import Protocol

from tui_eval.engine.bulk.request_file import RequestFile
from tui_eval.engine.bulk.result_lines import LineCounts
from tui_eval.providers.bulk.api import BulkApi, BulkLine, StrayLine
from tui_eval.store.read.consignment_queries import ConsignmentRow
from tui_eval.store.tx import Tx


class ConsignmentHome(Protocol):
    """Knows what the requests of consignments are about: trials of a target, calls of a judge.

    Forming, sending and following need no more of them. Whatever is brought twice counts once.
    """

    @property
    def ready(self) -> bool:
        """Whether something can be done about a further consignment now."""

    async def form(self, api: BulkApi, most: int) -> tuple[ConsignmentRow, RequestFile] | None:
        """Write down the next consignment; None: there was nothing to ask, or no room for it.

        Whoever gets the file closes it.

        Args:
            api: Where it is to be sent.
            most: How many requests it may have.

        Raises:
            BulkError: there is no room for the requests on this machine.
        """

    async def again(self, row: ConsignmentRow, api: BulkApi) -> RequestFile:
        """Return the requests of a consignment that was written down and perhaps never sent.

        Those that nobody waits for are withdrawn. Whoever gets the file closes it.

        Raises:
            BulkError: there is no room for the requests on this machine.
        """

    async def take(
        self, row: ConsignmentRow, lines: Sequence[BulkLine | StrayLine], seen: LineCounts
    ) -> bool:
        """Write down what came of some lines; return whether outputs are left to be scored."""

    def settle(self, row: ConsignmentRow, tx: Tx) -> bool:
        """Write down what is left to be written as a consignment is closed, with that.

        Returns:
            Whether outputs that waited for it can be scored from then on.
        """

    async def never_came(self, row: ConsignmentRow) -> None:
        """Write down of all requests without a line that the results have none for them."""

    async def give_back(self, row: ConsignmentRow) -> None:
        """Let what a consignment holds be asked again: nothing comes of it."""


class RequestSource(Protocol):
    """What is to be asked, as far as it is read."""

    @property
    def at_end(self) -> bool:
        """Whether everything open has been handed out, as far as the store was read."""

    def __len__(self) -> int:
        """How much is read and not handed out."""

    async def refill(self, size: int) -> None:
        """Read up to so many further ones."""

    def rewind(self) -> None:
        """Read from the beginning: something that was passed may be open now."""

    def drop_withdrawn(self) -> None:
        """Forget what a person took away."""

    def forget(self) -> None:
        """Forget what was read ahead."""
