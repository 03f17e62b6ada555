"""What an endpoint's headers say of waiting: for one request, and for everybody.

`Retry-After` is about the request that was refused. Headers that say that nothing remains of a
limit are about all; their dialects:

- `x-ratelimit-remaining-requests` beside `x-ratelimit-reset-requests` (`1s`, `6m0s`, `20ms`), and
  the same for tokens or without either; without the `x-` too;
- `anthropic-ratelimit-requests-remaining` beside `anthropic-ratelimit-requests-reset` (RFC 3339).

A bare number is one of seconds from now, or, where it is as large as that, a Unix time.
"""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

from tui_eval.model.outputs.output import ExhaustedQuota

LONGEST_WAIT_S = 120.0
"""Seconds that an endpoint's wishes are honoured at most."""

_REMAINING = re.compile(
    r"(?:x-)?ratelimit-remaining(?:-(?P<named>[a-z-]{1,40}))?"
    r"|anthropic-ratelimit-(?P<known>[a-z-]{1,40})-remaining"
)
_PART = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)(d|h|ms|m|s|us|µs|ns)")
_DURATION = re.compile(f"(?:{_PART.pattern})+")
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3}
_UNIX_S, _UNIX_MS = 1e9, 1e11
"""From where on a number is a Unix time, in seconds or in milliseconds."""


def retry_after(headers: Mapping[str, str], now: datetime | None = None) -> float | None:
    """Read how many seconds an endpoint asks to wait; None: it does not say, or nonsense.

    `retry-after-ms` (milliseconds) goes before `Retry-After` (seconds, or a date).

    Args:
        headers: Of the answer, looked up without regard to case or in lower case.
        now: The moment, where the answer has no `Date` of its own (clocks may differ); None: by
            this machine's clock.

    Returns:
        Seconds, `LONGEST_WAIT_S` at most.
    """
    seconds = _number(headers.get("retry-after-ms"))
    seconds = seconds / 1000 if seconds is not None else _number(headers.get("retry-after"))
    if seconds is None:
        then = _date(headers.get("retry-after"))
        if then is None:
            return None
        seconds = (then - _sent(headers, now)) / timedelta(seconds=1)
    if seconds < 0:
        return None
    return min(seconds, LONGEST_WAIT_S)


def exhausted(headers: Mapping[str, str], now: datetime | None = None) -> ExhaustedQuota | None:
    """Read that nothing remains of one of an endpoint's limits, and until when.

    Args:
        headers: Of an answer, with their names in lower case.
        now: As `retry_after` takes it.

    Returns:
        The limit that takes longest to come back; None: something remains of each, or the headers
        do not say when it does.
    """
    longest: ExhaustedQuota | None = None
    for name in headers:
        found = _REMAINING.fullmatch(name)
        if found is None or _remains(headers[name]):
            continue
        seconds = _until(headers.get(name.replace("remaining", "reset")), _sent(headers, now))
        if seconds is None or seconds <= 0:
            continue
        if longest is None or seconds > longest.for_s:
            longest = ExhaustedQuota(found["named"] or found["known"] or "calls", seconds)
    return longest


def _sent(headers: Mapping[str, str], now: datetime | None) -> datetime:
    return _date(headers.get("date")) or now or datetime.now(UTC)


def _remains(said: str) -> bool:
    number = _number(said)
    return number is None or number > 0


def _until(said: str | None, moment: datetime) -> float | None:
    """Return the seconds from a moment until a limit is back, bounded; None: it does not say."""
    text = (said or "").strip()
    seconds = _duration(text)
    if seconds is None:
        seconds = _number(text)
        if seconds is not None and seconds >= _UNIX_S:
            unix_s = seconds / 1000 if seconds >= _UNIX_MS else seconds
            seconds = unix_s - moment.timestamp()
    if seconds is None:
        then = _moment(text)
        seconds = None if then is None else (then - moment) / timedelta(seconds=1)
    return None if seconds is None else min(seconds, LONGEST_WAIT_S)


def _duration(text: str) -> float | None:
    if not _DURATION.fullmatch(text):
        return None
    return sum(
        float(amount) * _SECONDS.get(unit, 0.0)  # less than a millisecond is none
        for amount, unit in _PART.findall(text)
    )


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return _date(text)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _date(text: str | None) -> datetime | None:
    try:
        found = parsedate_to_datetime(text or "")
    except (ValueError, TypeError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
