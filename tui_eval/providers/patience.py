"""Whether and when a failed attempt is followed by another: the one place that decides it.

What an endpoint answers or fails to answer becomes a `Failure` here (`of_status`, `of_wire`,
`of_timeout`), and `Patience.pause_before_next` says how long to wait before the next attempt.

Retried: 408, 409, 425, 429, 5xx, connection failures, time-outs and bodies that are not valid
answers. Never: other 4xx, refused keys, exhausted quota, a context that is too long, content
filters.
"""

import json
import logging
import random
import re
from collections.abc import Mapping
from dataclasses import dataclass

from tui_eval.model.outputs.output import NO_DESCRIPTOR, Failure
from tui_eval.model.visible import visible_line
from tui_eval.providers.keys import redact
from tui_eval.providers.waiting import exhausted, retry_after

_RETRIED = frozenset({408, 409, 425, 429})
_LONGEST_MESSAGE = 300

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EndpointIdentity:
    """The endpoint, key and model that advice to a person names."""

    host: str
    key_env: str | None = None
    """The variable the key came from; None: a dummy key was sent."""
    model: str | None = None
    url_field: str = "base_url"
    """The field of the suite that says where requests go."""

    @property
    def not_there(self) -> str:
        """What to do where nothing is at the address."""
        if self.url_field == "base_url":
            return "check `base_url` (does it end in /v1?) and `model`"
        return f"check `{self.url_field}`"


@dataclass(frozen=True, slots=True)
class Patience:
    """How often an attempt is repeated, and how long the pauses grow."""

    retries: int
    """Further attempts after the first."""
    base_s: float = 0.5
    """The longest pause after the first failure, in seconds; it doubles with each further one."""
    cap_s: float = 30.0
    """The longest pause of all, in seconds, where the endpoint names none."""

    def pause_before_next(
        self, failure: Failure, failures_so_far: int, rng: random.Random, spared: int = 0
    ) -> float | None:
        """Return the seconds to wait before the next attempt; None: there is none.

        Exponential with full jitter: evenly drawn between nothing and the doubling pause, so
        that trials that failed together do not come back together (Brooker, "Exponential
        Backoff And Jitter", 2015). What the endpoint asked for wins.

        Args:
            failure: What the last attempt ended with.
            failures_so_far: How many attempts of this trial have failed, the last one included.
            rng: Where the jitter comes from.
            spared: How many more have, which use up no retry but make the pause longer.
        """
        if not failure.retryable:
            log.debug("%s: asking again would not help", failure.kind)
            return None
        if failures_so_far > self.retries:
            log.debug("%s: all %d retries are used up", failure.kind, self.retries)
            return None
        if failure.retry_after_s is not None:
            log.debug("%s: the endpoint asks for %.3f s", failure.kind, failure.retry_after_s)
            return failure.retry_after_s
        # the exponent is bounded so that no number of failures overflows a float
        longest_s = min(self.cap_s, self.base_s * 2.0 ** min(failures_so_far + spared - 1, 60))
        pause_s = rng.random() * longest_s
        log.debug("%s: drew %.3f s of %.3f s", failure.kind, pause_s, longest_s)
        return pause_s


def of_status(
    status: int, headers: Mapping[str, str], body: bytes, where: EndpointIdentity
) -> Failure:
    """Say what a refusal means: an answer whose HTTP status is no success.

    Args:
        status: The HTTP status.
        headers: Of the answer, looked up without regard to case or in lower case.
        body: What came with it.
        where: What the advice names.
    """
    said, words = _said(body)
    kind, fatal, advice = _meaning(status, words, where)
    retryable = kind in ("rate_limit", "server_error") or (
        kind == "bad_request" and status in _RETRIED
    )
    wish = headers.get("x-should-retry", "").strip().lower()
    if wish == "false":
        retryable = False
    elif wish == "true" and kind in ("bad_request", "server_error", "rate_limit"):
        retryable = True
    parts = [f"{where.host} answered {status}"]
    if said:
        parts[0] += f": {said}"
    if advice:
        parts.append(advice)
    nothing_left = exhausted(headers)
    wait_s = retry_after(headers)
    if wait_s is None and nothing_left is not None and kind == "rate_limit":
        wait_s = nothing_left.for_s
    return Failure(
        kind,
        redact(" — ".join(parts)),
        retryable=retryable,
        fatal=fatal,
        status=status,
        retry_after_s=wait_s if retryable else None,
        exhausted=nothing_left,
    )


def _meaning(status: int, words: str, where: EndpointIdentity) -> tuple[str, bool, str]:
    """Return the kind, whether every trial would meet it, and the advice."""
    model = f"model {where.model!r}" if where.model else "the model"
    if status == 400 and _FORM.search(words):
        return "response_format", False, "it does not take the form of reply that was asked for"
    if _QUOTA.search(words) or status == 402:
        return "quota", True, f"the account's quota is used up: add credit at {where.host}"
    if status in (400, 413, 422) and _CONTEXT.search(words):
        return "context_length", False, "the prompt and max_tokens do not fit the model's context"
    if status < 500 and _FILTER.search(words):
        return "content_filter", False, ""
    if status in (400, 403, 404, 422) and _MODEL.search(words):
        return "unknown_model", True, f"{where.host} has not got {model}: check `model`"
    if status in (401, 403):
        return "auth", True, _key_advice(where)
    if status == 404:
        return "not_found", True, where.not_there
    if 300 <= status < 400:
        advice = f"redirects are not followed: set `{where.url_field}` to the final address"
        return "redirect", False, advice
    if status == 429:
        return "rate_limit", False, ""
    if status >= 500:
        return "server_error", False, ""
    return "bad_request", False, ""


def _key_advice(where: EndpointIdentity) -> str:
    if where.key_env:
        return f"the key in {where.key_env} was refused: check that it is valid for {where.host}"
    return "no key was sent: name the variable that holds it in `api_key_env`"


# The words of the many dialects of one protocol, in error codes, types and messages.
_FORM = re.compile(r"response_format|text\.format")
_QUOTA = re.compile(
    # not "exceeded your current quota": some say that of a limit that passes within a minute
    r"insufficient_quota|billing_(hard_limit|not_active)"
    r"|insufficient.balance|credit balance is too low|insufficient_credits",
    re.IGNORECASE,
)
_CONTEXT = re.compile(
    r"context_length_exceeded|exceed_context_size|context (size|window|length)|prompt is too long"
    r"|input token count|too many tokens|request_too_large",
    re.IGNORECASE,
)
_FILTER = re.compile(
    r"content_filter|content_policy|content management policy|responsible ?ai|flagged|moderation",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"model_not_found|unknown_model|invalid_model|invalid model|(no such|unknown) model"
    r"|model\b.{0,80}\b(not found|not exist)|not a valid model",
    re.IGNORECASE | re.DOTALL,
)


def _said(body: bytes) -> tuple[str, str]:
    """Read an error body of any dialect: its message for a person, and the words to judge it by.

    Known forms: `{"error": {"message", "type", "code"}}`, `{"error": "…"}`, the same in a list,
    `{"message", "type"}`, `{"detail"}`; anything else is shown as it begins.
    """
    # taken out before anything is cut: half a key is no longer recognised
    text = redact(body[:65536].decode("utf-8", "replace").strip())
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        short = re.sub(r"<[^>]*>|\s+", " ", text[:2000]) if text.startswith("<") else text
        return visible_line(short.strip(), _LONGEST_MESSAGE), text
    if isinstance(found, list) and found:
        found = found[0]
    error = (found.get("error") or found) if isinstance(found, dict) else found
    if not isinstance(error, dict):
        return visible_line(redact(str(error)), _LONGEST_MESSAGE), text
    message = error.get("message") or error.get("detail") or error
    if not isinstance(message, str):
        message = json.dumps(message)
    message = redact(message)
    names = ("code", "type", "param", "status", "innererror")
    codes = (str(error.get(name) or "") for name in names)
    return visible_line(message, _LONGEST_MESSAGE), " ".join((*codes, message))


def of_wire(kind: str, message: str, where: EndpointIdentity, *, reached_before: bool) -> Failure:
    """Say what it means that no whole answer arrived.

    A name that cannot be looked up or a port where nobody listens means the wrong address, as
    long as the endpoint has never answered; once it has, it means a passing fault.

    Args:
        kind: As in `errors.WireError`.
        message: What happened, in words.
        where: What the advice names.
        reached_before: Whether this endpoint has answered anything before.
    """
    text = visible_line(redact(f"{where.host}: {message}"), _LONGEST_MESSAGE)
    if kind == "too_large":
        return Failure("bad_answer", text, retryable=True)
    if kind == NO_DESCRIPTOR:
        advice = "`ulimit -n` allows more"
        return Failure(NO_DESCRIPTOR, f"{text} — {advice}", retryable=True)
    if kind == "tls":
        return Failure(
            "tls",
            f"{text} — check `{where.url_field}` and the system's certificates",
            fatal=True,
        )
    if kind == "unknown_host" and not reached_before:
        advice = f"check the host in `{where.url_field}` and the network"
        return Failure("unknown_host", f"{text} — {advice}", fatal=True)
    if kind == "refused" and not reached_before:
        advice = f"is the server running, and is `{where.url_field}` right?"
        return Failure("connection", f"{text} — {advice}", retryable=True, fatal=True)
    return Failure("connection", text, retryable=True)


def of_timeout(timeout_s: float, where: EndpointIdentity) -> Failure:
    """Say that an attempt met its deadline."""
    return Failure(
        "timeout", f"{where.host} gave no whole answer within {timeout_s:g} s", retryable=True
    )
