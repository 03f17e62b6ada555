"""Calls to a provider's batch API: small questions, large uploads, and files that stream."""

import asyncio
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from types import TracebackType
from typing import TYPE_CHECKING, Final, NamedTuple, Self, TypeVar
from urllib.parse import quote

from tui_eval import __version__
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure
from tui_eval.model.visible import visible_line
from tui_eval.providers import patience
from tui_eval.providers.bulk.api import BulkError, BulkState
from tui_eval.providers.bulk.spooling import SpooledConsignment
from tui_eval.providers.endpoint import MAX_BODY
from tui_eval.providers.errors import NEVER_LEFT, WireError
from tui_eval.providers.http.api_url import api_url
from tui_eval.providers.http.placed_call import placed_call
from tui_eval.providers.keys import NO_KEY, redact_json
from tui_eval.providers.presets import host_of

if TYPE_CHECKING:
    from tui_eval.providers.http.pool import HttpPool, IncomingAnswer

T = TypeVar("T")

log = logging.getLogger(__name__)

_TIMEOUT_S: Final = 60.0
"""Seconds that a question may take, and that a file that streams may stand still."""
_SLOWEST: Final = 100_000
"""Bytes a second below which an upload is given up."""
_MOST_RESULTS: Final = 20 * 10**9
"""Bytes of a file of results that are read at most: a server may have no end."""
_LONGEST_PAUSE_S: Final = 15.0
"""Seconds that are waited at most between two tries of one question in a row."""
_HEADERS: Final = {
    "accept": "application/json, */*",
    # unpacking a file costs more than it saves, and a bomb needs a packer
    "accept-encoding": "identity",
    "user-agent": f"tui-eval/{__version__}",
}
_JSON: Final = {"content-type": "application/json"}
_LONGEST_ID: Final = 500
_LEADS_ELSEWHERE: Final = frozenset({"", ".", ".."})
"""What no id is: in a path it names something else."""


@dataclass(frozen=True, slots=True)
class BulkPlace:
    """Where a batch API is, and with which key it is asked: as single calls are."""

    base_url: str
    """Where the API starts, as in a suite."""
    api_key: str = NO_KEY
    """The secret itself, or a dummy."""
    key_env: str | None = None
    """The variable it came from, named in advice; None: a dummy is sent."""
    settle_s: float = 20.0
    """Seconds after which a provider lists a consignment that it took."""


class WholeAnswer(NamedTuple):
    """What came back, whatever its status."""

    status: int
    headers: Mapping[str, str]
    """Looked up without regard to case."""
    body: bytes


class BulkConnection:
    """An async connection; `async with` opens and closes its pool.

    One attempt each call. What goes wrong is raised as `BulkError`, in the words and with the
    meaning that single calls give it (`patience.py`). No redirect is followed, and nobody but the
    host of the base URL is asked: the key goes there alone.
    """

    def __init__(self, place: BulkPlace, key_headers: Mapping[str, str]) -> None:
        """Describe a connection; cheap, nothing is imported or opened yet.

        Args:
            place: Whom to ask.
            key_headers: How the key goes along.
        """
        self.where = patience.EndpointIdentity(host_of(place.base_url), place.key_env)
        self._base_url = place.base_url
        self._headers = {**_HEADERS, **key_headers}
        self._pauses_s = [place.settle_s / 20, place.settle_s / 5]
        self._pool: HttpPool | None = None
        self._reached = False

    async def __aenter__(self) -> Self:
        """Open the pool; connections are made when they are needed."""
        # aiohttp takes a while to import, and an engine has a lease to renew meanwhile
        pool_class = await asyncio.to_thread(_pool_class)
        self._pool = pool_class(self._base_url, _MOST_RESULTS)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close every connection."""
        pool, self._pool = self._pool, None
        if pool is not None:
            await pool.close()

    async def get(self, path: str, **query: str) -> JsonObject:
        """Ask a question that changes nothing.

        Raises:
            BulkError: no JSON object was answered.
        """
        return await self.asked(lambda: self._once("GET", path, {}, None, query))

    async def get_in_a_row(self, path: str, **query: str) -> JsonObject:
        """Ask one of many questions in a row, see `in_a_row`.

        Raises:
            BulkError: no JSON object was answered, however often it was asked.
        """
        return await self.in_a_row(lambda: self.get(path, **query))

    async def in_a_row(self, ask: Callable[[], Awaitable[T]]) -> T:
        """Ask one of many questions in a row, again where it meets a passing fault.

        Where one in ten calls fails, few would come to the end of a list otherwise.

        Raises:
            BulkError: it was not answered, however often it was asked.
        """
        for pause_s in self._pauses_s:
            try:
                return await ask()
            except BulkError as error:
                if not error.failure.retryable or error.failure.fatal:
                    raise
                asked_s = error.failure.retry_after_s or 0.0
            await asyncio.sleep(max(pause_s, min(asked_s, _LONGEST_PAUSE_S)))
        return await ask()

    async def post(self, path: str, body: JsonObject | None = None) -> JsonObject:
        """Ask for something small to be done.

        Raises:
            BulkError: no JSON object was answered.
        """
        content = b"" if body is None else json.dumps(body).encode()
        return await self.asked(lambda: self._once("POST", path, _JSON, content))

    async def upload(self, path: str, spool: SpooledConsignment) -> JsonObject:
        """Send a consignment's bytes, which are JSON.

        Raises:
            BulkError: no JSON object was answered.
        """
        headers = {**_JSON, "content-length": str(spool.size)}
        return await self.asked(
            lambda: self._once("POST", path, headers, spool.parts()), upload=spool
        )

    async def asked(
        self, once: Callable[[], Awaitable[WholeAnswer]], upload: SpooledConsignment | None = None
    ) -> JsonObject:
        """Make a call, and read what came.

        Args:
            once: Makes it.
            upload: What it sends, where that is large.

        Raises:
            BulkError: no JSON object was answered.
        """
        timeout_s = _TIMEOUT_S + (0 if upload is None else upload.size / _SLOWEST)
        try:
            answer, _ = await placed_call(once, timeout_s)
        except TimeoutError:
            raise BulkError(patience.of_timeout(round(timeout_s), self.where)) from None
        except WireError as error:
            raise self._broken(error) from error
        self._reached = True
        if not 200 <= answer.status < 300:
            raise BulkError(self._refused(answer))
        return self._object(answer.body)

    async def _once(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str],
        body: bytes | AsyncIterator[bytes] | None,
        query: Mapping[str, str] | None = None,
    ) -> WholeAnswer:
        url = api_url(self._base_url, path, query)
        sent = {**self._headers, **headers}
        async with self.pool.exchange(method, url, sent, body) as answer:
            return WholeAnswer(answer.status, answer.headers, await _small(answer))

    async def stream(self, path: str) -> AsyncIterator[bytes]:
        """Yield a file as it arrives.

        Raises:
            BulkError: it is not given, or breaks off.
        """
        try:
            async with AsyncExitStack() as stack:
                answer = await self._soon(stack.enter_async_context(self.file(path)))
                self._reached = True
                if isinstance(answer, WholeAnswer):
                    raise BulkError(self._refused(answer))
                # only the wait for a part is timed: who takes it may be as slow as they like
                while (part := await self._soon(anext(answer, None))) is not None:
                    yield part
        except WireError as error:
            raise self._broken(error) from error

    @asynccontextmanager
    async def file(self, path: str) -> AsyncIterator[AsyncIterator[bytes] | WholeAnswer]:
        """Give the parts of a file, or the answer with which it was refused.

        Raises:
            WireError: nothing came.
        """
        url = api_url(self._base_url, path)
        async with self.pool.exchange("GET", url, self._headers, None) as answer:
            if 200 <= answer.status < 300:
                yield answer.parts()
            else:
                yield WholeAnswer(answer.status, answer.headers, await _small(answer))

    async def _soon(self, what: Awaitable[T]) -> T:
        """Wait for what must not stand still.

        Raises:
            BulkError: it did.
        """
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                return await what
        except TimeoutError:
            raise BulkError(patience.of_timeout(_TIMEOUT_S, self.where)) from None

    @property
    def pool(self) -> "HttpPool":
        """The open pool."""
        assert self._pool is not None, "the connection is not open"
        return self._pool

    def _refused(self, answer: WholeAnswer) -> Failure:
        return patience.of_status(answer.status, answer.headers, answer.body, self.where)

    def _broken(self, error: WireError) -> BulkError:
        failure = patience.of_wire(error.kind, str(error), self.where, reached_before=self._reached)
        return BulkError(replace(failure, unsent=error.kind in NEVER_LEFT))

    def _object(self, content: bytes) -> JsonObject:
        try:
            found: Json = redact_json(json.loads(content))
        except (ValueError, RecursionError):
            found = None
        if not isinstance(found, dict):
            raise self.unexpected("the answer is no JSON object")
        return found

    def unexpected(self, what: str) -> BulkError:
        """Return what is raised for an answer that says nothing one can use."""
        told = f"{self.where.host}: {visible_line(what, 300)}"
        return BulkError(Failure("bad_answer", told, retryable=True))

    def unknown_state(self, word: Json, ends_by: datetime | None, name: str) -> BulkState:
        """Return what is made of a state that is not known: it goes on until it has to end.

        Args:
            word: The state.
            ends_by: When the batch expires, if that is said.
            name: What the field is called.

        Raises:
            BulkError: that time has passed, or nobody says when it comes.
        """
        if isinstance(word, str) and ends_by is not None and datetime.now(UTC) < ends_by:
            log.warning("a batch's %s is %s, which is unknown", name, visible_line(word, 60))
            return BulkState.UNDER_WAY
        raise self.unexpected(f"a batch's {name} is {word!r}, which is unknown")

    def id_in(self, answer: JsonObject, name: str = "id") -> str:
        """Return an id; in a path it stands as `in_path` has it.

        Raises:
            BulkError: there is none, or one that would lead elsewhere.
        """
        found = answer.get(name)
        if not isinstance(found, str) or not _is_id(found):
            raise self.unexpected(f"the answer's {name} is none: {found!r}")
        return found


def in_path(name: str) -> str:
    """Return an id as a part of a path, whatever letters it has."""
    return quote(name, safe="")


def _is_id(found: str) -> bool:
    if len(found) > _LONGEST_ID or found in _LEADS_ELSEWHERE:
        return False
    return found.isprintable() and not any(0xD800 <= ord(letter) < 0xE000 for letter in found)


def no_batch_api(failure: Failure) -> Failure:
    """Say of what nothing is at a path for, where a batch API has something, what that means."""
    if failure.status not in (404, 405, 501):
        return failure
    told = f"{failure.message.partition(' — ')[0]} — it has no batch API there: leave `bulk` out"
    return replace(failure, kind="not_found", message=told, retryable=False, fatal=True)


def never_taken(failure: Failure) -> bool:
    """Return whether a request that failed so was certainly not done."""
    if failure.unsent:
        return True
    return failure.status is not None and failure.status < 500 and failure.status != 408


def _pool_class() -> type["HttpPool"]:
    from tui_eval.providers.http.pool import HttpPool

    return HttpPool


async def _small(answer: "IncomingAnswer") -> bytes:
    """Read what is no file.

    Raises:
        WireError: it is larger than any answer.
    """
    size, read = 0, []
    async for part in answer.parts():
        size += len(part)
        if size > MAX_BODY:
            answer.leave()
            raise WireError("too_large", f"the answer is larger than {MAX_BODY / 1e6:.0f} MB")
        read.append(part)
    return b"".join(read)
