"""A consignment on its way: encoded, a few requests at a time, into a file without a name."""

import asyncio
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from itertools import islice
from typing import IO, Final

from tui_eval.model.outputs.output import Failure
from tui_eval.providers.bulk.api import BulkError, BulkLimits, BulkRequest

_HANDFUL: Final = 64
"""Requests that are encoded before others of the loop have their turn."""
_PART: Final = 256 * 1024
"""Bytes that are read of it at once."""


@dataclass(frozen=True, slots=True)
class BulkFraming:
    """What stands around the requests of a consignment."""

    head: bytes = b""
    between: bytes = b"\n"
    tail: bytes = b"\n"


class SpooledConsignment:
    """The bytes of a consignment, as they are sent."""

    def __init__(self, file: IO[bytes], requests: int, size: int) -> None:
        """Keep a file that is written; `spooled` makes one."""
        self._file = file
        self.requests = requests
        self.size = size
        """Bytes, framing included."""

    def rewound(self) -> IO[bytes]:
        """Return the file, at its beginning."""
        self._file.seek(0)
        return self._file

    async def parts(self) -> AsyncIterator[bytes]:
        """Yield it from its beginning; may be asked for again."""
        await asyncio.to_thread(self._file.seek, 0)
        while part := await asyncio.to_thread(self._file.read, _PART):
            yield part


@asynccontextmanager
async def spooled(
    requests: Iterable[BulkRequest],
    encoded: Callable[[BulkRequest], bytes | Failure],
    limits: BulkLimits,
    framing: BulkFraming,
) -> AsyncIterator[SpooledConsignment]:
    """Write a consignment down; the file is gone afterwards, also after a kill.

    Args:
        requests: Taken a few at a time, on the loop.
        encoded: See `BulkApi.encoded`.
        limits: What it may come to.
        framing: What is written around the requests.

    Raises:
        BulkError: a request cannot be sent, there are more than may be, or none; or there is no
            room on the disk.
    """
    try:
        with tempfile.TemporaryFile(prefix="tui-eval-bulk-") as file:
            count, size = await _written(file, requests, encoded, limits, framing)
            yield SpooledConsignment(file, count, size)
    except OSError as error:
        raise not_written(error) from error


def not_written(error: OSError) -> BulkError:
    """Return what is raised where requests cannot be put into a temporary file."""
    told = f"the requests cannot be written to a temporary file: {error.strerror or error}"
    return BulkError(Failure("disk", f"{told}; make room there, or name another folder in TMPDIR"))


async def _written(
    file: IO[bytes],
    requests: Iterable[BulkRequest],
    encoded: Callable[[BulkRequest], bytes | Failure],
    limits: BulkLimits,
    framing: BulkFraming,
) -> tuple[int, int]:
    """Write all, and return how many requests and bytes that were."""
    waiting = iter(requests)
    count, size = 0, file.write(framing.head)
    while handful := [*islice(waiting, _HANDFUL)]:
        lines = []
        for request in handful:
            line = encoded(request)
            if isinstance(line, Failure):
                raise BulkError(line)
            lines.append(line)
        text = framing.between.join(lines)
        if count:
            text = framing.between + text
        count, size = count + len(lines), size + len(text)
        if count > limits.requests or size > limits.megabytes * 10**6:
            what = f"{limits.requests:,} requests and {limits.megabytes} MB"
            raise BulkError(Failure("bad_request", f"a consignment holds at most {what}"))
        await asyncio.to_thread(file.write, text)
    if not count:
        raise BulkError(Failure("bad_request", "a consignment holds at least one request"))
    size += file.write(framing.tail)
    await asyncio.to_thread(file.flush)
    return count, size
