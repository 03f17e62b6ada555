"""A small provider of batch APIs, OpenAI's and Anthropic's, that keeps a ledger and breaks.

In a test::

    async with FakeBulk(answers={"2 + 2?": "4"}, faults=BulkFaults(drop=[3])) as server:
        ...  # server.base_url, server.ledger.prompts, server.ledger.consignments

Engines may be killed where it counts: `hold` has calls wait once their work is done, before they
are answered, and `happened` waits for one. As a process (prints its base URL as the first line,
its ledger at `GET /ledger`)::

    python -m tests.servers.fake_bulk --port 0
"""

import argparse
import asyncio
import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeAlias

from aiohttp import BodyPartReader, web

from tests.servers.bulk_batches import batch, message_batch
from tests.servers.bulk_ledger import (
    Answers,
    BulkFaults,
    BulkLedger,
    Consignment,
    chat,
    prompt_of,
    response,
)

KINDS: Final = ("upload", "file", "create", "list", "look", "results", "cancel", "live")


@dataclass(frozen=True)
class BulkCall:
    """A request as it arrived."""

    kind: str
    """One of `KINDS`."""
    n: int
    """The how-manieth of its kind, from 1."""
    path: str
    headers: dict[str, str]
    """Their names in lower case."""


@dataclass(frozen=True)
class Refuse:
    """Answers with an error; nothing is done."""

    status: int
    code: str = ""
    message: str = ""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Die:
    """Resets the connection."""

    after: bool = False
    """Whether what was asked is done before."""


Fault: TypeAlias = Refuse | Die
Script: TypeAlias = Callable[[BulkCall], Fault | None]


def nth(kind: str, *faults: Fault | None) -> Script:
    """Do this to the first calls of a kind, in order of arrival; None: nothing."""

    def script(call: BulkCall) -> Fault | None:
        return faults[call.n - 1] if call.kind == kind and call.n <= len(faults) else None

    return script


class FakeBulk:
    """The server; `async with` starts it on a free loopback port and stops it."""

    def __init__(
        self,
        answers: Answers | None = None,
        *,
        faults: BulkFaults | None = None,
        script: Script | None = None,
        looks: int = 1,
        oldest_first: bool = False,
        room: int | None = None,
        list_lag: int = 0,
        keeps_metadata: bool = True,
        api_key: str | None = None,
        port: int = 0,
    ) -> None:
        """Describe a server.

        Args:
            answers: What is answered to each prompt; None: the prompt.
            faults: What goes wrong with consignments.
            script: What goes wrong with calls.
            looks: How often a consignment is looked at until it is done; 0: `finish` does it.
            oldest_first: Whether lists begin with what was created first.
            room: How many requests it takes at once; more are refused like OpenAI's limit of
                enqueued tokens.
            list_lag: How many lists are given until a new consignment is in them.
            keeps_metadata: Whether a batch's metadata comes back.
            api_key: Where given, any other is refused with 401.
            port: Where it listens; 0: anywhere.
        """
        self.ledger = BulkLedger(answers, faults or BulkFaults())
        self.script = script
        self.looks = looks
        self.oldest_first = oldest_first
        self.room = room
        self.list_lag = list_lag
        self.keeps_metadata = keeps_metadata
        self.api_key = api_key
        self.port = port
        self.results_url: str | None = None
        """What message batches give as the address of their results; None: the right one."""
        self.word: str | None = None
        """What all batches give as their state; None: theirs."""
        self.calls: list[BulkCall] = []
        self.counts: Counter[str] = Counter()
        self.largest_list = 0
        """The most consignments that one list has had."""
        self._done: Counter[str] = Counter()
        self._changed = asyncio.Condition()
        self._held: dict[str, asyncio.Event] = {}
        self._numbers: defaultdict[str, int] = defaultdict(int)
        self._runner: web.AppRunner | None = None

    @property
    def base_url(self) -> str:
        """Where its APIs start."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=300 * 10**6)
        app.add_routes(
            [
                web.post("/v1/files", self._routed("upload", self._upload)),
                web.get("/v1/files/{id}", self._routed("file", self._file)),
                web.get("/v1/files/{id}/content", self._routed("results", self._content)),
                web.post("/v1/batches", self._routed("create", self._create)),
                web.get("/v1/batches", self._routed("list", self._list)),
                web.get("/v1/batches/{id}", self._routed("look", self._look)),
                web.post("/v1/batches/{id}/cancel", self._routed("cancel", self._cancel)),
                web.post("/v1/messages/batches", self._routed("create", self._create_messages)),
                web.get("/v1/messages/batches", self._routed("list", self._list_messages)),
                web.get("/v1/messages/batches/{id}", self._routed("look", self._look)),
                web.get(
                    "/v1/messages/batches/{id}/results",
                    self._routed("results", self._messages_results),
                ),
                web.post("/v1/messages/batches/{id}/cancel", self._routed("cancel", self._cancel)),
                web.post("/v1/chat/completions", self._routed("live", self._live)),
                web.post("/v1/responses", self._routed("live", self._live)),
                web.get("/ledger", self._told),
            ]
        )
        self._runner = web.AppRunner(app, shutdown_timeout=0)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]
        return self

    async def __aexit__(self, *exc: object) -> None:
        for event in self._held.values():
            event.set()
        if self._runner is not None:
            await self._runner.cleanup()

    def hold(self, kind: str) -> None:
        """Have calls of a kind wait from now on, once their work is done, until `release`."""
        self._held.setdefault(kind, asyncio.Event())

    def release(self, kind: str) -> None:
        """Answer those that wait, and hold no more."""
        self._held.pop(kind).set()

    async def happened(self, kind: str, times: int = 1) -> None:
        """Wait until the work of so many calls of a kind is done, answered or not."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._done[kind] >= times)

    def finish(self, given: Consignment | None = None) -> None:
        """Have a consignment, or all, done now."""
        for one in self.ledger.consignments if given is None else [given]:
            if one.state == "in_progress":
                self.ledger.execute(one)

    def _routed(
        self, kind: str, handle: Callable[[web.Request], Any]
    ) -> Callable[[web.Request], Any]:
        async def handler(request: web.Request) -> web.StreamResponse:
            self.counts[kind] += 1
            headers = {name.lower(): value for name, value in request.headers.items()}
            call = BulkCall(kind, self.counts[kind], str(request.rel_url), headers)
            self.calls.append(call)
            given = headers.get("x-api-key") or headers.get("authorization", "")[7:]
            if self.api_key is not None and given != self.api_key:
                return _refusal(Refuse(401, "invalid_api_key", "Incorrect API key provided"))
            fault = self.script(call) if self.script else None
            if isinstance(fault, Refuse):
                await request.read()
                return _refusal(fault)
            if fault == Die():
                return _reset(request)
            answer: web.StreamResponse = await handle(request)
            async with self._changed:
                self._done[kind] += 1
                self._changed.notify_all()
            if kind in self._held:
                await self._held[kind].wait()
            return _reset(request) if isinstance(fault, Die) else answer

        return handler

    def _new_id(self, prefix: str) -> str:
        self._numbers[prefix] += 1
        return f"{prefix}_{self._numbers[prefix]:06}"

    def _begin(self, given: Consignment) -> None:
        waiting = sum(
            len(one.requests) for one in self.ledger.consignments if one.state == "in_progress"
        )
        self.ledger.consignments.append(given)
        ids = [custom_id for custom_id, _ in given.requests]
        faults = self.ledger.faults.of(given.number)
        if self.room is not None and waiting + len(ids) > self.room:
            given.state, given.error = "failed", "token_limit_exceeded"
        elif faults.fail is not None:
            given.state, given.error = "failed", faults.fail
        elif len(set(ids)) < len(ids):
            given.state, given.error = "failed", "duplicate_custom_id"

    async def _upload(self, request: web.Request) -> web.StreamResponse:
        fields: dict[str, str] = {}
        content = b""
        async for part in await request.multipart():
            assert isinstance(part, BodyPartReader)
            if part.name == "file":
                content = await part.read()
                fields["filename"] = part.filename or ""
            else:
                fields[part.name or ""] = await part.text()
        if fields.get("purpose") != "batch":
            return _refusal(Refuse(400, "invalid_purpose", "purpose must be batch"))
        file_id = self._new_id("file")
        self.ledger.files[file_id] = content
        self.ledger.file_names[file_id] = fields["filename"]
        told = {"id": file_id, "object": "file", "bytes": len(content), "purpose": "batch"}
        return web.json_response({**told, "filename": fields["filename"], "status": "processed"})

    async def _file(self, request: web.Request) -> web.StreamResponse:
        name = self.ledger.file_names.get(request.match_info["id"])
        if name is None:
            return _refusal(Refuse(404, "file_not_found", "no such file"))
        return web.json_response({"id": request.match_info["id"], "filename": name})

    async def _create(self, request: web.Request) -> web.StreamResponse:
        asked = await request.json()
        content = self.ledger.files.get(asked["input_file_id"])
        if content is None:
            return _refusal(Refuse(404, "file_not_found", "no such file"))
        rows = [json.loads(line) for line in content.splitlines()]
        given = Consignment(
            self._new_id("batch"),
            len(self.ledger.consignments) + 1,
            "openai",
            [(row["custom_id"], row["body"]) for row in rows],
            asked["endpoint"],
            asked.get("metadata") if self.keeps_metadata else None,
            asked["input_file_id"],
            created_at=time.time(),
        )
        self._begin(given)
        wrong = next((n for n, row in enumerate(rows, 1) if row["url"] != given.url), None)
        if wrong is not None:
            given.state, given.error = "failed", "mismatched_url"
        # validation comes after the answer
        nothing = {"total": 0, "completed": 0, "failed": 0}
        told = {"status": "validating", "errors": None, "request_counts": nothing}
        return web.json_response({**batch(given), **told})

    async def _create_messages(self, request: web.Request) -> web.StreamResponse:
        asked = json.loads(await request.read())
        rows = [(row["custom_id"], row["params"]) for row in asked["requests"]]
        if any("max_tokens" not in params for _, params in rows):
            return _refusal(Refuse(400, "invalid_request_error", "max_tokens: Field required"))
        number = len(self.ledger.consignments) + 1
        given = Consignment(
            self._new_id("msgbatch"), number, "anthropic", rows, created_at=time.time()
        )
        self._begin(given)
        if given.state == "failed":
            self.ledger.consignments.pop()
            full = given.error == "token_limit_exceeded"
            return _refusal(Refuse(429 if full else 400, given.error or "", "it was refused"))
        return web.json_response(self._message_batch(given, request))

    def _found(self, request: web.Request) -> Consignment:
        for one in self.ledger.consignments:
            if one.id == request.match_info["id"]:
                return one
        raise web.HTTPNotFound(text='{"error": {"message": "No such batch"}}')

    async def _look(self, request: web.Request) -> web.StreamResponse:
        given = self._found(request)
        given.looks += 1
        if given.state == "in_progress" and 0 < self.looks <= given.looks:
            self.ledger.execute(given)
        told = self._shown(given, request)
        given.shown += given.state != "in_progress"
        if 0 < given.shown <= self.ledger.faults.of(given.number).late:
            told |= {"output_file_id": None, "error_file_id": None}
        return web.json_response(told)

    async def _cancel(self, request: web.Request) -> web.StreamResponse:
        given = self._found(request)
        if given.state == "in_progress":
            self.ledger.execute(given, only=len(given.requests) // 2)
        elif given.dialect == "openai":
            return _refusal(Refuse(409, "", f"Cannot cancel a batch with status {given.state}"))
        return web.json_response(self._shown(given, request))

    def _message_batch(self, given: Consignment, request: web.Request) -> dict[str, Any]:
        miscount = self.ledger.faults.of(given.number).miscount
        shown = message_batch(given, str(request.url.origin()), miscount)
        return shown if self.word is None else {**shown, "processing_status": self.word}

    def _shown(self, given: Consignment, request: web.Request) -> dict[str, Any]:
        if given.dialect == "anthropic":
            shown = self._message_batch(given, request)
            return shown if self.results_url is None else {**shown, "results_url": self.results_url}
        shown = batch(given)
        return shown if self.word is None else {**shown, "status": self.word}

    def _page(self, request: web.Request, dialect: str, after: str) -> list[Consignment]:
        """Return what is behind a cursor, the newest first, and one more than the page has."""
        shown = []
        for one in self.ledger.consignments:
            if one.dialect == dialect:
                one.lists += 1
                if one.lists > self.list_lag:
                    shown.append(one)
        if not self.oldest_first:
            shown.reverse()
        cursor = request.query.get(after)
        if cursor is not None:
            place = next(n for n, one in enumerate(shown) if one.id == cursor)
            shown = shown[place + 1 :]
        page = shown[: int(request.query.get("limit", "20")) + 1]
        self.largest_list = max(self.largest_list, len(page))
        return page

    async def _list(self, request: web.Request) -> web.StreamResponse:
        page, more = _cut(self._page(request, "openai", "after"), request)
        told = {"object": "list", "data": [batch(one) for one in page], "has_more": more}
        return web.json_response(told)

    async def _list_messages(self, request: web.Request) -> web.StreamResponse:
        page, more = _cut(self._page(request, "anthropic", "after_id"), request)
        rows = [self._message_batch(one, request) for one in page]
        ends = {"first_id": page[0].id, "last_id": page[-1].id} if page else {}
        return web.json_response({"data": rows, "has_more": more, **ends})

    async def _content(self, request: web.Request) -> web.StreamResponse:
        number, _, where = request.match_info["id"].partition("-")
        given = self.ledger.consignments[int(number) - 1]
        lines = [line for of, line in given.lines if of == where]
        return await self._streamed(request, given, lines)

    async def _messages_results(self, request: web.Request) -> web.StreamResponse:
        given = self._found(request)
        if given.state == "in_progress":
            return _refusal(Refuse(404, "not_found_error", "results are not available yet"))
        return await self._streamed(request, given, [line for _, line in given.lines])

    async def _streamed(
        self, request: web.Request, given: Consignment, lines: list[str]
    ) -> web.StreamResponse:
        answer = web.StreamResponse(headers={"Content-Type": "application/octet-stream"})
        await answer.prepare(request)
        cut = self.ledger.faults.of(given.number).cut
        text = "".join(f"{line}\n" for line in (lines if cut is None else lines[:cut]))
        await answer.write(text.encode())
        if cut is not None and self.counts["results"] == 1:
            if self.ledger.faults.of(given.number).quiet:
                await answer.write_eof()
                return answer
            await answer.write(b'{"custom_id": "cut')
            return _reset(request)
        if cut is not None:
            await answer.write("".join(f"{line}\n" for line in lines[cut:]).encode())
        return answer  # its end follows once the call is answered: it may be held

    async def _live(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        prompt = prompt_of(body)
        self.ledger.live.append(body)
        self.ledger.prompts[prompt] += 1
        make = response if request.path.endswith("/responses") else chat
        return web.json_response(make(self.ledger.answer(prompt), body))

    async def _told(self, _: web.Request) -> web.StreamResponse:
        kept = self.ledger
        return web.json_response(
            {
                "consignments": [
                    {"id": one.id, "token": one.token, "requests": len(one.requests),
                     "state": one.state, "counts": dict(one.counts)}
                    for one in kept.consignments
                ],
                "calls": dict(self.counts),
                "prompts": dict(kept.prompts),
                "executed": dict(kept.executed),
                "live": len(kept.live),
            }
        )  # fmt: skip


def _cut(page: list[Consignment], request: web.Request) -> tuple[list[Consignment], bool]:
    limit = int(request.query.get("limit", "20"))
    return page[:limit], len(page) > limit


def _refusal(fault: Refuse) -> web.Response:
    message = fault.message or f"status {fault.status}"
    error = {"message": message, "type": fault.code or None, "code": fault.code or None}
    return web.json_response({"error": error}, status=fault.status, headers=fault.headers)


def _reset(request: web.Request) -> web.Response:
    if request.transport is not None:
        request.transport.abort()
    return web.Response()


async def _serve(port: int, looks: int) -> None:
    async with FakeBulk(port=port, looks=looks) as server:
        print(server.base_url, flush=True)
        await asyncio.Event().wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--looks", type=int, default=1, help="looks until it is done")
    given_options = parser.parse_args()
    asyncio.run(_serve(given_options.port, given_options.looks))
