"""Whether a model replies in a form that is asked for: found out by the first request."""

import asyncio
from contextlib import suppress

_MOMENT_S = 2.0
"""Seconds others wait for the first request: a refusal comes at once, an answer may take long."""


class FormProbe:
    """What is known of one model at one endpoint."""

    def __init__(self) -> None:
        """Begin to know nothing."""
        self.refused = False
        """Whether it was refused: then nobody asks for a form any more."""
        self._first: asyncio.Event | None = None

    async def asks_for_form(self) -> bool:
        """Say whether a request shall ask for a form.

        The first one does, and the others wait a moment for what comes of it, so that one refusal
        is enough.
        """
        if self._first is None:
            self._first = asyncio.Event()
        else:
            with suppress(TimeoutError):
                async with asyncio.timeout(_MOMENT_S):
                    await self._first.wait()
        return not self.refused

    def ended(self, *, refused: bool) -> None:
        """Tell what came of a request that asked for a form."""
        self.refused = self.refused or refused
        if self._first is not None:
            self._first.set()
