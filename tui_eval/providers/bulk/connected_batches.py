"""What all batch APIs have in common that are asked over a connection."""

from collections.abc import AsyncGenerator
from types import TracebackType
from typing import Generic, Self, TypeVar

from tui_eval.providers.bulk.api import BulkLine, StrayLine
from tui_eval.providers.bulk.connection import BulkConnection
from tui_eval.providers.bulk.result_lines import ReadReply, ResultReader

C = TypeVar("C", bound=BulkConnection)


class ConnectedBatches(Generic[C]):
    """Holds a connection and what reads results, both open while it is."""

    def __init__(self, connection: C, read: ReadReply, settle_s: float) -> None:
        """Describe it; cheap, nothing is opened yet.

        Args:
            connection: To the provider.
            read: Reads what came for a request.
            settle_s: Seconds after which the provider lists a consignment that it took.
        """
        self._connection = connection
        self._reader = ResultReader(read, connection.where)
        self._settle_s = settle_s

    async def news(self, provider_id: str) -> AsyncGenerator[BulkLine | StrayLine, None]:
        """Stream nothing: there are no results before the end; see `BulkApi`."""
        nothing: tuple[BulkLine, ...] = ()
        for line in nothing:
            yield line

    async def __aenter__(self) -> Self:
        """Open its connection."""
        await self._connection.__aenter__()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close it."""
        self._reader.close()
        await self._connection.__aexit__(kind, error, trace)
