"""OpenAI's batch API, which Groq and others have too: a file is uploaded, then a batch is begun.

Fields and states: "Files" and "Batch" of OpenAI's API reference, "Batch API" of its guides (limits:
50,000 requests, 200 MB, 24 h), and "Batch Processing" of Groq's documentation.
"""

import re
from collections.abc import AsyncGenerator, Iterable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.model.visible import visible_line
from tui_eval.providers import patience
from tui_eval.providers.answers import tokens_counted
from tui_eval.providers.bulk.api import (
    BulkError,
    BulkLimits,
    BulkLine,
    BulkRequest,
    BulkState,
    BulkStatus,
    SoughtConsignment,
    StrayLine,
)
from tui_eval.providers.bulk.batch_list import cancelled, newest_first
from tui_eval.providers.bulk.connected_batches import ConnectedBatches
from tui_eval.providers.bulk.connection import BulkPlace, in_path, never_taken, no_batch_api
from tui_eval.providers.bulk.openai_connection import OpenAiConnection
from tui_eval.providers.bulk.openai_lines import (
    PATHS,
    REPLIES,
    CallForm,
    openai_line,
)
from tui_eval.providers.bulk.settling import found_for_certain
from tui_eval.providers.bulk.spooling import BulkFraming, SpooledConsignment, spooled

MARK: Final = "tui_eval"
"""The field of a batch's metadata that its token stands in."""

_STATES: Final = {
    "validating": BulkState.UNDER_WAY,
    "in_progress": BulkState.UNDER_WAY,
    "finalizing": BulkState.UNDER_WAY,
    "cancelling": BulkState.UNDER_WAY,
    "completed": BulkState.ENDED,
    "expired": BulkState.EXPIRED,
    "cancelled": BulkState.CANCELLED,
    "failed": BulkState.FAILED,
}
_RESULTS: Final = ("output_file_id", "error_file_id")
_CLOCKS: Final = timedelta(days=1)
"""How much a provider's clock may be behind ours; what is older is not looked through."""
_NO_ROOM: Final = re.compile(r"token_limit_exceeded|enqueued[ _-]?token", re.IGNORECASE)
_SHOWN: Final = 3
"""Mistakes of a consignment that are told."""


class OpenAiBatches(ConnectedBatches[OpenAiConnection]):
    """A `BulkApi` for one kind of calls at one address."""

    limits: BulkLimits = BulkLimits(requests=50_000, megabytes=200)

    def __init__(self, place: BulkPlace, form: CallForm = "chat") -> None:
        """Describe it; cheap, nothing is opened yet.

        Args:
            place: Where it is.
            form: Which API the requests are for: all of a consignment for one.
        """
        super().__init__(OpenAiConnection(place), REPLIES[form], place.settle_s)
        self._form = form

    def encoded(self, request: BulkRequest) -> bytes | Failure:
        """Return a request's line."""
        return openai_line(request, self._form)

    async def send(self, token: str, requests: Iterable[BulkRequest]) -> BulkStatus:
        """Upload a file, and have its batch begun; see `BulkApi`.

        A file whose batch was not begun stays with the provider, where it does nothing.
        """
        async with spooled(requests, self.encoded, self.limits, BulkFraming()) as spool:
            file_id = await self._uploaded(_file_name(token), spool)
        asked: JsonObject = {
            "input_file_id": file_id,
            "endpoint": PATHS[self._form],
            "completion_window": "24h",
            "metadata": {MARK: token},
        }
        try:
            return self._status(await self._connection.post("/batches", asked))
        except BulkError as error:
            failure = error.failure
            if _NO_ROOM.search(failure.message):
                failure = replace(failure, kind="no_room", retryable=True, fatal=False)
            raise BulkError(failure, unsettled=not never_taken(failure)) from error

    async def _uploaded(self, name: str, spool: SpooledConsignment) -> str:
        try:
            told = await self._connection.upload_file(name, spool)
        except BulkError as error:
            raise BulkError(no_batch_api(error.failure)) from error
        return self._connection.id_in(told)

    async def find(self, sought: SoughtConsignment) -> BulkStatus | None:
        """Look through the provider's list for the token; see `BulkApi`."""
        return await found_for_certain(lambda: self._found(sought), sought, self._settle_s)

    async def _found(self, sought: SoughtConsignment) -> BulkStatus | None:
        oldest: BulkStatus | None = None
        async for batch in newest_first(
            self._connection, "/batches", "after", sought.since - _CLOCKS, _time
        ):
            if batch.get("id") not in sought.others and await self._has_token(batch, sought):
                # of two the later was sent by mistake: what the earlier did counts
                oldest = self._status(batch)
        return oldest

    async def _has_token(self, batch: JsonObject, sought: SoughtConsignment) -> bool:
        """Return whether a batch is the sought one; where metadata is not kept, by its file."""
        metadata = batch.get("metadata")
        if isinstance(metadata, dict) and metadata:
            return metadata.get(MARK) == sought.token
        # counts are not trusted here: they are 0 while it is validated, and a wrong one costs twice
        if not batch.get("input_file_id"):
            return False  # it was not begun from a file
        file_id = self._connection.id_in(batch, "input_file_id")
        try:
            file = await self._connection.get_in_a_row(f"/files/{in_path(file_id)}")
        except BulkError as error:
            if error.failure.status in (400, 404):
                return False  # it was deleted: ours is not, as long as nobody took its results
            raise
        return file.get("filename") == _file_name(sought.token)

    async def look(self, provider_id: str) -> BulkStatus:
        """Ask for a batch; see `BulkApi`."""
        return self._status(await self._batch(provider_id))

    async def _batch(self, provider_id: str) -> JsonObject:
        return await self._connection.get(f"/batches/{in_path(provider_id)}")

    async def results(self, provider_id: str) -> AsyncGenerator[BulkLine | StrayLine, None]:
        """Stream the file of outputs, then that of errors; see `BulkApi`."""
        batch = await self._batch(provider_id)
        for name in _RESULTS:
            if not batch.get(name):
                continue
            file_id = self._connection.id_in(batch, name)
            async for line in self._reader.lines(self._connection.stream(file_id), file_id):
                yield line

    async def cancel(self, provider_id: str) -> None:
        """Cancel a batch; see `BulkApi`."""
        await cancelled(
            self._connection, f"/batches/{in_path(provider_id)}", lambda: self.look(provider_id)
        )

    def _status(self, batch: JsonObject) -> BulkStatus:
        total, done, failed = _counts(batch).values()
        counted = bool(total) and done is not None and failed is not None  # 0 while it is validated
        found = batch.get("status")
        state = _STATES.get(found.lower()) if isinstance(found, str) else None
        if state is None:
            all_done = counted and (done or 0) + (failed or 0) >= (total or 0)
            ended = all_done and any(batch.get(name) for name in _RESULTS)
            ends_by = _time(batch.get("expires_at"))
            state = (
                BulkState.ENDED
                if ended
                else self._connection.unknown_state(found, ends_by, "status")
            )
        return BulkStatus(
            self._connection.id_in(batch),
            state,
            requests=total or None,
            done=(done or 0) + (failed or 0) if counted else None,
            ends_by=_time(batch.get("expires_at")),
            problem=self._problem(batch) if state is BulkState.FAILED else None,
        )

    def _problem(self, batch: JsonObject) -> Failure:
        errors = batch.get("errors")
        rows = errors.get("data") if isinstance(errors, dict) else errors
        mistakes = [row for row in rows if isinstance(row, dict)] if isinstance(rows, list) else []
        said = "; ".join(map(_mistake, mistakes[:_SHOWN])) or "it does not say why"
        more = len(mistakes) - _SHOWN
        told = f"{self._connection.where.host} refused the batch: {said}"
        told = visible_line(told + (f"; and {more} more" if more > 0 else ""), 600)
        codes = " ".join(str(row.get("code")) for row in mistakes)
        if _NO_ROOM.search(f"{codes} {said}"):
            return Failure("no_room", told, retryable=True)
        # what the same words would mean that refuse a single call
        text = f"{codes} {said}".encode()
        meant = patience.of_status(400, {}, text, self._connection.where)
        return Failure(meant.kind, told, retryable=False, fatal=meant.fatal)


def _counts(batch: JsonObject) -> dict[str, int | None]:
    counts = batch.get("request_counts")
    told = counts if isinstance(counts, dict) else {}
    return {name: tokens_counted(told.get(name)) for name in ("total", "completed", "failed")}


def _mistake(row: JsonObject) -> str:
    line, said = row.get("line"), row.get("message") or row.get("code")
    return f"line {line}: {said}" if isinstance(line, int) else str(said)


def _file_name(token: str) -> str:
    return f"tui-eval-{token}.jsonl"


def _time(seconds: Json) -> datetime | None:
    """Return a time that is given in seconds since 1970; None: it is none."""
    if isinstance(seconds, bool) or not isinstance(seconds, int | float):
        return None
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return None
