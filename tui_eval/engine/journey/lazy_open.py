"""Targets and judges are opened lazily, each once."""

import asyncio
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack

from tui_eval.model.outputs.output import Failure
from tui_eval.providers.errors import UnavailableError


class LazyOpen:
    """Opens each target and judge once, when it is first asked."""

    def __init__(self, targets: Mapping[str, AbstractAsyncContextManager[object]]) -> None:
        self._targets = targets
        self._opened = AsyncExitStack()
        self._opening: dict[str, asyncio.Task[Failure | None]] = {}
        self._open: set[str] = set()

    async def ready(self, name: str) -> Failure | None:
        """Wait until a target is open; give why it cannot be."""
        if name in self._open:
            return None
        task = self._opening.get(name)
        if task is None:
            task = self._opening[name] = asyncio.ensure_future(self._enter(name))
        return await asyncio.shield(task)  # a trial that is cancelled must not cancel it for others

    def forget_failures(self) -> None:
        """Try again to open what could not be opened."""
        for name, task in list(self._opening.items()):
            if task.done() and name not in self._open:
                del self._opening[name]

    async def _enter(self, name: str) -> Failure | None:
        try:
            await self._opened.enter_async_context(self._targets[name])
        except UnavailableError as error:
            return Failure("unavailable", str(error), fatal=True)
        self._open.add(name)
        return None

    async def close(self) -> None:
        """Close what is open; what is just being opened is given up."""
        for task in self._opening.values():
            task.cancel()
        await asyncio.gather(*self._opening.values(), return_exceptions=True)
        await self._opened.aclose()
