"""The requests of a consignment, in a file while they are sent: they need no memory."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import suppress

from tui_eval.model.json import JsonObject
from tui_eval.providers.bulk.api import BulkRequest, custom_id
from tui_eval.providers.bulk.spooling import not_written


class RequestFile:
    """Written once, read as often as it is sent, gone once it is closed."""

    def __init__(self, token: str) -> None:
        """Make an empty one.

        Args:
            token: The consignment's.

        Raises:
            BulkError: there is no room for it.
        """
        self._token = token
        try:
            self._file = tempfile.TemporaryFile("w+", encoding="ascii")  # noqa: SIM115 - see close
        except OSError as error:
            raise not_written(error) from error
        self.count = 0
        """How many requests it has."""

    def close(self) -> None:
        """Remove it."""
        with suppress(OSError):  # what there was no room for is thrown away with the rest
            self._file.close()

    def add(self, ordinal: int, body: JsonObject) -> None:
        """Put a request after the others.

        Raises:
            BulkError: the disk takes no more.
        """
        try:
            self._file.write(json.dumps([ordinal, body]) + "\n")
        except OSError as error:
            raise not_written(error) from error
        self.count += 1

    def __iter__(self) -> Iterator[BulkRequest]:
        """Yield the requests in their order, from the first."""
        self._file.seek(0)
        for line in self._file:
            ordinal, body = json.loads(line)
            yield BulkRequest(custom_id(self._token, ordinal), body)
