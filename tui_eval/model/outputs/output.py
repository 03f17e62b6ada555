"""What a target produced, or why it did not."""

from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json, JsonObject, digest
from tui_eval.model.outputs.attempt_record import NO_RECORD, AttemptRecord
from tui_eval.model.outputs.finish import Ending, ending


@frozen
class Usage:
    """Tokens of one call as the endpoint counted them; None where it did not say."""

    input: int | None = None
    output: int | None = None
    """All tokens produced, reasoning included."""
    reasoning: int | None = None
    cached: int | None = None
    """The part of `input` that the endpoint took from its own cache."""


_UNTOLD = Usage()


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a call took beside what its endpoint counted, by the lengths of what was said."""

    tokens: int
    cost_usd: float | None
    """All of the call's cost; None: the price is unknown."""


@dataclass(frozen=True, slots=True)
class ExhaustedQuota:
    """One of an endpoint's limits of which nothing remains, as its headers say."""

    what: str
    """What is limited: `requests`, `tokens`, …"""
    for_s: float
    """Seconds until some of it is back; already bounded."""


@dataclass(frozen=True, slots=True)
class Price:
    """What a call cost; both None: nobody can tell."""

    known_usd: float | None
    about_usd: float | None
    """By the target's own word or by an estimate, where it is not known."""


Got = TypeVar("Got", "Output", "Failure")


def self_reported(got: Got) -> Got:
    """Return what a target gave that counts for itself: what it says it took is its own word."""
    told = got.cost_usd is not None or got.usage != _UNTOLD
    return replace(got, self_reported=told)


def _price(usd: float | None, about_usd: float | None, *, self_reported: bool) -> Price:
    if usd and self_reported:  # there is no sum to doubt where nothing was paid
        return Price(None, usd)
    return Price(usd, about_usd if usd is None else None)


@frozen
class Output:
    """What a target produced for one request; never changed once written."""

    text: str | None
    reasoning: str | None = None
    messages: tuple[JsonObject, ...] = ()
    """The whole trajectory where it is more than one reply: assistant and tool messages."""
    fields: JsonObject = field(default_factory=dict)
    finish_reason: str | None = None
    """`stop`, `length`, `content_filter`, `tool_calls` or, unknown, what the endpoint said."""
    model: str | None = None
    """The model's name as the endpoint returned it."""
    usage: Usage = Usage()
    cost_usd: float | None = None
    """None: unknown. 0.0: known to be free."""
    self_reported: bool = False
    """Whether `usage` and `cost_usd` are the target's own word: no endpoint has counted them."""
    latency_s: float | None = None
    """Seconds of the call itself; for a replay what was recorded."""
    workspace: bytes | None = None
    """The digest of what was changed in the trial's workspace; None: it had none."""
    record: AttemptRecord = NO_RECORD
    """What the attempt left beside it; kept with the attempt."""
    exhausted: ExhaustedQuota | None = None
    """What its endpoint has nothing left of just now; None: nothing that it says. Never kept."""
    estimate: Estimate | None = None
    """What the endpoint did not say of what it took; None: it did. Kept with the attempt."""
    counted: bool = False
    """Whether what it took was counted already, call by call. Never kept."""

    @property
    def price(self) -> "Price":
        """What its call cost, and how one knows."""
        about = None if self.estimate is None else self.estimate.cost_usd
        return _price(self.cost_usd, about, self_reported=self.self_reported)

    @property
    def ending(self) -> Ending:
        """What its finish reason says."""
        return ending(self.finish_reason)

    @property
    def cut_short(self) -> bool:
        """Whether the endpoint stopped before the model did."""
        return self.ending is Ending.CUT

    @property
    def filtered(self) -> bool:
        """Whether the endpoint's content filter took the answer away."""
        return self.ending is Ending.FILTERED

    @property
    def broken_off(self) -> bool:
        """Whether something else ended it, known or not: what there is may not be all."""
        return self.ending in (Ending.BROKEN_OFF, Ending.UNKNOWN)

    def digest(self) -> bytes:
        """Return the SHA-256 over what can be scored (not over timings or money)."""
        scored: list[Json] = [
            self.text,
            self.reasoning,
            list(self.messages),
            self.fields,
            self.finish_reason,
        ]
        if self.workspace is not None:  # the digests of all others stay what they were
            scored.append(self.workspace.hex())
        return digest(scored)


NO_DESCRIPTOR: Final = "no_descriptor"
"""The kind of a failure because this process, or this machine, can open no more files: nobody's at
the other end, and no trial's."""


_REFUSED: Final = "rate_limit"
_BROKEN: Final = frozenset({"connection", "server_error"})
"""The kinds of failures that an endpoint brings about, whatever it was asked."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why an attempt gave no output: a value, recorded, never raised through a trial."""

    kind: str
    """A short stable word: `timeout`, `connection`, `rate_limit`, `server_error`, `bad_answer`,
    `empty_output`, `auth`, `quota`, `unknown_model`, `unknown_host`, `context_length`,
    `content_filter`, `response_format`, `bad_request`, `template`, `attachment`, `no_recording`,
    `output`, `no_descriptor`, `bug`, …"""
    message: str
    """One line for a person: what happened and, where one can, what to do."""
    retryable: bool = False
    """Whether a further attempt may succeed."""
    fatal: bool = False
    """Whether every other trial of the same endpoint would meet it too."""
    status: int | None = None
    """The HTTP status, where there was one."""
    retry_after_s: float | None = None
    """Seconds the endpoint asked to wait; already bounded."""
    partial: str | None = None
    """What had arrived when it broke; of a conversation, the last that was said."""
    messages: tuple[JsonObject, ...] = ()
    """The conversation by then, as in `Output`: seen by people, never graded and never reused."""
    exhausted: ExhaustedQuota | None = None
    """As in `Output`."""
    usage: Usage = _UNTOLD
    """What an answer took that is none: broken off, empty. It is to be paid all the same."""
    cost_usd: float | None = None
    """As in `Output`; 0.0 says nothing where the usage is unknown."""
    self_reported: bool = False
    """As in `Output`."""
    workspace: bytes | None = None
    """As in `Output`."""
    record: AttemptRecord = NO_RECORD
    """As in `Output`."""
    estimate: Estimate | None = None
    """As in `Output`."""

    @property
    def price(self) -> "Price":
        """What its call cost, and how one knows."""
        about = None if self.estimate is None else self.estimate.cost_usd
        return _price(self.cost_usd, about, self_reported=self.self_reported)

    @property
    def was_paid(self) -> bool:
        """Whether an answer that is none said what it took: tokens, or its cost."""
        counted = self.usage.input is not None or self.usage.output is not None
        return counted or bool(self.cost_usd)

    @property
    def refused(self) -> bool:
        """Whether the endpoint refused a call that it may take later."""
        return self.kind == _REFUSED

    @property
    def broken(self) -> bool:
        """Whether the endpoint was not there, or broke."""
        return self.kind in _BROKEN

    @property
    def may_be_everybodys(self) -> bool:
        """Whether it is the endpoint's, and others may meet the same; else it is the trial's."""
        return self.refused or self.broken

    unsent: bool = False
    """Whether no request left: there was nobody to send it to."""
    lost: bool = False
    """Whether whoever made the attempt has gone, so that nobody knows what became of it: that says
    nothing of the trial, which is asked anew."""

    def as_json(self) -> dict[str, Json]:
        """Return the form exports use."""
        return {"kind": self.kind, "message": self.message}
