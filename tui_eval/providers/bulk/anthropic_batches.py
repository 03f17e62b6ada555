"""Anthropic's Message Batches API: all requests in one body, all results in one file.

Fields and states: "Message Batches" of Anthropic's API reference, "Batch processing" of its guides
(limits: 100,000 requests, 256 MB, 24 h; results are kept 29 days).

A batch takes no name and no metadata, its list shows no id of a request, and there are no results
before it has ended. So a consignment whose creation was not answered cannot be told from others of
the same time and size while they are under way; what is done about it stands at `find`.
"""

import json
from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Final

from tui_eval.model.json import Json, JsonObject, compact
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers import patience
from tui_eval.providers.answers import tokens_counted
from tui_eval.providers.bulk.anthropic_messages import message_output, messages_params
from tui_eval.providers.bulk.api import (
    BulkError,
    BulkLimits,
    BulkLine,
    BulkRequest,
    BulkState,
    BulkStatus,
    SoughtConsignment,
    StrayLine,
    token_and_ordinal,
)
from tui_eval.providers.bulk.batch_list import cancelled, newest_first
from tui_eval.providers.bulk.connected_batches import ConnectedBatches
from tui_eval.providers.bulk.connection import (
    BulkConnection,
    BulkPlace,
    in_path,
    never_taken,
    no_batch_api,
)
from tui_eval.providers.bulk.openai_lines import undone
from tui_eval.providers.bulk.result_lines import without_names
from tui_eval.providers.bulk.settling import found_for_certain
from tui_eval.providers.bulk.spooling import BulkFraming, spooled
from tui_eval.providers.patience import EndpointIdentity

_VERSION: Final = "2023-06-01"
_PATH: Final = "/messages/batches"
_CLOCKS: Final = timedelta(hours=2)
"""How much the provider's clock may be behind ours."""
_NEAR: Final = timedelta(minutes=1)
"""How much it may be off where a batch's size says that it is another."""
_LATE: Final = timedelta(minutes=10)
"""How long after its end a batch's results may not be there yet."""
_TELLING: Final = 200
"""Lines of results by which it is known whose they are: some may name nobody's request."""
_AGAIN_S: Final = 60.0
"""Seconds after which it may be known which batch a consignment became."""
_FRAMING: Final = BulkFraming(b'{"requests":[', b",", b"]}")
_COUNTS: Final = ("processing", "succeeded", "errored", "canceled", "expired")
_STATUSES: Final = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "api_error": 500,
    "timeout_error": 504,
    "overloaded_error": 529,
}
"""The HTTP status with which single calls meet each type of error ("Errors" of the reference)."""
_written = compact()


class AnthropicBatches(ConnectedBatches[BulkConnection]):
    """A `BulkApi` whose requests are bodies of the chat API, as single calls have them."""

    limits: BulkLimits = BulkLimits(requests=100_000, megabytes=256)

    def __init__(self, place: BulkPlace) -> None:
        """Describe it; cheap, nothing is opened yet."""
        key = {"x-api-key": place.api_key, "anthropic-version": _VERSION}
        super().__init__(BulkConnection(place, key), anthropic_reply, place.settle_s)

    def encoded(self, request: BulkRequest) -> bytes | Failure:
        """Return a request as it stands in the body, or what the Messages API cannot be asked."""
        params = messages_params(request.body)
        if isinstance(params, Failure):
            return params
        return _written({"custom_id": request.custom_id, "params": params}).encode("ascii")

    async def send(self, token: str, requests: Iterable[BulkRequest]) -> BulkStatus:
        """Have a batch begun; see `BulkApi`."""
        async with spooled(requests, self.encoded, self.limits, _FRAMING) as spool:
            try:
                return self._status(await self._connection.upload(_PATH, spool))
            except BulkError as error:
                failure = no_batch_api(error.failure)
                raise BulkError(failure, unsettled=not never_taken(failure)) from error

    async def find(self, sought: SoughtConsignment) -> BulkStatus | None:
        """Look for the batch that a consignment became.

        It may be one that is not known as another and was created while it was being sent (two
        hours are allowed for clocks). Of those that have ended the results say whose they are. Of
        those under way it may be one that holds as many requests, or does not say how many, or was
        created within a minute of that time: counts may be wrong. As long as none of those that
        have ended is it and such are under way, nobody can tell; then the consignment is not sent
        again, as it would be paid twice. That lasts until those end: minutes as a rule, at most the
        24 h after which they expire.

        Raises:
            BulkError: `unsettled`, of kind `not_yet_known`: so it is.
        """
        return await found_for_certain(lambda: self._found(sought), sought, self._settle_s)

    async def _found(self, sought: SoughtConsignment) -> BulkStatus | None:
        like: list[_Candidate] = []
        unlike: list[_Candidate] = []
        listed = newest_first(self._connection, _PATH, "after_id", sought.since - _CLOCKS, _time)
        async for batch in listed:
            one = _Candidate(self._status(batch), _time(batch.get("created_at")), batch)
            if one.status.id in sought.others or one.is_later(sought):
                continue
            (like if one.status.requests in (sought.requests, 0, None) else unlike).append(one)
        open_ones = 0
        # those of another size are asked only where none of its own is it
        for candidates, counted in ((like, True), (unlike, False)):
            found: BulkStatus | None = None
            for one in candidates:
                if one.status.state is BulkState.UNDER_WAY:
                    open_ones += counted or one.is_near(sought)
                    continue
                ask = partial(self._is_of, one.status.id, sought.token)
                whose = await self._connection.in_a_row(ask)
                if whose:
                    # of two the later was sent by mistake: what the earlier did counts
                    found = one.status
                elif whose is None:
                    open_ones += one.ended_just_now
            if found is not None:
                return found
        if open_ones:
            told = (
                f"{self._connection.where.host} has {open_ones} under way that may be a "
                "consignment whose sending was not answered; which it is can be seen once they "
                "have ended"
            )
            failure = Failure("not_yet_known", told, retryable=True, retry_after_s=_AGAIN_S)
            raise BulkError(failure, unsettled=True)
        return None

    async def _is_of(self, provider_id: str, token: str) -> bool | None:
        """Return whether results of a batch that has ended name a token; None: there are none."""
        read = 0
        try:
            async with aclosing(self.results(provider_id)) as lines:
                async for line in lines:
                    known = (
                        token_and_ordinal(line.custom_id) if isinstance(line, BulkLine) else None
                    )
                    if known is not None and known[0] == token:
                        return True
                    read += 1
                    if read >= _TELLING:
                        return False
        except BulkError as error:
            if error.failure.status not in (400, 404):
                raise
        return False if read else None

    async def look(self, provider_id: str) -> BulkStatus:
        """Ask for a batch; see `BulkApi`."""
        return self._status(await self._connection.get(f"{_PATH}/{in_path(provider_id)}"))

    async def results(self, provider_id: str) -> AsyncGenerator[BulkLine | StrayLine, None]:
        """Stream a batch's results; see `BulkApi`.

        The address that the batch gives for them is not asked, but the one the reference has: an
        answer does not say where the key goes.
        """
        if (await self.look(provider_id)).state is BulkState.UNDER_WAY:
            return
        parts = self._connection.stream(f"{_PATH}/{in_path(provider_id)}/results")
        async for line in self._reader.lines(parts, provider_id):
            yield line

    async def cancel(self, provider_id: str) -> None:
        """Cancel a batch; see `BulkApi`."""
        await cancelled(
            self._connection, f"{_PATH}/{in_path(provider_id)}", lambda: self.look(provider_id)
        )

    def _status(self, batch: JsonObject) -> BulkStatus:
        counts = batch.get("request_counts")
        told = counts if isinstance(counts, dict) else {}
        each = {name: tokens_counted(told.get(name)) for name in _COUNTS}
        known = [count for count in each.values() if count is not None]
        whole = sum(known) if len(known) == len(_COUNTS) else None
        state = self._state(batch, each)
        # while it is under way the other counts are 0, whatever is done
        done = None
        if whole is not None and state is not BulkState.UNDER_WAY:
            done = (each["succeeded"] or 0) + (each["errored"] or 0)
        return BulkStatus(
            self._connection.id_in(batch),
            state,
            requests=whole,
            done=done,
            ends_by=_time(batch.get("expires_at")),
        )

    def _state(self, batch: JsonObject, counts: dict[str, int | None]) -> BulkState:
        status = batch.get("processing_status")
        if status in ("in_progress", "canceling"):
            return BulkState.UNDER_WAY
        if status != "ended" and not batch.get("ended_at"):
            return self._connection.unknown_state(
                status, _time(batch.get("expires_at")), "processing_status"
            )
        if counts["canceled"]:
            return BulkState.CANCELLED
        return BulkState.EXPIRED if counts["expired"] else BulkState.ENDED


@dataclass(frozen=True, slots=True)
class _Candidate:
    """A batch of the list that may be the sought one."""

    status: BulkStatus
    created_at: datetime | None
    batch: JsonObject

    def is_later(self, sought: SoughtConsignment) -> bool:
        """Return whether it was created when nobody was sending the sought one any more."""
        return self.created_at is not None and self.created_at > sought.until + _CLOCKS

    def is_near(self, sought: SoughtConsignment) -> bool:
        """Return whether it was created while the sought one was being sent, by equal clocks."""
        if self.created_at is None:
            return True
        return sought.since - _NEAR <= self.created_at <= sought.until + _NEAR

    @property
    def ended_just_now(self) -> bool:
        """Whether results may still come that are not there: later they were deleted."""
        ended_at = _time(self.batch.get("ended_at")) or self.created_at
        return ended_at is not None and datetime.now(UTC) - ended_at < _LATE


def anthropic_reply(row: JsonObject, where: EndpointIdentity) -> tuple[Output | Failure, Json]:
    """Read a line of results, see `ReadReply`."""
    result = row.get("result")
    told = result if isinstance(result, dict) else {}
    said = {**told, "message": without_names(told.get("message"))}
    return _result(told, where), said


def _result(result: JsonObject, where: EndpointIdentity) -> Output | Failure:
    kind = result.get("type")
    if kind == "succeeded":
        return message_output(result.get("message"))
    if kind == "expired":
        return undone("expired", f"{where.host} did not come to it before the batch expired")
    if kind == "canceled":
        return undone("cancelled", f"{where.host} did not come to it before it was cancelled")
    if kind != "errored":
        told = "the line's result is of no type that is known"
        return Failure("bad_answer", told, retryable=True)
    outer = result.get("error")
    inner = outer.get("error") if isinstance(outer, dict) else None
    error = inner if isinstance(inner, dict) else outer
    name = error.get("type") if isinstance(error, dict) else None
    status = _STATUSES.get(name, 500) if isinstance(name, str) else 500
    return patience.of_status(status, {}, json.dumps({"error": error}).encode(), where)


def _time(text: Json) -> datetime | None:
    """Return a time in the form of RFC 3339; None: it is none."""
    try:
        found = datetime.fromisoformat(text) if isinstance(text, str) else None
    except ValueError:
        return None
    return found if found is None or found.tzinfo is not None else found.replace(tzinfo=UTC)
