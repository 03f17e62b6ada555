"""The newest reading of what a Compare screen compares."""

import asyncio

from tui_eval.reports.comparison.comparison import By
from tui_eval.ui.compare.comparison_reading import (
    CannotCompareError,
    ComparedSides,
    NoCommonColumnsError,
    ReadComparison,
    read_comparison,
    stamps,
)
from tui_eval.ui.store_access.store_client import StoreClient


class ComparisonReader:
    """Reads a comparison, one reading at a time; what was read last stays until the next is."""

    def __init__(self, client: StoreClient, sides: ComparedSides) -> None:
        self._client = client
        self._reading = asyncio.Lock()
        self.sides = sides
        """What is to be compared."""
        self.by: By | None = None
        """What it is to be grouped by; None: nothing."""
        self.found: ReadComparison | None = None
        """The newest; None: nothing has been read yet."""
        self.problem: str | None = None
        """Why there is none newer; None: there was no need."""

    @property
    def busy(self) -> bool:
        """Whether something is being read."""
        return self._reading.locked()

    async def read(self) -> None:
        """Read what is wanted as of now.

        Raises:
            NoCommonColumnsError: a person must say first which columns belong together.
        """
        async with self._reading:
            wanted = None
            while wanted != (self.sides, self.by):  # it may be another by the time it is read
                wanted = self.sides, self.by
                try:
                    found = await self._client.ponder(read_comparison, *wanted)
                except NoCommonColumnsError:
                    raise
                except CannotCompareError as error:
                    self.problem = str(error)
                else:
                    self.found, self.problem = found, None

    def keep(self) -> None:
        """Want no other than what was read last."""
        if self.found is not None:
            self.sides, self.problem = self.found.sides, None

    async def outdated(self) -> bool:
        """Return whether a side may have changed since it was read."""
        if self.found is None or self.busy:
            return False
        return await self._client.read(stamps, self.sides) != self.found.stamps
