"""A small OpenAI-compatible model server that answers, lies, stalls and breaks on request.

In a test::

    async with FakeModel(answers={"2 + 2?": "4"}, latency=0.02) as server:
        ...  # server.base_url, server.calls, server.in_flight_max, server.counts

As a process (prints its base URL as the first line, figures at `GET /stats`)::

    python -m tests.servers.fake_model --port 0 --latency 0.4 --script mix --seed 7
"""

import argparse
import asyncio
import gzip
import itertools
import json
import random
import signal
import socket
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

KINDS = (
    "answer",
    "status",
    "no_reply",
    "reset",
    "hang",
    "drip",
    "invalid_json",
    "not_an_object",
    "no_choices",
    "null_text",
    "empty_text",
    "length",
    "null_length",
    "content_filter",
    "error_in_200",
    "huge",
    "endless",
    "bomb",
    "redirect",
    "headers",
    "reasoning",
    "think",
    "open_think",
    "tool_calls",
    "twice",
)
"""What a reply can be:

`no_reply` closes the connection without a word, `reset` cuts the transfer inside the body, `hang`
never answers, `drip` sends a byte at a time, `huge` is `size` bytes long, `endless` has no end,
`bomb` is `size` bytes packed small, `headers` answers with the request's own headers as JSON;
`length` and `null_length` are cut short with and without text; `twice` is an ordinary answer, and
behind it a second one that nobody asked for, `unasked`.
"""


@dataclass(frozen=True)
class Reply:
    """What the server does with one request."""

    kind: str = "answer"
    text: str | None = None
    """Instead of the computed answer."""
    latency: float | None = None
    """Seconds before the first byte; None: the server's."""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    """Of a `status`: the body as it is; None: an error object that fits."""
    size: int = 64 * 1024 * 1024

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"unknown kind of reply {self.kind!r}; there are {', '.join(KINDS)}")


def refuse(
    status: int,
    code: str = "",
    message: str = "",
    retry_after: str | None = None,
    headers: Mapping[str, str] | None = None,
) -> Reply:
    """Make the reply of an endpoint that says no."""
    said = dict(headers or {})
    if retry_after is not None:
        said["Retry-After"] = retry_after
    error = {"message": message or f"status {status}", "type": code or None, "code": code or None}
    return Reply("status", status=status, headers=said, body=json.dumps({"error": error}))


@dataclass(frozen=True)
class Call:
    """One request as it arrived."""

    n: int
    """Arrival number over the server's life, from 1."""
    prompt: str
    """The text of the last user message."""
    attempt: int
    """How many times this prompt has arrived, this time included."""
    first: int
    """Which of the distinct prompts this is, in the order of their first arrival, from 1."""
    path: str
    head: str
    """The request line and the headers as they came."""
    body: dict[str, Any]
    at: float
    """Monotonic seconds of its arrival."""

    @property
    def headers(self) -> dict[str, str]:
        """The headers, their names in lower case."""
        pairs = (line.split(":", 1) for line in self.head.split("\r\n")[1:] if ":" in line)
        return {name.strip().lower(): value.strip() for name, value in pairs}


Script = Callable[[Call], Reply | None]
Answers = Mapping[str, str] | Callable[[dict[str, Any]], str]

NORMAL = Reply()


class Mix:
    """Faults spread by a seed over the first `of` distinct prompts.

    Passing: each meets its fault on its first attempt only. Lasting: on every attempt.
    """

    FAULTS: tuple[tuple[Reply, int], ...] = (
        (refuse(429, "rate_limit_exceeded", "slow down", retry_after="1"), 20),
        (refuse(500, "server_error", "it broke"), 10),
        (Reply("reset"), 4),
        (Reply("hang"), 2),
        (Reply("invalid_json"), 4),
    )

    def __init__(
        self,
        seed: int = 0,
        of: int = 200,
        lasting: bool = False,
        faults: Sequence[tuple[Reply, int]] = FAULTS,
    ) -> None:
        self.seed, self.of, self.lasting = seed, of, lasting
        replies = [reply for reply, count in faults for _ in range(count)]
        places = random.Random(seed).sample(range(1, of + 1), len(replies))
        self.by_place = dict(zip(places, replies, strict=True))

    def __call__(self, call: Call) -> Reply | None:
        if call.attempt > 1 and not self.lasting:
            return None
        return self.by_place.get(call.first)


def once(*replies: Reply | None) -> Script:
    """Give these replies to the first requests, in order of arrival; None: a normal one."""
    waiting = list(replies)

    def script(call: Call) -> Reply | None:
        return waiting[call.n - 1] if call.n <= len(waiting) else None

    return script


def always(reply: Reply) -> Script:
    """Give the same reply to every request."""
    return lambda call: reply


def first_attempts(reply: Reply, times: int = 1) -> Script:
    """Give this reply to the first `times` attempts of every prompt."""
    return lambda call: reply if call.attempt <= times else None


class FakeModel:
    """The server; `async with` starts it on a free loopback port and stops it."""

    def __init__(
        self,
        answers: Answers | None = None,
        *,
        script: Script | None = None,
        latency: float = 0.0,
        model: str = "fake-model",
        api_key: str | None = None,
        port: int = 0,
        record: bool = True,
    ) -> None:
        self.answers = answers
        self.script = script
        self.latency = latency
        self.model = model
        self.api_key = api_key
        """Where given, any other key is refused with 401."""
        self.port = port
        self.record = record
        """Whether calls are kept; counts are kept always."""
        self.calls: list[Call] = []
        self.requests = 0
        self.counts: Counter[str] = Counter()
        self.statuses: Counter[int] = Counter()
        self.in_flight = 0
        self.in_flight_max = 0
        self.first_at: float | None = None
        """Monotonic seconds of the first request's arrival."""
        self.last_at: float | None = None
        """Monotonic seconds of the last byte of the last complete answer."""
        self.connections = 0
        self.connections_open = 0
        self.dropped = 0
        """Requests whose connection the client closed before they were answered."""
        self.held = False
        """Whether answers wait until they are let go."""
        self._server: asyncio.Server | None = None
        self._reserved: socket.socket | None = None
        """Holds the port while nobody listens on it, so that no other process gets it."""
        self._open: set[_Connection] = set()
        self._due: list[tuple[_Connection, Call, Reply]] = []
        """Answers that are held."""
        self._order = itertools.count(1)
        self._places: dict[str, int] = {}

    @property
    def base_url(self) -> str:
        """Where its API starts."""
        return f"http://127.0.0.1:{self.port}/v1"

    async def __aenter__(self) -> Self:
        if self._reserved is None:
            self._reserved = socket.socket()
            self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            self._reserved.bind(("127.0.0.1", self.port))
            self.port = self._reserved.getsockname()[1]
        await self.start()
        return self

    async def __aexit__(self, *exc: object) -> None:
        await self.stop()
        if self._reserved is not None:
            self._reserved.close()
            self._reserved = None

    async def start(self) -> None:
        """Listen, on the same port as before where it was stopped."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(
            lambda: _Connection(self, loop), "127.0.0.1", self.port, backlog=1024
        )

    async def stop(self) -> None:
        """Listen no more and close every connection; the port stays its own."""
        if self._server is None:
            return
        self._server.close()
        for connection in list(self._open):
            connection.abort()
        await self._server.wait_closed()
        self._server = None

    def hold(self) -> None:
        """Answer nobody from now on, until `let_go`; requests are taken as ever."""
        self.held = True

    def let_go(self) -> None:
        """Give the answers that were held to all who still wait."""
        self.held = False
        due, self._due = self._due, []
        for connection, call, reply in due:
            if connection.call is call:
                connection.reply(reply)

    def due(self, connection: "_Connection", call: Call, reply: Reply) -> None:
        """Hold an answer."""
        self._due.append((connection, call, reply))

    def prompts(self) -> list[str]:
        """Give the prompts in the order of their arrival."""
        return [call.prompt for call in self.calls]

    def stats(self) -> dict[str, Any]:
        """Give all figures as JSON, as `GET /stats` does."""
        return {
            "requests": self.requests,
            "distinct": len(self.counts),
            "in_flight_max": self.in_flight_max,
            "first_at": self.first_at,
            "last_at": self.last_at,
            "connections": self.connections,
            "dropped": self.dropped,
            "statuses": {str(status): n for status, n in self.statuses.items()},
            "counts": dict(self.counts),
        }

    def arrived(self, path: str, head: str, raw: bytes) -> tuple[Call, Reply]:
        """Count a request and decide what happens to it."""
        now = time.monotonic()
        if self.first_at is None:
            self.first_at = now
        self.requests += 1
        self.in_flight += 1
        self.in_flight_max = max(self.in_flight_max, self.in_flight)
        body = json.loads(raw) if raw else {}
        prompt = _prompt(body)
        self.counts[prompt] += 1
        place = self._places.setdefault(prompt, len(self._places) + 1)
        call = Call(next(self._order), prompt, self.counts[prompt], place, path, head, body, now)
        if self.record:
            self.calls.append(call)
        if self.api_key is not None and f"Bearer {self.api_key}" not in head:
            return call, refuse(401, "invalid_api_key", "Incorrect API key provided")
        return call, (self.script(call) if self.script else None) or NORMAL

    def answer(self, call: Call) -> str:
        """Compute the text a working model would give."""
        if self.answers is None:
            return call.prompt
        if callable(self.answers):
            return self.answers(call.body)
        return self.answers.get(call.prompt, "I do not know.")


def _prompt(body: dict[str, Any]) -> str:
    given = body.get("messages", body.get("input", ""))
    if isinstance(given, str):
        return given
    if given and isinstance(given[0], str):  # texts to embed
        return "\n".join(given)
    for message in reversed(given):
        if message.get("role") == "user":
            content = message.get("content")
            if isinstance(content, str):
                return content
            return "".join(str(part.get("text", "")) for part in content or [])
    return ""


class _Connection(asyncio.Protocol):
    """One keep-alive connection: reads a request, replies when its time has come."""

    def __init__(self, server: FakeModel, loop: asyncio.AbstractEventLoop) -> None:
        self.server = server
        self.loop = loop
        self.buffer = b""
        self.call: Call | None = None
        self.timer: asyncio.TimerHandle | None = None
        self.task: asyncio.Task[None] | None = None
        self.transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.server.connections += 1
        self.server.connections_open += 1
        self.server._open.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        self.server._open.discard(self)
        self.server.connections_open -= 1
        if self.timer is not None:
            self.timer.cancel()
        if self.task is not None:
            self.task.cancel()
        if self.call is not None:
            self.server.dropped += 1
            self._done()

    def abort(self) -> None:
        self.transport.abort()

    def data_received(self, data: bytes) -> None:
        self.buffer = self.buffer + data if self.buffer else data
        if self.call is None:
            self._next_request()

    def _next_request(self) -> None:
        end = self.buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self.buffer[:end].decode("latin-1")
        length = 0
        at = head.lower().find("\r\ncontent-length:")
        if at >= 0:
            stop = head.find("\r\n", at + 2)
            length = int(head[at + 17 : stop if stop >= 0 else None])
        if len(self.buffer) < end + 4 + length:
            return
        raw = self.buffer[end + 4 : end + 4 + length]
        self.buffer = self.buffer[end + 4 + length :]
        method, path, _ = head.split("\r\n", 1)[0].split(" ", 2)
        if method == "GET":
            self._get(path)
            return
        self.call, reply = self.server.arrived(path, head, raw)
        wait = self.server.latency if reply.latency is None else reply.latency
        if wait > 0:
            self.timer = self.loop.call_later(wait, self.reply, reply)
        else:
            self.reply(reply)

    def _get(self, path: str) -> None:
        if path.endswith("/stats"):
            self._write(200, json.dumps(self.server.stats()).encode())
        elif path.endswith("/models"):
            listed = {"object": "list", "data": [{"id": self.server.model, "object": "model"}]}
            self._write(200, json.dumps(listed).encode())
        elif path.endswith("/health"):
            self._write(200, b'{"status":"ok"}')
        else:
            self._write(404, b'{"error":{"message":"no such page"}}')
        self._next_request()

    def _write(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self.transport.write(_head(status, len(body), headers) + body)

    def _done(self) -> None:
        self.call = None
        self.timer = None
        self.server.in_flight -= 1

    def _finish(self, status: int, body: bytes, headers: Mapping[str, str] | None = None) -> None:
        self._write(status, body, headers)
        self.server.statuses[status] += 1
        self.server.last_at = time.monotonic()
        self._done()
        if self.buffer:
            self._next_request()

    def reply(self, reply: Reply) -> None:
        """Reply to the request that is open, or have the reply held."""
        call = self.call
        assert call is not None
        if self.server.held:
            self.server.due(self, call, reply)
            return
        kind = reply.kind
        if kind == "hang":
            return
        if kind == "no_reply":
            self._done()
            self.transport.close()
            return
        if kind == "status":
            said = reply.body
            if said is None:
                said = json.dumps({"error": {"message": f"status {reply.status}"}})
            self._finish(reply.status, said.encode(), reply.headers)
            return
        if kind == "redirect":
            self._finish(reply.status if reply.status != 200 else 307, b"", reply.headers)
            return
        if kind in ("drip", "endless"):
            self.task = self.loop.create_task(self._trickle(kind))
            return
        if kind == "bomb":
            packed = gzip.compress(b" " * reply.size)
            self._finish(200, packed, {"Content-Encoding": "gzip"})
            return
        body = self._body(call, reply)
        if kind == "reset":
            self.transport.write(_head(200, len(body)) + body[: len(body) // 2])
            self._done()
            # close, not abort: the half that was sent has to arrive before the cut
            self.transport.close()
            return
        if kind == "twice":
            unasked = self._body(call, Reply(text="unasked"))
            self.timer = self.loop.call_later(0.01, self._end_twice, body[-1:], unasked)
            self.transport.write(_head(200, len(body)) + body[:-1])
            return
        self._finish(200, body, reply.headers)

    def _end_twice(self, end: bytes, unasked: bytes) -> None:
        """End an answer, and in the same segment give another."""
        self._done()
        self.transport.write(end + _head(200, len(unasked)) + unasked)

    async def _trickle(self, kind: str) -> None:
        """Send a little for ever: one byte now and then, or as fast as it is read."""
        self.transport.write(
            b"HTTP/1.1 200 X\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n"
        )
        piece, pause = (b" ", 0.02) if kind == "drip" else (b" " * 65536, 0.0)
        while not self.transport.is_closing():
            # an unread megabyte is enough: the rest waits for the reader
            if self.transport.get_write_buffer_size() < 1 << 20:
                self.transport.write(b"%x\r\n%s\r\n" % (len(piece), piece))
            await asyncio.sleep(pause)

    def _body(self, call: Call, reply: Reply) -> bytes:
        kind = reply.kind
        if kind == "invalid_json":
            return b'{"choices": [{"message": {"content": "so far so'
        if kind == "not_an_object":
            return b'["this is", "no answer"]'
        if kind == "error_in_200":
            error = {"message": "the upstream model failed", "code": 502, "type": "upstream"}
            return json.dumps({"error": error}).encode()
        if kind == "huge":
            return b'{"choices": [], "filler": "%s"}' % (b"x" * reply.size)
        text = self.server.answer(call) if reply.text is None else reply.text
        if kind == "headers":
            text = json.dumps(call.headers)
        if call.path.endswith("/responses"):
            return _responses_body(call, kind, text, self.server.model)
        return _chat_body(call, kind, text, self.server.model)


def _head(status: int, length: int, headers: Mapping[str, str] | None = None) -> bytes:
    more = "".join(f"{name}: {value}\r\n" for name, value in (headers or {}).items())
    return b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\nContent-Length: %d\r\n%s\r\n" % (
        status,
        length,
        more.encode("latin-1"),
    )


def _usage(call: Call, text: str) -> tuple[int, int]:
    return max(1, len(call.prompt) // 4), max(1, len(text) // 4)


def _chat_body(call: Call, kind: str, text: str, model: str) -> bytes:
    prompt_tokens, completion_tokens = _usage(call, text)
    if kind == "answer":  # nearly all there are: without building and encoding the whole object
        return (
            f'{{"id": "chatcmpl-{call.n}", "object": "chat.completion", "created": 0, '
            f'"model": {json.dumps(model)}, "choices": [{{"index": 0, "message": '
            f'{{"role": "assistant", "content": {json.dumps(text)}}}, "finish_reason": "stop"}}], '
            f'"usage": {{"prompt_tokens": {prompt_tokens}, '
            f'"completion_tokens": {completion_tokens}, '
            f'"total_tokens": {prompt_tokens + completion_tokens}}}}}'
        ).encode()
    message: dict[str, Any] = {"role": "assistant", "content": text}
    finish = "stop"
    if kind in ("null_text", "null_length"):
        message["content"] = None
    elif kind == "empty_text":
        message["content"] = ""
    elif kind == "reasoning":
        message["reasoning_content"] = "Let me see."
    elif kind == "think":
        message["content"] = f"<think>Let me see.</think>\n\n{text}"
    elif kind == "open_think":
        message["content"] = f"<think>Let me see {text}"
    elif kind == "content_filter":
        message["content"], finish = None, "content_filter"
    elif kind == "tool_calls":
        message["content"], finish = None, "tool_calls"
        function = {"name": "look_up", "arguments": '{"city": "Paris"}'}
        message["tool_calls"] = [{"id": "call_1", "type": "function", "function": function}]
    if kind in ("length", "null_length"):
        finish = "length"
    choices = (
        [] if kind == "no_choices" else [{"index": 0, "message": message, "finish_reason": finish}]
    )
    usage = {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": prompt_tokens + completion_tokens,
        "prompt_tokens_details": {"cached_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    return json.dumps(
        {
            "id": f"chatcmpl-{call.n}",
            "object": "chat.completion",
            "created": 0,
            "model": model,
            "choices": choices,
            "usage": usage,
        }
    ).encode()


def _responses_body(call: Call, kind: str, text: str, model: str) -> bytes:
    prompt_tokens, completion_tokens = _usage(call, text)
    output: list[dict[str, Any]] = []
    status, incomplete = "completed", None
    if kind == "reasoning":
        summary = [{"type": "summary_text", "text": "Let me see."}]
        output.append({"type": "reasoning", "id": "rs_1", "summary": summary})
    if kind == "tool_calls":
        output.append(
            {
                "type": "function_call",
                "id": "fc_1",
                "call_id": "call_1",
                "name": "look_up",
                "arguments": '{"city": "Paris"}',
            }
        )
    elif kind not in ("null_text", "null_length", "content_filter", "no_choices"):
        shown = {"empty_text": "", "think": f"<think>Let me see.</think>\n\n{text}"}.get(kind, text)
        content = [{"type": "output_text", "text": shown, "annotations": []}]
        output.append({"type": "message", "id": "msg_1", "role": "assistant", "content": content})
    if kind in ("length", "null_length"):
        status, incomplete = "incomplete", {"reason": "max_output_tokens"}
    elif kind == "content_filter":
        status, incomplete = "incomplete", {"reason": "content_filter"}
    usage = {
        "input_tokens": prompt_tokens,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": completion_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt_tokens + completion_tokens,
    }
    return json.dumps(
        {
            "id": f"resp_{call.n}",
            "object": "response",
            "model": model,
            "status": status,
            "incomplete_details": incomplete,
            "error": None,
            "output": None if kind == "no_choices" else output,
            "usage": usage,
        }
    ).encode()


def script_named(name: str, seed: int) -> Script | None:
    """Give a script by the name used on the command line.

    `normal`; `mix` (passing) and `mix-lasting`; a number such as `503`; any kind of reply; with
    `first:` before a status or a kind, only each prompt's first attempt meets it.
    """
    if name == "normal":
        return None
    if name in ("mix", "mix-lasting"):
        return Mix(seed, lasting=name == "mix-lasting")
    only_first = name.startswith("first:")
    wanted = name.removeprefix("first:")
    reply = refuse(int(wanted), retry_after=None) if wanted.isdigit() else Reply(wanted)
    return first_attempts(reply) if only_first else always(reply)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--latency", type=float, default=0.0, help="seconds before each answer")
    parser.add_argument(
        "--script",
        default="normal",
        help="; ".join((script_named.__doc__ or "").split("\n")[2:4]).strip(),
    )
    parser.add_argument("--seed", type=int, default=0, help="of the mix")
    parser.add_argument("--answers", type=Path, help="JSON file: an object of prompt → answer")
    parser.add_argument("--model", default="fake-model")
    parser.add_argument("--api-key", help="refuse every other key")
    return parser.parse_args()


async def _serve(given: argparse.Namespace) -> None:
    answers = json.loads(given.answers.read_text("utf-8")) if given.answers else None
    server = FakeModel(
        answers,
        script=script_named(given.script, given.seed),
        latency=given.latency,
        model=given.model,
        api_key=given.api_key,
        port=given.port,
        record=False,
    )
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stopped.set)
    async with server:
        sys.stdout.write(server.base_url + "\n")
        sys.stdout.flush()
        await stopped.wait()


if __name__ == "__main__":
    asyncio.run(_serve(_arguments()))


def hangs(*prompts: str) -> Script:
    return lambda call: Reply("hang") if call.prompt in prompts else None
