"""A model asked through its provider's batch API."""

from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import Final

from tui_eval.format import folder_endpoint
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.bulk.anthropic_batches import AnthropicBatches
from tui_eval.providers.bulk.api import BulkApi, BulkLimits
from tui_eval.providers.bulk.connection import BulkPlace
from tui_eval.providers.bulk.openai_batches import OpenAiBatches
from tui_eval.providers.bulk.request_files import RequestFiles
from tui_eval.providers.errors import UnavailableError
from tui_eval.providers.prices import FREE
from tui_eval.suites.data.attachments import Attachments
from tui_eval.suites.spec import BulkEndpointSpec
from tui_eval.suites.spec.asked.bulk import BulkDialect, BulkSpec, bulk_dialect
from tui_eval.suites.spec.asked.model_endpoint import Api
from tui_eval.targets.bulk_access import BulkAccess, MostTaken, with_bulk_price
from tui_eval.targets.model.endpoint_connection import EndpointConnection
from tui_eval.targets.model.request_files import with_files

SETTLE_S = 20.0
"""Seconds after which a provider lists a batch that it took: whoever looks for one waits so long
before it says that there is none."""


class ModelBulk(BulkAccess):
    """Sends what a model would be asked alone, many requests at once."""

    def __init__(
        self,
        spec: BulkEndpointSpec,
        settings: BulkSpec,
        connection: EndpointConnection,
        files: Attachments | None,
        folder: Path,
    ) -> None:
        """Describe it; cheap, nothing is opened yet.

        Args:
            spec: The target, or the judge.
            settings: What it says of asking in bulk.
            connection: Where it asks.
            files: Those that its messages name; None: they name none.
            folder: The suite's own.
        """
        self._folder = folder
        self.wanted = BulkLimits(settings.size, settings.megabytes)
        self._spec = spec
        self._settings = settings
        self._connection = connection
        self._files = files
        self._prices = spec.bulk_prices()

    @property
    def _dialect(self) -> BulkDialect:
        spec = self._spec
        dialect = bulk_dialect(spec.provider, spec.base_url, self._settings.api)
        assert dialect is not None, "the suite was checked"
        return dialect

    def sent_to(self, endpoint: str) -> str:
        """Return where consignments go: a folder, or where single calls go."""
        if self._dialect != "files":
            return endpoint
        return folder_endpoint(str(self._folder / self._settings.folder))

    def open(self) -> AbstractAsyncContextManager[BulkApi]:
        """Return the API, which is to be opened.

        Raises:
            UnavailableError: its key is not set, or its folder is none of the suite's.
        """
        return DIALECTS[self._dialect](self)

    def place(self) -> BulkPlace:
        """Return where the API is, with the key that it is sent.

        Raises:
            UnavailableError: the key is not set.
        """
        where = self._connection.address
        assert where.base_url is not None, "an embedded model is not asked in bulk"
        return BulkPlace(where.base_url, self._connection.key(), where.api_key_env, SETTLE_S)

    @property
    def form(self) -> Api:
        """Which API its requests are for."""
        return self._spec.api

    def folder(self) -> Path:
        """Return the folder for files of requests and of results.

        Raises:
            UnavailableError: a link leads out of the suite's own folder.
        """
        found = self._folder / self._settings.folder
        if not found.resolve().is_relative_to(self._folder.resolve()):
            raise UnavailableError(
                f"{self._spec.WHAT} {self._spec.name!r}: "
                f"bulk.folder leads out of the suite's folder: {found}"
            )
        return found

    async def body(self, request: JsonObject) -> JsonObject | Failure:
        """Return the request with the bytes of the files that it names."""
        if self._files is None:
            return request
        return await with_files(request, self._files, self._spec.api)

    def priced(self, reply: Output | Failure) -> Output | Failure:
        """Return what came back with what it cost."""
        return with_bulk_price(reply, self._prices)

    def heard(self, failure: Failure) -> None:
        """Learn what was refused; a target's further requests are the same."""

    def most(self, size: int) -> MostTaken:
        """Return what a request takes at most: a token a byte, and the whole of its answer.

        A token has one byte at least (byte-level BPE); with most texts it has four.
        """
        free = self._prices is not None and self._prices.prices == FREE
        answer = self._spec.output_limit()
        if answer is None:
            return MostTaken(0.0 if free else None, None)
        usd = None if self._prices is None else self._prices.prices.about(size, answer)
        return MostTaken(0.0 if free else usd, size + answer)


DIALECTS: Final[
    Mapping[BulkDialect, Callable[[ModelBulk], AbstractAsyncContextManager[BulkApi]]]
] = {
    "openai": lambda of: OpenAiBatches(of.place(), of.form),
    "anthropic": lambda of: AnthropicBatches(of.place()),
    "files": lambda of: RequestFiles(of.folder(), of.form),
}
"""How each batch API is opened."""
