"""A target whose attempts workers make: to the journey it is one like any other."""

import asyncio
from types import TracebackType
from typing import Protocol, Self

from tui_eval.engine.executors.handful import AttemptOrder
from tui_eval.engine.executors.remote_attempts import RemoteAttempts
from tui_eval.engine.executors.workspace_parcel import parcel
from tui_eval.model.case import Case, Column
from tui_eval.model.json import JsonObject, digest
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.processes.workspace.bounds import WorkspaceError
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.base import Target


class Workforce(Protocol):
    """What a target needs of an executor."""

    @property
    def attempts(self) -> RemoteAttempts:
        """The attempts that its workers make."""

    async def connect(self) -> None:
        """See that there is a worker; where there is one, nothing is done.

        Raises:
            UnavailableError: there is none, saying what to do.
        """


class RemoteTarget:
    """Renders requests here, and has workers make the attempts."""

    def __init__(self, target: Target, executor: Workforce) -> None:
        """Stand before a target, which is never opened here.

        Args:
            target: The target, as the engine has it.
            executor: Has the workers.
        """
        self._target = target
        self._executor = executor
        self._attempts = executor.attempts
        self._identity: str | None = None

    def identity(self) -> JsonObject:
        """Return what decides about its answers beside the request."""
        return self._target.identity()

    def reads_files(self, request: JsonObject) -> bool:
        """Return whether a request holds what files were as it was rendered."""
        return self._target.reads_files(request)

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        """Render the request of a case."""
        return self._target.request(column, case, epoch)

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        """Have a worker make the attempt."""
        assert self._identity is not None, "a target is opened before it is asked"
        try:
            workspace = await self._shared(request)
        except (WorkspaceError, OSError) as error:
            return Failure("setup", str(error), unsent=True)
        order = AttemptOrder(
            attempt.attempt,
            self._target.name,
            self._identity,
            request,
            attempt.timeout_s,
            dict(attempt.limits),
            workspace,
        )
        return await self._attempts.make(order, attempt)

    async def _shared(self, request: JsonObject) -> str | None:
        """Have the files of a request's workspace at hand for workers; return their name."""
        found = self._target.source_of(request)
        if found is None:
            return None
        name, source = found
        await self._attempts.share(name, lambda: parcel(source))
        return name

    async def __aenter__(self) -> Self:
        """Find out what a worker's target has to be.

        Raises:
            UnavailableError: that cannot be known, or there are no workers.
        """
        await self._target.prepare()
        self._identity = await asyncio.to_thread(lambda: digest(self._target.identity()).hex())
        await self._executor.connect()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the workers to their executor."""
        return
