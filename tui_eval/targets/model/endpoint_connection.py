"""The one connection of all targets and judges that ask at the same address."""

import asyncio
import json
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path

from tui_eval.model.json import JsonObject
from tui_eval.model.outputs.output import Estimate, Failure, Output, Usage
from tui_eval.providers import keys
from tui_eval.providers.embeddings import Pairs
from tui_eval.providers.endpoint import Endpoint
from tui_eval.providers.errors import UnavailableError
from tui_eval.providers.local_model.server import LocalServer
from tui_eval.providers.presets import Address
from tui_eval.suites.data.attachments import Attachments
from tui_eval.suites.spec import ModelEndpointSpec
from tui_eval.targets.model.form_probe import FormProbe
from tui_eval.targets.model.request_files import with_files

_CHARACTERS = 4
"""Characters of a token, about."""
MOST_SLOTS = 8
"""Answers an embedded server makes at once at most: each slot takes memory of its own."""


class EndpointConnection:
    """Opened for the first target or judge that needs it, closed after the last.

    For an embedded model that means: its server runs as long as any of them uses it.
    """

    def __init__(
        self, address: Address, model: str, folder: Path | None, files: Attachments
    ) -> None:
        """Describe a connection; cheap, nothing is looked for or opened.

        Args:
            address: Where requests go.
            model: Which model an embedded server loads.
            folder: Where the model's relative path starts.
            files: Those that messages name.
        """
        self.address = address
        self._targets: dict[str, int] = {}
        """The calls in flight that the targets make here, by name."""
        self._judges: dict[str, int] = {}
        """Those of the judges, which have a limiter of their own."""
        self._user: dict[str, int] = {}
        """Those of the simulated user, likewise."""
        self._model = model
        self._folder = folder
        self._files = files
        self._server: LocalServer | None = None
        self._opened: Endpoint | None = None
        self._users = 0
        self._turn = asyncio.Lock()
        self._probes: dict[str, FormProbe] = {}
        self._resources = AsyncExitStack()

    @property
    def name(self) -> str:
        """How limiters know the endpoint."""
        if self.address.embedded:
            return f"{self.address.provider}|{self._model}|"
        return self.address.endpoint

    @property
    def endpoint(self) -> Endpoint:
        """Where calls go, while it is open."""
        if self._opened is None:
            raise RuntimeError(f"the connection to {self.name} is not open")
        return self._opened

    @property
    def concurrency(self) -> int:
        """The most calls in flight that all of its users may make together."""
        return sum(max(users.values(), default=0) for users in self._users_by_kind.values())

    @property
    def _users_by_kind(self) -> dict[str, dict[str, int]]:
        return {"target": self._targets, "judge": self._judges, "user": self._user}

    def used_by_target(self, name: str, concurrency: int | None) -> None:
        """Note that a target asks here, with so many calls in flight; None: not known yet."""
        self._targets[name] = concurrency or 1

    def used_by_judge(self, name: str, concurrency: int | None) -> None:
        """Note that a judge asks here, with so many calls in flight; None: not known yet."""
        self._judges[name] = concurrency or 1

    def used_by_user(self, name: str, concurrency: int | None) -> None:
        """Note that the simulated user asks here, with so many calls in flight."""
        self._user[name] = concurrency or 1

    def problem(self) -> str | None:
        """Say what keeps it from being opened, as far as that can be known beforehand."""
        try:
            if self.address.embedded:
                self._local().check()
            elif self.address.api_key_env is not None:
                keys.resolve(self.address.api_key_env, self._needed_by())
        except UnavailableError as error:
            return str(error)
        return None

    def note(self) -> str | None:
        """Return a warning about the key it sends; None: there is nothing to say."""
        variable = self.address.api_key_env
        said = None if variable is None else keys.word_note(variable)
        return None if said is None else f"{said}: {self._needed_by()}"

    def identity(self) -> JsonObject:
        """Return what the endpoint adds to generation keys.

        Raises:
            UnavailableError: where the model's file cannot be read.
        """
        if self.address.embedded:
            return {"provider": self.address.provider, **self._local().identity()}
        return {"provider": self.address.provider, "base_url": self.address.base_url}

    def complaint(self) -> str | None:
        """Say that the embedded server has ended by itself, where it has."""
        if self._server is None or not self._server.died:
            return None
        return f"the server of model {self._model!r} has ended: {self._server.complaint()}"

    def probe(self, model: str) -> FormProbe:
        """Return what is known of whether a model here replies in a form that is asked for."""
        return self._probes.setdefault(model, FormProbe())

    async def call(
        self, spec: ModelEndpointSpec, body: JsonObject, timeout_s: float
    ) -> Output | Failure:
        """Make one call while it is open; what it cost is in the output.

        Args:
            spec: Who calls: which API, which model, at which prices.
            body: The request; files that its messages name are put there as it goes out.
            timeout_s: Seconds from now until the whole answer must be here.
        """
        send = self.endpoint.responses if spec.api == "responses" else self.endpoint.chat
        filled = await with_files(body, self._files, spec.api)
        got = filled if isinstance(filled, Failure) else await send(filled, timeout_s)
        return self._priced(spec, body, got)

    async def cosines(
        self, spec: ModelEndpointSpec, body: JsonObject, pairs: Pairs, timeout_s: float
    ) -> Output | Failure:
        """Make one call for vectors while it is open; see `Endpoint.cosines`."""
        got = await self.endpoint.cosines(body, pairs, timeout_s)
        return self._priced(spec, body, got)

    def _priced(
        self, spec: ModelEndpointSpec, body: JsonObject, got: Output | Failure
    ) -> Output | Failure:
        if isinstance(got, Failure) and got.kind == "connection":
            ended = self.complaint()
            return got if ended is None else Failure("local_server", ended, fatal=True)
        prices = spec.token_prices()
        cost = None if prices is None else prices.of(got.usage)
        if isinstance(got, Failure) or None not in (got.usage.input, got.usage.output):
            return got if cost is None else replace(got, cost_usd=cost)
        about = _lengths(body, got)
        price = None if prices is None else prices.of(about)
        told = (got.usage.input or 0) + (got.usage.output or 0)
        tokens = (about.input or 0) + (about.output or 0) - told
        return replace(got, cost_usd=cost, estimate=Estimate(tokens, price))

    async def open(self) -> None:
        """Open it, or join those that have.

        Raises:
            UnavailableError: where that is not possible.
        """
        async with self._turn:
            if self._users == 0:
                async with AsyncExitStack() as stack:
                    self._opened = await stack.enter_async_context(await self._reach(stack))
                    self._resources = stack.pop_all()
            self._users += 1

    async def close(self) -> None:
        """Leave it; the last one to leave closes it."""
        async with self._turn:
            self._users -= 1
            if self._users == 0:
                self._opened = self._server = None
                await self._resources.aclose()

    async def _reach(self, stack: AsyncExitStack) -> Endpoint:
        """Start or find the endpoint."""
        if self.address.embedded:
            self._server = server = await stack.enter_async_context(self._local())
            return Endpoint(server.base_url, server.api_key)
        assert self.address.base_url is not None
        variable = self.address.api_key_env
        return Endpoint(self.address.base_url, self.key(), key_env=variable)

    def key(self) -> str:
        """Return the key that is sent, or a dummy.

        Raises:
            UnavailableError: its variable is not set.
        """
        variable = self.address.api_key_env
        return keys.NO_KEY if variable is None else keys.resolve(variable, self._needed_by())

    def _local(self) -> LocalServer:
        slots = max(1, min(self.concurrency, MOST_SLOTS))
        return LocalServer(self._model, slots=slots, folder=self._folder)

    def _needed_by(self) -> str:
        users = self._users_by_kind.items()
        named = [f"{what} {', '.join(map(repr, names))}" for what, names in users if names]
        return f"{' and '.join(named)} ({self.address.host})"


def _lengths(body: JsonObject, got: Output) -> Usage:
    """Return the tokens of a call, as lengths tell what its endpoint did not count."""
    said = [got.text or "", got.reasoning or "", *map(json.dumps, got.messages)]
    read, produced = len(json.dumps(body)), sum(map(len, said))
    given, came = got.usage.input, got.usage.output
    return Usage(
        1 + read // _CHARACTERS if given is None else given,
        1 + produced // _CHARACTERS if came is None else came,
    )
