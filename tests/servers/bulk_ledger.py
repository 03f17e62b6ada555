"""What a simulated batch provider was given and has done, and what it does wrong with it."""

import json
import random
import time
from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

Answers: TypeAlias = Mapping[str, str] | Callable[[str], str]


@dataclass
class BulkFaults:
    """What goes wrong with consignments; places count their requests from 0."""

    shuffle: int | None = None
    """A seed: results come in another order."""
    drop: Collection[int] = ()
    """Places whose line is not in the results, though they were executed."""
    double: Collection[int] = ()
    """Places whose line comes twice, the same."""
    contradict: Collection[int] = ()
    """Places whose line comes twice, with another answer."""
    unknown: int = 0
    """How many lines have ids that nobody sent."""
    malformed: int = 0
    """How many lines are no JSON."""
    expire: Collection[int] | None = ()
    """Places that are not executed in time; None: all."""
    statuses: Mapping[int, int] = field(default_factory=dict)
    """Places that are answered with this status."""
    hide: bool = False
    """Whether the counts say that nothing failed, and those lines are among the others."""
    finish: Mapping[int, str] = field(default_factory=dict)
    """Places whose answers end for this reason, in the dialect's word."""
    fail: str | None = None
    """The code with which validation refuses the whole."""
    cut: int | None = None
    """Lines after which the connection breaks when results are fetched."""
    quiet: bool = False
    """Whether they end there instead, as if that were all; the next time they are whole."""
    late: int = 0
    """How often a batch that has ended is shown without its files."""
    broke: str | None = None
    """The code with which it fails as a whole once half of it is done."""
    miscount: int = 0
    """How many requests more than it has a message batch says that it has."""
    only_first: int | None = None
    """How many consignments are treated so; None: all."""

    def of(self, number: int) -> "BulkFaults":
        """Return what goes wrong with the how-manieth consignment, from 1."""
        return self if self.only_first is None or number <= self.only_first else GOOD


GOOD: Final = BulkFaults()


@dataclass
class Consignment:
    """What a provider was asked to do at once."""

    id: str
    number: int
    """From 1."""
    dialect: str
    requests: list[tuple[str, dict[str, Any]]]
    """Ids and bodies in their order."""
    url: str = "/v1/chat/completions"
    metadata: dict[str, str] | None = None
    input_file: str = ""
    state: str = "in_progress"
    """`in_progress`, `completed`, `expired`, `cancelled` or `failed`."""
    error: str | None = None
    """Why it failed."""
    looks: int = 0
    """How often it was asked for since it was created."""
    shown: int = 0
    """How often it was shown since it ended."""
    lists: int = 0
    """How many lists were given since."""
    lines: list[tuple[str, str]] = field(default_factory=list)
    """What its results hold: `output` or `error`, and the line."""
    counts: Counter[str] = field(default_factory=Counter)
    """`done`, `failed`, `expired`, `cancelled`."""
    created_at: float = 0.0
    ended_at: float = 0.0

    @property
    def token(self) -> str:
        """What its ids begin with."""
        return self.requests[0][0].rpartition("-")[0] if self.requests else ""


class BulkLedger:
    """Everything that arrived, and everything that was executed."""

    def __init__(self, answers: Answers | None, faults: BulkFaults) -> None:
        self.answers = answers
        self.faults = faults
        self.consignments: list[Consignment] = []
        self.files: dict[str, bytes] = {}
        self.file_names: dict[str, str] = {}
        self.executed: Counter[str] = Counter()
        """How often each id was executed."""
        self.prompts: Counter[str] = Counter()
        """How often each prompt was executed, in consignments and live."""
        self.live: list[dict[str, Any]] = []
        """Bodies that were asked one by one."""

    @property
    def bodies(self) -> dict[str, dict[str, Any]]:
        """What was asked under each id."""
        return {one: body for given in self.consignments for one, body in given.requests}

    def answer(self, prompt: str) -> str:
        """Compute the text a working model would give."""
        if self.answers is None:
            return prompt
        if callable(self.answers):
            return self.answers(prompt)
        return self.answers.get(prompt, "I do not know.")

    def execute(self, given: Consignment, *, only: int | None = None) -> None:
        """Do a consignment, or its first requests, and write down its results."""
        faults = self.faults.of(given.number)
        given.ended_at = time.time()
        for place, (custom_id, body) in enumerate(given.requests):
            if faults.broke is not None and place >= len(given.requests) // 2:
                continue
            if only is not None and place >= only:
                self._line(given, "error", custom_id, _undone(given, "cancelled"))
                given.counts["cancelled"] += 1
            elif faults.expire is None or place in faults.expire:
                self._line(given, "error", custom_id, _undone(given, "expired"))
                given.counts["expired"] += 1
            else:
                self._one(given, faults, place, custom_id, body)
        extra = [self._text(given, f"nobody-{n}", _answered(given, "?", {})) for n in
                 range(faults.unknown)]  # fmt: skip
        given.lines += [("output", line) for line in extra]
        given.lines += [
            (
                "output",
                '{"custom_id": "broken',
            )
        ] * faults.malformed
        if faults.shuffle is not None:
            random.Random(faults.shuffle).shuffle(given.lines)
        if given.counts["cancelled"]:
            given.state = "cancelled"
        else:
            given.state = "expired" if given.counts["expired"] else "completed"
        if faults.broke is not None:
            given.state, given.error = "failed", faults.broke

    def _one(
        self,
        given: Consignment,
        faults: BulkFaults,
        place: int,
        custom_id: str,
        body: dict[str, Any],
    ) -> None:
        prompt = prompt_of(body)
        self.executed[custom_id] += 1
        self.prompts[prompt] += 1
        status = faults.statuses.get(place, 200)
        given.counts["done" if status == 200 or faults.hide else "failed"] += 1
        if place in faults.drop:
            return
        if status != 200:
            where = "output" if faults.hide else "error"
            self._line(given, where, custom_id, _refused(given, status))
            return
        reason = faults.finish.get(place)
        result = _answered(given, self.answer(prompt), body, reason)
        self._line(given, "output", custom_id, result)
        if place in faults.double:
            given.lines.append(given.lines[-1])
        if place in faults.contradict:
            self._line(given, "output", custom_id, _answered(given, "No, otherwise.", body))

    def _line(self, given: Consignment, where: str, custom_id: str, result: Any) -> None:
        given.lines.append((where, self._text(given, custom_id, result)))

    def _text(self, given: Consignment, custom_id: str, result: dict[str, Any]) -> str:
        row = {"custom_id": custom_id, **result}
        if given.dialect == "openai":
            row = {"id": f"batch_req_{given.number}_{len(given.lines)}", **row}
        return json.dumps(row)


def _answered(
    given: Consignment, text: str, body: dict[str, Any], reason: str | None = None
) -> dict[str, Any]:
    if given.dialect == "anthropic":
        return {"result": {"type": "succeeded", "message": message(text, body, reason)}}
    made = response(text, body) if given.url == "/v1/responses" else chat(text, body, reason)
    return {"response": {"status_code": 200, "request_id": "req_1", "body": made}, "error": None}


def _refused(given: Consignment, status: int) -> dict[str, Any]:
    error = {"message": f"status {status}", "type": "server_error" if status >= 500 else "invalid"}
    if given.dialect == "anthropic":
        kinds = {400: "invalid_request_error", 429: "rate_limit_error", 529: "overloaded_error"}
        error = {"type": kinds.get(status, "api_error"), "message": f"status {status}"}
        told = {"type": "error", "error": error, "request_id": "req_1"}
        return {"result": {"type": "errored", "error": told}}
    answered = {"status_code": status, "request_id": "req_1", "body": {"error": error}}
    return {"response": answered, "error": None}


def _undone(given: Consignment, how: str) -> dict[str, Any]:
    if given.dialect == "anthropic":
        return {"result": {"type": "canceled" if how == "cancelled" else how}}
    message = {
        "expired": "This request could not be executed before the completion window expired.",
        "cancelled": "This request was not executed because the batch was cancelled.",
    }
    return {"response": None, "error": {"code": f"batch_{how}", "message": message[how]}}


def _tokens(text: str) -> int:
    return 1 + len(text) // 4


def chat(text: str, body: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    """Make an answer of `/v1/chat/completions`."""
    said = {"role": "assistant", "content": text}
    given, came = _tokens(prompt_of(body)), _tokens(text)
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": body.get("model", "fake-model"),
        "choices": [{"index": 0, "message": said, "finish_reason": reason or "stop"}],
        "usage": {"prompt_tokens": given, "completion_tokens": came, "total_tokens": given + came},
    }


def response(text: str, body: dict[str, Any]) -> dict[str, Any]:
    """Make an answer of `/v1/responses`."""
    part = {"type": "output_text", "text": text}
    return {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "model": body.get("model", "fake-model"),
        "output": [{"type": "message", "role": "assistant", "content": [part]}],
        "usage": {"input_tokens": _tokens(prompt_of(body)), "output_tokens": _tokens(text)},
    }


def message(text: str, body: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    """Make an answer of Anthropic's `/v1/messages`."""
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": body.get("model", "fake-model"),
        "content": [{"type": "text", "text": text}],
        "stop_reason": reason or "end_turn",
        "stop_sequence": None,
        "usage": {
            "input_tokens": _tokens(prompt_of(body)),
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
            "output_tokens": _tokens(text),
        },
    }


def prompt_of(body: dict[str, Any]) -> str:
    """Return the text of a body's last user message, in any dialect."""
    given = body.get("messages", body.get("input", ""))
    if isinstance(given, str):
        return given
    for one in reversed(given):
        if one.get("role") == "user":
            content = one.get("content")
            if isinstance(content, str):
                return content
            return "".join(str(part.get("text", "")) for part in content or [])
    return ""
