"""What a target and a judge have in common that ask a model."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.spec import ModelEndpointSpec
from tui_eval.targets.base import Asked
from tui_eval.targets.model.endpoint_connection import EndpointConnection
from tui_eval.targets.model.responses_input import responses_input


class ModelCaller(Asked):
    """Asks over a connection that it shares with whoever asks at the same address."""

    _connection: EndpointConnection
    _spec: ModelEndpointSpec

    def problem(self) -> str | None:
        """Say which key or model is missing."""
        return self._connection.problem()

    def note(self) -> str | None:
        """Return a warning about the endpoint's key."""
        return self._connection.note()

    def identity(self) -> JsonObject:
        """Return endpoint, model and API; for an embedded model its file's digest.

        Raises:
            UnavailableError: where the model's file cannot be read.
        """
        known: JsonObject = {
            "kind": self.kind,
            "api": self._spec.api,
            **self._connection.identity(),
            **self._asked_for(),
        }
        if self._spec.version is not None:
            known["version"] = self._spec.version
        return known

    def _asked_for(self) -> JsonObject:
        """Return the model as requests name it.

        An embedded server has one model, and where its file lies is nobody's business.
        """
        return {} if self._connection.address.embedded else {"model": self._spec.model}

    def _messages(self, messages: Sequence[JsonObject]) -> JsonObject:
        """Return the body of a request that sends chat messages, with the spec's parameters."""
        responses = self._spec.api == "responses"
        asked: list[Json] = responses_input(messages) if responses else [*messages]
        name = "input" if responses else "messages"
        return {name: asked, **self._spec.params, **self._asked_for()}

    async def __aenter__(self) -> Self:
        """Open the connection, and start an embedded model's server.

        Raises:
            UnavailableError: where that is not possible, saying what to do.
        """
        await self._connection.open()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Leave the connection."""
        await self._connection.close()
