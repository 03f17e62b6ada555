"""How a stranger's answer is read: within limits, and with no key left in what is kept."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final, TypeVar, TypeVarTuple

from tui_eval.isolated.calls import IsolatedCalls, OutOfBoundsError
from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.keys import redact, redact_answer, redact_json

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

READ_AT_ONCE: Final = 100_000
"""Bytes of an answer that are read in some milliseconds, whatever they are."""
_READING_S: Final = 10.0
"""Seconds of processor time that reading an answer may take."""


class AnswerReader:
    """Reads answers on the loop, or in a process of its own what might hold the loop up."""

    def __init__(self) -> None:
        """Make a reader; no process is started yet."""
        self._calls = IsolatedCalls(most=1)

    def close(self) -> None:
        """End its process."""
        self._calls.close()

    async def read(
        self,
        size: int,
        at_once: bool,
        function: Callable[[*Ts], Output | Failure],
        *args: *Ts,
    ) -> Output | Failure:
        """Return what a function of a module makes of an answer, without keys.

        Args:
            size: Bytes of the answer, for the message.
            at_once: Whether it takes some milliseconds, whatever the answer holds.
            function: Reads it.
            args: Pickled where it is not read at once.
        """
        # a process of its own knows no keys to take out: that is done with what it gives
        return redacted(function(*args) if at_once else await self.beside(size, function, *args))

    async def beside(self, size: int, function: Callable[[*Ts], T], *args: *Ts) -> T | Failure:
        """Return what a function of a module makes of an answer, in a process of its own.

        Args:
            size: Bytes of the answer, for the message.
            function: Pickled by its name.
            args: Pickled.
        """
        try:
            return await self._calls.beside(self._calls.call, _READING_S, function, *args)
        except OutOfBoundsError as error:
            what = f"reading the answer of {size:,} bytes {error}"
            return Failure("bad_answer", what, retryable=True)


def redacted(got: Output | Failure) -> Output | Failure:
    """Take keys out, those too that only came together as parts were joined."""
    if isinstance(got, Failure):
        return replace(
            got,
            message=redact(got.message),
            partial=None if got.partial is None else redact(got.partial),
        )
    found: dict[str, Any] = {
        "text": _redacted(got.text),
        "reasoning": _redacted(got.reasoning),
        "messages": tuple(_redacted_object(one) for one in got.messages),
        "fields": _redacted_object(got.fields),
        "finish_reason": _redacted(got.finish_reason),
        "model": _redacted(got.model),
    }
    # making an output costs more than looking
    changed = {name: value for name, value in found.items() if value != getattr(got, name)}
    return replace(got, **changed) if changed else got


def _redacted(text: str | None) -> str | None:
    return None if text is None else redact_answer(text)


def _redacted_object(value: JsonObject) -> JsonObject:
    found = redact_json(value)
    assert isinstance(found, dict), "a table stays one"
    return found
