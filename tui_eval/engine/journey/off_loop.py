"""Work that nobody can bound beforehand, kept off the loop that has calls in flight."""

from collections.abc import Callable, Mapping
from typing import Final, TypeVar, TypeVarTuple

from tui_eval.isolated.calls import IsolatedCalls, OutOfBoundsError
from tui_eval.scoring.judge.item import ReplyForm
from tui_eval.scoring.judge.reading import Reading, read
from tui_eval.suites import loop_bounds
from tui_eval.suites.loop_bounds import NotAtOnceError

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

AT_ONCE_S: Final = 0.01
"""Seconds that rendering or scoring a trial may hold the loop up."""
_READ_AT_ONCE: Final = 10_000
"""Characters of a judge's reply that are read in some milliseconds, whatever they are."""
_READING_S: Final = 10.0
"""Seconds of processor time that reading a judge's reply may take."""


class OffLoop:
    """Does what is bounded at once, without giving the loop a turn, and the rest beside it."""

    def __init__(self, calls: IsolatedCalls) -> None:
        """Use kept processes for what has to be ended.

        Args:
            calls: Makes what has to be ended past a limit.
        """
        self._calls = calls

    async def bounded(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Return what a function does that looks at `at_once`.

        Raises:
            AbandonedError: the engine is ending.
        """
        try:
            with loop_bounds.within(AT_ONCE_S):
                return function(*args)
        except NotAtOnceError:
            return await self.unbounded(function, *args)

    async def unbounded(self, function: Callable[[*Ts], T], *args: *Ts) -> T:
        """Return what a function does that was found to take longer.

        Raises:
            AbandonedError: the engine is ending.
        """
        return await self._calls.beside(function, *args)

    async def read(
        self,
        reply: str | None,
        forms: Mapping[str, ReplyForm],
        nonce: str,
        finish_reason: str | None,
    ) -> Reading:
        """Read a judge's reply (see `read`); where that takes too long it says nothing.

        Raises:
            AbandonedError: the engine is ending.
        """
        if reply is None or len(reply) <= _READ_AT_ONCE:
            return read(reply, forms, nonce, finish_reason)
        try:
            return await self._calls.beside(
                self._calls.call, _READING_S, read, reply, dict(forms), nonce, finish_reason
            )
        except OutOfBoundsError as error:
            why = f"reading the judge's reply of {len(reply):,} characters {error}"
            return Reading({}, dict.fromkeys(forms, why))

    def end(self) -> None:
        """End what is under way; who waits for it gets an `AbandonedError`."""
        self._calls.close()
